"""Text in which a model has left lines out, with a placeholder in their stead."""

import re

from harness.errors import ToolError

_DOTS = ("...", "\u2026")
# plain strings: compiled when first needed, not at every start
_LEFT_OUT = (
    r"(?i)\b(existing|rest|remain(s|ing|der)?|unchanged|previous|other|same|omitted|as before"
    r"|left out)\b"
)
_COMMENT = r"(#|//|/\*|\{/\*|<!--|--|;|%|\(|\[|<|\.\.\.|\u2026)"
_WHOLE = (
    r"(?i)\b(rest|remainder) of (the |this )?\w+.{0,20}(unchanged|same|as before)"
    r"|^\W*(existing|unchanged|remaining|omitted|previous)"
    r"( (code|lines?|content|methods?|functions?))?( (here|unchanged|omitted))*\W*$"
)
"""Placeholders that need no dots: nobody writes such a comment about code that is there."""
_SHOWN = 80


def refuse_elided(before: str, after: str, name: str, path: str) -> None:
    """Raise ToolError when `after`, the argument `name`, has a placeholder that is new in it and
    lines of `before` would be lost."""
    kept = {line.strip() for line in after.splitlines()}
    lines = {line.strip() for line in before.splitlines()}
    if not lines - kept - {""}:
        return
    new = (line.strip() for line in after.splitlines() if line.strip() not in lines)
    line = next((line for line in new if _stands_for_others(line)), None)
    if line is not None:
        raise ToolError(
            f"{name} holds the placeholder {line[:_SHOWN]!r} where lines of {path!r} would be "
            "lost; nothing was written. Write every line out, or use patch_file for the lines "
            "that change."
        )


def _stands_for_others(line: str) -> bool:
    if not re.match(_COMMENT, line):
        return False
    dots = any(mark in line for mark in _DOTS)
    return bool((dots and re.search(_LEFT_OUT, line)) or re.search(_WHOLE, line))
