"""What stands in for Amazon Bedrock: botocore's own service model says what may be sent and what
may come, and event streams are framed as
https://docs.aws.amazon.com/AmazonS3/latest/API/RESTSelectObjectAppendix.html has it."""

import json
import re
import struct
from binascii import crc32
from collections.abc import Mapping
from functools import cache
from itertools import pairwise
from typing import Any

import botocore.session
from botocore.model import ServiceModel, Shape
from botocore.validate import ParamValidator
from raw_server import http

HEAD = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/vnd.amazon.eventstream\r\n"
    b"Connection: close\r\n\r\n"
)

Event = dict[str, Any]


@cache
def service() -> ServiceModel:
    return botocore.session.Session().get_service_model("bedrock-runtime")


def check(body: Mapping[str, Any]) -> None:
    """Raise AssertionError for a request that the service would refuse."""
    shape = service().operation_model("ConverseStream").input_shape
    assert shape is not None
    problems = ParamValidator().validate(body, shape)
    assert not problems.has_errors(), problems.generate_report()
    _check_strictly(body, shape, "request")
    _check_turns(body["messages"], "toolConfig" in body)


def _check_strictly(value: Any, shape: Shape, path: str) -> None:
    """What botocore leaves to the service: patterns, choices, and unions of one member."""
    if shape.type_name == "structure" and not shape.is_document_type:
        assert not shape.is_tagged_union or len(value) == 1, path
        for name, part in value.items():
            _check_strictly(part, shape.members[name], f"{path}.{name}")
    elif shape.type_name == "list":
        for part in value:
            _check_strictly(part, shape.member, f"{path}[]")
    elif shape.type_name == "string":
        pattern, most = shape.metadata.get("pattern"), shape.metadata.get("max")
        assert not pattern or re.fullmatch(pattern, value), path
        assert not shape.enum or value in shape.enum, path
        assert most is None or len(value) <= most, path


def _check_turns(messages: list[Mapping[str, Any]], with_tools: bool) -> None:
    roles = [message["role"] for message in messages]
    assert roles[0] == roles[-1] == "user"
    assert all(a != b for a, b in pairwise(roles))
    waiting: list[str] = []
    for message in messages:
        uses = [b["toolUse"]["toolUseId"] for b in message["content"] if "toolUse" in b]
        results = [b["toolResult"]["toolUseId"] for b in message["content"] if "toolResult" in b]
        texts = [block["text"] for block in message["content"] if "text" in block]
        assert sorted(results) == sorted(waiting), "each call has its result in the next message"
        assert with_tools or not (uses or results)
        assert all(text.strip() for text in texts)
        waiting = uses


def events(*blocks: Event, stop: str = "end_turn", usage: Event | None = None) -> list[Event]:
    counts = {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15} | (usage or {})
    return [
        {"messageStart": {"role": "assistant"}},
        *(event for index, block in enumerate(blocks) for event in _block(index, block)),
        {"messageStop": {"stopReason": stop}},
        {"metadata": {"usage": counts, "metrics": {"latencyMs": 3}}},
    ]


def _block(index: int, block: Event) -> list[Event]:
    at: Event = {"contentBlockIndex": index}
    deltas: list[Event] = []
    first: list[Event] = []
    if "toolUse" in block:
        named = block["toolUse"]
        start = {"toolUseId": named["toolUseId"], "name": named["name"]}
        first = [{"contentBlockStart": {"start": {"toolUse": start}, **at}}]
        sent = json.dumps(named["input"])
        deltas = [{"toolUse": {"input": sent[:4]}}, {"toolUse": {"input": sent[4:]}}]
    elif "text" in block:
        deltas = [{"text": block["text"][:3]}, {"text": block["text"][3:]}]
    else:
        thought = block["reasoningContent"]["reasoningText"]
        deltas = [{"reasoningContent": {key: thought[key]}} for key in ("text", "signature")]
    more = [{"contentBlockDelta": {"delta": delta, **at}} for delta in deltas]
    return [*first, *more, {"contentBlockStop": at}]


def text(content: str) -> Event:
    return {"text": content}


def use(call_id: str, name: str, **arguments: Any) -> Event:
    return {"toolUse": {"toolUseId": call_id, "name": name, "input": arguments}}


def thought(content: str, signature: str = "sig") -> Event:
    return {"reasoningContent": {"reasoningText": {"text": content, "signature": signature}}}


def stream(*sent: Event) -> bytes:
    """Events as they are on the wire; each must be one that the service model knows."""
    output = service().shape_for("ConverseStreamOutput")
    frames = []
    for event in sent:
        ((kind, payload),) = event.items()
        problems = ParamValidator().validate(payload, output.members[kind])
        assert not problems.has_errors(), problems.generate_report()
        exception = output.members[kind].metadata.get("exception")
        frames.append(_frame("exception" if exception else "event", kind, payload))
    return HEAD + b"".join(frames)


def frame(kind: str, payload: Event) -> bytes:
    """One event, whatever it holds."""
    return _frame("event", kind, payload)


def _frame(message_type: str, kind: str, payload: Event) -> bytes:
    headers = b"".join(
        _header(name, value)
        for name, value in (
            (f":{message_type}-type", kind),
            (":content-type", "application/json"),
            (":message-type", message_type),
        )
    )
    body = json.dumps(payload).encode()
    prelude = struct.pack(">II", 16 + len(headers) + len(body), len(headers))
    prelude += struct.pack(">I", crc32(prelude))
    message = prelude + headers + body
    return message + struct.pack(">I", crc32(message))


def _header(name: str, value: str) -> bytes:
    text_type = 7
    return (
        struct.pack(">B", len(name))
        + name.encode()
        + struct.pack(">BH", text_type, len(value))
        + value.encode()
    )


def error(status: int, code: str, message: str) -> bytes:
    head, _, rest = http(status, json.dumps({"message": message})).partition(b"\r\n")
    return head + b"\r\nx-amzn-ErrorType: " + code.encode() + b"\r\n" + rest
