"""The question before a tool call is carried out."""

from typing import TextIO

from harness.terminal.diff import TAB, diff_style
from harness.terminal.layout import Row, split
from harness.terminal.plain import MORE, read_line
from harness.terminal.safe import clean, one_line
from harness.terminal.screen import Screen, Span
from harness.terminal.style import rows
from harness.tools.approval import Answer, ApprovalRequest

ONCE = ("y", "yes", "o", "once")
SESSION = ("s", "session", "a", "always")
NO = ("", "n", "no")
VIEW = ("v", "view")

CHOICES = "y once, s session, n no, or why not"
FRAME = 6
"""Rows of a screenful that the question itself takes."""
SHORTEST = 5


class Ask:
    """Asks on `screen` and reads one line of `stdin`.

    Without a terminal the end of input is a denial, and so is every later question. A Ctrl-C
    is raised as KeyboardInterrupt, with nothing allowed.
    """

    def __init__(self, stdin: TextIO, screen: Screen) -> None:
        self._stdin = stdin
        self._screen = screen
        self._ended = False

    def __call__(self, request: ApprovalRequest) -> Answer:
        if self._ended:
            return _end_of_input()
        self._introduce(request)
        left_out = self._preview(request.preview, self._screenful())
        while True:
            reply = self._read()
            if reply is None:
                self._ended = not self._stdin.isatty()
                return _end_of_input()
            if left_out and reply.strip().lower() in VIEW:
                left_out = self._preview(request.preview, None)
                continue
            return answer_to(reply)

    def _introduce(self, request: ApprovalRequest) -> None:
        screen, preview = self._screen, request.preview.strip()
        if preview:
            # the preview has every character of what the summary may have to cut
            summary = "" if preview == request.summary.strip() else request.summary
            screen.row(Row(screen.glyphs.review, "attention", request.tool, summary))
        else:
            what = one_line(f"{request.tool} {request.summary}")
            screen.line(("attention", screen.glyphs.review), ("bold", f" {what}"))
        if request.reason:
            screen.line(("dim", f"  {one_line(request.reason)}"))

    def _preview(self, preview: str, most: int | None) -> int:
        """Show the preview in at most `most` rows; the number of rows left out."""
        if not preview.strip():
            return 0
        rows_of_it = preview_rows(preview, self._screen.width)
        shown = rows_of_it[:most]
        for span in shown:
            self._screen.line(span)
        left_out = len(rows_of_it) - len(shown)
        if left_out:
            dots = self._screen.glyphs.dots
            told = f"{left_out} of {len(rows_of_it)} lines not shown, v shows all"
            self._screen.line(("attention", f"  {dots} {told}"))
        return left_out

    def _read(self) -> str | None:
        is_terminal = self._stdin.isatty()
        if is_terminal:
            _forget_typed_ahead(self._stdin)
        self._screen.ask(f"  {CHOICES}: ")
        try:
            reply = read_line(self._stdin)
        except KeyboardInterrupt:
            self._screen.line()
            raise
        if reply is None or not is_terminal:
            self._screen.line(("", "(end of input)" if reply is None else reply))
        return reply

    def _screenful(self) -> int:
        return max(SHORTEST, rows(self._screen.out) - FRAME)


def answer_to(reply: str) -> Answer:
    """What a typed line means: a yes of two kinds, or a no with or without a comment."""
    text = reply.strip()
    word = text.lower()
    if word in ONCE:
        return Answer(True, "once", "", "user")
    if word in SESSION:
        return Answer(True, "session", "", "user")
    return Answer(False, "once", "" if word in NO else text, "user")


def _end_of_input() -> Answer:
    return Answer(False, "once", "", "end of input")


def preview_rows(preview: str, width: int | None) -> list[Span]:
    """The preview as it will fill a screen of `width` columns, every character of it: a long
    line goes on in rows which begin with `|`."""
    lines = clean(preview).removesuffix("\n").split("\n")
    is_diff = any(line.startswith("@@") for line in lines)
    found: list[Span] = []
    for line in lines:
        style = diff_style(line) if is_diff else ""
        text = line.expandtabs(TAB)
        pieces = [text] if width is None else split(text, max(width - 3, 1))
        found += [
            (style, f"{MORE if number else '  '}{piece}") for number, piece in enumerate(pieces)
        ]
    return found


def _forget_typed_ahead(stdin: TextIO) -> None:
    """What was typed before the question was seen is no answer to it."""
    import termios

    try:
        termios.tcflush(stdin.fileno(), termios.TCIFLUSH)
    except (OSError, ValueError, termios.error):
        return
