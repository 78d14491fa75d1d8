"""Events of Amazon Bedrock's ConverseStream, and a whole Converse response, as chunks.

A stream is messageStart, for each content block perhaps a contentBlockStart, contentBlockDelta ..
and contentBlockStop, then messageStop with the stop reason and metadata with the token counts.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.model.failures import RequestFailed
from harness.model.providers import chunks
from harness.model.providers.chunks import Chunk, Finish
from harness.model.values import Usage

STOPS: Mapping[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "tool_use": "tool_calls",
    "max_tokens": "length",
}
_REFUSED: Mapping[str, str] = {
    "guardrail_intervened": "a guardrail of the account intervened",
    "content_filtered": "its content was filtered",
}
_MALFORMED = ("malformed_model_output", "malformed_tool_use")


class Events:
    """Translates one reply. `usage` is None until the provider has counted; `thoughts` are the
    blocks that must be sent back with the reply's calls."""

    def __init__(self) -> None:
        self.usage: Usage | None = None
        self.thoughts: list[dict[str, Any]] = []
        self._stop_reason: str | None = None
        self._calls: dict[int, int] = {}
        self._thought: dict[int, dict[str, Any]] = {}

    def chunks(self, events: Iterable[Mapping[str, Any]]) -> Iterator[Chunk]:
        """Raises RequestFailed for a refusal, an end for a reason that is not known, and a stream
        without an end or with events of another shape."""
        try:
            for event in events:
                yield from self._event(event)
        except (LookupError, TypeError, AttributeError):
            # botocore reads events of any shape, and stumbles over some
            raise RequestFailed("interrupted", "it has events of an unknown shape") from None
        if self._stop_reason is None:
            raise RequestFailed("interrupted", "the stream ended before the message did")
        if self._stop_reason not in STOPS:
            raise self._failure(self._stop_reason)

    def _event(self, event: Mapping[str, Any]) -> Iterator[Chunk]:
        for kind, content in event.items():
            if kind == "contentBlockStart":
                yield from self._start(content)
            elif kind == "contentBlockDelta":
                yield from self._delta(content["contentBlockIndex"], content["delta"])
            elif kind == "contentBlockStop":
                self._stop(content["contentBlockIndex"])
            elif kind == "messageStop":
                reason = self._stop_reason = str(content.get("stopReason", ""))
                if reason in STOPS:
                    yield chunks.finish(STOPS[reason])
            elif kind == "metadata":
                self._count(content.get("usage") or {})

    def _start(self, content: Mapping[str, Any]) -> Iterator[Chunk]:
        use = content["start"].get("toolUse")
        if use:
            number = self._calls[content["contentBlockIndex"]] = len(self._calls)
            yield chunks.call(number, use["toolUseId"], use["name"])

    def _delta(self, index: int, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        if delta.get("text"):
            yield chunks.text(delta["text"])
        if "toolUse" in delta and index in self._calls:
            yield chunks.arguments(self._calls[index], delta["toolUse"].get("input", ""))
        if "reasoningContent" in delta:
            thought = self._thought.setdefault(index, {})
            for key, piece in delta["reasoningContent"].items():
                thought[key] = thought[key] + piece if key in thought else piece
            if delta["reasoningContent"].get("text"):
                yield chunks.reasoning(delta["reasoningContent"]["text"])

    def _stop(self, index: int) -> None:
        thought = self._thought.pop(index, {})
        if "redactedContent" in thought:
            self.thoughts.append({"redactedContent": thought["redactedContent"]})
        elif "signature" in thought:
            signed = {"text": thought.get("text", ""), "signature": thought["signature"]}
            self.thoughts.append({"reasoningText": signed})

    def _failure(self, reason: str) -> RequestFailed:
        if reason in _REFUSED:
            return RequestFailed("refusal", _REFUSED[reason])
        if reason in _MALFORMED:
            return RequestFailed("tool_parse", "the model's output was malformed")
        if reason == "model_context_window_exceeded":
            used = self.usage.total if self.usage else None
            return RequestFailed("overflow", "the reply filled it", context_length=used)
        return RequestFailed("unknown_stop", repr(reason))

    def _count(self, usage: Mapping[str, Any]) -> None:
        """`inputTokens` are those that no cache was concerned with. Where they are missing, nothing
        was counted."""
        if "inputTokens" not in usage:
            return
        read = usage.get("cacheReadInputTokens", 0)
        written = usage.get("cacheWriteInputTokens", 0)
        self.usage = Usage(
            usage["inputTokens"] + read + written,
            usage.get("outputTokens", 0),
            estimated=False,
            cached_tokens=read,
            cache_write_tokens=written,
        )


def as_events(response: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """A Converse response as the events that ConverseStream would have sent."""
    for index, block in enumerate(response["output"]["message"]["content"]):
        use, thought = block.get("toolUse"), block.get("reasoningContent")
        if use:
            start = {"toolUseId": use["toolUseId"], "name": use["name"]}
            yield _block("Start", index, start={"toolUse": start})
            yield _block("Delta", index, delta={"toolUse": {"input": json.dumps(use["input"])}})
        elif thought:
            content = thought.get("reasoningText", thought)
            yield _block("Delta", index, delta={"reasoningContent": content})
        elif "text" in block:
            yield _block("Delta", index, delta={"text": block["text"]})
        yield _block("Stop", index)
    yield {"messageStop": {"stopReason": response["stopReason"]}}
    yield {"metadata": {"usage": response.get("usage")}}


def _block(part: str, index: int, **fields: Any) -> Mapping[str, Any]:
    return {f"contentBlock{part}": {"contentBlockIndex": index, **fields}}
