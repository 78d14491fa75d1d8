"""What the strictest servers and chat templates want of a conversation.

Where the rules come from: Qwen's template takes a system message only at the beginning and needs
a user's; Mistral's and Gemma's want the user and the assistant to take turns, and Mistral's does
not see calls and their results between two user messages; vLLM and OpenAI want each call to have
an id and one result; Ollama and LiteLLM parse the arguments; GLM's template prints null as `None`.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from harness.model.strict import is_object
from harness.model.values import Message

_ROLES = ("system", "user", "assistant", "tool")
_KEYS = frozenset({"role", "content", "tool_calls", "tool_call_id"})


def check(messages: Sequence[Message]) -> str:
    """The first invariant that does not hold, as a sentence; '' when all do."""
    rules = (_roles, _shapes, _turns, _calls)
    return next(chain.from_iterable(rule(messages) for rule in rules), "")


def _roles(messages: Sequence[Message]) -> Iterator[str]:
    roles = [message.get("role") for message in messages]
    if roles[:1] != ["system"] or roles.count("system") != 1:
        yield "there is not exactly one system message, first"
    for role in roles:
        if role not in _ROLES:
            yield f"there is no role {role!r}"
    if "user" not in roles:
        yield "no user message is left"


def _shapes(messages: Sequence[Message]) -> Iterator[str]:
    for message in messages:
        if not isinstance(message.get("content"), str):
            yield f"the content of a message with the role {message.get('role')!r} is no text"
        for key in message.keys() - _KEYS:
            yield f"a message would send {key!r} back"


def _turns(messages: Sequence[Message]) -> Iterator[str]:
    if len(messages) > 1 and messages[1].get("role") != "user":
        yield "the first message after the system's is not the user's"
    spoken = ""
    before = ""
    for message in messages:
        role = str(message.get("role"))
        if role == before == "assistant":
            yield "two assistant messages stand in a row"
        before = role
        if role == "tool" or message.get("tool_calls"):
            continue
        if role == spoken == "user":
            yield "two user messages stand in a row"
        spoken = role


def _calls(messages: Sequence[Message]) -> Iterator[str]:
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in waiting:
                yield "a result has no call before it"
                return
            waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"the call {waiting[0]!r} has no result directly after it"
        waiting = []
        for call in message.get("tool_calls") or ():
            yield from _call(call, seen)
            waiting.append(call.get("id"))
    if waiting:
        yield f"the call {waiting[0]!r} has no result"


def _call(call: Mapping[str, Any], seen: set[str]) -> Iterator[str]:
    """What is wrong with one call; notes its id."""
    call_id = call.get("id")
    if not isinstance(call_id, str) or not call_id:
        yield "a call has no id"
    elif call_id in seen:
        yield f"two calls have the id {call_id!r}"
    else:
        seen.add(call_id)
    arguments = call.get("function", {}).get("arguments")
    if not isinstance(arguments, str) or not is_object(arguments):
        yield "the arguments of a call are not the text of a JSON object"
