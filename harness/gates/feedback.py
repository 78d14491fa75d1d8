"""Text for the model: bounded, without control characters, the most telling part first."""

import re
from collections.abc import Sequence

LIMIT = 6000
"""Characters of a gate's whole feedback."""

_ESCAPES = re.compile(r"\x1b(\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[@-Z\\-_])")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """`text` without terminal sequences, other control characters and direction overrides."""
    return _CONTROLS.sub("", _ESCAPES.sub("", text.replace("\r\n", "\n")))


def bounded(text: str, limit: int = LIMIT) -> str:
    """At most `limit` characters: head and tail, with a line between that counts the rest."""
    text = plain(text)
    if len(text) <= limit:
        return text
    room = max(limit - 50, 0)
    head = room * 2 // 3
    tail = room - head
    left_out = len(text) - head - tail
    end = text[-tail:] if tail else ""
    return f"{text[:head]}\n... {left_out} characters left out ...\n{end}"[:limit]


def compose(
    heading: str,
    failures: Sequence[str],
    output: str,
    ending: str = "",
    limit: int = LIMIT,
) -> str:
    """Heading, then the failures, then the output's head and tail, then `ending`.

    `failures` are paragraphs with the most important first, their first line a name. Those that
    do not fit are named, then counted. Never longer than `limit` characters.
    """
    heading = bounded(heading, limit // 4)
    ending = bounded(ending, limit // 4)
    room = limit - len(heading) - len(ending) - 10
    shown = _failures([plain(failure) for failure in failures], room * 3 // 4)
    parts = [heading, *([shown] if shown else [])]
    left = room - len(shown) - 20
    if output.strip() and left > 200:
        parts.append("Output:\n" + bounded(output.strip("\n"), left))
    return "\n\n".join([*parts, *([ending] if ending else [])])[:limit]


def _failures(failures: Sequence[str], room: int) -> str:
    """As many whole paragraphs as fit beside the names of the rest."""
    names = [failure.partition("\n")[0][:300] for failure in failures]
    shown: list[str] = []
    used = 0
    for index, failure in enumerate(failures):
        rest = min(sum(len(name) + 1 for name in names[index + 1 :]), room // 4)
        piece = bounded(failure, max(room // 3, 400)) if len(failures) > 1 else failure
        if used + len(piece) + 2 + rest > room:
            break
        shown.append(piece)
        used += len(piece) + 2
    if not shown and failures:
        shown.append(bounded(failures[0], max(room // 2, 0)))
        used = len(shown[0]) + 2
    rest_names = _names(names[len(shown) :], room - used)
    return "\n\n".join([*shown, *([rest_names] if rest_names else [])])


def _names(names: Sequence[str], room: int) -> str:
    lines: list[str] = []
    for index, name in enumerate(names):
        if len(name) + 1 + 40 > room:
            return "\n".join([*lines, f"... and {len(names) - index} more"])
        lines.append(name)
        room -= len(name) + 1
    return "\n".join(lines)
