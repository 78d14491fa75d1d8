"""Amazon Bedrock's Converse API: botocore builds and signs the request, our transport carries it.

botocore lets a handler of its `before-send` event answer instead of its own HTTP session. Ours
does, so that the limits (to connect, to the first token, between tokens, over all) and proxies
are the same as for every other server.
"""

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, ClassVar

from harness.errors import ConfigError
from harness.model.failures import RequestFailed
from harness.model.patience import Patience
from harness.model.providers.bedrock_errors import UnsupportedFeature, failure
from harness.model.providers.bedrock_events import Events, as_events
from harness.model.providers.bedrock_request import caches, request
from harness.model.providers.provider import Provider
from harness.model.providers.turns import Conversation
from harness.model.values import Sampling, Timeouts

if TYPE_CHECKING:
    import httpx2

_SERVICE = "bedrock-runtime"
_KINDS = ("amazon.eventstream", "json")
_SIGN_IN = (
    "Sign in to AWS (`aws sso login`, AWS_PROFILE, AWS_ACCESS_KEY_ID or AWS_BEARER_TOKEN_BEDROCK) "
    "as somebody who may use this model"
)


class Bedrock(Provider):
    """Asks one model of Amazon Bedrock, in one region."""

    advice: ClassVar[Mapping[str, str]] = {
        "refused": "Check --host, AWS_REGION and the network",
        "no_endpoint": "Check --host: it needs Amazon Bedrock's runtime API",
        "bad_body": "Check --host: it needs Amazon Bedrock's runtime API",
        "server_error": "Try again later",
        "interrupted": "Try again",
        "not_found": "Choose one with --model: the id of a model or of an inference profile that "
        "this region has",
        "auth": _SIGN_IN,
        "overflow": "Use /reset, or choose a model with a larger context",
        "tools": "Choose another model",
        "bad_request": "Check --model and what is set for the request",
    }

    def __init__(
        self,
        model: str,
        sampling: Sampling,
        timeouts: Timeouts,
        *,
        host: str | None = None,
        region: str | None = None,
    ) -> None:
        """`region` is what AWS_REGION says; else AWS's own settings tell it. Raises ConfigError
        when nothing does, or a profile is named that does not exist."""
        self._patience = Patience(timeouts, None)
        self._client = _client(host, region)
        self._client.meta.events.register(f"before-send.{_SERVICE}", self._send)
        super().__init__(self._client.meta.endpoint_url, model, sampling, timeouts)
        self._cached = caches(model)
        self._streamed = True

    @contextmanager
    def _post(
        self, asked: Conversation, patience: Patience
    ) -> Iterator[tuple[Events, Iterable[Mapping[str, Any]]]]:
        body = request(
            self.model,
            asked,
            self._sampling,
            self._max_tokens(),
            self._thoughts,
            cached=self._cached,
        )
        self._patience = patience
        with _failures():
            if not self._streamed:
                yield Events(), as_events(self._client.converse(**body))
                return
            stream = self._client.converse_stream(**body)["stream"]
            try:
                yield Events(), stream
            finally:
                stream.close()

    def _mend(self, failed: RequestFailed) -> str:
        if isinstance(failed, UnsupportedFeature):
            if failed.feature == "caching" and self._cached:
                self._cached = False
                return "Asked again without a prompt cache"
            if failed.feature == "streaming" and self._streamed:
                self._streamed = False
                return "Asked again without streaming"
        return super()._mend(failed)

    def _send(self, request: Any, **_: Any) -> Any:
        """Answers botocore's `before-send` with what our transport receives."""
        import httpx2
        from botocore.awsrequest import AWSResponse

        from harness.model.transport import http_client

        http = http_client(request.url, self._patience, self._timeouts)
        try:
            headers = {name: _text(value) for name, value in request.headers.items()}
            sent = httpx2.Request(
                request.method, request.url, headers=headers, content=request.body
            )
            response = http.send(sent, stream=True)
        except httpx2.HTTPError as error:
            http.close()
            raise _translated(error, self._patience) from None
        except BaseException:
            http.close()
            raise
        raw = _Raw(http, response, self._patience)
        kind = response.headers.get("content-type", "")
        if response.status_code == HTTPStatus.OK and not any(name in kind for name in _KINDS):
            with closing(raw.stream()) as pieces:
                raise RequestFailed("bad_body", next(pieces, b"").decode("utf-8", "replace"))
        return AWSResponse(request.url, response.status_code, response.headers, raw)


def _translated(error: Exception, patience: Patience) -> RequestFailed:
    """What a proxy's transport says, in our terms."""
    import httpx2

    if isinstance(error, httpx2.TimeoutException):
        return patience.expired()
    return RequestFailed("proxy" if isinstance(error, httpx2.ProxyError) else "refused", str(error))


class _Raw:
    """A response's body as botocore reads it."""

    def __init__(
        self, http: "httpx2.Client", response: "httpx2.Response", patience: Patience
    ) -> None:
        self._http = http
        self._response = response
        self._patience = patience

    def stream(self) -> Generator[bytes, None, None]:
        import httpx2

        from harness.model.transport import bounded

        try:
            yield from bounded(self._response.iter_bytes(), self._patience)
        except httpx2.TimeoutException:
            raise self._patience.expired() from None
        except httpx2.HTTPError as error:
            raise RequestFailed("interrupted", str(error)) from None
        finally:
            self.close()

    def close(self) -> None:
        self._response.close()
        self._http.close()


def _client(host: str | None, region: str | None) -> Any:
    import botocore.session
    from botocore.config import Config
    from botocore.exceptions import BotoCoreError

    try:
        session = botocore.session.get_session()
        # the retry loop is ours, and a model's own parameters are checked by the service
        config = Config(retries={"total_max_attempts": 1, "mode": "standard"})
        return session.create_client(_SERVICE, region_name=region, endpoint_url=host, config=config)
    except (BotoCoreError, ValueError) as error:
        raise ConfigError(
            f"--backend bedrock: {error} Set AWS_REGION (and AWS_PROFILE, if you use one)"
        ) from None


@contextmanager
def _failures() -> Iterator[None]:
    """What botocore raises, in our terms."""
    from botocore.eventstream import ParserError
    from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
    from botocore.parsers import ResponseParserError

    try:
        yield
    except ClientError as error:
        raise _told(error.response) from None
    except ParamValidationError as error:
        raise RequestFailed("bad_request", str(error)) from None
    except (ParserError, ResponseParserError) as error:
        raise RequestFailed("interrupted", f"it cannot be read: {error}") from None
    except BotoCoreError as error:
        # what is left concerns credentials: none, expired, or not to be had
        raise RequestFailed("auth", str(error)) from None


def _told(response: Mapping[str, Any]) -> RequestFailed:
    error, meta = response.get("Error", {}), response.get("ResponseMetadata", {})
    retry_after = meta.get("HTTPHeaders", {}).get("retry-after", "")
    status = meta.get("HTTPStatusCode", 200)
    return failure(str(error.get("Code", "")), str(error.get("Message", "")), status, retry_after)


def _text(value: str | bytes) -> str:
    return value.decode("utf-8") if isinstance(value, bytes) else value
