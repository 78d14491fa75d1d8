"""JSON as models write it. Only what loses nothing is mended; the rest is refused.

Mended: a trailing comma, single quotes and Python's True, False and None, newlines inside
strings, a literal \\n between tokens, double encoding, a fence or control token around the object,
an object alone in a list, a closing remark after it.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from harness.model.strict import decoder, strict_value

_CONTROL_TOKEN = re.compile(r"<\|[a-z_]+\|>|</s>|</tool_call>")
_LONGEST_TOKEN = 40
_FENCE_HEAD = re.compile(r"(`{3,}|~{3,})[a-zA-Z_]*[ \t\r]*\n")
_REMARK = re.compile(r"[\s}\]]*+[^{}\[\]\"]*+\Z")
_PIECE = re.compile(
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
    # a string without an end takes the rest, or it would be looked for again at every quote in it
    r"""|(?P<open>["'].*)"""
    r"""|(?P<comma>,(?=(?:\s|\\[nrt])*[}\]]))"""
    r"""|(?P<word>\b(?:True|False|None)\b)"""
    r"""|(?P<space>\\[nrt])""",
    re.DOTALL,
)
_WORDS: Mapping[str, str] = {"True": "true", "False": "false", "None": "null"}
_IN_STRING = re.compile(r"\\.|[\"\x00-\x1f]", re.DOTALL)
_SPACE = re.compile(r"\s*")


def parse_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that `text` means, or None."""
    text = _without_fence(_without_tokens(text))
    try:
        return as_object(parse_value(text))
    except ValueError:
        return _before_remark(text)


def as_object(value: Any) -> dict[str, Any] | None:
    """The object in a decoded value: itself, alone in a list, or encoded once more."""
    if isinstance(value, str):
        try:
            value = parse_value(value)
        except ValueError:
            return None
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    return value if isinstance(value, dict) else None


def parse_value(text: str) -> Any:
    """The JSON value that `text` means. Raises ValueError."""
    try:
        return strict_value(text)
    except ValueError:
        return strict_value(_PIECE.sub(_mended, text))


def read_value(text: str, at: int) -> tuple[Any, int] | None:
    """The strict object or list that starts at `at`, behind white space, and where it ends."""
    start = skip_space(text, at)
    if text[start : start + 1] not in ("{", "["):
        return None
    try:
        return decoder().raw_decode(text, start)
    except (ValueError, RecursionError):
        return None


def skip_space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _without_tokens(text: str) -> str:
    """Control tokens at the end belong to the format around the object."""
    text = text.rstrip()
    while text.endswith(">"):
        start = text.rfind("<", max(0, len(text) - _LONGEST_TOKEN))
        if start < 0 or not _CONTROL_TOKEN.fullmatch(text, start):
            return text
        text = text[:start].rstrip()
    return text


def _without_fence(text: str) -> str:
    text = text.strip()
    head = _FENCE_HEAD.match(text)
    if head is None or not text.endswith(head[1]) or len(text) < head.end() + len(head[1]):
        return text
    return text[head.end() : -len(head[1])]


def _before_remark(text: str) -> dict[str, Any] | None:
    read = read_value(text, 0)
    return as_object(read[0]) if read and _REMARK.match(text, read[1]) else None


def _mended(piece: re.Match[str]) -> str:
    if piece["string"]:
        return '"' + _IN_STRING.sub(_escaped, piece["string"][1:-1]) + '"'
    if piece["word"]:
        return _WORDS[piece["word"]]
    if piece["open"]:
        return piece["open"]
    return " " if piece["space"] else ""


def _escaped(found: re.Match[str]) -> str:
    text = found[0]
    if text == "\\'":
        return "'"
    return text if text[0] == "\\" else json.dumps(text)[1:-1]
