"""The messages of a request in shapes that strict chat templates take. Pure functions.

Each keeps every word that was in the messages, and what it gives stays as it is when it is done
again.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from harness.model.values import Message

_SYSTEM = ("system", "developer")
_BETWEEN = "\n\n"


def system_first(messages: Sequence[Message]) -> list[Message]:
    """One system message, at the beginning, with the text of all."""
    systems = [message for message in messages if message.get("role") in _SYSTEM]
    rest = [message for message in messages if message.get("role") not in _SYSTEM]
    if not systems:
        return rest
    return [{**systems[0], "role": "system", "content": _joined(systems)}, *rest]


def system_as_user(messages: Sequence[Message]) -> list[Message]:
    """No system message: its text is the beginning of the first user message."""
    systems = [message for message in messages if message.get("role") in _SYSTEM]
    rest = [message for message in messages if message.get("role") not in _SYSTEM]
    if not systems:
        return rest
    first: Message = {"role": "user", "content": _joined(systems)}
    if rest and rest[0].get("role") == "user":
        return [{**rest[0], "content": _joined([first, rest[0]])}, *rest[1:]]
    return [first, *rest]


def users_merged(messages: Sequence[Message]) -> list[Message]:
    """No two user messages side by side."""
    merged: list[Message] = []
    for message in messages:
        if merged and message.get("role") == merged[-1].get("role") == "user":
            merged[-1] = {**merged[-1], "content": _joined([merged[-1], message])}
        else:
            merged.append(message)
    return merged


def calls_as_text(messages: Sequence[Message]) -> list[Message]:
    """Neither calls nor tool messages: calls are text of the assistant, results text of the user,
    so that only these two take turns."""
    return users_merged([_as_text(message) for message in messages])


def _as_text(message: Message) -> Message:
    if message.get("role") == "tool":
        return {"role": "user", "content": f"<tool_response>\n{_text(message)}\n</tool_response>"}
    calls = message.get("tool_calls")
    if not calls:
        return message
    parts = [_text(message), *map(_call, calls)]
    return {"role": "assistant", "content": "\n".join(filter(None, parts))}


def _call(call: dict[str, Any]) -> str:
    function = call["function"]
    name, arguments = json.dumps(function["name"]), function["arguments"]
    return f'<tool_call>\n{{"name": {name}, "arguments": {arguments}}}\n</tool_call>'


def _joined(messages: Iterable[Message]) -> str:
    return _BETWEEN.join(filter(None, map(_text, messages)))


def _text(message: Message) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content)
    return content or ""
