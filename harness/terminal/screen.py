"""The one place from which text for people is written."""

import os
from dataclasses import replace
from typing import Literal, TextIO

from harness.terminal.layout import SOFT_WIDTH, Row, arrange, shorten, wrap
from harness.terminal.safe import clean, encodable, one_line
from harness.terminal.style import SGR, columns, glyphs_for, is_live

Span = tuple[str, str]
"""(style, text); the style is a key of SGR or ''."""


class Screen:
    """Writes cleaned text to one stream and knows whether the cursor is inside a line.

    `width` None asks the terminal before each line, so that a resized window is used; when
    `out` is none, lines are not bounded. A stream that goes away ends the showing, not the run.
    """

    def __init__(self, out: TextIO, *, width: int | None = None, color: bool = False) -> None:
        self.out = out
        self.glyphs = glyphs_for(out.encoding)
        self._fixed_width = width
        self._color = color
        self._live = is_live(out)
        self._open_line = False
        self._status_shown = False
        self._gone = False

    @property
    def width(self) -> int | None:
        return self._fixed_width or columns(self.out)

    def line(self, *spans: Span) -> None:
        """One line, or several when a text holds newlines."""
        self._write(self._start() + "".join(self._styled(*span) for span in spans) + "\n")

    def single(self, text: str, style: str = "", cut: Literal["middle", "end"] = "end") -> None:
        """One line that loses what does not fit on the screen."""
        shown, width = one_line(text), self.width
        if width is not None:
            shown = shorten(shown, width - 1, self.glyphs.dots, cut)
        self.line((style, shown))

    def message(self, glyph: str, text: str, style: str = "", indent: str = "  ") -> None:
        """A mark in `style` and a sentence, every word of it; a terminal gets it wrapped."""
        shown, width = one_line(text), self.width
        if width is not None and self._live:
            shown = wrap(f"{glyph} {shown}", width - 1, indent).removeprefix(f"{glyph} ")
        self.line((style, glyph), ("", f" {shown}"))

    def row(self, row: Row) -> None:
        """One line in columns, never wider than the screen."""
        plain = replace(
            row, name=one_line(row.name), about=one_line(row.about), note=one_line(row.note)
        )
        name, about, note = arrange(plain, self.width, self.glyphs.dots)
        mark = (row.style, row.glyph)
        self.line(mark, ("", " "), ("bold", name), ("", about), ("dim", note))

    def text(self, chunk: str) -> None:
        """A piece of streamed text, as it comes."""
        if not chunk:
            return
        lead = self._start() if not self._open_line else ""
        self._open_line = not chunk.endswith("\n")
        self._write(lead + clean(chunk))

    def close_line(self) -> None:
        """Bring the cursor to the start of a line."""
        self._write(self._start())

    def ask(self, text: str) -> None:
        """Text that the user's Enter ends."""
        self._write(self._start() + clean(text))

    def status(self, text: str) -> None:
        """What is going on right now: shown on a terminal until the next line comes."""
        if not self._live or self._open_line:
            return
        shown = shorten(one_line(text), self._line_width, self.glyphs.dots, "end")
        self._write(self._start() + "\r" + self._styled("dim", shown))
        self._status_shown = True

    def _start(self) -> str:
        """What brings the cursor to the start of an empty line."""
        lead = "\n" if self._open_line else ""
        if self._status_shown:
            # blanks, not an erase sequence: NO_COLOR output stays free of escapes
            lead = "\r" + " " * self._line_width + "\r"
        self._status_shown = self._open_line = False
        return lead

    @property
    def _line_width(self) -> int:
        return (self.width or SOFT_WIDTH) - 1

    def _styled(self, style: str, text: str) -> str:
        shown = clean(text)
        if not self._color or not style or not shown:
            return shown
        return f"\x1b[{SGR[style]}m{shown}\x1b[0m"

    def _write(self, text: str) -> None:
        if self._gone or not text:
            return
        try:
            self.out.write(encodable(text, self.out.encoding))
            self.out.flush()
        except (OSError, ValueError):
            self._gone = True
            silence(self.out)


def silence(stream: TextIO) -> None:
    """Send what is still buffered for a closed pipe nowhere, so that leaving raises nothing."""
    try:
        sink = os.open(os.devnull, os.O_WRONLY)
        os.dup2(sink, stream.fileno())
        os.close(sink)
    except (OSError, ValueError):
        return
