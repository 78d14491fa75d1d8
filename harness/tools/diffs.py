"""Unified diffs of one file for people."""

import re

MOST_LINES = 400
_CONTEXT = 3
_HUNK = re.compile(r"^@@ -(\d+)(.*) \+(\d+)(.*) @@$", re.MULTILINE)
_REST = re.compile(r"\.\.\. \d+ more lines \(\+(\d+) -(\d+)\)$")


def unified(path: str, before: str, after: str) -> str:
    """A diff with three lines of context; line ends are shown as `\\n`."""
    from difflib import unified_diff

    old, new = _lines(before), _lines(after)
    # difflib is quadratic in repeated lines, so it is spared what is equal around a change
    head = _far(_common(old, new))
    tail = _far(_common(old[head:][::-1], new[head:][::-1]))
    old, new = old[head : len(old) - tail], new[head : len(new) - tail]
    names = f"a/{path}" if before else "/dev/null", f"b/{path}" if after else "/dev/null"
    lines = [_shifted(line, head) for line in unified_diff(old, new, *names, n=_CONTEXT)]
    shown = [line if line.endswith("\n") else line + "\n" for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        rest = lines[MOST_LINES:]
        shown.append(f"... {len(rest)} more lines ({_tally(rest)})\n")
    return "".join(shown)


def counts(diff: str) -> str:
    """`+2 -1`: lines added and removed, with those that `unified` left out."""
    lines = diff.split("\n")[2:]
    rest = _REST.match(lines[-2]) if len(lines) > 1 else None
    return _tally(lines, *map(int, rest.groups())) if rest else _tally(lines)


def _tally(lines: list[str], added: int = 0, removed: int = 0) -> str:
    added += sum(line.startswith("+") for line in lines)
    removed += sum(line.startswith("-") for line in lines)
    return f"+{added} -{removed}"


def _lines(text: str) -> list[str]:
    """Lines as files have them; `splitlines` would break at form feeds and the like, too."""
    lines = [line + "\n" for line in text.replace("\r\n", "\n").split("\n")]
    last = lines.pop()[:-1]
    return [*lines, last] if last else lines


def _common(one: list[str], other: list[str]) -> int:
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _far(equal: int) -> int:
    """How many of `equal` lines lie beyond the context of a change."""
    return max(0, equal - _CONTEXT)


def _shifted(line: str, by: int) -> str:
    def numbers(hunk: re.Match[str]) -> str:
        return f"@@ -{int(hunk[1]) + by}{hunk[2]} +{int(hunk[3]) + by}{hunk[4]} @@"

    return _HUNK.sub(numbers, line) if line.startswith("@@") else line
