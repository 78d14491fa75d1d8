"""A request in the shape of Anthropic's Messages API.

Three places are marked for its prompt cache, of the four there may be: the system text (with the
tools, which come before it), and the last two user turns, so that each request finds what the one
before it wrote, and writes what the next one needs.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model.providers.turns import Block, Conversation, Text, Turn, Use
from harness.model.values import Sampling

DEFAULT_MAX_TOKENS = 16384
"""Tokens of a reply where the user sets none: the API insists on a number."""

_CACHED: Mapping[str, str] = {"type": "ephemeral"}

Thoughts = Mapping[str, Sequence[Mapping[str, Any]]]
"""Thinking blocks to send back, by the id of the first call after them."""


def request(
    model: str, asked: Conversation, sampling: Sampling, max_tokens: int, thoughts: Thoughts
) -> dict[str, Any]:
    """`max_tokens` bounds the reply."""
    body: dict[str, Any] = {
        "model": model,
        "max_tokens": max_tokens,
        "messages": _messages(asked.turns, thoughts),
        "stream": True,
    }
    if asked.system:
        body["system"] = [{"type": "text", "text": asked.system, "cache_control": _CACHED}]
    if asked.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema}
            for tool in asked.tools
        ]
    chosen = {"temperature": sampling.temperature, "top_p": sampling.top_p}
    return body | {name: value for name, value in chosen.items() if value is not None}


def _messages(turns: Sequence[Turn], thoughts: Thoughts) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": turn.role, "content": [*_before(turn, thoughts), *map(_content, turn.blocks)]}
        for turn in turns
    ]
    for message in [message for message in messages if message["role"] == "user"][-2:]:
        message["content"][-1]["cache_control"] = _CACHED
    return messages


def _before(turn: Turn, thoughts: Thoughts) -> list[dict[str, Any]]:
    first = next((block.id for block in turn.blocks if isinstance(block, Use)), "")
    return [dict(thought) for thought in thoughts.get(first, ())]


def _content(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"type": "text", "text": block.text}
    if isinstance(block, Use):
        arguments = dict(block.arguments)
        return {"type": "tool_use", "id": block.id, "name": block.name, "input": arguments}
    return {"type": "tool_result", "tool_use_id": block.id, "content": block.text}
