"""Ctrl-C while the model is silent: the process leaves at once and hangs up."""

import signal
import subprocess
import sys
import time
from pathlib import Path

from raw_server import HEAD, Connection, RawServer, delta, sse

PROGRAM = """
import sys
from harness.model.client import Client
from harness.model.servers import Server
from harness.model.values import Asked, Sampling, Timeouts
client = Client(Server("openai", sys.argv[1]), "m", Sampling(), Timeouts())
messages = [{"role": "user", "content": "go"}]
try:
    client.complete(Asked(messages), lambda text: print(text, flush=True), print)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


def started(url: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", PROGRAM, url]
    root = Path(__file__).parents[2]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def test_an_interrupt_closes_the_stream_and_comes_through() -> None:
    noticed: list[bool] = []

    def play(connection: Connection) -> None:
        connection.send(HEAD + sse(delta(content="Half"), done=False))
        noticed.append(connection.hung_up(10))

    with RawServer(play) as server, started(server.url) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "Half\n"
        pressed = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert process.wait(5) == 0
        assert time.monotonic() - pressed < 2
    assert noticed == [True]
