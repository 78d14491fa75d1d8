"""One reply of a script as the wire wants it: small streamed deltas, or one object."""

import json
import re
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.model.script import Script, ScriptedReply
from harness.model.tokens import estimate_tokens

_WORDS = re.compile(r"\s*\S{1,12}|\s+")
"""What one delta carries: a word, or a piece of a long one."""


@dataclass(frozen=True)
class Answer:
    """The `number`-th answer, to `request`."""

    reply: ScriptedReply
    number: int
    script: Script
    request: Mapping[str, Any]
    created: int = field(default_factory=lambda: int(time.time()))

    def events(self) -> Iterator[str]:
        """The SSE data payloads."""
        if self.reply.chunks is not None:
            yield from self.reply.chunks
            return
        yield self._chunk({"role": "assistant", "content": ""})
        for piece in _WORDS.findall(self.reply.reasoning):
            yield self._chunk({"reasoning_content": piece})
        for piece in _WORDS.findall(self.reply.text):
            yield self._chunk({"content": piece})
        for index, call in enumerate(self._calls()):
            yield from self._call_chunks(index, call)
        yield self._chunk({}, self._finish())
        options = self.request.get("stream_options")
        if isinstance(options, Mapping) and options.get("include_usage"):
            yield json.dumps(
                {**self._head("chat.completion.chunk"), "choices": [], **self._usage()}
            )
        yield "[DONE]"

    def completion(self) -> dict[str, Any]:
        """The whole reply as one object."""
        message: dict[str, Any] = {"role": "assistant", "content": self.reply.text}
        if self.reply.reasoning:
            message["reasoning_content"] = self.reply.reasoning
        if self.reply.calls:
            message["tool_calls"] = self._calls()
        choice = {"index": 0, "message": message, "finish_reason": self._finish()}
        return {**self._head("chat.completion"), "choices": [choice], **self._usage()}

    def _call_chunks(self, index: int, call: Mapping[str, Any]) -> Iterator[str]:
        function = call["function"]
        opening = {**call, "index": index, "function": {**function, "arguments": ""}}
        yield self._chunk({"tool_calls": [opening]})
        for piece in _WORDS.findall(function["arguments"]):
            yield self._chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})

    def _calls(self) -> list[dict[str, Any]]:
        return [
            {
                "id": f"call_{self.number}_{index}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments
                    if isinstance(arguments, str)
                    else json.dumps(arguments, ensure_ascii=False),
                },
            }
            for index, (name, arguments) in enumerate(self.reply.calls)
        ]

    def _finish(self) -> str:
        return self.reply.finish or ("tool_calls" if self.reply.calls else "stop")

    def _usage(self) -> dict[str, Any]:
        """Counted by length, from the messages and tools that really came."""
        prompt = estimate_tokens([self.request.get("messages"), self.request.get("tools")])
        written = [self.reply.reasoning, self.reply.text, *map(str, self.reply.calls)]
        completion = estimate_tokens("".join(written))
        return {
            "usage": {
                "prompt_tokens": prompt,
                "completion_tokens": completion,
                "total_tokens": prompt + completion,
            }
        }

    def _chunk(self, delta: Mapping[str, Any], finish: str | None = None) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        chunk = {**self._head("chat.completion.chunk"), "choices": [choice]}
        return json.dumps(chunk, ensure_ascii=False)

    def _head(self, kind: str) -> dict[str, Any]:
        return {
            "id": f"chatcmpl-{self.number}",
            "object": kind,
            "created": self.created,
            "model": self.script.model,
        }


def error_body(message: str) -> str:
    return json.dumps({"error": {"message": message, "type": "invalid_request_error"}})
