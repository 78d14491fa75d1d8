"""Gemma's own notation: `call:NAME{path:<|"|>a.py<|"|>,start:10}` between its two tokens.

Strings stand between `<|"|>` or `<escape>` tokens, keys are bare, all else is as in JSON.
"""

import json
import re

from harness.model.families.form import CUT, Block, Problem, Written, called, failed, named
from harness.model.offer import Offer
from harness.model.repair import parse_value

_HEAD = re.compile(
    r"\s*(?:<\|tool_call>|<start_function_call>)\s*call:(?P<name>[\w.\-:]{1,200})\s*(?=\{)"
)
_TAIL = re.compile(r"\s*(?:<tool_call\|>|<end_function_call>)")
_PIECE = re.compile(
    r'(?P<string><\|"\|>.*?<\|"\|>|<escape>.*?<escape>)'
    r'|(?P<json>"[^"\\]*(?:\\.[^"\\]*)*")'
    r"|(?P<open><\|\"\|>|<escape>|[\"'])"
    r"|(?P<key>[A-Za-z_][\w\-]*)(?=\s*:)"
    r"|(?P<bracket>[{}\[\]])",
    re.DOTALL,
)


def read_gemma(text: str, start: int, offer: Offer) -> Block | None:
    """`<|tool_call>call:NAME{..}<tool_call|>`, one or more; FunctionGemma's tokens alike."""
    calls: list[Written | Problem] = []
    at = start
    while head := _HEAD.match(text, at):
        read = _as_json(text, head.end())
        if read is None:
            return failed(start, len(text), Problem("malformed_tool_call", CUT))
        calls.append(named(head["name"], read[0], offer))
        tail = _TAIL.match(text, read[1])
        at = tail.end() if tail else read[1]
    return called(start, at, calls) if calls else None


def _as_json(text: str, at: int) -> tuple[object, int] | None:
    """The object that starts at `at` and where it ends, or None."""
    made: list[str] = []
    depth = 0
    for piece in _PIECE.finditer(text, at):
        made.append(text[at : piece.start()])
        at = piece.end()
        if piece["open"]:
            return None
        made.append(_json_of(piece))
        if piece["bracket"]:
            depth += 1 if piece[0] in "{[" else -1
        if depth == 0:
            return _parsed("".join(made), at)
    return None


def _json_of(piece: re.Match[str]) -> str:
    if piece["string"]:
        token = '<|"|>' if piece[0].startswith("<|") else "<escape>"
        return json.dumps(piece[0][len(token) : -len(token)])
    return f'"{piece[0]}"' if piece["key"] else piece[0]


def _parsed(text: str, end: int) -> tuple[object, int] | None:
    try:
        return parse_value(text), end
    except ValueError:
        return None
