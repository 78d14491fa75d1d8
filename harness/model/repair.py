"""JSON as models write it. Only what loses nothing is mended; the rest is refused.

Mended: a trailing comma, comments, keys without quotes, single quotes and Python's True, False and
None, newlines inside strings, a literal \\n between tokens, double encoding (with its quotes or
without), a fence or control token around the object, an object alone in a list or sent twice, an
empty one before it, a closing remark after it.
"""

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from harness.model.strict import decoder, strict_value

_CONTROL_TOKEN = re.compile(r"<\|[a-z_]+\|>|</s>|</tool_call>")
_LONGEST_TOKEN = 40
_FENCE_HEAD = re.compile(r"(`{3,}|~{3,})[a-zA-Z_]*[ \t\r]*\n")
_REMARK = re.compile(r"[\s}\]]*+[^{}\[\]\"]*+\Z")
_STRING = (
    r"""(?P<string>"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')"""
    # a string without an end takes the rest, or it would be looked for again at every quote in it
    r"""|(?P<open>["'].*)"""
)
_COMMENT = re.compile(rf"{_STRING}|(?P<comment>//[^\n]*|#[^\n]*|/\*.*?(?:\*/|\Z))", re.DOTALL)
_PIECE = re.compile(
    _STRING + r"""|(?P<key>\b[A-Za-z_]\w*+(?=\s*:))"""
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
    text = _without_fence(_without_tokens(text.removeprefix("\ufeff")))
    try:
        return as_object(parse_value(text))
    except ValueError:
        return _before_remark(text) or _only_one(text) or _encoded(text)


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
    for mend in (str, _without_quirks, lambda text: _without_quirks(_COMMENT.sub(_said, text))):
        with suppress(ValueError):
            return strict_value(mend(text))
    raise ValueError("no JSON")


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


def _only_one(text: str) -> dict[str, Any] | None:
    """The one object of a row in which it stands more than once, or behind empty ones."""
    found: dict[str, Any] = {}
    at = 0
    while read := read_value(text, at):
        if read[0]:
            found[text[at : read[1]].strip()] = read[0]
        if len(found) > 1:
            return None
        at = read[1]
    return as_object(*found.values()) if found and not text[at:].strip() else None


def _encoded(text: str) -> dict[str, Any] | None:
    """The object of a text that was encoded once more and has lost its quotes."""
    try:
        return as_object(strict_value(f'"{text}"'))
    except ValueError:
        return None


def _without_quirks(text: str) -> str:
    return _PIECE.sub(_mended, text)


def _said(piece: re.Match[str]) -> str:
    return " " if piece["comment"] else piece[0]


def _mended(piece: re.Match[str]) -> str:
    if piece["string"]:
        return '"' + _IN_STRING.sub(_escaped, piece["string"][1:-1]) + '"'
    if piece["key"]:
        return f'"{piece["key"]}"'
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
