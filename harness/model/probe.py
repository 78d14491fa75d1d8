"""Looking for servers on this machine with bare sockets.

Nothing here imports an HTTP library: start-up time is the user's. Only plain http is spoken.
"""

import errno
import json
import selectors
import socket
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from harness.model.failures import RequestFailed

CONNECT_SECONDS = 0.2
"""A port of this machine answers within a millisecond, or nobody listens."""

_READ = 65536
_MOST = 8 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    """An HTTP answer to a GET."""

    status: int
    body: bytes

    def json(self) -> Any:
        """The decoded body, or None when it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def listening(ports: Sequence[int], seconds: float = CONNECT_SECONDS) -> tuple[int, ...]:
    """Those of `ports` of 127.0.0.1 on which somebody listens, in the order given."""
    open_ports: set[int] = set()
    with selectors.DefaultSelector() as selector:
        for port in ports:
            _start_connecting(selector, port)
        while selector.get_map():
            ready = selector.select(seconds)
            for key, _ in ready or [(key, 0) for key in list(selector.get_map().values())]:
                port, sock = key.data
                selector.unregister(sock)
                if ready and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    open_ports.add(port)
                sock.close()
    return tuple(port for port in ports if port in open_ports)


def get(url: str, headers: Mapping[str, str], seconds: float) -> Answer:
    """GET a plain http URL. Raises RequestFailed: `refused`, or `bad_body` without an answer."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    try:
        sock = socket.create_connection((host, port), timeout=seconds)
    except TimeoutError:
        raise RequestFailed("refused", f"no connection within {seconds:g} s") from None
    except OSError as error:
        raise RequestFailed("refused", error.strerror or str(error)) from None
    with sock:
        try:
            sock.sendall(_request(parts.netloc, parts.path, headers))
            return _answer(_read(sock, time.monotonic() + seconds))
        except (OSError, ValueError) as error:
            raise RequestFailed("bad_body", str(error)) from None


def get_each(urls: Sequence[str], headers: Mapping[str, str], seconds: float) -> dict[str, Answer]:
    """GET several URLs at once; those without an answer are left out."""
    answers: dict[str, Answer] = {}

    def ask(url: str) -> None:
        with suppress(RequestFailed):
            answers[url] = get(url, headers, seconds)

    threads = [threading.Thread(target=ask, args=(url,), daemon=True) for url in urls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def _start_connecting(selector: selectors.BaseSelector, port: int) -> None:
    sock = socket.socket()
    sock.setblocking(False)
    if sock.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS):
        selector.register(sock, selectors.EVENT_WRITE, (port, sock))
    else:
        sock.close()


def _request(host: str, path: str, headers: Mapping[str, str]) -> bytes:
    """HTTP/1.0, so that the answer comes whole and ends with the connection."""
    lines = [f"GET {path} HTTP/1.0", f"Host: {host}", "Accept: application/json"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    return ("\r\n".join([*lines, "Connection: close", "", ""])).encode("utf-8")


def _read(sock: socket.socket, deadline: float) -> bytes:
    data = b""
    while len(data) < _MOST and not _is_whole(data):
        sock.settimeout(max(deadline - time.monotonic(), 0.001))
        more = sock.recv(_READ)
        if not more:
            break
        data += more
    return data


def _is_whole(data: bytes) -> bool:
    """Some servers keep the connection open; then the length tells."""
    head, separator, body = data.partition(b"\r\n\r\n")
    length = _header(head, b"content-length")
    return bool(separator) and length.isdigit() and len(body) >= int(length)


def _answer(data: bytes) -> Answer:
    head, separator, body = data.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if not separator or len(words) < 2 or not words[0].startswith(b"HTTP/"):
        raise ValueError("no HTTP answer")
    if _header(head, b"transfer-encoding").lower() == b"chunked":
        body = _unchunked(body)
    return Answer(int(words[1]), body)


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""


def _unchunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    while body:
        size, _, rest = body.partition(b"\r\n")
        length = int(size.split(b";")[0], 16)
        if not length:
            break
        parts.append(rest[:length])
        body = rest[length + 2 :]
    return b"".join(parts)
