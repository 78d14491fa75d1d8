"""Calls between special tokens: Mistral, DeepSeek, Kimi, Llama."""

import re
from dataclasses import dataclass

from harness.model.families import objects
from harness.model.families.form import CUT, Block, Problem, Written, called, failed, named
from harness.model.families.python_calls import calls_in
from harness.model.offer import Offer
from harness.model.repair import parse_object, read_value, skip_space


@dataclass(frozen=True)
class Tokens:
    """How a format marks its calls: `section` is what opens all of them, `head` comes before the
    arguments of each and has a group `name`, `tail` comes behind them, `end` closes the section.
    """

    section: re.Pattern[str]
    head: re.Pattern[str]
    tail: re.Pattern[str]
    end: re.Pattern[str]


_NAME = r"(?P<name>[\w.\-:/]{1,200})"
MISTRAL = Tokens(
    re.compile(""),
    re.compile(
        rf"\s*\[TOOL_CALLS\]\s*{_NAME}\s*(?:\[CALL_ID\]\s*[\w\-]{{0,80}}\s*)?"
        r"(?:\[ARGS\]\s*|(?=\{))"
    ),
    re.compile(r"\s*(?=\[TOOL_CALLS\])"),
    re.compile(r"\s*(?:\[/TOOL_CALLS\])?(?:\s*</s>)?"),
)
_BAR = "[｜|]"
_GAP = "[▁_ ]"


def _deepseek(*words: str) -> str:
    return f"<{_BAR}{_GAP.join(words)}{_BAR}>"


DEEPSEEK = Tokens(
    re.compile(f"(?:{_deepseek('tool', 'calls', 'begin')}\\s*)?"),
    re.compile(
        rf"\s*{_deepseek('tool', 'call', 'begin')}\s*"
        rf"(?:(?:function)?\s*{_deepseek('tool', 'sep')}\s*{_NAME}[ \t]*\n\s*(?:```\w*\s*)?"
        rf"|{_NAME.replace('name', 'plain')}\s*{_deepseek('tool', 'sep')}\s*)"
    ),
    re.compile(rf"\s*(?:```\s*)?{_deepseek('tool', 'call', 'end')}"),
    re.compile(rf"\s*(?:{_deepseek('tool', 'calls', 'end')})?"),
)
KIMI = Tokens(
    re.compile(r"(?:<\|tool_calls_section_begin\|>\s*)?"),
    re.compile(rf"\s*<\|tool_call_begin\|>\s*{_NAME}\s*<\|tool_call_argument_begin\|>\s*"),
    re.compile(r"\s*<\|tool_call_end\|>"),
    re.compile(r"\s*(?:<\|tool_calls_section_end\|>)?"),
)
_OPEN_FENCE = re.compile(r"\s*(?:```)?\s*\Z")


def read_mistral(text: str, at: int, offer: Offer) -> Block | None:
    """`[TOOL_CALLS]name[ARGS]{..}`, and the older `[TOOL_CALLS][{"name": .., "arguments": ..}]`."""
    start = skip_space(text, at + len("[TOOL_CALLS]"))
    if text[start : start + 1] not in ("[", "{"):
        return _read(MISTRAL, text, at, offer)
    return _objects(text, at, start, MISTRAL.end, offer)


def read_deepseek(text: str, at: int, offer: Offer) -> Block | None:
    """V3 names the tool behind `function<｜tool▁sep｜>` and fences the arguments, V3.1 puts the
    name before the separator and the arguments behind it."""
    return _read(DEEPSEEK, text, at, offer)


def read_kimi(text: str, at: int, offer: Offer) -> Block | None:
    """`<|tool_call_begin|>functions.NAME:0<|tool_call_argument_begin|>{..}<|tool_call_end|>`"""
    return _read(KIMI, text, at, offer)


def read_llama(text: str, at: int, offer: Offer) -> Block | None:
    """`<|python_tag|>` with JSON objects (`;` between them), or a call as Python."""
    start = skip_space(text, at + len("<|python_tag|>"))
    end = re.compile(r"\s*(?:<\|eom_id\|>|<\|eot_id\|>)?")
    if text[start : start + 1] in ("{", "["):
        block = _objects(text, at, start, end, offer)
        if not isinstance(block.problem, Problem) or text[start] == "{":
            return block
    return called(at, len(text), calls_in(text[start:], offer) or [])


def _read(tokens: Tokens, text: str, start: int, offer: Offer) -> Block | None:
    section = tokens.section.match(text, start)
    at = section.end() if section else start
    calls: list[Written | Problem] = []
    while head := tokens.head.match(text, at):
        groups = head.groupdict()
        end = _arguments_end(tokens, text, head.end())
        if end is None:
            return failed(start, len(text), Problem("malformed_tool_call", CUT))
        arguments = text[head.end() : end].strip()
        if arguments.endswith("```"):
            arguments = arguments.removesuffix("```")
        calls.append(named(groups["name"] or groups.get("plain") or "", arguments, offer))
        tail = tokens.tail.match(text, end)
        at = tail.end() if tail else len(text)
        if tail is None:
            break
    if not calls:
        return None
    section_end = tokens.end.match(text, at)
    return called(start, section_end.end() if section_end else at, calls)


def _arguments_end(tokens: Tokens, text: str, at: int) -> int | None:
    """Where the arguments from `at` on end: strict JSON says it itself; else the tail does, or the
    end of the text."""
    read = read_value(text, at)
    if read and (tokens.tail.match(text, read[1]) or _OPEN_FENCE.match(text, read[1])):
        return read[1]
    if read and tokens.end.pattern and tokens.end.fullmatch(text, read[1]):
        return read[1]
    tail = tokens.tail.search(text, at)
    if tail:
        return tail.start()
    return len(text) if read is None and parse_object(text[at:]) is not None else None


def _objects(text: str, at: int, start: int, end: re.Pattern[str], offer: Offer) -> Block:
    values, after = objects.read_values(text, start)
    if not values:
        rest = text[start:]
        values, after = objects.values_in(rest) or objects.closed(rest, offer), len(text)
    if not values:
        return failed(at, len(text), Problem("malformed_tool_call", CUT))
    closing = end.match(text, after)
    return called(at, closing.end() if closing else after, objects.calls_of(values, offer))
