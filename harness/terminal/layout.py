"""Fitting text into a number of columns. Widths are terminal cells, not characters."""

from dataclasses import dataclass
from typing import Literal

SOFT_WIDTH = 80
"""Where notes are aligned when nothing bounds the line."""

NAME_WIDTH = 12
NARROW = 60
LONGEST_NAME = 24
SMALLEST = 6
"""Columns which even the longest name leaves to the rest of its row."""


@dataclass(frozen=True)
class Row:
    """One line of output: a mark, a name, what it is about, and a note at the right edge.

    `style` colours the mark; `cut` says where `about` loses characters when it is too long.
    """

    glyph: str
    style: str
    name: str
    about: str = ""
    note: str = ""
    cut: Literal["middle", "end"] = "middle"


def cells(text: str) -> int:
    """Columns that `text` takes: 2 for wide characters, 0 for combining ones."""
    if text.isascii():
        return len(text)
    return sum(_cell(char) for char in text)


def shorten(text: str, room: int, dots: str, cut: Literal["middle", "end"]) -> str:
    """`text` in at most `room` cells, with `dots` where something is missing."""
    if cells(text) <= room:
        return text
    left = room - cells(dots)
    if left <= 0:
        return dots if left == 0 else ""
    if cut == "end":
        return _front(text, left) + dots
    tail = left // 2
    return _front(text, left - tail) + dots + _front(text[::-1], tail)[::-1]


def arrange(row: Row, width: int | None, dots: str) -> tuple[str, str, str]:
    """(name, about with the blanks around it, note) of a row in `width` columns; None is no
    bound. The three parts join without more blanks."""
    # the last column stays free: some terminals wrap when it is written
    limit = SOFT_WIDTH if width is None else width - 1
    name = shorten(row.name, min(LONGEST_NAME, limit - cells(row.glyph) - SMALLEST), dots, "end")
    if limit >= NARROW and (row.about or row.note):
        name = name.ljust(NAME_WIDTH)
    room = limit - cells(row.glyph) - 1 - cells(name)
    note = row.note if width is None else shorten(row.note, room // 2, dots, "end")
    about = f" {row.about}" if row.about else ""
    if width is not None:
        about = shorten(about, room - (cells(note) + 2 if note else 0), dots, row.cut)
    gap = max(2, room - cells(about) - cells(note)) if note else 0
    return name, about + " " * gap, note


def wrap(text: str, width: int, indent: str) -> str:
    """`text` broken at blanks, every line after the first begins with `indent`. Words are left
    whole, so that a path or command stays one piece."""
    if cells(text) <= width:
        return text
    import textwrap

    lines = textwrap.wrap(
        text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines)


def split(text: str, room: int) -> list[str]:
    """`text` in pieces of at most `room` cells (at least one character each)."""
    if text.isascii():
        return [text[at : at + room] for at in range(0, len(text), room)] or [""]
    pieces: list[str] = []
    start = used = 0
    for index, char in enumerate(text):
        width = _cell(char)
        if used + width > room and index > start:
            pieces.append(text[start:index])
            start, used = index, 0
        used += width
    return [*pieces, text[start:]]


def _cell(char: str) -> int:
    import unicodedata

    # format characters such as the joiner in an emoji, and accents, share their base's cell
    if unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1


def _front(text: str, room: int) -> str:
    used = 0
    for index, char in enumerate(text):
        used += _cell(char)
        if used > room:
            return text[:index]
    return text
