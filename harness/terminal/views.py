"""How the commands show what a session knows."""

from collections.abc import Iterable, Sequence

from harness.terminal.diff import show_diff
from harness.terminal.face import EntryLine
from harness.terminal.layout import NARROW, cells
from harness.terminal.safe import one_line
from harness.terminal.screen import Screen
from harness.tools.base import plural

ENTRY_LINES = 4
ENTRY_CHARACTERS = 400

KEYS = (
    ("Enter", "send"),
    ("Alt-Enter", "a new line (also Esc Enter, or a backslash at the end)"),
    ("Tab", "complete a command or a path"),
    ("Ctrl-C", "stop the turn or clear the line; twice leaves"),
    ("Ctrl-D", "leave"),
)


def show_pairs(screen: Screen, pairs: Iterable[tuple[str, str]]) -> None:
    """Two columns, or one below the other where the screen is narrow."""
    rows = [(one_line(label), one_line(value)) for label, value in pairs]
    widest = max((cells(label) for label, _ in rows), default=0)
    narrow = screen.width is not None and screen.width < NARROW
    for label, value in rows:
        if narrow and cells(value) > (screen.width or 0) - widest - 5:
            screen.message(" ", label)
            screen.message("   ", value, indent="    ")
        else:
            pad = " " * (widest - cells(label) + 2)
            screen.line(("", "  "), ("bold", label), ("", pad + value))


def show_keys(screen: Screen) -> None:
    screen.line()
    show_pairs(screen, KEYS)


def show_entries(screen: Screen, entries: Sequence[EntryLine]) -> None:
    if not entries:
        screen.line(("", "nothing is remembered yet"))
    for entry in entries:
        note = f", {entry.note}" if entry.note else ""
        label = one_line(f"({entry.scope}{note})")
        screen.line(("bold", one_line(entry.key)), ("dim", f" {label}"))
        _content(screen, entry.content)


def show_changes(screen: Screen, diff: str) -> None:
    if diff.strip():
        show_diff(screen, diff, most=None, fit=False)
    else:
        screen.line(("", "nothing has changed since the session began"))


def _content(screen: Screen, content: str) -> None:
    bounded = content[:ENTRY_CHARACTERS]
    lines = bounded.strip().split("\n")[:ENTRY_LINES]
    for line in lines:
        screen.message(" ", line.rstrip())
    left = len(content.strip()) - len("\n".join(lines))
    if left > 0:
        screen.line(("dim", f"  {screen.glyphs.dots} {plural(left, 'more character')}"))
