"""What the server of a wire case answers to one request. Pure; the format is that of the cases:

chunks      SSE data payloads, sent as they are; raw_sse and packet_bytes, or timeline, instead
response    a chat.completion object, streamed in one delta where the request asks for a stream
turns       the chunks of each request; repeat_cycle begins anew after the last
http_status, body, content_type, then     an error, and what comes after so many of them
rule(s)     {reject_if, http_status, body | response} of a strict server
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from tests.cases.wire_rules import RULES, Json

SSE = "text/event-stream"
JSON = "application/json"
_BETWEEN_PACKETS = 0.002
"""Seconds: long enough that packets are not put together."""


@dataclass(frozen=True)
class Answer:
    """A status, and the pieces of a body, each with the seconds of silence before it."""

    status: int
    pieces: tuple[tuple[float, bytes], ...]
    content_type: str = JSON
    headers_after: float = 0.0


def answer(case: Json, number: int, body: Json) -> Answer:
    """The answer to the `number`-th chat request, from 1."""
    for rule in [*([case["rule"]] if "rule" in case else ()), *case.get("rules", ())]:
        if RULES[rule["reject_if"]](body):
            return _refusal(rule, body)
    if "http_status" in case:
        then = case.get("then")
        if then is not None and number > then["after_requests"]:
            return completion(then["response"], body)
        return whole(case["http_status"], case["body"], case.get("content_type", JSON))
    return replace(_reply(case, number, body), headers_after=case.get("headers_delay_s", 0.0))


def whole(status: int, body: Any, content_type: str = JSON) -> Answer:
    text = body if isinstance(body, str) else compact(body)
    return Answer(status, ((0.0, text.encode()),), content_type)


def streamed(payloads: list[str]) -> Answer:
    events = tuple((0.0, f"data: {payload}\n\n".encode()) for payload in payloads)
    return Answer(200, events, SSE)


def completion(response: Json, asked: Json) -> Answer:
    """A whole reply, as one object or as the stream that `asked` wants."""
    if not asked.get("stream"):
        return whole(200, response)
    options = asked.get("stream_options") or {}
    return streamed(list(_deltas(response, bool(options.get("include_usage")))))


def compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _refusal(rule: Json, body: Json) -> Answer:
    if "response" in rule:
        return completion(rule["response"], body)
    return whole(rule["http_status"], rule["body"])


def _reply(case: Json, number: int, body: Json) -> Answer:
    if "turns" in case:
        return streamed(_turn(case, number))
    if "raw_sse" in case or "timeline" in case or "chunks" in case:
        return _stream(case)
    # an answer that is no stream is what such a case is about
    asked = {} if case.get("layer") == "sse" else body
    return completion(case["response"], asked)


def _turn(case: Json, number: int) -> list[str]:
    turns: list[list[str]] = case["turns"]
    at = (number - 1) % len(turns) if case.get("repeat_cycle") else min(number, len(turns)) - 1
    return turns[at]


def _stream(case: Json) -> Answer:
    if "timeline" in case:
        timeline = tuple((float(pause), text.encode()) for pause, text in case["timeline"])
        return Answer(200, timeline, SSE)
    if "raw_sse" not in case:
        return streamed(case["chunks"])
    raw = case["raw_sse"].encode()
    size = case.get("packet_bytes")
    if not size:
        return Answer(200, ((0.0, raw),), SSE)
    packets = (raw[at : at + size] for at in range(0, len(raw), size))
    return Answer(200, tuple((_BETWEEN_PACKETS, packet) for packet in packets), SSE)


def _deltas(response: Json, usage: bool) -> Iterator[str]:
    head = {key: response[key] for key in response if key not in ("choices", "usage", "object")}
    head["object"] = "chat.completion.chunk"
    choice = response["choices"][0]
    message = dict(choice["message"])
    if message.get("tool_calls") is not None:
        calls = message["tool_calls"]
        message["tool_calls"] = [{"index": at, **call} for at, call in enumerate(calls)]
    for delta, finish in ((message, None), ({}, choice.get("finish_reason"))):
        yield compact({**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
    if usage and response.get("usage"):
        yield compact({**head, "choices": [], "usage": response["usage"]})
    yield "[DONE]"
