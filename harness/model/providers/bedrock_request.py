"""A request in the shape of Amazon Bedrock's Converse API (botocore's service model has it)."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model.providers.turns import Block, Conversation, Text, Turn, Use
from harness.model.values import Sampling

_CACHE_POINT: Mapping[str, Any] = {"cachePoint": {"type": "default"}}
_CACHING = ("anthropic.claude", "amazon.nova")
"""Parts of the names of models that take cache points; the others refuse the request."""

Thoughts = Mapping[str, Sequence[Mapping[str, Any]]]
"""Reasoning blocks to send back, by the id of the first call after them."""


def caches(model: str) -> bool:
    return any(name in model for name in _CACHING)


def request(
    model: str,
    asked: Conversation,
    sampling: Sampling,
    max_tokens: int | None,
    thoughts: Thoughts,
    *,
    cached: bool,
) -> dict[str, Any]:
    """`cached` puts cache points behind the system text and the last two user turns."""
    point = [dict(_CACHE_POINT)] if cached else []
    body: dict[str, Any] = {
        "modelId": model,
        "messages": _messages(asked.turns, thoughts, point),
    }
    if asked.system:
        body["system"] = [{"text": asked.system}, *point]
    if asked.tools:
        body["toolConfig"] = {
            "tools": [
                {
                    "toolSpec": {
                        "name": tool.name,
                        "description": tool.description or tool.name,
                        "inputSchema": {"json": tool.schema},
                    }
                }
                for tool in asked.tools
            ]
        }
    chosen = {
        "maxTokens": max_tokens,
        "temperature": sampling.temperature,
        "topP": sampling.top_p,
    }
    inference = {name: value for name, value in chosen.items() if value is not None}
    return body | ({"inferenceConfig": inference} if inference else {})


def _messages(
    turns: Sequence[Turn], thoughts: Thoughts, point: Sequence[Mapping[str, Any]]
) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": turn.role, "content": [*_before(turn, thoughts), *map(_content, turn.blocks)]}
        for turn in turns
    ]
    for message in [message for message in messages if message["role"] == "user"][-2:]:
        message["content"] += point
    return messages


def _before(turn: Turn, thoughts: Thoughts) -> list[dict[str, Any]]:
    first = next((block.id for block in turn.blocks if isinstance(block, Use)), "")
    return [{"reasoningContent": dict(thought)} for thought in thoughts.get(first, ())]


def _content(block: Block) -> dict[str, Any]:
    if isinstance(block, Text):
        return {"text": block.text}
    if isinstance(block, Use):
        arguments = dict(block.arguments)
        return {"toolUse": {"toolUseId": block.id, "name": block.name, "input": arguments}}
    return {"toolResult": {"toolUseId": block.id, "content": [{"text": block.text}]}}
