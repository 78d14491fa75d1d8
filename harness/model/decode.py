"""From what a server sends to a Reply. Pure: no network, no printing, never an exception.

The text shown while a reply arrives is always the beginning of the text it ends with, and never
holds a call or a thought. One exception: a lone `</think>` turns what was shown before it into
reasoning, and `Decoder.shown` starts again at 0.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from harness.model.calls import MOST_CALLS, NativeCalls, build_call
from harness.model.content import split
from harness.model.families import FAMILIES
from harness.model.families.form import Family
from harness.model.ids import fresh_id
from harness.model.markup import Grammar
from harness.model.offer import Offer
from harness.model.repetition import IN_REASONING, IN_TEXT, Gathered
from harness.model.tokens import estimate_tokens
from harness.model.usages import at_limit, over_context, prompt_was_cut, read_usage
from harness.model.values import Call, Known, Reply, Usage
from harness.model.visible import VisibleText

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
    "repetition": "Your reply repeated itself without end and was stopped, so nothing of it "
    "counts. Answer again, or call a tool. A long run of equal lines is for run_shell to write.",
    "context_overflow": "The conversation is longer than the context of the model.",
}
"""What the model is told of a reply that cannot be used."""

_AT_LIMIT = frozenset({"length", "max_tokens", "model_length"})
_WHOLE = frozenset({
    *("stop", "eos", "eos_token", "end_turn", "stop_sequence", "stop_string", "stop_word", "end"),
    *("tool_calls", "tool_call", "tool_use", "function_call", "complete", "completed", "done"),
    # llama.cpp and LM Studio in their own words, and servers that name none
    *("stopped_eos", "stopped_word", "eosfound", "stopstringfound", "toolcalls"),
    *("null", "none", ""),
})  # fmt: skip
"""Finish reasons of replies that are whole. Any other, known or not, may stand for half of one."""


class Decoder:
    """Decodes one reply, chunk by chunk.

    `shown` counts the characters of the final text that `feed` has returned so far; `started`
    tells whether anything of the reply has come, `finished` whether the server named a reason,
    `repeats` that the reply repeats itself without end and no more of it is needed.
    """

    def __init__(
        self,
        tools: Sequence[Mapping[str, Any]],
        used: Collection[str] = (),
        known: Known | None = None,
        families: Iterable[Family] = FAMILIES,
    ) -> None:
        """`used` are the call ids of the conversation so far, which a reply may not repeat;
        `families` the formats in which a call may stand in the text."""
        self._offer = Offer(tools)
        self._used = used
        self._known = known or Known()
        self._grammar = Grammar(families)
        self._content = Gathered(IN_TEXT)
        self._reasoning = Gathered(IN_REASONING)
        self._native = NativeCalls(self._offer)
        self._visible = VisibleText(self._grammar)
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

    @property
    def repeats(self) -> bool:
        return self._content.repeats or self._reasoning.repeats or self._native.repeats

    def feed(self, chunk: Mapping[str, Any]) -> str:
        """Take a chat.completion.chunk or a whole chat.completion; the text to show now."""
        text = _only_text(chunk)
        if text is not None:
            return self._visible.feed(self._content.add(text))
        return self._feed(chunk)

    def _feed(self, chunk: Mapping[str, Any]) -> str:
        if not isinstance(chunk, dict):
            return ""
        usage = chunk.get("usage")
        if usage:
            self._usage = read_usage(usage) or self._usage
        choice = _first_choice(chunk.get("choices"))
        reason = choice.get("finish_reason")
        if isinstance(reason, str) and reason:
            self._finish = reason
        delta = choice.get("delta")
        if isinstance(delta, dict):
            return self._take(delta, self._native.add_delta)
        message = choice.get("message")
        return self._take(message, self._native.add_message) if isinstance(message, dict) else ""

    def finish(self) -> Reply:
        """The whole reply. Call ids are the server's where those are usable, else random."""
        cut = self._is_cut() or bool(self._native)
        parts = split(str(self._content), self._offer, self._grammar, strict=cut)
        if parts.lone_thought and not self._visible.forgot:
            self._visible.forget()
        reasoning = "\n".join(filter(None, (str(self._reasoning), parts.reasoning))).strip()
        calls, nameless = self._native.finish(self._used)
        problem = None if calls else parts.problem
        if not calls and not self._native:
            calls = tuple(
                build_call(fresh_id(), call.name, call.arguments, self._offer, found=True)
                for call in parts.calls
            )
        usage = self._usage or self._estimate(reasoning, calls)
        broken = problem.error if problem else "malformed_tool_call" if nameless else None
        error = self._error(calls, broken, parts.text, reasoning, usage)
        detail = problem.sentence if problem and error == broken else _detail(error, self._finish)
        return Reply(
            text=parts.text,
            reasoning=reasoning,
            calls=() if error else calls,
            finish=_ended(self._finish, bool(calls), error),
            usage=usage,
            error=error,
            detail=detail,
            mended=any(call.mended for call in calls),
            truncated_prompt=prompt_was_cut(usage, self._known),
        )

    def _take(self, message: Mapping[str, Any], add_calls: Callable[[Any], None]) -> str:
        """Take a delta or a whole message."""
        calls = message.get("tool_calls") or message.get("function_call")
        if calls:
            add_calls(calls)
        thought = _thought(message)
        if thought:
            self._reasoning.add(thought)
        text = _plain(message.get("content") or message.get("refusal"))
        return self._visible.feed(self._content.add(text)) if text else ""

    def _error(
        self, calls: tuple[Call, ...], broken: str | None, text: str, reasoning: str, usage: Usage
    ) -> str | None:
        """The first reason why the reply cannot be used."""
        if self.repeats or len(calls) > MOST_CALLS:
            return "repetition"
        if not calls and not broken and not text and over_context(usage, self._known):
            return "context_overflow"
        if self._is_cut():
            return "truncated_tool_call" if calls or broken else "truncated_text"
        if calls or broken:
            return None if calls else broken
        if text:
            lost = self._finish == "tool_calls" and _ANNOUNCEMENT.fullmatch(text)
            return "empty" if lost else None
        hidden = any(block.is_call for block in self._grammar.blocks("\n" + reasoning, self._offer))
        return "call_in_reasoning" if hidden else "empty"

    def _is_cut(self) -> bool:
        """Whether the server stopped the reply before its end."""
        by_name = (self._finish or "").lower() not in _WHOLE
        return by_name or (self._usage is not None and at_limit(self._usage, self._known))

    def _estimate(self, reasoning: str, calls: tuple[Call, ...]) -> Usage:
        sent = "".join(call.name + call.raw for call in calls)
        return Usage(0, estimate_tokens(f"{self._content}{reasoning}{sent}"), estimated=True)


def decode(
    chunks: Iterable[Mapping[str, Any]] | Mapping[str, Any],
    tools: Sequence[Mapping[str, Any]],
    known: Known | None = None,
    families: Iterable[Family] = FAMILIES,
) -> Reply:
    """Decode chunks, or one whole response object."""
    decoder = Decoder(tools, known=known, families=families)
    for chunk in [chunks] if isinstance(chunks, Mapping) else chunks:
        decoder.feed(chunk)
        if decoder.repeats:
            break
    return decoder.finish()


def _detail(error: str | None, finish: str | None) -> str:
    return DETAILS[error].format(finish=finish or "output limit") if error else ""


def _ended(finish: str | None, called: bool, error: str | None) -> str | None:
    """How a reply ended: by what it holds where it is whole, since servers often name another
    reason; else in the server's word, with one for the limit."""
    if error is None:
        return "tool_calls" if called else "stop"
    return "length" if (finish or "").lower() in _AT_LIMIT else finish


def _first_choice(choices: Any) -> Mapping[str, Any]:
    for choice in choices if isinstance(choices, list) else ():
        if isinstance(choice, dict) and choice.get("index") in (0, None):
            return choice
    return {}


def _only_text(chunk: Mapping[str, Any]) -> str | None:
    """The text of a chunk that brings nothing else, as nearly all do; None for any other."""
    try:
        (choice,) = chunk["choices"]
        delta = choice["delta"]
        text = delta["content"]
        alone = len(delta) == 1 or (len(delta) == 2 and "role" in delta)
        if alone and not choice.get("finish_reason") and not choice.get("index"):
            return text if type(text) is str and not chunk.get("usage") else None
    except (KeyError, TypeError, ValueError, AttributeError):
        pass
    return None


def _thought(message: Mapping[str, Any]) -> str:
    """The reasoning in a delta or message, under whichever name the server has for it."""
    for key in _REASONING_KEYS:
        if message.get(key):
            return _plain(message[key])
    content = message.get("content")
    if not isinstance(content, list):
        return ""
    return "".join(_plain(part.get("thinking")) for part in content if isinstance(part, Mapping))


def _plain(value: Any) -> str:
    """A text, alone or in parts."""
    if isinstance(value, str):
        return value
    if not isinstance(value, list):
        return ""
    return "".join(_plain(part.get("text")) for part in value if isinstance(part, Mapping))
