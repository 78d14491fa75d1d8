"""A loopback server with fixed answers, for what real servers tell of themselves."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Served:
    """`asked` are the requests that came: method and path, headers, body."""

    url: str = ""
    asked: list[tuple[str, Mapping[str, str], str]] = field(default_factory=list)

    def paths(self) -> list[str]:
        return [line for line, _, _ in self.asked]


@contextmanager
def routes_at(
    routes: Mapping[str, Any], port: int = 0, header: str = "", otherwise: Any = (404, "no")
) -> Iterator[Served]:
    """Answers `GET /path` and `POST /path` as the table says: with an object, a text, or a status
    and one of them. `header` is what it calls itself."""
    served = Served()

    class Handler(BaseHTTPRequestHandler):
        def version_string(self) -> str:
            return header or "test"

        def log_message(self, *_args: Any) -> None:
            pass

        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            line = f"{self.command} {self.path}"
            served.asked.append((line, dict(self.headers), self.rfile.read(length).decode()))
            answer = routes.get(line, routes.get(line.partition("?")[0], otherwise))
            status, body = answer if isinstance(answer, tuple) else (200, answer)
            self.send_response(status)
            self.end_headers()
            self.wfile.write((body if isinstance(body, str) else json.dumps(body)).encode())

        def do_POST(self) -> None:
            self.do_GET()

    class Server(ThreadingHTTPServer):
        request_queue_size = 64

    with Server(("127.0.0.1", port), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        served.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        try:
            yield served
        finally:
            server.shutdown()
            thread.join()


def listed(*ids: Any, **fields: Any) -> dict[str, Any]:
    """A list of models, all with the same further fields."""
    return {"object": "list", "data": [{"id": name, "object": "model", **fields} for name in ids]}


@contextmanager
def models_at(answer: Any, port: int = 0, status: int = 200) -> Iterator[str]:
    """A server whose GET /v1/models answers with `answer`; gives its base URL."""
    with routes_at({"GET /v1/models": (status, answer)}, port) as served:
        yield served.url
