"""The HTTP side of a scripted model. Imports http.server: import it only to serve."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Protocol

from harness.model.playback import Answer, error_body
from harness.model.script import Script


class Scripted(Protocol):
    """What gives the answers; see `harness.model.scripted`."""

    script: Script

    def answer(self, body: dict[str, Any]) -> Answer: ...
    def sleep(self, seconds: float) -> None: ...


class ScriptedHTTPServer(ThreadingHTTPServer):
    """A loopback server that asks `scripted` for its answers."""

    daemon_threads = True

    def __init__(self, scripted: Scripted, port: int) -> None:
        self.scripted = scripted
        super().__init__(("127.0.0.1", port), _Handler)

    def server_bind(self) -> None:
        """Without the base class's reverse look-up of the name, which may go to a slow DNS."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "127.0.0.1", self.server_address[1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ScriptedHTTPServer

    def log_message(self, *_args: Any) -> None:
        """Say nothing: standard error belongs to the user."""

    def do_GET(self) -> None:
        if self.path.rstrip("/") != "/v1/models":
            self._send(404, error_body(f"no route {self.path!r}"))
            return
        model = self.server.scripted.script.model
        entry = {"id": model, "object": "model", "owned_by": "scripted"}
        self._send(200, json.dumps({"object": "list", "data": [entry]}))

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if self.path.rstrip("/") != "/v1/chat/completions":
            self._send(404, error_body(f"no route {self.path!r}"))
            return
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if isinstance(body, dict):
            self._play(self.server.scripted.answer(body))
        else:
            self._send(400, error_body("the body is not a JSON object"))

    def _play(self, answer: Answer) -> None:
        reply = answer.reply
        self.server.scripted.sleep(reply.delay)
        if reply.status != 200 or reply.body:
            kind = "text/html" if reply.body.startswith("<") else "application/json"
            self._send(reply.status, reply.body or error_body("scripted failure"), kind)
        elif answer.request.get("stream") or reply.chunks is not None:
            self._stream(answer)
        else:
            self._send(200, json.dumps(answer.completion()))

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            for payload in answer.events():
                self.wfile.write(f"data: {payload}\n\n".encode())
        except ConnectionError:
            # the client has heard enough
            return

    def _send(self, status: int, body: str, kind: str = "application/json") -> None:
        data = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        try:
            self.wfile.write(data)
        except ConnectionError:
            self.close_connection = True
