"""The wire under the SDK: an httpx2 transport with limits of our own.

httpx2 knows one read timeout for a whole response. A local model needs three: minutes until the
first token, seconds between tokens, and a deadline over all. And its own HTTP stack costs 20 ms
to import, which `http.client` (already there) does not.

Imports httpx2, so import this module only where a request is about to be sent.
"""

import http.client
import io
import socket
import ssl
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, cast

import httpx2

from harness.errors import UsageError
from harness.model.address import ascii_name, host_of
from harness.model.compression import decompressed
from harness.model.failures import RequestFailed, one_line
from harness.model.patience import ERROR_SECONDS, Patience
from harness.model.proxies import credentials, proxy_for
from harness.model.values import Timeouts

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_PROXIES = ("http",)
"""Schemes of proxies that are spoken to here, so that all limits hold; the others are httpx2's."""

MOST_MIB = 64
"""What one reply may hold, in MiB: hundreds of times the longest that a model writes."""

_READ = 65536
_MOST_HEADERS = 1024 * 1024
_MOST_ERROR = 512 * 1024
"""Bytes read of an error's body, which may quote a whole call."""
_DECODED = ("content-encoding", "content-length", "transfer-encoding")
"""Headers that no longer hold for a body as it is given on."""

_OWN_HEADERS: Mapping[bytes, bytes] = {b"connection": b"close", b"accept-encoding": b"identity"}


class Transport(httpx2.BaseTransport):
    """Sends one request over one connection and gives up when the patience ends.

    `proxy` is the address of a proxy to which plain http is spoken.
    """

    def __init__(self, patience: Patience, proxy: str | None = None) -> None:
        self._patience = patience
        self._proxy = httpx2.URL(proxy) if proxy else None

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        connection = self._connect(request.url)
        sock = connection.sock
        try:
            response = self._exchange(connection, request)
        except BaseException:
            sock.close()
            raise
        body = _Body(sock, response, self._patience)
        headers = [
            # as they came: http.client reads them as Latin-1
            (name.encode("latin-1"), value.encode("latin-1"))
            for name, value in response.getheaders()
            if name.lower() not in _DECODED
        ]
        if 200 <= response.status < 300:
            return httpx2.Response(response.status, headers=headers, stream=body)
        return httpx2.Response(response.status, headers=headers, content=body.of_error())

    def _connect(self, url: httpx2.URL) -> http.client.HTTPConnection:
        connection = self._connection(url)
        try:
            connection.connect()
        except TimeoutError:
            raise self._unreachable(self._patience.expired()) from None
        except OSError as error:
            # http.client tells only in words that it was the proxy who refused
            cause = "proxy" if "Tunnel connection failed" in str(error) else "refused"
            failed = RequestFailed(cause, _reason(error))
            # TLS is spoken with the server, at the end of the tunnel
            raise (
                failed if isinstance(error, ssl.SSLError) else self._unreachable(failed)
            ) from None
        except http.client.HTTPException:
            raise RequestFailed("proxy", "it does not speak HTTP") from None
        return connection

    def _unreachable(self, failed: RequestFailed) -> RequestFailed:
        """Who could not be reached: through a proxy, that is the proxy."""
        if self._proxy is None or failed.cause != "refused":
            return failed
        return RequestFailed("proxy", f"no connection to it: {failed.said}")

    def _connection(self, url: httpx2.URL) -> http.client.HTTPConnection:
        """Not connected yet: to the server, or to the proxy, through which a tunnel leads to a
        server that speaks https."""
        via = self._proxy or url
        host, port, seconds = via.raw_host.decode("ascii"), via.port, self._patience.seconds()
        if self._proxy:
            port = port or 80
        if url.scheme != "https":
            return http.client.HTTPConnection(host, port, timeout=seconds)
        context = httpx2.create_ssl_context()
        connection = http.client.HTTPSConnection(host, port, timeout=seconds, context=context)
        if self._proxy:
            own = url.raw_host.decode("ascii")
            connection.set_tunnel(own, url.port or 443, headers=credentials(self._proxy))
        return connection

    def _exchange(
        self, connection: http.client.HTTPConnection, request: httpx2.Request
    ) -> http.client.HTTPResponse:
        self._patience.phase = "first_token"
        try:
            connection.sock.settimeout(self._patience.seconds())
            via = self._proxy if request.url.scheme == "http" else None
            _send(connection, request, via)
            return _response(_Arriving(connection.sock, self._patience), request.method)
        except TimeoutError:
            raise self._patience.expired() from None
        except ConnectionError:
            raise RequestFailed("interrupted", "closed without an answer") from None
        except (http.client.LineTooLong, _TooLong):
            raise RequestFailed("bad_body", "its headers have no end") from None
        except http.client.HTTPException:
            raise RequestFailed("bad_body", "it does not speak HTTP") from None
        except OSError as error:
            raise RequestFailed("interrupted", _reason(error)) from None


class _TooLong(Exception):
    """The headers have no end."""


class _Arriving(io.RawIOBase):
    """What a socket receives. Every receive asks the patience again, so that the limits hold
    for headers, chunk sizes and trailers, too, however little of them comes at a time."""

    def __init__(self, sock: socket.socket, patience: Patience) -> None:
        self._socket = sock
        self._patience = patience
        self.in_head = True
        self._headers = 0

    def makefile(self, _mode: str) -> io.BufferedReader:
        return io.BufferedReader(self)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: "WriteableBuffer") -> int:
        self._socket.settimeout(self._patience.seconds())
        received = self._socket.recv_into(buffer)
        self._headers += received if self.in_head else 0
        if self._headers > _MOST_HEADERS:
            raise _TooLong
        return received


class _Body(httpx2.SyncByteStream):
    """A response's body, read as it arrives."""

    def __init__(
        self, sock: socket.socket, response: http.client.HTTPResponse, patience: Patience
    ) -> None:
        self._socket = sock
        self._response = response
        self._patience = patience

    def __iter__(self) -> Iterator[bytes]:
        return decompressed(self._pieces(), self._response.getheader("content-encoding", ""))

    def _pieces(self) -> Iterator[bytes]:
        while data := self._read():
            yield data

    def close(self) -> None:
        self._response.close()
        self._socket.close()

    def of_error(self) -> bytes:
        """As much of an error's body as can be had."""
        self._patience.end(ERROR_SECONDS)
        data = b""
        try:
            for piece in self:
                data += piece
                if len(data) >= _MOST_ERROR:
                    break
        except RequestFailed:
            return data
        finally:
            self.close()
        return data

    def _read(self) -> bytes:
        try:
            return self._response.read1(_READ)
        except TimeoutError:
            raise self._patience.expired() from None
        except (OSError, http.client.HTTPException) as error:
            raise RequestFailed("interrupted", _reason(error)) from None


def bounded(pieces: Iterable[bytes], patience: Patience) -> Iterator[bytes]:
    """The pieces of a body. Raises RequestFailed when they are too much or come too late."""
    size = 0
    for data in pieces:
        size += len(data)
        if size > MOST_MIB * 1024 * 1024:
            raise RequestFailed("bad_body", f"it is longer than {MOST_MIB} MiB")
        yield data
        patience.seconds()


def http_client(url: str, patience: Patience, timeouts: Timeouts) -> httpx2.Client:
    """The client that carries one request to `url`. Redirects are not followed.

    Through a proxy that is spoken to over TLS or SOCKS it is httpx2's own, which waits
    `first_token` for each read. Raises UsageError for a proxy that cannot be used.
    """
    proxy = proxy_for(url)
    try:
        if proxy is None:
            return httpx2.Client(transport=Transport(patience), trust_env=False)
        ascii_name(host_of(proxy))
        if proxy.partition(":")[0].lower() in _PROXIES:
            return httpx2.Client(transport=Transport(patience, proxy), trust_env=False)
        read = min(timeouts.first_token, patience.seconds())
        return httpx2.Client(proxy=proxy, timeout=httpx2.Timeout(read, connect=timeouts.connect))
    except (httpx2.InvalidURL, ImportError, ValueError) as error:
        # the proxy's own address may hold a password
        raise UsageError(
            f"the proxy for {url} cannot be used: {one_line(str(error))}. Set the variable that "
            "names it (http_proxy, https_proxy, all_proxy) again, or name the host in no_proxy"
        ) from None


def _send(
    connection: http.client.HTTPConnection, request: httpx2.Request, via: httpx2.URL | None
) -> None:
    """`via` is a proxy that is told the whole address."""
    target = str(request.url) if via else request.url.raw_path.decode("ascii")
    connection.putrequest(request.method, target, skip_host=True, skip_accept_encoding=True)
    for name, value in request.headers.raw:
        if name.lower() not in _OWN_HEADERS:
            connection.putheader(name, value)
    for name, value in _OWN_HEADERS.items():
        connection.putheader(name, value)
    for header, word in credentials(via).items() if via else ():
        connection.putheader(header, word)
    with suppress(BrokenPipeError, ConnectionResetError):
        # a server may refuse and hang up before it has read all; its answer tells why
        connection.endheaders(request.read())


def _response(arriving: _Arriving, method: str) -> http.client.HTTPResponse:
    """A response as far as its headers."""
    # all that it wants of a socket is a file
    response = http.client.HTTPResponse(cast(socket.socket, arriving), method=method)
    try:
        response.begin()
        arriving.in_head = False
    except BaseException:
        response.close()
        raise
    return response


def _reason(error: Exception) -> str:
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words or type(error).__name__
