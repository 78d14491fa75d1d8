"""The short forms that a compaction leaves: of a tool's result, of a step, of a whole turn."""

import json
import posixpath
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from harness.model.arguments import ALIASES
from harness.model.values import Message
from harness.ooda import prompts

MARK = "(shortened) "
_ARGUMENT = 60
_FIRST_LINE = 120
_WORDS = 200
_PATHS = 20
_LINE = "- "
_CHANGED = "- changed: "
_MORE = "- (before that: "
_SHOWN = ("path", "command", "pattern", "name", "key")
"""The arguments worth naming, the first that is there."""


def path_of(call: Mapping[str, Any]) -> str:
    """The path that a call of the history is about, normalised; '' when there is none."""
    value = _argument(call, "path")
    return posixpath.normpath(value) if value else ""


def name_of(call: Mapping[str, Any]) -> str:
    return str(call["function"]["name"])


def failed(result: str) -> bool:
    """Whether a result tells that the call did nothing."""
    return result.startswith(("Error:", "Denied"))


def shortened(call: Mapping[str, Any], result: str) -> str:
    """One line for a result: what it was, and how to see it again."""
    lines = result.strip().split("\n")
    first = lines[0][:_FIRST_LINE]
    last = f" ... {lines[-1][-_FIRST_LINE:]}" if name_of(call) == "run_shell" and lines[1:] else ""
    again = "run it" if name_of(call) == "run_shell" else f"call {name_of(call)}"
    return (
        f"{MARK}{_told(call)}: {first}{last} [{len(result):,} characters left out to save context; "
        f"{again} again to see them]"
    )


def cut(call: Mapping[str, Any], result: str, most: int) -> str:
    """A result of at most about `most` characters: its middle left out at line ends, with a line
    that says how to see the rest."""
    if len(result) <= most:
        return result
    room = max(most - 160, 80)
    head = _until_line_end(result[: room * 2 // 3])
    tail = _from_line_start(result[-(room // 3) :])
    left = result[len(head) : len(result) - len(tail)]
    how = _how_to_see(name_of(call), head, tail)
    return f"{head}\n... {len(left):,} characters left out to fit the context; {how} ...\n{tail}"


def cut_text(text: str, most: int) -> str:
    """A text of at most about `most` characters, its middle left out at line ends."""
    if len(text) <= most:
        return text
    room = max(most - 60, 80)
    head = _until_line_end(text[: room * 2 // 3])
    tail = _from_line_start(text[-(room // 3) :])
    left = len(text) - len(head) - len(tail)
    return f"{head}\n... {left:,} characters left out to fit the context ...\n{tail}"


def cut_reply(message: Message, excess: int, least: int) -> Message:
    """A message of the assistant that is `excess` characters shorter where it can be: its words
    and the long texts in its arguments lose their middle, down to `least` characters each."""

    def shorter(text: str) -> str:
        nonlocal excess
        if excess <= 0 or len(text) <= least:
            return text
        short = cut_text(text, max(len(text) - excess, least))
        excess -= len(text) - len(short)
        return short

    short = {**message, "content": shorter(message["content"])}
    calls = message.get("tool_calls", ())
    return {**short, "tool_calls": [_cut_call(each, shorter) for each in calls]} if calls else short


def _cut_call(call: Mapping[str, Any], shorter: Callable[[str], str]) -> dict[str, Any]:
    """A call with the texts among its arguments made `shorter`."""
    function = call["function"]
    given = json.loads(function["arguments"])
    short = {name: shorter(v) if isinstance(v, str) else v for name, v in given.items()}
    if short == given:
        return dict(call)
    arguments = json.dumps(short, ensure_ascii=False)
    return {**call, "function": {**function, "arguments": arguments}}


def step_lines(messages: Iterable[Message], writes: Sequence[str]) -> list[str]:
    """What was done in some messages, a line for each call; what an earlier summary told is
    taken over."""
    lines: list[str] = []
    changed: list[str] = []
    calls: dict[str, Mapping[str, Any]] = {}
    for message in messages:
        calls |= {call["id"]: call for call in message.get("tool_calls", ())}
        text = message["content"]
        if message["role"] == "tool":
            call = calls[message["tool_call_id"]]
            lines.append(_LINE + _done(call, text, writes))
            if name_of(call) in writes and path_of(call) and not failed(text):
                changed.append(path_of(call))
        elif message["role"] == "assistant" and text.startswith(prompts.STEPS_SO_FAR):
            carried, paths = _carried(text)
            lines += carried
            changed += paths
        elif message["role"] == "assistant" and text.strip() and not message.get("tool_calls"):
            lines.append(f"{_LINE}said: {_words(text)}")
    kept = list(dict.fromkeys(reversed(lines)))[::-1]
    paths = list(dict.fromkeys(changed))[-_PATHS:]
    return [*([_CHANGED + ", ".join(paths)] if paths else []), *kept]


def bounded(lines: Sequence[str], most: int) -> str:
    """The newest of the lines in about `most` characters, and how many more there were."""
    first = [line for line in lines[:1] if line.startswith(_CHANGED)]
    rest = list(lines[len(first) :])
    older = sum(_count(line) for line in rest if line.startswith(_MORE))
    rest = [line for line in rest if not line.startswith(_MORE)]
    size = sum(len(line) + 1 for line in [*first, *rest])
    while len(rest) > 1 and size > most:
        size -= len(rest.pop(0)) + 1
        older += 1
    more = [f"{_MORE}{older} more)"] if older else []
    return "\n".join([*first, *more, *rest])


def turn_lines(
    turns: Iterable[Message], endings: Mapping[str, str], writes: Sequence[str]
) -> list[str]:
    """A line for each earlier request: what was asked, what was changed, how it ended."""
    lines: list[str] = []
    for request, steps in _requests(turns):
        if request.startswith(prompts.EARLIER):
            lines += [line for line in request.split("\n")[1:] if line.startswith(_LINE)]
            continue
        done = step_lines(steps, writes)
        changed = [line[len(_LINE) :] for line in done if line.startswith(_CHANGED)]
        said = [line[len(_LINE) :] for line in done if line.startswith(f"{_LINE}said: ")][-1:]
        asked = prompts.asked(request)
        ended = endings.get(asked, "")
        parts = [f"asked: {_words(asked)}", *changed, *said]
        parts += [f"ended: {ended}"] if ended else []
        lines.append(_LINE + "; ".join(parts))
    return lines


def _requests(messages: Iterable[Message]) -> Iterator[tuple[str, list[Message]]]:
    """Each request with the messages up to the next one."""
    request: str | None = None
    steps: list[Message] = []
    for message in messages:
        if message["role"] != "user" or prompts.is_remark(message["content"]):
            steps.append(message)
            continue
        if request is not None:
            yield request, steps
        request, steps = message["content"], []
    if request is not None:
        yield request, steps


def _carried(summary: str) -> tuple[list[str], list[str]]:
    """The lines of an earlier summary, and the paths that it names as changed."""
    lines = [line for line in summary.split("\n")[1:] if line.startswith(_LINE)]
    changed = [line[len(_CHANGED) :].split(", ") for line in lines if line.startswith(_CHANGED)]
    rest = [line for line in lines if not line.startswith(_CHANGED)]
    return rest, [path for paths in changed for path in paths]


def _count(line: str) -> int:
    digits = line.removeprefix(_MORE).partition(" ")[0]
    return int(digits) if digits.isdecimal() else 0


def _done(call: Mapping[str, Any], result: str, writes: Sequence[str]) -> str:
    """A call and, where reading it again would not tell, what came of it."""
    if result.startswith(MARK):
        result = result.removeprefix(f"{MARK}{_told(call)}: ").rpartition(" [")[0]
    if not failed(result) and name_of(call) not in (*writes, "run_shell", "remember"):
        return _told(call)
    lines = result.strip().split("\n")
    last = f" ... {lines[-1][-_ARGUMENT:]}" if lines[1:] else ""
    return f"{_told(call)}: {lines[0][:_FIRST_LINE]}{last}"


def _told(call: Mapping[str, Any]) -> str:
    """`read_file auth.py`"""
    shown = next((value for name in _SHOWN if (value := _argument(call, name))), "")
    shown = " ".join(shown.split())
    if len(shown) > _ARGUMENT:
        shown = shown[: _ARGUMENT - 3] + "..."
    return f"{name_of(call)} {shown}".strip()


def _argument(call: Mapping[str, Any], name: str) -> str:
    try:
        given = json.loads(call["function"]["arguments"])
    except ValueError:
        return ""
    values = [given.get(each) for each in (name, *ALIASES.get(name, ()))]
    return next((value for value in values if isinstance(value, str) and value), "")


def _how_to_see(name: str, head: str, tail: str) -> str:
    first, last = _line_number(head.rpartition("\n")[2]), _line_number(tail.partition("\n")[0])
    if name in ("read_file", "read_symbol") and first and last:
        return f"read_file with start={first + 1} and end={last - 1} shows them, in parts"
    if name == "run_shell":
        return "run it again with less output (head, tail, grep)"
    return f"call {name} again for less at once"


def _line_number(line: str) -> int:
    digits = line.strip().partition(" ")[0]
    return int(digits) if digits.isdecimal() else 0


def _until_line_end(text: str) -> str:
    """Up to the last line end, unless that would leave little."""
    at = text.rfind("\n")
    return text[:at] if at > len(text) // 2 else text


def _from_line_start(text: str) -> str:
    at = text.find("\n")
    return text[at + 1 :] if 0 <= at < len(text) // 2 else text


def _words(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _WORDS else flat[: _WORDS - 3] + "..."
