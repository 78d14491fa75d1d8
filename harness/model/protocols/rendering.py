"""The conversation as a protocol sends it.

A pure function of the messages, message by message: what was sent once is, byte for byte, the
beginning of what is sent next.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from harness.model.protocols import steps, wording
from harness.model.protocols.describing import appendix
from harness.model.values import Message, Protocol

Part = tuple[str, str]
"""A role and what is said in it."""


def render(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], protocol: Protocol
) -> list[Message]:
    """The messages as they are sent. `messages` are a legal history: every call has its result."""
    if protocol == "native":
        return list(messages)
    sent: list[Message] = []
    for role, text in _parts(messages, appendix(tools, protocol), PARTS[protocol]):
        if role == "user" and sent and sent[-1]["role"] == "user":
            sent[-1] = {"role": "user", "content": f"{sent[-1]['content']}\n\n{text}"}
        else:
            sent.append({"role": role, "content": text})
    return sent


def _parts(
    messages: Sequence[Message],
    last_of_system: str,
    of_calls: Callable[[Message, Mapping[str, str]], Iterator[Part]],
) -> Iterator[Part]:
    if last_of_system and (not messages or messages[0]["role"] != "system"):
        yield "system", last_of_system.lstrip("\n")
    for index, message in enumerate(messages):
        role, text = message["role"], str(message.get("content") or "")
        if role == "system":
            yield role, text + last_of_system
        elif role == "assistant":
            yield from of_calls(message, _results(messages, index))
        elif role == "user":
            yield role, text


def _results(messages: Sequence[Message], index: int) -> dict[str, str]:
    """The results that follow the message at `index`, by the id of the call."""
    found: dict[str, str] = {}
    for message in messages[index + 1 :]:
        if message["role"] != "tool":
            break
        found[str(message.get("tool_call_id"))] = str(message.get("content") or "")
    return found


def _constrained(message: Message, results: Mapping[str, str]) -> Iterator[Part]:
    """One step a message: several calls in one reply become steps one after the other."""
    calls = message.get("tool_calls") or ()
    if not calls:
        yield "assistant", steps.written(steps.ANSWER, {steps.TEXT: message.get("content") or ""})
    for call_id, name, arguments in map(_call, calls):
        yield "assistant", steps.written(name, arguments)
        yield "user", wording.RESULT.format(name=name, text=results.get(call_id, ""))


def _text(message: Message, results: Mapping[str, str]) -> Iterator[Part]:
    calls = list(map(_call, message.get("tool_calls") or ()))
    parts = [str(message.get("content") or ""), *(_tagged(*call[1:]) for call in calls)]
    yield "assistant", "\n".join(filter(None, parts))
    answers = [wording.RESPONSE.format(text=results.get(call[0], "")) for call in calls]
    if answers:
        yield "user", "\n".join(answers)


PARTS: Mapping[Protocol, Callable[[Message, Mapping[str, str]], Iterator[Part]]] = MappingProxyType(
    {"constrained": _constrained, "text": _text}
)
"""How each protocol shows a reply and the results of its calls."""


def _call(entry: Mapping[str, Any]) -> tuple[str, str, dict[str, Any]]:
    """The id, the tool and the arguments of a call in the history."""
    function = entry["function"]
    return str(entry["id"]), str(function["name"]), json.loads(function["arguments"])


def _tagged(name: str, arguments: Mapping[str, Any]) -> str:
    call = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False)
    return f"<tool_call>\n{call}\n</tool_call>"
