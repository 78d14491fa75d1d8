"""The conversation as Anthropic and Bedrock want it, before either's own spelling.

The system text stands apart; turns of user and assistant alternate, the user first and last; all
results of one assistant turn are in the one user turn after it; no text is blank; names and ids
stay within both providers' patterns. A pure function of the messages, so that what was sent
before stays the beginning of what is sent next.
"""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Literal

from harness.model.history import GO_ON, NO_TEXT
from harness.model.values import Message

LONGEST_NAME = 64
NO_OUTPUT = "(no output)"

_OUTSIDE = re.compile(r"[^a-zA-Z0-9_-]")
_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True)
class Text:
    text: str


@dataclass(frozen=True)
class Use:
    """A tool call of the assistant."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Result:
    """What the call `id` gave."""

    id: str
    text: str


Block = Text | Use | Result
Role = Literal["user", "assistant"]


@dataclass(frozen=True)
class Turn:
    role: Role
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Tool:
    """One tool that is offered; `schema` is the JSON Schema of its arguments."""

    name: str
    description: str
    schema: Mapping[str, Any]


@dataclass(frozen=True)
class Conversation:
    system: str
    turns: tuple[Turn, ...]
    tools: tuple[Tool, ...]


def conversation(
    messages: Iterable[Message], tools: Sequence[Mapping[str, Any]] = ()
) -> Conversation:
    """Both providers refuse calls in a conversation without tools, so there they become text."""
    system: list[str] = []
    turns: list[tuple[Role, list[Block]]] = []
    for message in messages:
        role, blocks = _blocks(message)
        if role == "system":
            system += [block.text for block in blocks if isinstance(block, Text)]
        else:
            _add(turns, role, blocks if tools else [_as_text(block) for block in blocks])
    if not turns or turns[0][0] == "assistant":
        turns.insert(0, ("user", [Text(GO_ON)]))
    if turns[-1][0] == "assistant":
        turns.append(("user", [Text(GO_ON)]))
    return Conversation(
        "\n\n".join(system),
        tuple(Turn(role, tuple(blocks)) for role, blocks in turns),
        tuple(_tool(tool) for tool in tools),
    )


def call_id(sent: str) -> str:
    """`sent` where it fits both patterns, else one that is always the same for it."""
    if _ID.fullmatch(sent):
        return sent
    return f"call_{sha256(sent.encode('utf-8', 'replace')).hexdigest()[:24]}"


def _add(turns: list[tuple[Role, list[Block]]], role: Role, blocks: list[Block]) -> None:
    if turns and turns[-1][0] == role:
        turns[-1][1].extend(blocks)
    else:
        turns.append((role, blocks))


def _blocks(message: Message) -> tuple[Literal["system", "user", "assistant"], list[Block]]:
    role, text = message.get("role"), _text(message.get("content"))
    if role in ("system", "developer"):
        return "system", [Text(text)] if text.strip() else []
    if role == "tool":
        known_as = call_id(str(message.get("tool_call_id", "")))
        return "user", [Result(known_as, text if text.strip() else NO_OUTPUT)]
    if role != "assistant":
        return "user", [Text(text if text.strip() else NO_TEXT)]
    uses: list[Block] = [_use(entry) for entry in message.get("tool_calls") or ()]
    # an assistant's text must not end in white space
    said: list[Block] = [Text(text.rstrip())] if text.strip() else []
    return "assistant", [*said, *uses] or [Text(NO_TEXT)]


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _use(entry: Mapping[str, Any]) -> Use:
    function = entry.get("function") or {}
    name = _OUTSIDE.sub("_", str(function.get("name", "")))[:LONGEST_NAME] or "unknown"
    try:
        arguments = json.loads(function.get("arguments") or "{}")
    except ValueError:
        arguments = {}
    return Use(call_id(str(entry.get("id", ""))), name, arguments if _is_object(arguments) else {})


def _is_object(value: Any) -> bool:
    return isinstance(value, Mapping)


def _as_text(block: Block) -> Block:
    if isinstance(block, Use):
        return Text(f"(called {block.name} with {json.dumps(dict(block.arguments))})")
    if isinstance(block, Result):
        return Text(f"(result) {block.text}")
    return block


def _tool(tool: Mapping[str, Any]) -> Tool:
    function = tool.get("function", tool)
    return Tool(
        str(function.get("name", "")),
        str(function.get("description", "")),
        function.get("parameters") or {"type": "object", "properties": {}},
    )
