"""One chat request: the openai SDK, its own retries off, with our limits and our table of causes.

The SDK builds the request, transport.py carries it, reading.py reads the answer. A call is
returned only when its reply is complete.
"""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from harness.errors import ModelFailure
from harness.model.failures import CAUSES, RequestFailed, one_line
from harness.model.patience import Patience
from harness.model.servers import Server, list_models
from harness.model.tokens import estimate_tokens
from harness.model.values import Message, Reply, RetryNote, Sampling, Timeouts, Usage

if TYPE_CHECKING:
    import httpx2

LONGEST_WAITING = 10.0
"""Seconds that all waits before further tries of one request may take together."""

NO_KEY = "none"
"""Sent where a server needs no key: the SDK insists on one."""

_NEEDED_HEADERS = ("Host", "Accept", "Content-Type", "Content-Length", "User-Agent")

_MOST_NAMED = 8
"""Models named when the wanted one is not there."""


class Client:
    """Asks one model at one server."""

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

    def complete(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
        deadline: float | None = None,
    ) -> Reply:
        """Ask for the next reply. `on_text` is given its visible text piece by piece.

        `deadline` is a time of time.monotonic(). Raises ModelFailure with one clear line.
        """
        waited = 0.0
        tries = 0
        while True:
            tries += 1
            try:
                return self._try(messages, tools, on_text, deadline)
            except RequestFailed as failed:
                wait = _wait(failed, tries, waited, deadline)
                if wait is None:
                    return self._give_up(failed)
                on_retry(RetryNote(failed.error_class, self._line(failed), wait))
                time.sleep(wait)
                waited += wait

    def _try(
        self,
        messages: Sequence[Message],
        tools: Sequence[Mapping[str, Any]],
        on_text: Callable[[str], None],
        deadline: float | None,
    ) -> Reply:
        patience = Patience(self._timeouts, deadline)
        used = {call["id"] for message in messages for call in message.get("tool_calls", ())}
        with self._post(self._body(messages, tools), patience) as response:
            # what reads a reply is imported while the server still thinks about it
            from harness.model.reading import read_reply

            reply = read_reply(response.iter_bytes(), tools, used, patience, on_text)
        # a server that counts nothing has not counted
        if reply.usage.estimated or not reply.usage.prompt_tokens:
            prompt = estimate_tokens([*messages, *tools])
            completion = reply.usage.completion_tokens or estimate_tokens(
                [reply.text, reply.reasoning, *(call.raw for call in reply.calls)]
            )
            reply = replace(reply, usage=Usage(prompt, completion))
        return reply

    def _body(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
    ) -> dict[str, Any]:
        sampling = self._sampling
        optional = {
            "tools": list(tools) or None,
            "max_tokens": sampling.max_new_tokens,
            "temperature": sampling.temperature,
            "top_p": sampling.top_p,
        }
        return {
            "model": self.model,
            "messages": list(messages),
            **{key: value for key, value in optional.items() if value is not None},
            "stream": True,
            "stream_options": {"include_usage": True},
        }

    @contextmanager
    def _post(self, body: Mapping[str, Any], patience: Patience) -> "Iterator[httpx2.Response]":
        """The response to the one POST there is, closed in any case."""
        import openai  # isort: skip - httpx2 is a part of it and costs nothing after it
        import httpx2

        from harness.model.transport import http_client

        http = http_client(self.server.base_url, patience, self._timeouts)
        if not self.server.for_openai:
            http.event_hooks = {"request": [self._without_environment]}
        sdk = openai.OpenAI(
            base_url=self.server.base_url,
            api_key=self.server.api_key or NO_KEY,
            max_retries=0,
            http_client=http,
        )
        streamed = True
        try:
            # not `chat.completions`: its types take 20 ms to import, and the body is to be read
            # byte by byte
            response = sdk.post(
                "/chat/completions", cast_to=httpx2.Response, body=dict(body), stream=streamed
            )
            try:
                yield response
            finally:
                response.close()
        except openai.APIStatusError as error:
            from harness.model.classify import classify

            retry_after = error.response.headers.get("retry-after", "")
            raise classify(error.status_code, error.response.text, retry_after) from None
        except (openai.APIError, httpx2.HTTPError) as error:
            raise _translated(error, patience) from None
        finally:
            http.close()

    def _without_environment(self, request: "httpx2.Request") -> None:
        """Take out what the SDK adds from OPENAI_ORG_ID, OPENAI_PROJECT_ID and
        OPENAI_CUSTOM_HEADERS, which may hold a key."""
        needed = {name: request.headers[name] for name in _NEEDED_HEADERS}
        request.headers.clear()
        request.headers.update(needed)
        request.headers["Authorization"] = f"Bearer {self.server.api_key or NO_KEY}"

    def _give_up(self, failed: RequestFailed) -> Reply:
        """A reply that only the model can mend goes back to it; all else ends the turn."""
        if failed.cause == "tool_parse":
            said = one_line(failed.said)
            detail = f"The server could not read your tool call: {said}. Send it again."
            return Reply(error="malformed_tool_call", detail=detail)
        raise ModelFailure(failed.error_class, self._line(failed)) from None

    def _line(self, failed: RequestFailed) -> str:
        note = self._models_note() if failed.cause == "not_found" else ""
        return failed.line(self.server.base_url, note)

    def _models_note(self) -> str:
        listed = self.server.models or list_models(self.server.base_url, self.server.api_key)
        models = [model for model in listed if model != self.model]
        pull = f" (or: ollama pull {self.model})" if self.server.kind == "ollama" else ""
        names = ", ".join(models[:_MOST_NAMED]) + (", ..." if len(models) > _MOST_NAMED else "")
        return f"It has: {names}{pull}" if names else pull.strip(" ()")


def _wait(failed: RequestFailed, tries: int, waited: float, deadline: float | None) -> float | None:
    """Seconds to wait before the next try, or None when there is none."""
    waits = CAUSES[failed.cause].waits
    if tries > len(waits):
        return None
    wait = waits[tries - 1] if failed.wait is None else failed.wait
    late = deadline is not None and time.monotonic() + wait >= deadline
    return None if late or waited + wait > LONGEST_WAITING else wait


def _translated(error: Exception, patience: Patience) -> RequestFailed:
    """What the SDK's or a proxy's transport says, in our terms."""
    import httpx2

    reason = error.__cause__ or error
    if isinstance(reason, httpx2.TimeoutException):
        return patience.expired()
    if isinstance(reason, httpx2.ConnectError | httpx2.ProxyError):
        return RequestFailed("refused", str(reason))
    return RequestFailed("interrupted", str(reason))
