"""A loopback server that answers with exact bytes, for what no well-behaved server does."""

import json
import socket
import struct
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

Play = Callable[["Connection"], None]

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"


def sse(*payloads: Any, done: bool = True) -> bytes:
    """Payloads as an event stream."""
    lines = [p if isinstance(p, str) else json.dumps(p, ensure_ascii=False) for p in payloads]
    return "".join(f"data: {line}\n\n" for line in [*lines, *(["[DONE]"] if done else [])]).encode()


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    """One chat.completion.chunk."""
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def http(status: int, body: str, kind: str = "application/json") -> bytes:
    data = body.encode()
    head = f"HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\nContent-Length: {len(data)}\r\n\r\n"
    return head.encode() + data


class Connection:
    """One accepted connection whose request has been read."""

    def __init__(self, sock: socket.socket, closing: threading.Event) -> None:
        self._sock = sock
        self._closing = closing

    def send(self, data: bytes) -> None:
        self._sock.sendall(data)

    def wait(self, seconds: float) -> None:
        self._closing.wait(seconds)

    def reset(self) -> None:
        """Close so that the other side sees a reset instead of an end."""
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._sock.close()

    def hung_up(self, seconds: float) -> bool:
        """Whether the client closes its end within `seconds`."""
        self._sock.settimeout(seconds)
        try:
            return self._sock.recv(1) == b""
        except ConnectionError:
            return True
        except TimeoutError:
            return False


class RawServer:
    """Plays the n-th of `plays` on the n-th POST, the last one ever after.

    GETs get 404, but `/health` the status `health`.
    """

    def __init__(self, *plays: Play | bytes) -> None:
        self._plays = plays
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []
        self.posts: list[dict[str, Any]] = []
        self.heads: list[str] = []
        self.health = 404
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> Self:
        self._start(self._accept)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join(5)

    def _start(self, target: Callable[..., None], *args: Any) -> None:
        thread = threading.Thread(target=target, args=args, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                sock, _ = self._listener.accept()
            except OSError:
                return
            self._start(self._serve, sock)

    def _serve(self, sock: socket.socket) -> None:
        with sock:
            head, body = _read_request(sock)
            self.heads.append(head)
            if not head.startswith("POST"):
                sock.sendall(http(self.health if "/health" in head else 404, "{}"))
                return
            self.posts.append(json.loads(body))
            play = self._plays[min(len(self.posts), len(self._plays)) - 1]
            try:
                if isinstance(play, bytes):
                    sock.sendall(play)
                else:
                    play(Connection(sock, self._closing))
            except OSError:
                return


def _read_request(sock: socket.socket) -> tuple[str, bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        more = sock.recv(65536)
        if not more:
            return "", b""
        data += more
    head, _, body = data.partition(b"\r\n\r\n")
    length = 0
    for line in head.split(b"\r\n"):
        if line.lower().startswith(b"content-length:"):
            length = int(line.split(b":")[1])
    while len(body) < length:
        body += sock.recv(65536)
    return head.decode(), body


def free_port() -> int:
    """A port on which nobody listens."""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port
