"""Tool calls written as text: one small reader per family, in one table.

A family reads the block that starts at a stop of the walk (markup.py). A new model's form is one
function, one row, and its opener in markup.py.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from harness.model.markup import (
    FUNCTION,
    TOOL_CALL,
    Kind,
    Place,
    Stop,
    closing_fence,
    fence_line,
    walk,
)
from harness.model.offer import Offer
from harness.model.repair import parse_value, read_value, skip_space

TOOL_CALL_END = "</tool_call>"
_FUNCTION_TAG = re.compile(r"<function=([^>\n]+)>")
_FUNCTION_END = re.compile(r"\s*</function>")
_ENVELOPE_END = re.compile(rf"\s*{TOOL_CALL_END}")
_PARAMETER_TAG = re.compile(r"\s*<parameter=([^>\n]+)>\n?")
_VALUE_END = re.compile(
    r"\n?</parameter>(?=\s*(?:<parameter=[^>\n]+>|</function>))"
    r"|\n(?=<parameter=(?P<next>[^>\n]+)>)"
    r"|\n(?=</function>)"
)
_NAME = re.compile(r"[\"']name[\"']\s*:\s*[\"']([^\"'\n]+)[\"']")
_HEAD = 400
"""Characters in which a broken call must name its tool to be taken for one."""

CUT = "Your tool call was cut off or not closed, so it was not run. Send the whole call again."
UNREADABLE = "Your tool call could not be read, so it was not run. Send it as a native tool call."
NOT_LAST = (
    "Your tool call was followed by more text, so it was not run. Send it again as the last thing "
    "in your reply, and wait for its result."
)


@dataclass(frozen=True)
class Written:
    """One call as written: an offered name, and its arguments as sent."""

    name: str
    arguments: Any


@dataclass(frozen=True)
class Block:
    """A piece of a message that is no prose, from `start` to `end`.

    `tagged` blocks are never shown, others only when they are no call. `problem` is a sentence
    for the model: this was meant to be a call.
    """

    start: int
    end: int
    calls: tuple[Written, ...] = ()
    problem: str = ""
    tagged: bool = False

    @property
    def is_call(self) -> bool:
        return bool(self.calls or self.problem)


def read_blocks(text: str, offer: Offer) -> list[Block]:
    """The blocks of a message in order. `text` starts with a newline before the message."""
    blocks: list[Block] = []
    _, stop = walk(text, Place(), final=True)
    while stop is not None:
        read = FAMILIES.get(stop.kind, _nothing)
        blocks.append(read(text, stop, offer))
        _, stop = walk(text, Place(blocks[-1].end), final=True)
    return blocks


def _tool_call(text: str, stop: Stop, offer: Offer) -> Block:
    """Hermes: `<tool_call>{"name": .., "arguments": {..}}</tool_call>`, and what Qwen3-Coder
    puts into the same envelope."""
    at = skip_space(text, stop.at + len(TOOL_CALL))
    if text.startswith(FUNCTION, at):
        inner = _function(text, Stop("function", at), offer)
        return Block(stop.at, inner.end, inner.calls, inner.problem, tagged=True)
    values, end = _read_values(text, at)
    if not values or not text.startswith(TOOL_CALL_END, skip_space(text, end)):
        end = text.find(TOOL_CALL_END, at)
        if end < 0:
            return Block(stop.at, len(text), problem=CUT, tagged=True)
        values = _values(text[at:end])
    end = skip_space(text, end) + len(TOOL_CALL_END)
    return _tagged(stop.at, end, [_written(value, offer, bare=False) for value in _flat(values)])


def _function(text: str, stop: Stop, offer: Offer) -> Block:
    """Qwen3-Coder: `<function=NAME>` and `<parameter=NAME>` lines around raw text values."""
    tag = _FUNCTION_TAG.match(text, stop.at)
    if tag is None:
        return Block(stop.at, len(text), problem=CUT, tagged=True)
    name = offer.resolve(tag[1])
    arguments: dict[str, Any] = {}
    at = tag.end()
    while parameter := _PARAMETER_TAG.match(text, at):
        key = parameter[1].strip()
        ending = _value_end(text, parameter.end(), {*arguments, key}, offer.arguments(name))
        if ending is None or key in arguments:
            return Block(stop.at, len(text), problem=CUT, tagged=True)
        arguments[key] = text[parameter.end() : ending.start()]
        at = ending.end()
    closed = _FUNCTION_END.match(text, at)
    if closed is None:
        return Block(stop.at, len(text), problem=CUT, tagged=True)
    envelope = _ENVELOPE_END.match(text, closed.end())
    end = envelope.end() if envelope else closed.end()
    return _tagged(stop.at, end, [_named(name, arguments, offer)])


def _fence(text: str, stop: Stop, offer: Offer) -> Block:
    """A Markdown fence that holds nothing but calls as JSON."""
    line = fence_line(text, stop.at)
    start = line.end() if line else stop.at
    closing = closing_fence(text, start, line[1] if line else "```")
    body = text[start : closing.start() if closing else len(text)]
    end = closing.end() if closing else len(text)
    values = _values(body) if closing else []
    calls = _bare_calls(values, offer)
    if calls:
        return Block(stop.at, end, calls)
    broken = not values and _names_a_tool(body[:_HEAD], offer)
    return Block(stop.at, end, problem=CUT if broken else "")


def _json(text: str, stop: Stop, offer: Offer) -> Block:
    """Calls as bare JSON objects, one after the other or in a list."""
    calls: list[Written] = []
    end = stop.at
    while read := read_value(text, end):
        more = _bare_calls([read[0]], offer)
        if more is None:
            return Block(stop.at, end if calls else read[1], tuple(calls))
        calls.extend(more)
        end = read[1]
    if calls:
        return Block(stop.at, end, tuple(calls))
    if not _names_a_tool(text[stop.at : stop.at + _HEAD], offer):
        return Block(stop.at, stop.at + 1)
    mended = _bare_calls(_values(text[stop.at :]), offer)
    return Block(stop.at, len(text), mended or (), "" if mended else CUT)


def _foreign(text: str, stop: Stop, offer: Offer) -> Block:
    """A form without a reader here."""
    names = ", ".join(offer.names)
    problem = f"{UNREADABLE} The tools are {names}." if names else UNREADABLE
    return Block(stop.at, len(text), problem=problem, tagged=True)


def _nothing(text: str, stop: Stop, offer: Offer) -> Block:
    """A stop that is no call: the walk goes on behind it."""
    return Block(stop.at, stop.at + 1)


FAMILIES: Mapping[Kind, Callable[[str, Stop, Offer], Block]] = {
    "tool_call": _tool_call,
    "function": _function,
    "fence": _fence,
    "json": _json,
    "foreign": _foreign,
}


def _read_values(text: str, at: int) -> tuple[list[Any], int]:
    """The strict JSON values from `at` on, with white space between, and where they end."""
    values: list[Any] = []
    while read := read_value(text, at):
        values.append(read[0])
        at = read[1]
    return values, at


def _values(text: str) -> list[Any]:
    """All JSON values of a text that holds nothing else, or none."""
    values, end = _read_values(text, 0)
    if values and not text[end:].strip():
        return values
    try:
        return [parse_value(text)]
    except ValueError:
        return []


def _bare_calls(values: list[Any], offer: Offer) -> tuple[Written, ...] | None:
    """The calls that JSON outside of any tag means, or None when one of the values is none."""
    written = [_written(value, offer, bare=True) for value in _flat(values)]
    calls = tuple(call for call in written if isinstance(call, Written))
    return calls if calls and len(calls) == len(written) else None


def _flat(values: list[Any]) -> list[Any]:
    """One list of calls is as good as calls one after the other."""
    return values[0] if len(values) == 1 and isinstance(values[0], list) else values


def _written(value: Any, offer: Offer, bare: bool) -> Written | str:
    """The call an object means, or what is wrong with it.

    Outside of a tag an object must have nothing but the keys of a call, and arguments.
    """
    if not isinstance(value, dict):
        return UNREADABLE
    inner = value.get("function")
    call = inner if isinstance(inner, dict) else value
    keys = [key for key in ("arguments", "parameters") if key in call]
    strange = {*value, *call} - {"name", "arguments", "parameters", "type", "id", "function"}
    if bare and (strange or len(keys) != 1):
        return UNREADABLE
    arguments = call[keys[0]] if keys else None
    if bare and not isinstance(arguments, dict | str):
        return UNREADABLE
    return _named(offer.resolve(str(call.get("name", ""))), arguments, offer)


def _named(name: str, arguments: Any, offer: Offer) -> Written | str:
    if name in offer:
        return Written(name, arguments)
    return f"There is no tool {name!r}; nothing was run. The tools are {', '.join(offer.names)}."


def _tagged(start: int, end: int, written: list[Written | str]) -> Block:
    problems = [problem for problem in written if isinstance(problem, str)]
    if problems or not written:
        return Block(start, end, problem=problems[0] if problems else UNREADABLE, tagged=True)
    calls = tuple(call for call in written if isinstance(call, Written))
    return Block(start, end, calls, tagged=True)


def _value_end(
    text: str, start: int, given: set[str], known: tuple[str, ...]
) -> re.Match[str] | None:
    """Where a raw value ends: at its closing tag, or, when that is missing, at the next argument
    of the tool that was not given yet."""
    for ending in _VALUE_END.finditer(text, start):
        following = ending["next"]
        if following is None or (following in known and following not in given):
            return ending
    return None


def _names_a_tool(text: str, offer: Offer) -> bool:
    found = _NAME.search(text)
    return found is not None and offer.resolve(found[1]) in offer
