"""Asking servers with bare sockets.

Nothing here imports an HTTP library: start-up time is the user's. Only plain http is spoken.
Whatever a server sends, nothing takes longer or holds more than the bounds below.
"""

import errno
import json
import selectors
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import urlsplit

from harness.model.failures import RequestFailed

CONNECT_SECONDS = 0.2
"""A port of this machine answers within a millisecond, or nobody listens."""

MOST_BYTES = 4 * 1024 * 1024
"""Of one answer. A list of a thousand models takes a tenth."""

_MOST_AT_ONCE = 8
"""Small servers let no more than five or so wait to be let in."""

_MOST_HEAD = 65536
_READ = 65536
_T = TypeVar("_T")
_R = TypeVar("_R")


@dataclass(frozen=True)
class Answer:
    """An HTTP answer. `server` is what it calls itself in its headers."""

    status: int
    body: bytes
    server: str = ""

    def json(self) -> Any:
        """The decoded body, or None when it is no JSON."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None


def listening(ports: Sequence[int], seconds: float = CONNECT_SECONDS) -> tuple[int, ...]:
    """Those of `ports` of 127.0.0.1 on which somebody listens, in the order given."""
    open_ports: set[int] = set()
    deadline = time.monotonic() + seconds
    with selectors.DefaultSelector() as selector:
        for port in ports:
            _start_connecting(selector, port)
        while selector.get_map():
            ready = selector.select(max(deadline - time.monotonic(), 0))
            for key, _ in ready or [(key, 0) for key in list(selector.get_map().values())]:
                port, sock = key.data
                selector.unregister(sock)
                if ready and sock.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0:
                    open_ports.add(port)
                sock.close()
    return tuple(port for port in ports if port in open_ports)


def exchange(url: str, headers: Mapping[str, str], seconds: float, body: str = "") -> Answer:
    """GET a plain http URL, or POST the JSON `body` to it. Raises RequestFailed: `refused`, or
    `bad_body` without an answer."""
    parts = urlsplit(url)
    host, port = parts.hostname or "", parts.port or 80
    deadline = time.monotonic() + seconds
    try:
        sock = socket.create_connection((host, port), timeout=seconds)
    except TimeoutError:
        raise RequestFailed("refused", f"no connection within {seconds:g} s") from None
    except OSError as error:
        raise RequestFailed("refused", error.strerror or str(error)) from None
    target = f"{parts.path}?{parts.query}" if parts.query else parts.path
    with sock:
        try:
            sock.sendall(_request(parts.netloc, target, headers, body))
            return _answer(_read(sock, deadline))
        except (OSError, ValueError) as error:
            raise RequestFailed("bad_body", str(error)) from None


def at_once(ask: Callable[[_T], _R], questions: Iterable[_T], seconds: float) -> dict[_T, _R]:
    """Ask several questions at the same time; those without an answer in time are left out."""
    return dict(in_order(ask, questions, seconds))


def in_order(
    ask: Callable[[_T], _R], questions: Iterable[_T], seconds: float
) -> Iterator[tuple[_T, _R]]:
    """The same, but the answers come in the order of the questions, each as soon as those before
    it have come or have failed: who has seen enough need not wait for the rest."""
    answers: dict[_T, _R] = {}
    over = {question: threading.Event() for question in questions}
    waiting = iter(list(over))
    deadline = time.monotonic() + seconds

    def some() -> None:
        for question in waiting:
            try:
                if time.monotonic() < deadline:
                    answers[question] = ask(question)
            except RequestFailed:
                continue
            finally:
                over[question].set()

    for _ in range(min(len(over), _MOST_AT_ONCE)):
        threading.Thread(target=some, daemon=True).start()
    for question, event in over.items():
        event.wait(max(deadline - time.monotonic(), 0))
        if question in answers:
            yield question, answers[question]


def _start_connecting(selector: selectors.BaseSelector, port: int) -> None:
    sock = socket.socket()
    sock.setblocking(False)
    if sock.connect_ex(("127.0.0.1", port)) in (0, errno.EINPROGRESS):
        selector.register(sock, selectors.EVENT_WRITE, (port, sock))
    else:
        sock.close()


def _request(host: str, target: str, headers: Mapping[str, str], body: str) -> bytes:
    """HTTP/1.0, so that the answer comes whole and ends with the connection."""
    data = body.encode("utf-8", "replace")
    lines = [f"{'POST' if body else 'GET'} {target} HTTP/1.0", f"Host: {host}"]
    lines += ["Accept: application/json", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in headers.items()]
    if body:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    return "\r\n".join([*lines, "", ""]).encode("utf-8") + data


def _read(sock: socket.socket, deadline: float) -> bytes:
    data = bytearray()
    length: float | None = None
    while length is None or len(data) < length:
        left = deadline - time.monotonic()
        if left <= 0:
            raise TimeoutError("no whole answer in time")
        sock.settimeout(left)
        more = sock.recv(_READ)
        if not more:
            break
        data += more
        if length is None:
            length = _length(data, len(data) - len(more))
        elif length == float("inf") and data.endswith(b"\r\n0\r\n\r\n"):
            break
        if len(data) > MOST_BYTES:
            raise ValueError(f"more than {MOST_BYTES // 1024 // 1024} MiB")
    return bytes(data)


def _length(data: bytearray, seen: int) -> float | None:
    """How long the answer will be, as soon as its head is whole: some servers keep the connection
    open, and then the length, or the last chunk, tells."""
    end = data.find(b"\r\n\r\n", max(seen - 3, 0))
    if end < 0:
        if len(data) > _MOST_HEAD:
            raise ValueError("headers without an end")
        return None
    head = bytes(data[:end])
    length = _header(head, b"content-length")
    if length.isdigit():
        return end + 4 + int(length)
    whole = _is_chunked(head) and data.endswith(b"\r\n0\r\n\r\n")
    return len(data) if whole else float("inf")


def _answer(data: bytes) -> Answer:
    head, separator, body = data.partition(b"\r\n\r\n")
    words = head.split(b"\r\n", 1)[0].split()
    if not separator or len(words) < 2 or not words[0].startswith(b"HTTP/"):
        raise ValueError("no HTTP answer")
    if _is_chunked(head):
        body = _unchunked(body)
    return Answer(int(words[1]), body, _header(head, b"server").decode("latin-1"))


def _is_chunked(head: bytes) -> bool:
    return _header(head, b"transfer-encoding").lower() == b"chunked"


def _header(head: bytes, name: bytes) -> bytes:
    for line in head.split(b"\r\n")[1:]:
        key, _, value = line.partition(b":")
        if key.strip().lower() == name:
            return value.strip()
    return b""


def _unchunked(body: bytes) -> bytes:
    parts: list[bytes] = []
    at = 0
    while at < len(body):
        end = body.find(b"\r\n", at)
        length = int(body[at:end].split(b";")[0], 16) if end >= 0 else 0
        if length <= 0:
            break
        parts.append(body[end + 2 : end + 2 + length])
        at = end + 2 + length + 2
    return b"".join(parts)
