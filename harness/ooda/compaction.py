"""Making a conversation shorter so that it goes on correctly. Pure: messages in, messages out.

In this order, as far as is needed: old tool results become one line each; earlier turns become
one summary; older steps of the turn become one summary; the code picked for the request goes;
what is left is cut in the middle, results first, then what the model wrote. Never touched: the
system message, what was asked and the conventions with it, the latest verdict, and (unless
nothing else is left) what was last read of and said about the file being edited. A call never
loses its result, nor a result its call.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from harness.model.history import estimate_message
from harness.model.values import Message
from harness.ooda import prompts
from harness.ooda.shortening import (
    MARK,
    bounded,
    cut,
    cut_reply,
    name_of,
    path_of,
    shortened,
    step_lines,
    turn_lines,
)
from harness.ooda.talk import Step, Talk, about_edited_file, calls_of, steps_of, take_apart

FULL_STEPS = 2
"""Newest steps whose results stay whole at first."""

MOST_STEPS = 6
"""Newest steps that stay when older ones become a summary."""

_WORTH = 240
"""Characters from which on a result is worth shortening."""

_LEAST_CUT = 400
"""Characters to which the last resort cuts a result."""


@dataclass(frozen=True)
class Aims:
    """`tokens` turns the estimate of all messages together into tokens; a compaction goes down to
    `target` tokens, and must come to `most`. `request` and `verdict` are messages of the running
    turn, `shorter` is the request without the code picked for it. `writes` are the names of tools
    that edit files, `endings` tell how earlier requests ended, `summary` is how many characters
    a summary may have."""

    tokens: Callable[[int], int]
    target: int
    most: int
    request: Message | None = None
    verdict: Message | None = None
    shorter: str = ""
    writes: Sequence[str] = ()
    summary: int = 1200
    endings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Compacted:
    """The messages to go on with, the request among them, and what became of the others."""

    messages: tuple[Message, ...]
    request: Message | None = None
    shrunk: tuple[str, ...] = ()
    turns: int = 0
    steps: int = 0


def compact(messages: Sequence[Message], aims: Aims) -> Compacted:
    """The conversation within `aims.most`, if it can be; as it was when nothing can be shorter."""
    talk = take_apart(messages, aims.request, aims.verdict)
    if talk is None:
        return Compacted(tuple(messages))
    return _Compaction(talk, aims).run()


class _Compaction:
    """One compaction, stage by stage."""

    def __init__(self, talk: Talk, aims: Aims) -> None:
        self._talk = talk
        self._aims = aims
        self._calls = calls_of(talk.messages)
        self._kept = about_edited_file(talk, aims.writes)
        self._sizes: dict[int, tuple[Message, int]] = {}
        self._shrunk: dict[str, str] = {}
        self._steps = 0
        self._turns = 0

    def run(self) -> Compacted:
        stages = (self._shorten, self._sum_up_turns, self._sum_up_steps, self._drop_code)
        for stage in stages:
            stage()
            if self._size <= self._aims.target:
                break
        if self._size > self._aims.most:
            self._cut()
        shrunk = tuple(self._shrunk.values())
        return Compacted(self._talk.messages, self._talk.request, shrunk, self._turns, self._steps)

    @property
    def _size(self) -> int:
        return self._aims.tokens(sum(map(self._estimate, self._talk.messages)))

    def _estimate(self, message: Message) -> int:
        """Each message is measured once; it is kept, so that its id stays its own."""
        known = self._sizes.get(id(message))
        if known is None:
            known = self._sizes[id(message)] = (message, estimate_message(message))
        return known[1]

    def _shorten(self) -> None:
        """Old results, oldest first, become one line each."""
        steps = [*self._talk.before, *self._talk.after]
        newest = {id(m) for m in chain.from_iterable(steps[-FULL_STEPS:])}
        estimate = sum(map(self._estimate, self._talk.messages))
        swaps: dict[int, Message] = {}
        for message in self._talk.messages:
            if self._aims.tokens(estimate) <= self._aims.target:
                break
            shorter = self._shortened(message) if id(message) not in newest else message
            if shorter is not message:
                swaps[id(message)] = shorter
                estimate += self._estimate(shorter) - self._estimate(message)
        self._swap(swaps)

    def _shortened(self, message: Message) -> Message:
        """A result that need not stay, as one line."""
        text = message["content"]
        if message["role"] != "tool" or len(text) < _WORTH or text.startswith(MARK):
            return message
        if message["tool_call_id"] in self._kept:
            return message
        call = self._calls[message["tool_call_id"]]
        line = shortened(call, text)
        if len(line) >= len(text):
            return message
        self._shrunk[call["id"]] = f"{name_of(call)} {path_of(call)}".strip()
        return {**message, "content": line}

    def _sum_up_turns(self) -> None:
        """All turns before this one become one line each, in one message."""
        earlier, aims = self._talk.earlier, self._aims
        if not earlier:
            return
        lines = turn_lines(earlier, aims.endings, aims.writes)
        self._turns = len(lines)
        kept = self._kept_of(steps_of(earlier))
        summary = f"{prompts.EARLIER}\n{bounded(lines, aims.summary)}"
        self._talk = replace(
            self._talk,
            earlier=(
                {"role": "user", "content": summary},
                *chain.from_iterable(kept),
                {"role": "assistant", "content": prompts.NOTED},
            ),
        )

    def _sum_up_steps(self) -> None:
        """Steps before the verdict, and all but the newest after it, become a line each; as many
        of the newest stay as reach the target."""
        talk = self._talk
        before = self._summed_up(talk.before) if talk.verdict is not None else ()
        for newest in range(MOST_STEPS, 0, -1):
            older = talk.after[:-newest]
            after = (*self._summed_up(older, go_on=True), *talk.after[-newest:])
            self._talk = replace(talk, before=before, after=after)
            self._steps = len(older) + (len(talk.before) if talk.verdict is not None else 0)
            if self._size <= self._aims.target:
                return

    def _summed_up(self, steps: tuple[Step, ...], go_on: bool = False) -> tuple[Step, ...]:
        if not steps:
            return ()
        kept = self._kept_of(steps)
        lines = bounded(
            step_lines(chain.from_iterable(steps), self._aims.writes), self._aims.summary
        )
        summary: Message = {"role": "assistant", "content": f"{prompts.STEPS_SO_FAR}\n{lines}"}
        user: Message = {"role": "user", "content": prompts.CARRY_ON}
        return (*kept, (summary, user) if go_on else (summary,))

    def _kept_of(self, steps: Iterable[Step]) -> list[Step]:
        """The steps with a result that has to stay, without what was said after it; the other
        results of theirs as short as can be."""
        kept: list[Step] = []
        for step in steps:
            results = [m for m in step if m["role"] == "tool"]
            if any(m["tool_call_id"] in self._kept for m in results):
                kept.append((step[0], *map(self._shortened, results)))
        return kept

    def _drop_code(self) -> None:
        """The request without the code that was picked for it, which can be read again."""
        request, shorter = self._talk.request, self._aims.shorter
        if shorter and len(shorter) < len(request["content"]):
            self._shrunk[""] = "the code picked for the request"
            self._talk = replace(self._talk, request={**request, "content": shorter})

    def _cut(self) -> None:
        """The last resort: results that had to stay lose their middle, those about the file being
        edited after all others."""
        results = [message for message in self._talk.messages if message["role"] == "tool"]
        for message in sorted(results, key=lambda m: m["tool_call_id"] in self._kept):
            excess = self._size - self._aims.most
            if excess <= 0:
                return
            text = message["content"]
            if len(text) <= _LEAST_CUT:
                continue
            call = self._calls[message["tool_call_id"]]
            # four characters a token: rather a little more than too little
            shorter = cut(call, text, max(len(text) - 4 * excess - 160, _LEAST_CUT))
            if len(shorter) < len(text):
                self._shrunk[call["id"]] = f"{name_of(call)} {path_of(call)}".strip() + " (cut)"
                self._swap({id(message): {**message, "content": shorter}})
        self._cut_replies()

    def _cut_replies(self) -> None:
        """What the model itself wrote, in words and in arguments, loses its middle at the last."""
        replies = [message for message in self._talk.messages if message["role"] == "assistant"]
        for message in sorted(replies, key=self._estimate, reverse=True):
            excess = self._size - self._aims.most
            if excess <= 0:
                return
            shorter = cut_reply(message, 4 * excess + 160, _LEAST_CUT)
            if shorter != message:
                ids = [call["id"] for call in message.get("tool_calls", ())]
                self._shrunk[ids[0] if ids else ""] = "a long reply (cut)"
                self._swap({id(message): shorter})

    def _swap(self, swaps: Mapping[int, Message]) -> None:
        """Put other messages in the places of some, which are named by their ids."""

        def swapped(messages: Iterable[Message]) -> tuple[Message, ...]:
            return tuple(swaps.get(id(message), message) for message in messages)

        talk = self._talk
        self._talk = replace(
            talk,
            earlier=swapped(talk.earlier),
            before=tuple(swapped(step) for step in talk.before),
            after=tuple(swapped(step) for step in talk.after),
        )
