"""Colours, glyphs and sizes: what the stream at hand can show."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TextIO

SGR: Final[Mapping[str, str]] = MappingProxyType(
    {
        "good": "32",
        "bad": "31",
        "attention": "33",
        "hunk": "36",
        "dim": "2",
        "bold": "1",
    }
)


@dataclass(frozen=True)
class Glyphs:
    """One mark for each way in which something can have ended."""

    passed: str
    failed: str
    denied: str
    skipped: str
    review: str
    warning: str
    info: str
    retry: str
    dots: str


UNICODE: Final = Glyphs("✓", "✗", "⊘", "–", "?", "!", "·", "↻", "…")
ASCII: Final = Glyphs("+", "x", "o", "-", "?", "!", ".", "~", "...")


def glyphs_for(encoding: str | None) -> Glyphs:
    """The marks that `encoding` can hold."""
    marks = "".join(vars(UNICODE).values())
    try:
        marks.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return ASCII
    return UNICODE


def is_live(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Whether `stream` is a terminal that can erase a line."""
    return stream.isatty() and environ.get("TERM", "").lower() not in ("dumb", "unknown")


def choose_color(stream: TextIO, environ: Mapping[str, str] = os.environ) -> bool:
    """Colour only for a capable terminal, and not when NO_COLOR is set to anything."""
    return is_live(stream, environ) and not environ.get("NO_COLOR")


def columns(stream: TextIO, environ: Mapping[str, str] = os.environ) -> int | None:
    """Columns of the terminal behind `stream` now; None when there is none. COLUMNS rules."""
    wanted = environ.get("COLUMNS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    size = _size(stream)
    return size.columns if size else None


def rows(stream: TextIO) -> int:
    """Lines of the terminal behind `stream`, 24 when there is none."""
    size = _size(stream)
    return size.lines if size else 24


def _size(stream: TextIO) -> os.terminal_size | None:
    if not stream.isatty():
        return None
    try:
        size = os.get_terminal_size(stream.fileno())
    except (OSError, ValueError):
        return None
    return size if size.columns > 0 and size.lines > 0 else os.terminal_size((80, 24))
