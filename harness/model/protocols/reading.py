"""Replies under `constrained`: a step where there is one, else whatever the reply is."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from harness.model.calls import build_call
from harness.model.decode import DETAILS, Decoder
from harness.model.ids import fresh_id
from harness.model.offer import Offer
from harness.model.protocols import steps, wording
from harness.model.protocols.steps import Step
from harness.model.protocols.streaming import AnswerStream
from harness.model.thoughts import leading_thoughts
from harness.model.values import Known, Reply

_CUT = ("truncated_text", "truncated_tool_call")
_OF_READING = frozenset(
    {None, "empty", "malformed_tool_call", "unknown_tool", "invalid_arguments", "call_in_reasoning"}
)
"""What a reply may seem to be when it is not read as a step."""


class StepDecoder:
    """Decodes one reply that should be a step; otherwise as `Decoder`.

    A server that does not enforce the schema gets its reply read all the same, as one that had
    to be mended.
    """

    def __init__(
        self,
        tools: Sequence[Mapping[str, Any]],
        used: Collection[str] = (),
        known: Known | None = None,
    ) -> None:
        """`tools` are those of the conversation; `used` the ids of its calls."""
        self._offer = Offer(tools)
        self._any = Decoder(tools, used, known)
        self._content: list[str] = []
        self._stream = AnswerStream()

    @property
    def shown(self) -> int:
        return self._stream.shown

    @property
    def started(self) -> bool:
        return self._any.started

    @property
    def finished(self) -> bool:
        return self._any.finished

    @property
    def repeats(self) -> bool:
        return self._any.repeats

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take a chunk, or a whole completion; of an answer the text to show now."""
        self._any.feed(chunk)
        text = _content(chunk)
        self._content.append(text)
        return self._stream.feed(text)

    def finish(self) -> Reply:
        reply = self._any.finish()
        _, rest = leading_thoughts("".join(self._content))
        if reply.error in _CUT:
            return _cut(reply, rest)
        if reply.error not in _OF_READING:
            return reply
        step = steps.read(rest) if rest.strip() else None
        return self._other(reply, rest) if step is None else self._of_step(reply, step)

    def _of_step(self, reply: Reply, step: Step) -> Reply:
        bare = replace(reply, text="", calls=(), error=None, detail="", mended=step.mended)
        if step.is_answer:
            text = step.text.strip()
            if not text:
                return replace(bare, error="empty", detail=wording.EMPTY_ANSWER)
            return replace(bare, text=text)
        call = build_call(fresh_id(), step.tool, dict(step.arguments), self._offer, step.mended)
        return replace(bare, calls=(call,))

    def _other(self, reply: Reply, rest: str) -> Reply:
        """What is no step, from a server that does not hold the model to it."""
        if rest.lstrip().startswith("{") and not reply.calls:
            return replace(reply, error="malformed_tool_call", detail=wording.NOT_A_STEP, text="")
        return replace(reply, mended=reply.error is None)


def _cut(reply: Reply, rest: str) -> Reply:
    """A step that was cut at the limit is none, whatever could be read of it."""
    stream = AnswerStream()
    answer = stream.feed(rest)
    is_text = answer or not rest.lstrip().startswith("{")
    error = "truncated_text" if is_text else "truncated_tool_call"
    detail = DETAILS[error].format(finish=reply.finish or "output limit")
    return replace(reply, text=answer, calls=(), error=error, detail=detail)


def _content(chunk: Any) -> str:
    """The text of a delta or message."""
    choices = chunk.get("choices") if isinstance(chunk, Mapping) else None
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, Mapping) and choice.get("index") in (0, None):
            message = choice.get("delta") or choice.get("message")
            return _plain(message.get("content")) if isinstance(message, Mapping) else ""
    return ""


def _plain(content: Any) -> str:
    if isinstance(content, list):
        texts = [part.get("text") for part in content if isinstance(part, Mapping)]
        return "".join(text for text in texts if isinstance(text, str))
    return content if isinstance(content, str) else ""
