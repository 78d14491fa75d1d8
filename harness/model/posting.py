"""One POST through the openai SDK: its own retries off, its environment kept out, our transport."""

import gc
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from harness.model.failures import RequestFailed
from harness.model.patience import Patience
from harness.model.servers import Server
from harness.model.values import Timeouts

if TYPE_CHECKING:
    import httpx2

NO_KEY = "none"
"""Sent where a server needs no key: the SDK insists on one."""

_NEEDED_HEADERS = ("Host", "Accept", "Content-Type", "Content-Length", "User-Agent")


def prepare() -> None:
    """Begin to import what a request needs, which takes longer than all else before the first one.

    Meanwhile the workspace is looked at, or the user types.
    """
    if "openai" not in sys.modules:
        # no daemon: one that is stopped in the middle of an import may take the process along
        threading.Thread(target=_prepare, name="prepare a request").start()


def _prepare() -> None:
    # what is missing is told when a request is to be sent
    with suppress(ImportError), _without_collection():
        import openai  # noqa: F401


@contextmanager
def _without_collection() -> Iterator[None]:
    """Let an import of many modules be: nothing of it is garbage, and looking for some takes an
    eighth of its time."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@contextmanager
def posted(
    server: Server, body: Mapping[str, Any], patience: Patience, timeouts: Timeouts
) -> "Iterator[httpx2.Response]":
    """The response to a chat request, closed in any case. Raises RequestFailed."""
    import openai  # isort: skip - httpx2 is a part of it and costs nothing after it
    import httpx2

    from harness.model.transport import http_client

    http = http_client(server.base_url, patience, timeouts)
    if not server.for_openai:
        http.event_hooks = {"request": [lambda request: _without_environment(request, server)]}
    sdk = openai.OpenAI(
        base_url=server.base_url,
        api_key=server.api_key or NO_KEY,
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
        raise _refusal(error.response) from None
    except (openai.APIError, httpx2.HTTPError) as error:
        raise _translated(error, patience) from None
    finally:
        http.close()


def _without_environment(request: "httpx2.Request", server: Server) -> None:
    """Take out what the SDK adds from OPENAI_ORG_ID, OPENAI_PROJECT_ID and
    OPENAI_CUSTOM_HEADERS, which may hold a key."""
    needed = {name: request.headers[name] for name in _NEEDED_HEADERS}
    request.headers.clear()
    request.headers.update(needed)
    request.headers["Authorization"] = f"Bearer {server.api_key or NO_KEY}"


def _refusal(response: "httpx2.Response") -> RequestFailed:
    from harness.model.classify import classify

    failed = classify(response.status_code, response.text, response.headers.get("retry-after", ""))
    if failed.cause == "no_endpoint" and response.headers.get("location"):
        # not followed: the key is for this host alone
        place = response.headers["location"].partition("?")[0]
        failed.said = f"it points to {place!r}"
    return failed


def _translated(error: Exception, patience: Patience) -> RequestFailed:
    """What the SDK's or a proxy's transport says, in our terms."""
    import httpx2

    reason = error.__cause__ or error
    if isinstance(reason, httpx2.TimeoutException):
        return patience.expired()
    if isinstance(reason, httpx2.ProxyError):
        return RequestFailed("proxy", str(reason))
    if isinstance(reason, httpx2.ConnectError):
        return RequestFailed("refused", str(reason))
    return RequestFailed("interrupted", str(reason))
