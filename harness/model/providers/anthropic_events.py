"""Events of Anthropic's Messages API as chunks.

A stream is message_start, then for each content block content_block_start, content_block_delta
.. and content_block_stop, then message_delta with the stop reason and message_stop; ping and error
may come anywhere, and kinds that are not known are passed over. Token counts are cumulative.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.model.failures import RequestFailed
from harness.model.providers import chunks
from harness.model.providers.anthropic_errors import failure
from harness.model.providers.chunks import Chunk, Finish
from harness.model.values import Usage

STOPS: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
    # a pause is for tools that run on the server, of which we ask for none: it is not whole
    "pause_turn": "length",
}


class Events:
    """Translates one reply. `usage` is None until the provider has counted; `thoughts` are the
    blocks that must be sent back with the reply's calls."""

    def __init__(self) -> None:
        self.thoughts: list[dict[str, Any]] = []
        self.ended = False
        self._blocks: dict[int, dict[str, Any]] = {}
        self._calls: dict[int, int] = {}
        self._counts: dict[str, int] = {}
        self._stop_reason: str | None = None

    @property
    def usage(self) -> Usage | None:
        if "input_tokens" not in self._counts:
            return None
        read = self._counts.get("cache_read_input_tokens", 0)
        written = self._counts.get("cache_creation_input_tokens", 0)
        return Usage(
            self._counts["input_tokens"] + read + written,
            self._counts.get("output_tokens", 0),
            estimated=False,
            cached_tokens=read,
            cache_write_tokens=written,
        )

    def chunks(self, events: Iterable[Mapping[str, Any]]) -> Iterator[Chunk]:
        """Raises RequestFailed for an error inside the stream, a refusal, an end for a reason
        that is not known, and a stream without an end."""
        for event in events:
            yield from self._event(event)
            if self.ended:
                return
        raise RequestFailed("interrupted", "the stream ended before the message did")

    def _event(self, event: Mapping[str, Any]) -> Iterator[Chunk]:
        kind = event.get("type")
        if kind == "message_start":
            self._count(_mapping(event, "message").get("usage"))
        elif kind == "content_block_start":
            yield from self._start(_index(event), dict(_mapping(event, "content_block")))
        elif kind == "content_block_delta":
            yield from self._delta(_index(event), _mapping(event, "delta"))
        elif kind == "content_block_stop":
            yield from self._stop(_index(event))
        elif kind == "message_delta":
            self._count(event.get("usage"))
            yield from self._finish(_mapping(event, "delta"))
        elif kind == "message_stop":
            self._end()
        elif kind == "message":
            yield from self._whole(event)
        elif kind == "error":
            raise failure(200, json.dumps(event))

    def _whole(self, message: Mapping[str, Any]) -> Iterator[Chunk]:
        """A message that came in one piece although a stream was asked for."""
        self._count(message.get("usage"))
        content = message.get("content")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
        for index, block in enumerate(content if isinstance(content, list) else ()):
            if isinstance(block, Mapping):
                yield from self._start(index, dict(block))
                yield from self._stop(index)
        yield from self._finish(message)
        self._end()

    def _end(self) -> None:
        """One that does not tell why it ended may have been cut anywhere."""
        if self._stop_reason is None:
            raise RequestFailed("interrupted", "the message ended without a reason")
        self.ended = True

    def _start(self, index: int, block: dict[str, Any]) -> Iterator[Chunk]:
        self._blocks[index] = block
        kind = block.get("type")
        if kind == "text" and block.get("text"):
            yield chunks.text(str(block["text"]))
        elif kind == "thinking" and block.get("thinking"):
            yield chunks.reasoning(str(block["thinking"]))
        elif kind == "tool_use":
            number = self._calls[index] = len(self._calls)
            yield chunks.call(number, _string(block, "id"), _string(block, "name"))

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        block = self._blocks.setdefault(index, {})
        kind = delta.get("type")
        if kind == "text_delta":
            yield chunks.text(_string(delta, "text"))
        elif kind == "thinking_delta":
            piece = _string(delta, "thinking")
            block["thinking"] = _string(block, "thinking") + piece
            yield chunks.reasoning(piece)
        elif kind == "signature_delta":
            block["signature"] = _string(block, "signature") + _string(delta, "signature")
        elif kind == "input_json_delta" and index in self._calls and delta.get("partial_json"):
            block["streamed"] = True
            yield chunks.arguments(self._calls[index], str(delta["partial_json"]))

    def _stop(self, index: int) -> Iterator[Chunk]:
        block = self._blocks.get(index, {})
        kind = block.get("type")
        if kind == "tool_use" and not block.get("streamed"):
            yield chunks.arguments(self._calls[index], json.dumps(block.get("input") or {}))
        elif kind == "redacted_thinking" or (kind == "thinking" and block.get("signature")):
            self.thoughts.append(block)

    def _finish(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        reason = delta.get("stop_reason")
        if reason == "refusal":
            details = _mapping(delta, "stop_details")
            said = details.get("explanation") or details.get("category") or ""
            raise RequestFailed("refusal", str(said))
        if reason == "model_context_window_exceeded":
            used = self.usage.total if self.usage else None
            raise RequestFailed("overflow", "the reply filled it", context_length=used)
        if reason is None:
            return
        if not isinstance(reason, str) or reason not in STOPS:
            raise RequestFailed("unknown_stop", repr(reason))
        self._stop_reason = reason
        yield chunks.finish(STOPS[reason])

    def _count(self, usage: Any) -> None:
        for name, value in usage.items() if isinstance(usage, Mapping) else ():
            if isinstance(value, int):
                self._counts[name] = max(value, 0)


def _mapping(event: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = event.get(key)
    return value if isinstance(value, Mapping) else {}


def _string(event: Mapping[str, Any], key: str) -> str:
    value = event.get(key)
    return value if isinstance(value, str) else ""


def _index(event: Mapping[str, Any]) -> int:
    index = event.get("index")
    return index if isinstance(index, int) else 0
