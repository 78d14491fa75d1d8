"""JSON calls inside a tag: Hermes and Qwen `<tool_call>`, `<tools>` and their relations."""

import re
from collections.abc import Mapping

from harness.model.families import objects
from harness.model.families.form import CUT, Block, Problem, called, failed
from harness.model.families.python_calls import calls_in
from harness.model.offer import Offer
from harness.model.repair import skip_space

ENVELOPES: Mapping[str, str] = {
    "<tool_call>": "</tool_call>",
    "<tool_calls>": "</tool_calls>",
    "<tools>": "</tools>",
    "<tool_use>": "</tool_use>",
    "<function_call>": "</function_call>",
    "<functioncall>": "</functioncall>",
    "<function_calls>": "</function_calls>",
    "<TOOLCALL>": "</TOOLCALL>",
    "<tool_code>": "</tool_code>",
    "[TOOL_REQUEST]": "[END_TOOL_REQUEST]",
    "<|tool_call|>": "<|/tool_call|>",
    "<|tool_call_start|>": "<|tool_call_end|>",
    "<|python_start|>": "<|python_end|>",
    "<|tools_prefix|>": "<|tools_suffix|>",
    "<|START_ACTION|>": "<|END_ACTION|>",
    "<|action_start|><|plugin|>": "<|action_end|>",
    "functools[": "]",
}
"""Openers, the longer of two alike first where one begins the other, and their closers."""

TOKENS = tuple(opener for opener in ENVELOPES if opener.startswith("<|"))
WORDS = ("functools[",)
TAGS = tuple(opener for opener in ENVELOPES if opener not in (*TOKENS, *WORDS))
_CONTENT = re.compile(r"[\[{`]|[A-Za-z_][\w.]{0,80}\(")
_FENCE = re.compile(r"```[a-z_]*[ \t\r]*\n(.*)\n[ \t]*```\s*\Z", re.DOTALL)


def read_envelope(text: str, at: int, offer: Offer) -> Block | None:
    """`<tool_call>{"name": .., "arguments": {..}}</tool_call>`; also several objects, or a list."""
    opener = next((tag for tag in ENVELOPES if text.startswith(tag, at)), "")
    # the bracket of `functools[` is the list's own
    inner = at + len(opener.removesuffix("["))
    closer = "" if opener.endswith("[") else ENVELOPES[opener]
    start = skip_space(text, inner)
    if text.startswith(opener, start):
        # sent twice; once more would be no accident, and reading on to count them is quadratic
        inner = start + len(opener)
        start = skip_space(text, inner)
    if closer and start < len(text) and not _CONTENT.match(text, start):
        return None
    values, end = objects.read_values(text, inner)
    tail = skip_space(text, end)
    if values and text.startswith(closer, tail):
        return called(at, tail + len(closer), objects.calls_of(values, offer))
    # the next call ends one whose closer is missing, and an opener at the end was meant to close
    again = values and closer and text.startswith(opener, tail)
    if again and skip_space(text, tail + len(opener)) == len(text):
        tail = len(text)
    if values and (again or tail == len(text)):
        return called(at, tail, objects.calls_of(values, offer))
    end = text.find(closer, inner) if closer else -1
    if end < 0:
        values = objects.closed(text[inner:], offer)
        if values:
            return called(at, len(text), objects.calls_of(values, offer))
        return failed(at, len(text), Problem("malformed_tool_call", CUT))
    return _mended(text[inner:end], at, end + len(closer), offer)


def _mended(body: str, at: int, end: int, offer: Offer) -> Block:
    fence = _FENCE.match(body.strip())
    body = fence[1] if fence else body
    values = objects.values_in(body) or objects.closed(body, offer)
    if values:
        return called(at, end, objects.calls_of(values, offer))
    return called(at, end, calls_in(body, offer) or [])
