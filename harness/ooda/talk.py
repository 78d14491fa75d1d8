"""A conversation taken apart into what a compaction treats differently. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from harness.model.values import Message
from harness.ooda import prompts
from harness.ooda.shortening import MARK, failed, name_of, path_of

Step = tuple[Message, ...]
"""A message of the assistant, and all up to its next one."""

_NO_CALL: Mapping[str, Any] = {"function": {"name": "", "arguments": "{}"}}


@dataclass(frozen=True)
class Talk:
    """A conversation taken apart: what was before the request, and the steps after it, before and
    after the latest verdict."""

    system: Message
    earlier: tuple[Message, ...]
    request: Message
    before: tuple[Step, ...]
    verdict: Message | None
    after: tuple[Step, ...]

    @property
    def messages(self) -> tuple[Message, ...]:
        verdict = () if self.verdict is None else (self.verdict,)
        before, after = chain.from_iterable(self.before), chain.from_iterable(self.after)
        return (self.system, *self.earlier, self.request, *before, *verdict, *after)


def take_apart(
    messages: Sequence[Message], request: Message | None, verdict: Message | None
) -> Talk | None:
    at = _last(messages, request)
    if at is None:
        requests = [i for i, m in enumerate(messages) if m["role"] == "user" and not _is_remark(m)]
        if not requests:
            return None
        at = requests[-1]
    there = _last(messages[at + 1 :], verdict)
    end = len(messages) if there is None else at + 1 + there
    return Talk(
        system=messages[0],
        earlier=tuple(messages[1:at]),
        request=messages[at],
        before=() if there is None else tuple(steps_of(messages[at + 1 : end])),
        verdict=None if there is None else messages[end],
        after=tuple(steps_of(messages[at + 1 if there is None else end + 1 :])),
    )


def _last(messages: Sequence[Message], wanted: Message | None) -> int | None:
    """Where a message stands, the last time that it does."""
    found = (i for i in range(len(messages) - 1, -1, -1) if messages[i] == wanted)
    return next(found, None) if wanted is not None else None


def steps_of(messages: Iterable[Message]) -> list[Step]:
    """The steps that messages consist of; what comes before the first of them is left out."""
    steps: list[list[Message]] = []
    for message in messages:
        if message["role"] == "assistant":
            steps.append([message])
        elif steps:
            steps[-1].append(message)
    return [tuple(step) for step in steps]


def about_edited_file(talk: Talk, writes: Sequence[str]) -> frozenset[str]:
    """The ids of the calls that last read the file being edited, and last did anything to it.

    It is what this turn edited last, else what it read last, else the same of earlier turns.
    """
    done = [(call, text) for call, text in _results(talk.messages) if path_of(call)]
    earlier = {call["id"] for message in talk.earlier for call in message.get("tool_calls", ())}
    here = [call for call, _ in done if call["id"] not in earlier] or [call for call, _ in done]
    path = path_of(([call for call in here if name_of(call) in writes] or here or [_NO_CALL])[-1])
    about = [(call, text) for call, text in done if path_of(call) == path and not failed(text)]
    read = [call["id"] for call, text in about if _is_read(call, text, writes)]
    return frozenset([*read[-1:], *[call["id"] for call, _ in about][-1:]])


def _is_read(call: Mapping[str, Any], text: str, writes: Sequence[str]) -> bool:
    return name_of(call) not in writes and not text.startswith(MARK)


def _results(messages: Iterable[Message]) -> list[tuple[Mapping[str, Any], str]]:
    """Each call with the text of its result, in order."""
    calls = calls_of(messages := list(messages))
    return [(calls[m["tool_call_id"]], m["content"]) for m in messages if m["role"] == "tool"]


def calls_of(messages: Iterable[Message]) -> dict[str, Mapping[str, Any]]:
    return {call["id"]: call for m in messages for call in m.get("tool_calls", ())}


def _is_remark(message: Message) -> bool:
    return prompts.is_remark(message["content"])
