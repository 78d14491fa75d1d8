"""Markdown's code fences and code spans, as far as telling code from calls needs them."""

import re

WINDOW = 400
"""Characters behind a place within which it must become clear what starts there."""

# repetitions are bounded, or endless white space and ticks would be read again at every delta
_LINE = re.compile(r"(`{3,80}|~{3,80})[ \t]*([^`\n]*?)[ \t\r]*(?=\n)")
_TICKS = re.compile(r"`{1,80}")


def fence_line(text: str, at: int) -> re.Match[str] | None:
    """The line that opens a fence at `at`: its marker is group 1, its language group 2."""
    return _LINE.match(text, at, at + WINDOW)


def closing_fence(text: str, at: int, marker: str) -> re.Match[str] | None:
    """The line that closes a fence opened with `marker`, searched from `at` on."""
    pattern = rf"\n[ \t]{{0,60}}{marker[0]}{{{len(marker)},160}}[ \t\r]{{0,60}}(?=\n|\Z)"
    return re.compile(pattern).search(text, at)


def out_of_fence(text: str, at: int, marker: str, final: bool) -> tuple[int, str]:
    """How far a fence is known to go, and its marker, or "" when it has closed."""
    closing = closing_fence(text, at, marker)
    if closing is not None and (final or closing.end() < len(text)):
        return closing.end(), ""
    last_line = text.rfind("\n", at)
    may_close = 0 <= last_line >= len(text) - WINDOW and not text[last_line:].strip("`~ \t\r\n")
    return (last_line if may_close and not final else len(text)), marker


def ticks(text: str, at: int) -> re.Match[str] | None:
    return _TICKS.match(text, at)


def after_code_span(text: str, mark: re.Match[str], final: bool) -> int | None:
    """Where a code span opened by these ticks ends; where the ticks end when it does not close in
    its line; None when more must come first."""
    line, newline, _ = text[mark.end() : mark.end() + WINDOW].partition("\n")
    closed = re.compile(rf"(?<!`){mark[0]}(?!`)").search(line)
    open_end = not final and not newline and len(line) < WINDOW
    if closed and not (open_end and closed.end() == len(line)):
        return mark.end() + closed.end()
    return None if open_end else mark.end()
