"""From what a server sends to a Reply. Pure: no network, no printing, never an exception.

The text shown while a reply arrives is always the beginning of the text it ends with, and never
holds a call or a thought. One exception: a lone `</think>` turns what was shown before it into
reasoning, and `Decoder.shown` starts again at 0.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model.calls import NativeCalls, build_call
from harness.model.families import NOT_LAST, Block, Written, read_blocks
from harness.model.ids import fresh_id
from harness.model.markup import THINK_END
from harness.model.offer import Offer
from harness.model.tokens import estimate_tokens
from harness.model.values import Call, Reply, Usage
from harness.model.visible import VisibleText, leading_thoughts, lone_thought_end

_REASONING_KEYS = ("reasoning_content", "reasoning", "thinking")
_ANNOUNCEMENT = re.compile(
    r"(?:I'll|I will|Let me|I'm going to|I am going to|Now I)\b[^.!?\n]*[.:]?"
)

DETAILS: Mapping[str, str] = {
    "empty": "Your reply was empty. Call a tool, or answer the request in words.",
    "call_in_reasoning": "You wrote a tool call inside your reasoning, where it is not run. "
    "Send it as a tool call of its own.",
    "truncated_text": "Your reply was truncated ({finish}). Answer again, shorter.",
    "truncated_tool_call": "Your reply was truncated ({finish}), so the tool call in it was not "
    "run. Send it again in smaller parts.",
    "malformed_tool_call": "Your tool call had no tool name, so it was not run. Send it again.",
}
"""What the model is told of a reply that cannot be used."""

_CUT_SHORT = frozenset(
    {"length", "max_tokens", "model_length", "content_filter", "abort", "aborted", "error"}
)
"""Finish reasons of replies that are not whole."""


class Decoder:
    """Decodes one reply, chunk by chunk.

    `shown` counts the characters of the final text that `feed` has returned so far; `started`
    tells whether anything of the reply has come, `finished` whether the server named a reason.
    """

    def __init__(self, tools: Sequence[Mapping[str, Any]], used: Collection[str] = ()) -> None:
        """`used` are the call ids of the conversation so far, which a reply may not repeat."""
        self._offer = Offer(tools)
        self._used = used
        self._content: list[str] = []
        self._reasoning: list[str] = []
        self._native = NativeCalls()
        self._visible = VisibleText()
        self._finish: str | None = None
        self._usage: Usage | None = None

    @property
    def shown(self) -> int:
        return self._visible.shown

    @property
    def started(self) -> bool:
        return bool(self._content or self._reasoning or self._native)

    @property
    def finished(self) -> bool:
        return self._finish is not None

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take a chat.completion.chunk or a whole chat.completion; the text to show now."""
        if not isinstance(chunk, Mapping):
            return ""
        self._usage = _usage(chunk.get("usage")) or self._usage
        choice = _first_choice(chunk.get("choices"))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = reason
        streamed = isinstance(choice.get("delta"), Mapping)
        message = choice.get("delta" if streamed else "message")
        if not isinstance(message, Mapping):
            return ""
        add_calls = self._native.add_delta if streamed else self._native.add_message
        add_calls(message.get("tool_calls") or message.get("function_call"))
        reasoning, text = _texts(message)
        if reasoning:
            self._reasoning.append(reasoning)
        if text:
            self._content.append(text)
        return self._visible.feed(text)

    def finish(self) -> Reply:
        """The whole reply. Call ids are the server's where those are usable, else random."""
        parts = _split("".join(self._content), self._offer)
        if parts.lone_thought and not self._visible.thought:
            self._visible.forget()
        reasoning = "\n".join(filter(None, ("".join(self._reasoning), parts.reasoning))).strip()
        calls, nameless = self._native.finish(self._offer, self._used)
        problem = "" if calls else parts.problem
        if not calls and not self._native:
            calls = tuple(
                build_call(fresh_id(), call.name, call.arguments, self._offer)
                for call in parts.calls
            )
        error = self._error(calls, bool(problem) or nameless, parts.text, reasoning)
        return Reply(
            text=parts.text,
            reasoning=reasoning,
            calls=() if error else calls,
            finish=self._finish,
            usage=self._usage or self._estimate(reasoning, calls),
            error=error,
            detail=self._detail(error, problem),
        )

    def _error(
        self, calls: tuple[Call, ...], broken: bool, text: str, reasoning: str
    ) -> str | None:
        if (self._finish or "").lower() in _CUT_SHORT:
            return "truncated_tool_call" if calls or broken else "truncated_text"
        if calls:
            return None
        if broken:
            return "malformed_tool_call"
        if text:
            lost = self._finish == "tool_calls" and _ANNOUNCEMENT.fullmatch(text)
            return "empty" if lost else None
        hidden = any(block.is_call for block in read_blocks("\n" + reasoning, self._offer))
        return "call_in_reasoning" if hidden else "empty"

    def _detail(self, error: str | None, problem: str) -> str:
        if error == "malformed_tool_call" and problem:
            return problem
        return DETAILS[error].format(finish=self._finish) if error else ""

    def _estimate(self, reasoning: str, calls: tuple[Call, ...]) -> Usage:
        written = "".join([*self._content, reasoning, *(call.name + call.raw for call in calls)])
        return Usage(0, estimate_tokens(written), estimated=True)


def decode(
    chunks: Iterable[Mapping[str, Any]] | Mapping[str, Any], tools: Sequence[Mapping[str, Any]]
) -> Reply:
    """Decode chunks, or one whole response object."""
    decoder = Decoder(tools)
    for chunk in [chunks] if isinstance(chunks, Mapping) else chunks:
        decoder.feed(chunk)
    return decoder.finish()


@dataclass(frozen=True)
class _Parts:
    """A message's content taken apart."""

    text: str
    reasoning: str
    lone_thought: bool
    calls: tuple[Written, ...]
    problem: str


def _split(content: str, offer: Offer) -> _Parts:
    thoughts, answer = leading_thoughts(content)
    text = "\n" + answer
    lone_end = -1 if thoughts else lone_thought_end(text)
    if lone_end >= 0:
        more, answer = leading_thoughts(text[lone_end + len(THINK_END) :])
        thoughts = [text[:lone_end], *more]
        text = "\n" + answer
    blocks = read_blocks(text, offer)
    first = _first_of_last(text, blocks)
    last = blocks[first:]
    astray = [block for block in blocks[:first] if block.tagged]
    problems = [NOT_LAST] if astray else [block.problem for block in last if block.problem]
    return _Parts(
        text=_without(text, [*astray, *last]).strip(),
        reasoning="\n".join(thought.strip() for thought in thoughts),
        lone_thought=lone_end >= 0,
        calls=() if problems else tuple(call for block in last for call in block.calls),
        problem=problems[0] if problems else "",
    )


def _first_of_last(text: str, blocks: Sequence[Block]) -> int:
    """The index from which on the blocks are calls, with only white space between and after."""
    first = len(blocks)
    end = len(text)
    while first and blocks[first - 1].is_call and not text[blocks[first - 1].end : end].strip():
        first -= 1
        end = blocks[first].start
    return first


def _without(text: str, blocks: Sequence[Block]) -> str:
    kept: list[str] = []
    at = 0
    for block in blocks:
        kept.append(text[at : block.start])
        at = block.end
    return "".join([*kept, text[at:]])


def _first_choice(choices: Any) -> Mapping[str, Any]:
    for choice in choices if isinstance(choices, list) else []:
        if isinstance(choice, Mapping) and choice.get("index") in (0, None):
            return choice
    return {}


def _texts(message: Mapping[str, Any]) -> tuple[str, str]:
    """The reasoning and the text of a delta or message."""
    reasoning = next((_plain(message[key]) for key in _REASONING_KEYS if message.get(key)), "")
    content = message.get("content") or message.get("refusal")
    if not isinstance(content, list):
        return reasoning, _plain(content)
    parts = [part for part in content if isinstance(part, Mapping)]
    thought = "".join(_plain(part["thinking"]) for part in parts if "thinking" in part)
    return reasoning or thought, "".join(_plain(part.get("text")) for part in parts)


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "".join(_plain(part.get("text")) for part in value if isinstance(part, Mapping))
    return value if isinstance(value, str) else ""


def _usage(usage: Any) -> Usage | None:
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = usage.get("prompt_tokens"), usage.get("completion_tokens")
    if not isinstance(prompt, int) or not isinstance(completion, int):
        return None
    return Usage(max(prompt, 0), max(completion, 0), estimated=False)
