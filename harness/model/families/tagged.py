"""Calls whose arguments stand in tags of their own, as raw text: Qwen3-Coder, `<invoke>` (with
DeepSeek's and MiniMax's wrappers) and GLM.

The formats look like XML and are none: nothing in a value is escaped. So a value ends at its
closing tag only where the next argument, the end of the call or the next call follows, and a value
that repeats such a place makes the call unreadable rather than short.
"""

import re
from dataclasses import dataclass
from typing import Any

from harness.model.families.form import CUT, Block, Problem, called, failed, named
from harness.model.offer import Offer
from harness.model.repair import parse_object, parse_value, read_value, skip_space


@dataclass(frozen=True)
class Tags:
    """How a format is tagged. `head` has a group `name`, `argument` a group `key`; `value_end`
    ends a value, `tail` the call and all around it. With a group `next` in `value_end` a value
    whose closing tag is missing ends where that argument starts. The next call ends one whose own
    end is missing."""

    head: re.Pattern[str]
    argument: re.Pattern[str]
    value_end: re.Pattern[str]
    tail: re.Pattern[str]


_NAME = r"[\"']?(?P<name>[^<>\n\"']{1,200}?)[\"']?"
_KEY = r"[\"']?(?P<key>[^<>\n\"']{1,200}?)[\"']?"
_P = r"(?:parameter|param)"
QWEN = Tags(
    re.compile(rf"(?:<(?:seed:)?tool_calls?>\s*){{0,2}}<function(?:=|\s+name=)\s*{_NAME}\s*>"),
    re.compile(rf"\s*<{_P}(?:=|\s+name=){_KEY}>(?:\r?\n)?"),
    re.compile(
        rf"(?:\r?\n)?</{_P}>"
        rf"(?=\s*(?:<{_P}(?:=|\s+name=)[^>\n]+>|</function>|</tool_call>|<tool_call>|<function=|\Z))"
        rf"|\r?\n(?=<{_P}(?:=|\s+name=)[\"']?(?P<next>[^>\n\"']+)[\"']?>)"
        r"|\r?\n(?=</function>|</tool_call>\s*\Z)"
    ),
    re.compile(r"\s*</function>(?:\s*</(?:seed:)?tool_calls?>)?|\s*</tool_call>"),
)
_DSML = r"(?:[｜|]{1,2}DSML[｜|]{1,2})?"
_WRAPPER = r"(?:function_calls|tool_calls|minimax:tool_call|tool_call|tool_use)"
_INVOKE = rf"<{_DSML}invoke\s+name="
_PARAMETER = rf"<{_DSML}{_P}\s+name="
INVOKE = Tags(
    re.compile(rf"(?:<{_DSML}{_WRAPPER}>\s*)?{_INVOKE}{_NAME}\s*>"),
    re.compile(rf"\s*{_PARAMETER}{_KEY}(?:\s+string=\"(?P<string>true|false)\")?\s*>"),
    re.compile(
        rf"</{_DSML}{_P}>"
        rf"(?=\s*(?:{_PARAMETER}|</{_DSML}invoke>|</{_DSML}{_WRAPPER}>|{_INVOKE}|\Z))"
        rf"|\r?\n(?={_PARAMETER}[\"']?(?P<next>[^>\n\"']+)[\"']?[^>\n]{{0,40}}>)"
        rf"|\r?\n(?=</{_DSML}invoke>)"
    ),
    re.compile(rf"\s*</{_DSML}invoke>(?:\s*</{_DSML}{_WRAPPER}>)?|\s*</{_DSML}{_WRAPPER}>"),
)
GLM = Tags(
    re.compile(r"<tool_call>\s*(?P<name>[\w.\-]{1,200})\s*(?=<arg_key>|</tool_call>|\{|```|\Z)"),
    re.compile(
        r"\s*(?:<arg_key>\s*){1,2}(?P<key>[^<>\n]{1,200}?)\s*(?:</arg_key>\s*){1,2}(?:<arg_value>)?"
    ),
    re.compile(
        r"</arg_value>(?=\s*(?:<arg_key>|</tool_call>|<tool_call>|\Z))"
        r"|\n?(?=<arg_key>\s*(?P<next>[^<>\n]{1,200}?)\s*</arg_key>)"
    ),
    re.compile(r"\s*</tool_call>"),
)


def read_qwen(text: str, at: int, offer: Offer) -> Block | None:
    """`<function=NAME>`, `<parameter=KEY>` lines around values, `</function>`."""
    head = QWEN.head.match(text, at)
    if head and text.startswith("{", skip_space(text, head.end())):
        return _json_body(text, at, head, offer)
    return _read(QWEN, text, at, offer)


def read_invoke(text: str, at: int, offer: Offer) -> Block | None:
    """`<invoke name="NAME"><parameter name="KEY">value</parameter></invoke>`, also as DSML."""
    return _read(INVOKE, text, at, offer)


def read_glm(text: str, at: int, offer: Offer) -> Block | None:
    """`<tool_call>NAME`, pairs of `<arg_key>` and `<arg_value>`, or an object; `</tool_call>`."""
    head = GLM.head.match(text, at)
    if head and text.startswith(("{", "```"), head.end()):
        end = text.find("</tool_call>", head.end())
        given = parse_object(text[head.end() : end]) if end >= 0 else None
        written = named(head["name"], given, offer) if given is not None else None
        return called(at, end + len("</tool_call>"), [written]) if written else None
    return _read(GLM, text, at, offer)


def _read(tags: Tags, text: str, start: int, offer: Offer) -> Block | None:
    head = tags.head.match(text, start)
    if head is None:
        return None
    name = offer.resolve(head["name"])
    arguments: dict[str, Any] = {}
    at = head.end()
    while argument := tags.argument.match(text, at):
        key = argument["key"].strip()
        known = offer.arguments(name)
        ending = _value_end(tags, text, argument.end(), {*arguments, key}, known)
        if ending is None or key in arguments:
            return failed(start, len(text), Problem("malformed_tool_call", CUT))
        value = text[argument.end() : ending.start()]
        if not ending[0].strip():
            value = _without_wrong_end(value, key)
        typed = argument.groupdict().get("string") == "false"
        arguments[key] = _typed(value) if typed else value
        at = ending.end()
    tail = tags.tail.match(text, at)
    end = tail.end() if tail else skip_space(text, at)
    if tail is None and end < len(text) and not arguments and name not in offer:
        return None
    last = end == len(text) or tags.head.match(text, end) is not None
    if tail is None and not (last and _all_there(name, arguments, offer)):
        return failed(start, len(text), Problem("malformed_tool_call", CUT))
    return called(start, end, [named(name, arguments, offer)])


def _json_body(text: str, start: int, head: re.Match[str], offer: Offer) -> Block:
    """Llama writes `<function=NAME>{"path": ..}</function>`."""
    read = read_value(text, head.end())
    tail = QWEN.tail.match(text, read[1]) if read else None
    if read is None or (tail is None and skip_space(text, read[1]) < len(text)):
        return failed(start, len(text), Problem("malformed_tool_call", CUT))
    end = tail.end() if tail else len(text)
    return called(start, end, [named(head["name"], read[0], offer)])


def _all_there(name: str, arguments: dict[str, Any], offer: Offer) -> bool:
    """Whether a call without its closing tags may count: nothing that it needs is missing."""
    return bool(arguments) and not set(offer.required(name)).difference(arguments)


def _value_end(
    tags: Tags, text: str, start: int, given: set[str], known: tuple[str, ...]
) -> re.Match[str] | None:
    """Where a raw value ends: at its closing tag, or, when that is missing, at the next argument
    of the tool that was not given yet."""
    for ending in tags.value_end.finditer(text, start):
        following = ending.groupdict().get("next")
        if following is None or (following in known and following not in given):
            return ending
    return None


def _without_wrong_end(value: str, key: str) -> str:
    """Of a value whose closing tag is missing: without the tag that stands in its place."""
    body = value.removesuffix(f"</{key}>")
    return value if body == value else body.removesuffix("\n").removesuffix("\r")


def _typed(value: str) -> Any:
    try:
        return parse_value(value)
    except ValueError:
        return value
