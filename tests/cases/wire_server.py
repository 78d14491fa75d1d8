"""A wire case played over loopback, by a real HTTP server."""

import itertools
import json
import socket
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from types import TracebackType
from typing import Any, Self

from tests.cases.wire_answers import SSE, Answer, answer, whole
from tests.cases.wire_rules import Json

Answers = Callable[[Json, int, Json], Answer]


class Replay:
    """Serves `case` until the `with` block ends.

    `requests` are the bodies of the chat requests; `hung_up` tells that the client closed a reply
    before its end. `answers` may say something else than the case does.
    """

    def __init__(self, case: Json, answers: Answers = answer) -> None:
        self.case = case
        self.requests: list[Json] = []
        self.hung_up = False
        self._answers = answers
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._server: _Server | None = None
        self._thread: threading.Thread | None = None
        self._port = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> Self:
        if self.case.get("connection") == "refused":
            self._port = _unused_port()
            return self
        self._server = _Server(self)
        self._port = self._server.server_address[1]
        serve = self._server.serve_forever
        self._thread = threading.Thread(target=serve, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stopping.set()
        if self._server is not None and self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._server.server_close()

    def chat(self, body: Json) -> Answer:
        with self._lock:
            self.requests.append(body)
            number = len(self.requests)
        return self._answers(self.case, number, body)

    def route(self, verb: str, path: str) -> Answer | None:
        """The answer of a route that the case has, or of the list of models."""
        routes = self.case.get("routes")
        found = (routes or {}).get(f"{verb} {path.partition('?')[0]}")
        if found is not None:
            kind = "text/plain" if isinstance(found[1], str) else "application/json"
            return whole(found[0], found[1], kind)
        if verb == "GET" and routes is None and path.rstrip("/").endswith("/models"):
            model = {"id": self.case.get("model") or "m", "object": "model"}
            return whole(200, {"object": "list", "data": [model]})
        return None

    def pause(self, seconds: float) -> None:
        """Wait, but not longer than the server runs."""
        if seconds:
            self._stopping.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        super().__init__(("127.0.0.1", 0), _Handler)

    def server_bind(self) -> None:
        """Without the base class's reverse look-up of the name, which may go to a slow DNS."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, *_args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        missing = {"error": {"code": 404, "message": "not found"}}
        self._send(self.server.replay.route("GET", self.path) or whole(404, missing))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        replay = self.server.replay
        routed = replay.route("POST", self.path)
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = {}
        self._send(routed or replay.chat(body))

    def _send(self, given: Answer) -> None:
        replay = self.server.replay
        replay.pause(given.headers_after)
        self.close_connection = given.content_type == SSE
        try:
            self._head(given)
            for delay, piece in given.pieces:
                replay.pause(delay)
                self.wfile.write(piece)
                self.wfile.flush()
        except ConnectionError:
            replay.hung_up = True
            self.close_connection = True

    def _head(self, given: Answer) -> None:
        self.send_response(given.status)
        self.send_header("Content-Type", given.content_type)
        if given.content_type == SSE:
            self.send_header("Connection", "close")
        else:
            size = sum(len(piece) for _, piece in given.pieces)
            self.send_header("Content-Length", str(size))
        self.end_headers()


def _unused_port() -> int:
    """A port where nobody listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def endless(payloads: list[str], most: int) -> Iterator[str]:
    """The payloads before the last reason to finish, over and over: a model that never stops."""
    body = [payload for payload in payloads if payload != "[DONE]"][:-1]
    return itertools.islice(itertools.cycle(body), most)
