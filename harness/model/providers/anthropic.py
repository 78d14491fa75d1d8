"""Anthropic's Messages API: its SDK builds and signs the request, our transport carries it."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from harness.model.failures import RequestFailed
from harness.model.patience import Patience
from harness.model.providers.anthropic_errors import failure
from harness.model.providers.anthropic_events import Events
from harness.model.providers.anthropic_request import DEFAULT_MAX_TOKENS, request
from harness.model.providers.provider import Provider
from harness.model.providers.turns import Conversation
from harness.model.values import Sampling, Timeouts

if TYPE_CHECKING:
    import httpx2

DEFAULT_HOST = "https://api.anthropic.com"
NO_KEY = "none"
"""Sent to a gateway that needs no key: the SDK insists on one."""

_CHECK_HOST = "Check --host: it needs a server that speaks Anthropic's Messages API"


class Anthropic(Provider):
    """Asks one model at api.anthropic.com, or at a gateway that speaks like it."""

    advice: ClassVar[Mapping[str, str]] = {
        "refused": "Check --host and the network",
        "no_endpoint": _CHECK_HOST,
        "bad_body": _CHECK_HOST,
        "server_error": "Try again later",
        "interrupted": "Try again",
        "not_found": "Choose one with --model; their names are at docs.claude.com, under Models",
        "auth": "Set ANTHROPIC_API_KEY (or MCA_API_KEY) to a key that may use this model",
        "overflow": "Use /reset, or choose a model with a larger context",
        "bad_request": "Check --model and what is set for the request",
    }

    def __init__(
        self,
        model: str,
        sampling: Sampling,
        timeouts: Timeouts,
        *,
        api_key: str | None = None,
        host: str = DEFAULT_HOST,
    ) -> None:
        super().__init__(host.removesuffix("/v1"), model, sampling, timeouts)
        self._api_key = api_key

    def _secret(self) -> str | None:
        return self._api_key

    @contextmanager
    def _post(
        self, asked: Conversation, patience: Patience
    ) -> Iterator[tuple[Events, Iterable[Mapping[str, Any]]]]:
        bound = self._max_tokens(DEFAULT_MAX_TOKENS) or DEFAULT_MAX_TOKENS
        body = request(self.model, asked, self._sampling, bound, self._thoughts)
        with self._sent(body, patience) as response:
            yield Events(), _events(response, patience)

    @contextmanager
    def _sent(self, body: Mapping[str, Any], patience: Patience) -> "Iterator[httpx2.Response]":
        """The response to the one POST there is, closed in any case."""
        import anthropic  # isort: skip - httpx2 is a part of it and costs nothing after it
        import httpx2

        from harness.model.transport import http_client

        http = http_client(self.host, patience, self._timeouts)
        sdk = anthropic.Anthropic(
            api_key=self._api_key or NO_KEY, base_url=self.host, max_retries=0, http_client=http
        )
        streamed = True
        try:
            # not `messages.stream`: the body is to be read as it is
            response = sdk.post(
                "/v1/messages", cast_to=httpx2.Response, body=dict(body), stream=streamed
            )
            try:
                yield response
            finally:
                response.close()
        except anthropic.APIStatusError as error:
            retry_after = error.response.headers.get("retry-after", "")
            raise failure(error.status_code, error.response.text, retry_after) from None
        except (anthropic.APIError, httpx2.HTTPError) as error:
            raise _translated(error, patience) from None
        finally:
            http.close()


def _events(response: "httpx2.Response", patience: Patience) -> Iterator[Mapping[str, Any]]:
    from harness.model.sse import BodyReader
    from harness.model.transport import bounded

    pieces = bounded(response.iter_bytes(), patience)
    if "json" in response.headers.get("content-type", ""):
        yield _object(b"".join(pieces))
        return
    reader = BodyReader()
    for piece in pieces:
        yield from map(_event, reader.feed(piece))
    yield from map(_event, reader.finish())
    if reader.kind != "events":
        raise RequestFailed("bad_body", reader.beginning)


def _object(body: bytes) -> Mapping[str, Any]:
    """A message that is not streamed, or an error."""
    text = body.decode("utf-8", "replace")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if isinstance(value, Mapping) and value.get("type") in ("message", "error"):
        return value
    raise RequestFailed("bad_body", text)


def _event(item: Any) -> Mapping[str, Any]:
    from harness.model.sse import Chunk, ServerError

    if isinstance(item, Chunk):
        return item.payload
    if isinstance(item, ServerError):
        raise failure(200, item.body)
    raise RequestFailed("interrupted", "a piece of it cannot be read")


def _translated(error: Exception, patience: Patience) -> RequestFailed:
    """What the SDK's or a proxy's transport says, in our terms."""
    import httpx2

    reason = error.__cause__ or error
    if isinstance(reason, RequestFailed):
        return reason
    if isinstance(reason, httpx2.TimeoutException):
        return patience.expired()
    if isinstance(reason, httpx2.ProxyError):
        return RequestFailed("proxy", str(reason))
    if isinstance(reason, httpx2.ConnectError):
        return RequestFailed("refused", str(reason))
    return RequestFailed("interrupted", str(reason))
