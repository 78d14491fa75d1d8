"""What the providers share: one request, asked until it has a reply or a reason why not."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import Any, ClassVar, Protocol

from harness.errors import ModelFailure
from harness.model.failures import CAUSES, RequestFailed, one_line
from harness.model.patience import Patience
from harness.model.providers.chunks import Chunk, as_sse
from harness.model.providers.turns import Conversation, call_id, conversation
from harness.model.redact import without_secret
from harness.model.retrying import persist
from harness.model.tokens import estimate_tokens
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts, Usage

LEAST_ROOM = 1024
"""Tokens of a reply below which asking for a shorter one makes no sense."""


class Reading(Protocol):
    """One reply while it is read. `usage` is None until the provider has counted; `thoughts` are
    blocks that must be sent back with the reply's calls."""

    @property
    def usage(self) -> Usage | None: ...
    @property
    def thoughts(self) -> Sequence[Mapping[str, Any]]: ...
    def chunks(self, events: Iterable[Any]) -> Iterable[Chunk]: ...


class Provider(ABC):
    """Asks one model of one provider; `host` is its address, as it is shown."""

    advice: ClassVar[Mapping[str, str]] = {}
    """What the user can do, by cause, where it is not what CAUSES says."""

    def __init__(self, host: str, model: str, sampling: Sampling, timeouts: Timeouts) -> None:
        self.host = host
        # a name from the command line may hold bytes that are no text
        self.model = model.encode("utf-8", "replace").decode("utf-8")
        self._sampling = sampling
        self._timeouts = timeouts
        self._thoughts: dict[str, Sequence[Mapping[str, Any]]] = {}
        self._most: int | None = None  # tokens that the model may reply with at most
        self._room: int | None = None  # tokens that the context of this request has left

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        """Ask for the next reply. `on_text` is given its visible text piece by piece.

        Raises ModelFailure with one clear line.
        """
        self._room = None
        try:
            return persist(
                lambda: self._attempt(asked, on_text),
                lambda failed: failed.what(self.host),
                on_retry,
                asked.deadline,
                mend=self._mend,
            )
        except RequestFailed as failed:
            return self._give_up(failed)

    @abstractmethod
    def _post(
        self, asked: Conversation, patience: Patience
    ) -> AbstractContextManager[tuple[Reading, Iterable[Any]]]:
        """Send the request: who reads its reply, and the events that it consists of.

        Raises RequestFailed, also while the events are read.
        """

    def _mend(self, failed: RequestFailed) -> str:
        """Change what the next try sends; what was changed, in a sentence, or ""."""
        if failed.cause != "room" or failed.room is None or failed.room < LEAST_ROOM:
            return ""
        bound = self._max_tokens()
        if bound is not None and failed.room >= bound:
            return ""
        if failed.context_length is None:
            self._most = failed.room
        else:
            self._room = failed.room
        return f"Asked again for a reply of at most {failed.room} tokens"

    def _max_tokens(self, default: int | None = None) -> int | None:
        bounds = (self._sampling.max_new_tokens or default, self._most, self._room)
        return min((bound for bound in bounds if bound is not None), default=None)

    def _attempt(self, asked: Asked, on_text: Callable[[str], None]) -> Reply:
        """Send the request once. Raises RequestFailed, fit to be told."""
        shown: list[str] = []

        def show(text: str) -> None:
            shown.append(text)
            on_text(text)

        try:
            return self._try(asked, show)
        except RequestFailed as failed:
            failed.text = "".join(shown)
            failed.said = without_secret(failed.said, self._secret())
            raise

    def _secret(self) -> str | None:
        """What must not be shown, wherever it is quoted."""
        return None

    def _try(self, asked: Asked, on_text: Callable[[str], None]) -> Reply:
        patience = Patience(self._timeouts, asked.deadline)
        used = {call["id"] for m in asked.messages for call in m.get("tool_calls") or ()}
        with self._post(conversation(asked.messages, asked.tools), patience) as (reading, events):
            # what reads a reply is imported while the provider still thinks about it
            from harness.model.reading import read_reply

            pieces = as_sse(reading.chunks(events))
            decoder = asked.decoder(asked.known) if asked.decoder else None
            reply = read_reply(pieces, asked.tools, used, patience, on_text, decoder, asked.known)
        if reply.calls and reading.thoughts:
            self._thoughts[call_id(reply.calls[0].id)] = tuple(reading.thoughts)
        return replace(reply, usage=_usage(reading.usage, asked, reply))

    def _give_up(self, failed: RequestFailed) -> Reply:
        """A reply that only the model can mend goes back to it; all else ends the turn."""
        if failed.cause == "tool_parse":
            detail = f"Your tool call could not be read: {one_line(failed.said)}. Send it again."
            return Reply(text=failed.text, error="malformed_tool_call", detail=detail)
        advice = self.advice.get(failed.cause, CAUSES[failed.cause].advice)
        line = f"{failed.what(self.host)}. {advice}"
        raise ModelFailure(failed.error_class, line, failed.context_length, failed.text) from None


def _usage(counted: Usage | None, asked: Asked, reply: Reply) -> Usage:
    """What the provider counted; estimated where it did not, or not yet when a reply that repeats
    itself was broken off. No prompt has no tokens."""
    counted = counted if counted and counted.prompt_tokens else None
    if counted and reply.error != "repetition":
        return counted
    written = [reply.text, reply.reasoning, *(call.raw for call in reply.calls)]
    completion = estimate_tokens(written)
    if counted:
        return replace(counted, completion_tokens=completion, estimated=True)
    return Usage(estimate_tokens([*asked.messages, *asked.tools]), completion)
