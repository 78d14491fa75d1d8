"""Showing a unified diff."""

from harness.terminal.layout import shorten
from harness.terminal.screen import Screen
from harness.tools.base import plural

TAB = 4


def show_diff(screen: Screen, diff: str, *, most: int | None, fit: bool) -> None:
    """Lines of `diff`, indented by two; beyond `most` only their number is told.

    `fit` cuts long lines at the edge of the screen. Without it they wrap: right where a person
    has to judge every character.
    """
    lines = diff.removesuffix("\n").split("\n")
    shown = lines if most is None or len(lines) <= most else lines[:most]
    room = (screen.width or 0) - 3 if fit and screen.width else None
    for line in shown:
        text = line.expandtabs(TAB)
        if room is not None:
            text = shorten(text, max(room, 1), screen.glyphs.dots, "end")
        screen.line(("", "  "), (diff_style(line), text))
    left_out = len(lines) - len(shown)
    if left_out:
        screen.line(("dim", f"  {screen.glyphs.dots} {plural(left_out, 'more line')}"))


def diff_style(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return "bold"
    return {"+": "good", "-": "bad", "@": "hunk"}.get(line[:1], "")
