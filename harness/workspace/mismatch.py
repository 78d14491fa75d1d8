"""What a model is told when the text that it wants to replace is not there, or several times."""

from collections.abc import Iterator, Sequence

MOST_MATCHES = 1000
"""Places that are looked for where one is wanted."""

_COMPARED_LINES = 20_000
_SHOWN_LINE = 300
_SHOWN_LINES = 20


def mismatch(text: str, old: str, starts: Sequence[int], path: str) -> str:
    """`starts` are the places of `old` in `text`: none, or more than one. Both have `\\n` ends."""
    if starts:
        return _several(text, starts, path)
    lines = text.split("\n")
    alike = next(_but_for_blanks(lines, old), None)
    nothing = f"old_text occurs 0 times in {path!r}; nothing was changed."
    if alike is not None:
        return f"{nothing} {_blanks(lines, old, alike)}"
    if _composed_otherwise(text, old):
        return f"{nothing} The file has these letters in another Unicode form; copy its own."
    return f"{nothing}{_closest(lines, old)} Copy the lines exactly, without line numbers."


def _several(text: str, starts: Sequence[int], path: str) -> str:
    lines = ", ".join(str(text.count("\n", 0, at) + 1) for at in starts[:10])
    more = ", ..." if len(starts) > 10 else ""
    count = f"{len(starts)}" + (" or more" if len(starts) == MOST_MATCHES else "")
    return (
        f"old_text occurs {count} times in {path!r} (at lines {lines}{more}); nothing was "
        "changed. Add neighbouring lines to old_text until it occurs exactly once."
    )


def _but_for_blanks(lines: Sequence[str], old: str) -> Iterator[int]:
    """Indices where the lines of `old` are, were it not for blanks at their ends."""
    wanted = _worded(old)
    if not any(wanted):
        return
    stripped = [line.strip() for line in lines[:_COMPARED_LINES]]
    at = -1
    while True:
        try:
            at = stripped.index(wanted[0], at + 1)
        except ValueError:
            return
        if stripped[at : at + len(wanted)] == wanted:
            yield at


def _worded(old: str) -> list[str]:
    """The lines of `old` without blanks, from the first to the last that says something."""
    return [line.strip() for line in old.strip().split("\n")]


def _blanks(lines: Sequence[str], old: str, at: int) -> str:
    sent = [line for line in old.split("\n") if line.strip()]
    there = lines[at : at + len(_worded(old))]
    full = [line for line in there if line.strip()]
    pairs = list(zip(sent, full, strict=False))
    differences = [
        what
        for what, differs in (
            ("tabs where old_text has spaces", any(_tabs(b) > _tabs(a) for a, b in pairs)),
            ("spaces where old_text has tabs", any(_tabs(b) < _tabs(a) for a, b in pairs)),
            ("another indentation", any(_depth(a) != _depth(b) for a, b in pairs)),
            ("blanks at the end of a line", any(_end(a) != _end(b) for a, b in pairs)),
        )
        if differs
    ]
    shown = "\n".join(line[:_SHOWN_LINE] for line in there[:_SHOWN_LINES])
    place = f"line {at + 1}" if len(there) == 1 else f"lines {at + 1}-{at + len(there)}"
    return (
        f"It differs from {place} in blanks alone: the file has "
        f"{' and '.join(differences) or 'other blank lines'}. Send old_text and new_text with "
        f"the blanks of the file, which are:\n{shown}"
    )


def _tabs(line: str) -> int:
    return _indentation(line).count("\t")


def _depth(line: str) -> int:
    return len(_indentation(line).expandtabs(4))


def _indentation(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _end(line: str) -> str:
    return line[len(line.rstrip()) :]


def _composed_otherwise(text: str, old: str) -> bool:
    if old.isascii():
        return False
    import unicodedata

    return unicodedata.normalize("NFC", old) in unicodedata.normalize("NFC", text)


def _closest(lines: Sequence[str], old: str) -> str:
    """The lines of the file most like the first line of `old` that says something."""
    from difflib import SequenceMatcher

    wanted = next((line.strip() for line in old.split("\n") if line.strip()), "")[:_SHOWN_LINE]
    matcher = SequenceMatcher(None, "", wanted, autojunk=False)
    best, place = 0.6, 0
    lines = [line[:_SHOWN_LINE] for line in lines]
    for number, line in enumerate(lines[:_COMPARED_LINES], 1):
        matcher.set_seq1(line.strip())
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            ratio = matcher.ratio()
            best, place = (ratio, number) if ratio > best else (best, place)
    if not place:
        return ""
    shown = "\n".join(f"{n}: {lines[n - 1]}" for n in range(place, min(place + 5, len(lines) + 1)))
    return f" The closest lines are:\n{shown}\n"
