"""One chat request: the openai SDK, its own retries off, with our limits and our table of causes.

posting.py sends, reading.py reads the answer, retrying.py asks again where that may help, and
remedies.py mends what a server refused. A call is returned only when its reply is complete.
"""

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.errors import ModelFailure
from harness.model.failures import RequestFailed, one_line
from harness.model.patience import Patience
from harness.model.posting import posted
from harness.model.retrying import persist
from harness.model.servers import Server, list_models
from harness.model.tokens import estimate_tokens
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts, Usage

if TYPE_CHECKING:
    from harness.model.remedies import Mending

_MOST_NAMED = 8
"""Models named when the wanted one is not there."""

_LOOK_SECONDS = 1.0
"""How often a server is asked whether it has loaded the model."""

_NOT_THERE = frozenset({"refused", "proxy", "deadline"})
"""Causes which do not tell that somebody answered."""


class Client:
    """Asks one model at one server, and remembers how that server wants to be asked."""

    def __init__(
        self,
        server: Server,
        model: str,
        sampling: Sampling,
        timeouts: Timeouts,
    ) -> None:
        self.server = server
        # a name from the command line may hold bytes that are no text
        self.model = model.encode("utf-8", "replace").decode("utf-8")
        self._sampling = sampling
        self._timeouts = timeouts
        self._mending: Mending | None = None
        self._answered = False

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        """Ask for the next reply. `on_text` is given its visible text piece by piece.

        Raises ModelFailure with one clear line.
        """
        if self._mending:
            self._mending.begin()
        try:
            reply = persist(
                lambda: self._attempt(asked, on_text),
                lambda failed: failed.what(self.server.base_url),
                on_retry,
                asked.deadline,
                mend=lambda failed: self._mend(failed, asked),
                pause=self._pause,
                loading=self._timeouts.first_token,
            )
        except RequestFailed as failed:
            return self._give_up(failed)
        if self._mending:
            self._mending.keep()
        return reply

    def _attempt(self, asked: Asked, on_text: Callable[[str], None]) -> Reply:
        """Send the request once. Raises RequestFailed, fit to be told."""
        shown: list[str] = []

        def show(text: str) -> None:
            shown.append(text)
            on_text(text)

        try:
            reply = self._try(asked, show)
        except RequestFailed as failed:
            failed.text = "".join(shown)
            recovered = self._recovered(failed, asked, show)
            if recovered is None:
                self._note(failed)
                raise
            reply = recovered
        self._answered = True
        return _counted(reply, asked)

    def _try(self, asked: Asked, on_text: Callable[[str], None]) -> Reply:
        patience = Patience(self._timeouts, asked.deadline)
        with posted(self.server, self._body(asked), patience, self._timeouts) as response:
            # what reads a reply is imported while the server still thinks about it
            from harness.model.reading import read_reply

            pieces = response.iter_bytes()
            known = replace(asked.known, max_tokens=self._sampling.max_new_tokens)
            decoder = asked.decoder(known) if asked.decoder else None
            return read_reply(pieces, asked.tools, _used(asked), patience, on_text, decoder, known)

    def _body(self, asked: Asked) -> dict[str, Any]:
        """The body of the request, as this server takes it."""
        sampling = self._sampling
        optional = {
            "tools": list(asked.tools) or None,
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        body = {
            "model": self.model,
            "messages": list(asked.messages),
            **{key: value for key, value in optional.items() if value is not None},
            "stream": True,
            "stream_options": {"include_usage": True},
            **asked.extra,
        }
        return self._mending.mended(body) if self._mending else body

    def _mend(self, failed: RequestFailed, asked: Asked) -> str:
        """Change what is sent next so that the server takes it: how, or "" when that cannot be."""
        if not failed.may_be_mended:
            return ""
        from harness.model.remedies import Mending

        self._mending = self._mending or Mending()
        return self._mending.take(failed, self._body(asked))

    def _recovered(
        self, failed: RequestFailed, asked: Asked, on_text: Callable[[str], None]
    ) -> Reply | None:
        """The reply whose call the server could not read, when its error quotes the whole call."""
        if failed.cause != "tool_parse":
            return None
        from harness.model.recovery import quoted_reply

        patience = Patience(self._timeouts, asked.deadline)
        return quoted_reply(failed, asked.tools, _used(asked), patience, on_text)

    def _note(self, failed: RequestFailed) -> None:
        """Keep the key out of it, and tell a server that went away from one that never was."""
        from harness.model.redact import without_secret

        failed.said = without_secret(failed.said, self.server.api_key)
        if failed.cause not in _NOT_THERE:
            self._answered = True
        elif failed.cause == "refused" and self._answered:
            failed.cause = "gone"

    def _give_up(self, failed: RequestFailed) -> Reply:
        """A reply that only the model can mend goes back to it; all else ends the turn."""
        if failed.cause == "tool_parse":
            said = one_line(failed.said)
            detail = f"The server could not read your tool call: {said}. Send it again."
            return Reply(text=failed.text, error="malformed_tool_call", detail=detail)
        line = self._line(failed)
        raise ModelFailure(failed.error_class, line, failed.context_length, failed.text) from None

    def _pause(self, failed: RequestFailed, seconds: float) -> None:
        """Wait; while a model is being loaded, only until llama.cpp says that it is there. A
        server that has not said that it is not is one that always says it is."""
        until = time.monotonic() + seconds
        looks = failed.cause == "loading" and self.server.base_url.startswith("http:")
        looks = looks and self._health() == 503
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(left, _LOOK_SECONDS) if looks else left)
            health = self._health() if looks and left > _LOOK_SECONDS else None
            if health == 200:
                return
            looks = health == 503

    def _health(self) -> int | None:
        """The status of `/health`, which llama.cpp answers with 503 until the model is there."""
        from harness.model.probe import exchange

        root = "/".join(self.server.base_url.split("/")[:3])
        with suppress(RequestFailed):
            return exchange(f"{root}/health", {}, _LOOK_SECONDS).status
        return None

    def _line(self, failed: RequestFailed) -> str:
        note = self._models_note() if failed.cause == "not_found" else ""
        return failed.line(self.server.base_url, note)

    def _models_note(self) -> str:
        listed = self.server.models or list_models(self.server.base_url, self.server.api_key)
        models = [model for model in listed if model != self.model]
        pull = f" (or: ollama pull {self.model})" if self.server.kind == "ollama" else ""
        names = ", ".join(models[:_MOST_NAMED]) + (", ..." if len(models) > _MOST_NAMED else "")
        return f"It has: {names}{pull}" if names else pull.strip(" ()")


def _used(asked: Asked) -> set[str]:
    """The call ids of the conversation so far."""
    return {call["id"] for m in asked.messages for call in m.get("tool_calls") or ()}


def _counted(reply: Reply, asked: Asked) -> Reply:
    """`reply` with tokens estimated where the server counted nothing: it has not counted then."""
    if not reply.usage.estimated and reply.usage.prompt_tokens:
        return reply
    prompt = estimate_tokens([*asked.messages, *asked.tools])
    completion = reply.usage.completion_tokens or estimate_tokens(
        [reply.text, reply.reasoning, *(call.raw for call in reply.calls)]
    )
    return replace(reply, usage=Usage(prompt, completion))
