"""A provider's events told as chat.completion.chunks, which the one decoder reads.

So that a reply is read the same way wherever it is from: what is shown, calls written as text,
repaired arguments, repetition, cut replies.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

Chunk = dict[str, Any]
Finish = Literal["stop", "tool_calls", "length"]


def text(piece: str) -> Chunk:
    return _delta({"content": piece})


def reasoning(piece: str) -> Chunk:
    return _delta({"reasoning_content": piece})


def call(index: int, call_id: str, name: str) -> Chunk:
    """The beginning of a call; its arguments follow."""
    function = {"name": name, "arguments": ""}
    return _delta(
        {"tool_calls": [{"index": index, "id": call_id, "type": "function", "function": function}]}
    )


def arguments(index: int, piece: str) -> Chunk:
    """More of the JSON text of a call's arguments."""
    return _delta({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})


def finish(reason: Finish) -> Chunk:
    return {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}


def as_sse(chunks: Iterable[Mapping[str, Any]]) -> Iterator[bytes]:
    """The chunks as the body of an OpenAI-compatible server's answer."""
    for chunk in chunks:
        yield f"data: {json.dumps(chunk)}\n\n".encode()
    yield b"data: [DONE]\n\n"


def _delta(delta: Mapping[str, Any]) -> Chunk:
    return {"choices": [{"index": 0, "delta": dict(delta), "finish_reason": None}]}
