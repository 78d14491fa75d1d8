"""Thoughts at the head of a message."""

import re
from collections.abc import Mapping

THINK_END = "</think>"

THOUGHTS: Mapping[str, str] = {
    "<think>": THINK_END,
    "<thinking>": "</thinking>",
    "<thought>": "</thought>",
    "<reasoning>": "</reasoning>",
    "<seed:think>": "</seed:think>",
    "<|channel>thought": "<channel|>",
    "[THINK]": "[/THINK]",
    "◁think▷": "◁/think▷",
    "<|START_THINKING|>": "<|END_THINKING|>",
}
"""How models open and close what they think before they answer."""

MID_THOUGHTS = ("<think>", "<seed:think>", "[THINK]", "◁think▷", "<|START_THINKING|>")
"""Openers that no other text holds, so that a thought may begin with them behind an answer."""

_OPEN = re.compile(r"\s*(" + "|".join(map(re.escape, THOUGHTS)) + ")")
LONGEST_OPENER = max(map(len, THOUGHTS))
LONGEST_END = max(map(len, THOUGHTS.values()))


def opened(text: str, at: int) -> re.Match[str] | None:
    """The opener that stands at `at`, behind white space; group 1 is a key of THOUGHTS."""
    return _OPEN.match(text, at)


def may_open(text: str, at: int) -> bool:
    """Whether what stands at `at` may become an opener."""
    rest = text[at : at + LONGEST_OPENER]
    return any(len(rest) < len(opener) and opener.startswith(rest) for opener in THOUGHTS)


def leading_thoughts(text: str) -> tuple[list[str], str]:
    """The thoughts a text starts with, and the rest. An open one takes all."""
    thoughts: list[str] = []
    at = 0
    while found := _OPEN.match(text, at):
        closer = THOUGHTS[found[1]]
        end = text.find(closer, found.end())
        if end < 0:
            return [*thoughts, text[found.end() :]], ""
        thoughts.append(text[found.end() : end])
        at = end + len(closer)
    return thoughts, text[at:]
