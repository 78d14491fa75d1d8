"""What stands in for api.anthropic.com: its rules for requests, and events of its streams.

Rules are those of the public API reference; the shapes of events are held against the types of
Anthropic's own SDK.
"""

import json
import re
from collections.abc import Mapping
from itertools import pairwise
from typing import Any

from raw_server import http

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KNOWN = {"model", "max_tokens", "messages", "stream", "system", "tools", "temperature", "top_p"}
BLOCKS = {
    "text": {"type", "text", "cache_control"},
    "tool_use": {"type", "id", "name", "input", "cache_control"},
    "tool_result": {"type", "tool_use_id", "content", "cache_control"},
    "thinking": {"type", "thinking", "signature"},
    "redacted_thinking": {"type", "data"},
}

Event = dict[str, Any]


def check(body: Mapping[str, Any]) -> None:
    """Raise AssertionError for a request that the API would refuse."""
    assert set(body) <= KNOWN
    assert isinstance(body["model"], str)
    assert body["max_tokens"] >= 1
    blocks = [*body.get("system", ()), *(b for m in body["messages"] for b in m["content"])]
    assert sum("cache_control" in block for block in blocks) <= 4
    for block in blocks:
        assert set(block) <= BLOCKS[block["type"]]
        if block["type"] == "text":
            assert block["text"].strip()
    names = [tool["name"] for tool in body.get("tools", ())]
    assert all(NAME.fullmatch(name) for name in names)
    assert len(set(names)) == len(names)
    assert all(tool["input_schema"]["type"] == "object" for tool in body.get("tools", ()))
    _check_turns(body["messages"], bool(names))


def _check_turns(messages: list[Mapping[str, Any]], with_tools: bool) -> None:
    roles = [message["role"] for message in messages]
    assert roles[0] == roles[-1] == "user"
    assert all(a != b for a, b in pairwise(roles))
    waiting: list[str] = []
    for message in messages:
        kinds = [block["type"] for block in message["content"]]
        uses = [block for block in message["content"] if block["type"] == "tool_use"]
        results = [b["tool_use_id"] for b in message["content"] if b["type"] == "tool_result"]
        assert sorted(results) == sorted(waiting), "each call has its result in the next message"
        assert kinds[: len(results)] == ["tool_result"] * len(results), "results come first"
        assert not uses or (message["role"] == "assistant" and with_tools)
        assert all(NAME.fullmatch(use["id"]) and NAME.fullmatch(use["name"]) for use in uses)
        assert all(isinstance(use["input"], dict) for use in uses)
        waiting = [use["id"] for use in uses]
        assert len(set(waiting)) == len(waiting)
        if message["role"] == "assistant":
            said = [block["text"] for block in message["content"] if block["type"] == "text"]
            assert all(text == text.rstrip() for text in said)


def events(*blocks: Event, stop: str | None = "end_turn", **more: Any) -> list[Event]:
    """A whole stream. `more` may hold `usage` and `details`."""
    usage = {
        "input_tokens": 10,
        "output_tokens": 1,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
    } | more.get("usage", {})
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    delta = {"stop_reason": stop, "stop_sequence": None, "stop_details": more.get("details")}
    out = more.get("output_tokens", 5)
    return [
        {"type": "message_start", "message": message},
        {"type": "ping"},
        *(event for index, block in enumerate(blocks) for event in _block(index, block)),
        {"type": "message_delta", "delta": delta, "usage": {"output_tokens": out}},
        {"type": "message_stop"},
    ]


def _block(index: int, block: Event) -> list[Event]:
    kind = block["type"]
    deltas: list[Event] = []
    start = dict(block)
    if kind == "text":
        start["text"] = ""
        deltas = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
    elif kind == "tool_use":
        start["input"] = {}
        sent = json.dumps(block["input"])
        deltas = [{"type": "input_json_delta", "partial_json": p} for p in ["", *_pieces(sent)]]
    elif kind == "thinking":
        start |= {"thinking": "", "signature": ""}
        deltas = [{"type": "thinking_delta", "thinking": p} for p in _pieces(block["thinking"])]
        deltas.append({"type": "signature_delta", "signature": block["signature"]})
    return [
        {"type": "content_block_start", "index": index, "content_block": start},
        *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
        {"type": "content_block_stop", "index": index},
    ]


def _pieces(text: str) -> list[str]:
    return [text[at : at + 7] for at in range(0, len(text), 7)]


def text(content: str) -> Event:
    return {"type": "text", "text": content}


def use(call_id: str, name: str, **arguments: Any) -> Event:
    return {"type": "tool_use", "id": call_id, "name": name, "input": arguments}


def thought(content: str, signature: str = "sig") -> Event:
    return {"type": "thinking", "thinking": content, "signature": signature}


def stream(*sent: Event) -> bytes:
    """Events as they are on the wire."""
    lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in sent]
    return HEAD + "".join(lines).encode()


def error(status: int, kind: str, message: str, **headers: str) -> bytes:
    body = json.dumps({"type": "error", "error": {"type": kind, "message": message}})
    head, _, rest = http(status, body).partition(b"\r\n")
    extra = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    return head + b"\r\n" + extra.encode() + rest
