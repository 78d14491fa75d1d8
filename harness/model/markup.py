"""Finding where in a message a tool call may start, also while the message still arrives.

Code is left alone: nothing inside a fence or an inline code span is a call, except a fence whose
own content is one. The walk decides by what stands in a bounded window behind a place, so it
comes to the same result however the message was split.

Every text here starts with a newline in front of the message, so that "at the start of a line"
has one meaning.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Kind = Literal["tool_call", "function", "fence", "json", "foreign", "think_end"]

TOOL_CALL = "<tool_call>"
FUNCTION = "<function="
THINK_END = "</think>"
FOREIGN = (
    "[TOOL_CALLS]",
    "<tools>",
    "<tool_calls>",
    "<function_calls>",
    "<invoke name=",
    "<|tool_call",
    "<|python_tag|>",
    "<|channel|>",
    "<start_function_call>",
    "<｜tool▁call",
    "<｜DSML｜",
)
"""Openers of forms which are recognised, never shown and never run: the model is asked again."""

_LINE_STARTS: Mapping[Kind, tuple[str, ...]] = {
    "tool_call": (TOOL_CALL,),
    "function": (FUNCTION,),
    "foreign": FOREIGN,
}
CALL_KEYS = frozenset({"name", "arguments", "parameters", "function", "type"})
_FENCE_INFO = frozenset({"", "json", "tool_call", "tool_calls", "tool", "tool_code", "function"})
_WINDOW = 400
"""Characters behind a place within which it must become clear what starts there."""

# repetitions are bounded, or endless white space and ticks would be read again at every delta
_TOKEN = re.compile(r"\n[ \t]{0,60}(?=[`~{\[<])|`{1,80}|<")
_TICKS = re.compile(r"`{1,80}")
_INDENT = re.compile(r"\n[ \t]{0,60}\Z")
_FENCE_LINE = re.compile(r"(`{3,80}|~{3,80})[ \t]*([^`\n]*?)[ \t\r]*(?=\n)")
_FENCE_START = re.compile(r"\n[ \t]{0,60}" + _FENCE_LINE.pattern)
_FIRST_KEY = re.compile(r"\s*(?:\[\s*)?\{\s*[\"']([^\"'\n]*)[\"']")
_FIRST_KEY_SO_FAR = re.compile(r"\s*(?:\[\s*)?(?:\{\s*(?:[\"'][^\"'\n]*)?)?\Z")
_CALL_BODY = re.compile(r"\s*(?:[\[{]|<function=)")


@dataclass(frozen=True)
class Place:
    """How far the walk has come: `at` in the text, and the marker of the fence it is in or ''."""

    at: int = 0
    fence: str = ""


@dataclass(frozen=True)
class Stop:
    """Something that may be a call, or the end of a thought, starts at `at`."""

    kind: Kind
    at: int


def walk(text: str, place: Place, final: bool) -> tuple[Place, Stop | None]:
    """Go on to the next place where a call may start.

    All before the returned place is plain. Without a stop the text ended there, or (unless
    `final`) what follows there can only be judged when more of it has come.
    """
    while True:
        if place.fence:
            place = _out_of_fence(text, place, final)
            if place.fence:
                return place, None
        found = _TOKEN.search(text, place.at)
        if found is None:
            return Place(_end(text, place.at, final)), None
        next_place = _judge(text, found, final)
        if next_place is None:
            return Place(found.start()), None
        if isinstance(next_place, Stop):
            return Place(next_place.at), next_place
        place = next_place


def _judge(text: str, found: re.Match[str], final: bool) -> Place | Stop | None:
    """What a token means: where to go on, a stop, or None when more must come first."""
    at = found.end()
    if found[0].startswith("`"):
        return _after_code_span(text, found, final)
    if found[0] == "<":
        return _tag(text, found.start(), final)
    if text[at] in "`~":
        return _fence(text, found, final)
    verdicts = {
        kind: _any_literal(text, at, starts, final) for kind, starts in _LINE_STARTS.items()
    }
    verdicts["json"] = first_key(text, at, final) if text[at] in "[{" else False
    for kind, verdict in verdicts.items():
        if verdict is True:
            return Stop(kind, at)
    return None if None in verdicts.values() else Place(at)


def _tag(text: str, at: int, final: bool) -> Place | Stop | None:
    """A `<` inside a line: a call when its content follows, or the end of a thought."""
    verdict = _literal(text, at, THINK_END, final)
    if verdict is not False:
        return None if verdict is None else Stop("think_end", at)
    verdict = _literal(text, at, TOOL_CALL, final)
    if verdict is True:
        body = text[at + len(TOOL_CALL) : at + _WINDOW]
        if _CALL_BODY.match(body):
            return Stop("tool_call", at)
        undecided = not body.strip() or FUNCTION.startswith(body.lstrip())
        verdict = None if undecided and not final and len(text) - at < _WINDOW else False
    return None if verdict is None else Place(at + 1)


def _fence(text: str, found: re.Match[str], final: bool) -> Place | Stop | None:
    at = found.end()
    line = _FENCE_LINE.match(text, at, at + _WINDOW)
    if line is None:
        return _no_fence(text, at, final)
    if line[2].lower() in _FENCE_INFO:
        looks = first_key(text, line.end(), final)
        if looks is not False:
            return None if looks is None else Stop("fence", found.start())
    return Place(line.end(), line[1])


def _no_fence(text: str, at: int, final: bool) -> Place | None:
    window = text[at : at + _WINDOW]
    if not final and "\n" not in window and len(window) < _WINDOW:
        return None
    ticks = _TICKS.match(text, at)
    return _after_code_span(text, ticks, final) if ticks else Place(at + 1)


def closing_fence(text: str, at: int, marker: str) -> re.Match[str] | None:
    """The line that closes a fence opened with `marker`, searched from `at` on."""
    pattern = rf"\n[ \t]{{0,60}}{marker[0]}{{{len(marker)},160}}[ \t\r]{{0,60}}(?=\n|\Z)"
    return re.compile(pattern).search(text, at)


def fence_line(text: str, at: int) -> re.Match[str] | None:
    """The opening line of a fence at the start of a line; group 1 is its marker."""
    return _FENCE_START.match(text, at)


def first_key(text: str, at: int, final: bool) -> bool | None:
    """Whether an object with a first key of a call starts at `at`; None when it may yet."""
    window = text[at : at + _WINDOW]
    found = _FIRST_KEY.match(window)
    if found:
        return found[1] in CALL_KEYS
    undecided = not final and len(window) < _WINDOW and _FIRST_KEY_SO_FAR.match(window)
    return None if undecided else False


def _out_of_fence(text: str, place: Place, final: bool) -> Place:
    closing = closing_fence(text, place.at, place.fence)
    if closing is not None and (final or closing.end() < len(text)):
        return Place(closing.end())
    last_line = text.rfind("\n", place.at)
    may_close = 0 <= last_line >= len(text) - _WINDOW and not text[last_line:].strip("`~ \t\r\n")
    return Place(last_line if may_close and not final else len(text), place.fence)


def _after_code_span(text: str, found: re.Match[str], final: bool) -> Place | None:
    """Behind a code span; behind its opening ticks when it does not close in its line."""
    line = text[found.end() : found.end() + _WINDOW].partition("\n")
    closed = re.compile(rf"(?<!`){found[0]}(?!`)").search(line[0])
    open_end = not final and not line[1] and len(line[0]) < _WINDOW
    if closed and not (open_end and closed.end() == len(line[0])):
        return Place(found.end() + closed.end())
    return None if open_end else Place(found.end())


def _literal(text: str, at: int, literal: str, final: bool) -> bool | None:
    part = text[at : at + len(literal)]
    if part == literal:
        return True
    return None if not final and len(text) - at == len(part) and literal.startswith(part) else False


def _any_literal(text: str, at: int, literals: tuple[str, ...], final: bool) -> bool | None:
    verdicts = [_literal(text, at, literal, final) for literal in literals]
    return True if True in verdicts else None if None in verdicts else False


def _end(text: str, at: int, final: bool) -> int:
    indent = _INDENT.search(text, at)
    return indent.start() if indent and not final else len(text)
