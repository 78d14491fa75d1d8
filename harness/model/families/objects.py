"""Calls as JSON objects: what one means, and reading several of them."""

import re
from typing import Any

from harness.model.families.form import CUT, UNREADABLE, Problem, Written, named
from harness.model.nesting import missing_closers
from harness.model.offer import Offer
from harness.model.repair import parse_value, read_value

NAMES = ("name", "tool_name", "tool", "function_name", "action")
ARGUMENTS = ("arguments", "parameters", "args", "input", "tool_input", "action_input")
WRAPPERS = ("function", "function_call", "tool_call")
KEYS = frozenset({*NAMES, *ARGUMENTS, *WRAPPERS, "type", "id", "tool_call_id"})
"""All that an object which is a call may hold."""
LIST = "tool_calls"
"""The one key of an object around a list of calls."""
BETWEEN = re.compile(r"\s*[,;](?=\s*[{\[])")

HEAD = 400
"""Characters in which a broken call must name its tool to be taken for one."""

_DOUBLED = re.compile(r"\s*\{(\{.*\})\}\s*", re.DOTALL)
_NAME = re.compile(rf"[\"'](?:{'|'.join(NAMES)})[\"']\s*:\s*[\"']([^\"'\n]{{1,80}})[\"']")


def call_of(value: Any, offer: Offer, bare: bool = False) -> Written | Problem:
    """The call an object means, or what is wrong with it.

    Outside of a tag (`bare`) an object must hold nothing but a call, and arguments.
    """
    if not isinstance(value, dict):
        return Problem("malformed_tool_call", UNREADABLE)
    wrapped = next((value[key] for key in WRAPPERS if isinstance(value.get(key), dict)), None)
    call = value if wrapped is None else wrapped
    names = [call[key] for key in NAMES if isinstance(call.get(key), str)]
    if wrapped is None and not names and isinstance(value.get("function"), str):
        names = [value["function"]]
    keys = [key for key in ARGUMENTS if key in call]
    arguments: Any = call[keys[0]] if keys else {key: call[key] for key in call if key not in KEYS}
    whole = len(names) == 1 and len(keys) <= 1
    if bare:
        whole = whole and bool(keys) and isinstance(arguments, dict | str)
        whole = whole and KEYS.issuperset(value) and KEYS.issuperset(call)
    if not whole:
        return Problem("malformed_tool_call", UNREADABLE)
    return named(names[0], arguments, offer)


def calls_of(values: list[Any], offer: Offer, bare: bool = False) -> list[Written | Problem]:
    """The calls in these values. One list of calls is as good as calls one after the other."""
    if len(values) == 1 and isinstance(values[0], dict) and [*values[0]] == [LIST]:
        values = [values[0][LIST]]
    if len(values) == 1 and isinstance(values[0], list):
        values = values[0]
    return [call_of(value, offer, bare) for value in values]


def bare_calls(values: list[Any], offer: Offer) -> tuple[Written, ...] | Problem:
    """The calls that JSON outside of any tag means; none when one of the values is none.

    A name that was not offered makes it no call, unless it stands among calls.
    """
    read = calls_of(values, offer, bare=True)
    calls = tuple(call for call in read if isinstance(call, Written))
    problems = [call for call in read if isinstance(call, Problem)]
    if not calls or any(problem.error != "unknown_tool" for problem in problems):
        return ()
    return problems[0] if problems else calls


def read_values(text: str, at: int) -> tuple[list[Any], int]:
    """The strict JSON values from `at` on, with white space or a comma or semicolon between them,
    and where they end."""
    values: list[Any] = []
    while read := read_value(text, at):
        values.append(read[0])
        at = read[1]
        between = BETWEEN.match(text, at)
        at = between.end() if between else at
    return values, at


def values_in(text: str) -> list[Any]:
    """All JSON values of a text that holds nothing else, mended where nothing is lost, or none.

    Brackets that close what is closed, and a second pair of braces around it all, mean nothing.
    """
    values, end = read_values(text, 0)
    if values and not text[end:].strip("}] \t\r\n"):
        return values
    doubled = _DOUBLED.fullmatch(text)
    text = doubled[1] if doubled else text
    try:
        return [parse_value(text)]
    except ValueError:
        return []


def closed(text: str, offer: Offer) -> list[Any]:
    """The value of a text that lacks nothing but closers around its arguments, or none."""
    closers = missing_closers(text)
    if not closers:
        return []
    try:
        value = parse_value(text + closers)
    except ValueError:
        return []
    listed = isinstance(value, list)
    call = value[-1] if listed and value else value
    if not isinstance(call, dict) or not isinstance(call_of(call, offer), Written):
        return []
    wrapped = any(isinstance(call.get(key), dict) for key in WRAPPERS)
    return [value] if len(closers) <= 1 + listed + wrapped else []


def names_a_tool(text: str, offer: Offer) -> bool:
    """Whether what begins here names an offered tool."""
    found = _NAME.search(text[:HEAD])
    return found is not None and offer.resolve(found[1]) in offer


def broken() -> Problem:
    return Problem("malformed_tool_call", CUT)
