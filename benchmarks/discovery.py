"""How long it takes to find the model servers of this machine, and to find that there are none.

Ports of our own stand for the known ones: closed ones, ones whose queue is full (nobody is let in,
as behind a firewall that drops packets), ones that take a connection and say nothing, and one
with a server in the shape of Ollama. Looking at all of them at once is compared with one after
the other, with the same limits.
"""

import argparse
import json
import socket
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from harness.errors import ModelFailure
from harness.model.failures import RequestFailed
from harness.model.probe import exchange, listening
from harness.model.servers import FOUND_SECONDS, KNOWN, discover

TARGET_MS = 300
"""When nothing listens."""

_MODELS = 20
Ports = dict[int, str]


def milliseconds(task: Callable[[], object]) -> float:
    started = time.perf_counter()
    with suppress(ModelFailure, RequestFailed):
        task()
    return (time.perf_counter() - started) * 1000


def closed(count: int) -> Ports:
    """Ports on which nobody listens."""
    with ExitStack() as stack:
        socks = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return {sock.getsockname()[1]: "closed" for sock in socks}


@contextmanager
def full(count: int) -> Iterator[Ports]:
    """Ports whose queue of connections is full."""
    ports: Ports = {}
    with ExitStack() as stack:
        for _ in range(count):
            sock = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
            port = sock.getsockname()[1]
            ports[port] = "full"
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
        yield ports


@contextmanager
def silent(count: int) -> Iterator[Ports]:
    """Ports that take a connection and never say anything."""
    with ExitStack() as stack:
        socks = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        yield {sock.getsockname()[1]: "silent" for sock in socks}


class _Ollama(BaseHTTPRequestHandler):
    def log_message(self, *_args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer(
            {
                "/v1/models": {
                    "data": [{"id": f"m{n}:7b", "owned_by": "library"} for n in range(_MODELS)]
                },
                "/api/ps": {"models": [{"name": "m0:7b", "context_length": 4096}]},
            }.get(self.path)
        )

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        info = {"general.architecture": "q", "q.context_length": 262144}
        self._answer({"capabilities": ["completion", "tools"], "model_info": info})

    def _answer(self, value: object) -> None:
        self.send_response(200 if value else 404)
        self.end_headers()
        self.wfile.write(json.dumps(value).encode())


@contextmanager
def ollama() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Ollama) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()
            thread.join()


def one_by_one(ports: Ports) -> None:
    for port in ports:
        for there in listening([port]):
            with suppress(RequestFailed):
                exchange(f"http://127.0.0.1:{there}/v1/models", {}, FOUND_SECONDS)


def measure(runs: int) -> dict[str, float]:
    count = len(KNOWN)
    nobody = closed(count)
    taken = [milliseconds(lambda: discover(None, known=nobody)) for _ in range(runs)]
    figures = {"nobody_ms": statistics.median(taken), "nobody_most_ms": max(taken)}
    figures["nobody_sequential_ms"] = milliseconds(lambda: one_by_one(nobody))
    for name, kind in (("full", full), ("silent", silent)):
        with kind(count) as ports:
            figures[f"{name}_ms"] = milliseconds(lambda: discover(None, known=ports))
            figures[f"{name}_sequential_ms"] = milliseconds(lambda: one_by_one(ports))
    with ollama() as port:
        known = {**closed(count - 1), port: "ollama"}
        times = [milliseconds(lambda: discover(None, known=known)) for _ in range(runs)]
        figures["found_ms"] = statistics.median(times)
    with silent(1) as ports:
        host = f"127.0.0.1:{next(iter(ports))}"
        figures["named_silent_ms"] = milliseconds(lambda: discover(host))
    return figures


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks discovery")
    parser.add_argument("--runs", type=int, default=50)
    figures = measure(parser.parse_args(argv).runs)
    out = sys.stdout.write
    out(f"{len(KNOWN)} ports{'':<44}{'at once':>10}{'in turn':>10}{'ratio':>8}   (ms)\n")
    rows = {
        "nobody": "nobody listens",
        "full": "connections are swallowed",
        "silent": "somebody listens and says nothing",
    }
    for name, label in rows.items():
        ours, theirs = figures[f"{name}_ms"], figures[f"{name}_sequential_ms"]
        figures[f"{name}_ratio"] = theirs / ours
        out(f"{label:<51}{ours:>10.1f}{theirs:>10.1f}{theirs / ours:>8.1f}\n")
    out(f"{'nobody listens, the longest of all runs':<51}{figures['nobody_most_ms']:>10.1f}")
    out(f"   (target: {TARGET_MS})\n")
    out(f"{f'an Ollama with {_MODELS} models, chosen and known':<51}{figures['found_ms']:>10.1f}\n")
    out(f"{'a named server that says nothing':<51}{figures['named_silent_ms']:>10.1f}\n")
    met = figures["nobody_most_ms"] <= TARGET_MS
    out(
        json.dumps({name: round(value, 2) for name, value in figures.items()} | {"met": met}) + "\n"
    )
    return 0
