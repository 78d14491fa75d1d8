"""Calls that stand in no tag: JSON alone, in a Markdown fence, or as Python.

Prose holds braces, brackets and fences, too. So what is no call here is text, and a call counts
only when it is all that the object, list or fence holds.
"""

import re
from typing import Any

from harness.model.families import objects
from harness.model.families.form import Block, Problem, Written
from harness.model.families.python_calls import PROMISE, calls_in, list_end
from harness.model.fences import WINDOW, closing_fence, fence_line
from harness.model.offer import Offer
from harness.model.repair import read_value, skip_space

_JSON_INFO = frozenset({"", "json", "tool_call", "tool_calls", "tool", "function", "tool_use"})
_PYTHON_INFO = frozenset({"tool_code", "tool_call", "tool_calls"})
_FIRST_KEY = re.compile(r"\s*(?:\[\s*)?\{\s*[\"']([^\"'\n]*)[\"']")
_FIRST_KEY_SO_FAR = re.compile(r"\s*(?:\[\s*)?(?:\{\s*(?:[\"'][^\"'\n]*)?)?\Z")
_PROMISE_SO_FAR = re.compile(r"\[?\s*[\w.]{0,80}\s*\Z")
_TOO_MANY = re.compile(r"[\s}\]]*\Z")
_INSIDE = re.compile(r"(?:[\[{,(]|[\"']\s{0,9}:)\s{0,80}\Z")
_CLOSING_TAG = re.compile(r"\s*</(?:tool_calls?|tools?|function_calls?|function|answer)>")


def begins_object(text: str, at: int, final: bool) -> bool | None:
    """Whether an object with a first key of a call starts at `at`."""
    window = text[at : at + WINDOW]
    found = _FIRST_KEY.match(window)
    if found:
        return found[1] in objects.KEYS or found[1] == objects.LIST
    undecided = not final and len(window) < WINDOW and _FIRST_KEY_SO_FAR.match(window)
    return None if undecided else False


def begins_python(text: str, at: int, final: bool) -> bool | None:
    """Whether a list of Python calls starts at `at`."""
    window = text[at : at + WINDOW]
    if PROMISE.match(window):
        return True
    undecided = not final and len(window) < WINDOW and _PROMISE_SO_FAR.match(window)
    return None if undecided else False


def begins_fence(text: str, at: int, final: bool) -> bool | None:
    """Whether a fence at `at` starts with a call."""
    line = fence_line(text, at)
    if line is None:
        window = text[at : at + WINDOW]
        return None if not final and "\n" not in window and len(window) < WINDOW else False
    info = line[2].lower()
    if info in _PYTHON_INFO:
        return True
    return begins_object(text, line.end(), final) if info in _JSON_INFO else False


def read_objects(text: str, at: int, offer: Offer) -> Block | None:
    """`{"name": .., "arguments": {..}}`, one after the other or in a list."""
    values, end = _call_like(text, at, offer)
    calls = objects.bare_calls(values, offer)
    if calls:
        tag = _CLOSING_TAG.match(text, end) or _TOO_MANY.match(text, end)
        if tag and tag[0].lstrip()[:1] in ("}", "]") and _INSIDE.search(text[max(0, at - 90) : at]):
            # a part of some larger JSON, which is an answer
            return Block(at, end)
        return _block(at, tag.end() if tag else end, calls, tagged=bool(tag and tag[0].strip()))
    if read := read_value(text, at):
        return Block(at, read[1])
    if not objects.names_a_tool(text[at : at + objects.HEAD], offer):
        return None
    rest = text[at:]
    mended = objects.bare_calls(objects.values_in(rest) or objects.closed(rest, offer), offer)
    return _block(at, len(text), mended or objects.broken())


def read_fence(text: str, at: int, offer: Offer) -> Block | None:
    """A Markdown fence that holds nothing but calls."""
    line = fence_line(text, at)
    if line is None:
        return None
    closing = closing_fence(text, line.end(), line[1])
    body = text[line.end() : closing.start() if closing else len(text)]
    end = closing.end() if closing else len(text)
    values = objects.values_in(body)
    calls = objects.bare_calls(values or ([] if closing else objects.closed(body, offer)), offer)
    if not calls and line[2].lower() in _PYTHON_INFO:
        calls = _of_python(calls_in(body, offer) or [])
    if not calls and not values and objects.names_a_tool(body, offer):
        calls = objects.broken()
    return _block(at, end, calls)


def read_python(text: str, at: int, offer: Offer) -> Block | None:
    """`[read_file(path='a.py'), list_files()]`"""
    promise = PROMISE.match(text, at)
    if promise is None or offer.resolve(promise[1]) not in offer:
        return None
    end = list_end(text, at)
    if end is None:
        return Block(at, len(text), problem=objects.broken())
    read = calls_in(text[at:end], offer)
    if read is None:
        return Block(at, end)
    calls = _of_python(read) or objects.broken()
    # an example that goes on is text; what was last was meant
    last = skip_space(text, end) == len(text)
    return _block(at, end, calls if last or not isinstance(calls, Problem) else ())


def _call_like(text: str, at: int, offer: Offer) -> tuple[list[Any], int]:
    """The values from `at` on that look like calls, whatever they name, and where they end."""
    values: list[Any] = []
    while read := read_value(text, _next(text, at) if values else at):
        more = objects.calls_of([read[0]], offer, bare=True)
        like = [call for call in more if isinstance(call, Written) or call.error == "unknown_tool"]
        if not like or len(like) < len(more):
            break
        values.extend(read[0] if isinstance(read[0], list) else [read[0]])
        at = read[1]
    return values, at


def _next(text: str, at: int) -> int:
    """Where the value behind a comma or semicolon may start."""
    between = objects.BETWEEN.match(text, at)
    return between.end() if between else at


def _of_python(read: list[Written | Problem]) -> tuple[Written, ...] | Problem:
    problems = [call for call in read if isinstance(call, Problem)]
    return problems[0] if problems else tuple(c for c in read if isinstance(c, Written))


def _block(
    start: int, end: int, calls: tuple[Written, ...] | Problem, tagged: bool = False
) -> Block:
    if isinstance(calls, Problem):
        return Block(start, end, problem=calls, tagged=tagged)
    return Block(start, end, calls, tagged=tagged)
