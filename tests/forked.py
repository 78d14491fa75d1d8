"""The program in a process of its own that need not import the SDK anew.

Hundreds of tests start the program, and half of what each costs is `import openai`. Such a process
is forked from one that has done that; it has its own streams, environment, folder and signals, and
imports the program itself. Whatever starts the program in another way (terminals, signals, the
command line, installed copies) does all that a user's start does.
"""

import atexit
import functools
import json
import os
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

AVAILABLE = sys.platform == "linux"


class Done(NamedTuple):
    """`code` is that of subprocess.Popen."""

    code: int
    out: str
    err: str


def run(
    flags: Sequence[str], stdin: str, env: Mapping[str, str], cwd: Path | None, timeout: float
) -> Done:
    """Run the program to its end. Raises subprocess.TimeoutExpired, and ends it then."""
    pipes = [os.pipe() for _ in range(4)]
    given = [pipes[0][0], *(pipe[1] for pipe in pipes[1:])]
    taken = [pipes[0][1], *(pipe[0] for pipe in pipes[1:])]
    request = {"flags": list(flags), "env": dict(env), "cwd": str(cwd or Path.cwd())}
    settings = frozenset((name, value) for name, value in env.items() if name.startswith("PYTHON"))
    socket.send_fds(_server(settings), [json.dumps(request).encode()], given)
    for stream in given:
        os.close(stream)
    texts: dict[int, str] = {}
    readers = [threading.Thread(target=_read, args=(stream, texts)) for stream in taken[1:3]]
    for reader in readers:
        reader.start()
    _write(taken[0], stdin)
    with open(taken[3], encoding="ascii") as told:
        process = int(told.readline())
        late: list[int] = []
        timer = threading.Timer(timeout, _end, args=(process, late))
        timer.start()
        code = int(told.readline())
        timer.cancel()
    for reader in readers:
        reader.join()
    if late:
        raise subprocess.TimeoutExpired(list(flags), timeout)
    return Done(code, texts[taken[1]], texts[taken[2]])


@functools.cache
def _server(settings: frozenset[tuple[str, str]]) -> socket.socket:
    """The socket of a process that waits to be the program, with these settings of Python; it
    ends when we do."""
    ours, its = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    others = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
    process = subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("forkable.py")), str(its.fileno())],
        env={**others, **dict(settings)}, pass_fds=[its.fileno()],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    its.close()
    atexit.register(process.wait)
    atexit.register(ours.close)
    return ours


def _read(stream: int, texts: dict[int, str]) -> None:
    with open(stream, encoding="utf-8") as lines:
        texts[stream] = lines.read()


def _write(stream: int, text: str) -> None:
    try:
        with open(stream, "w", encoding="utf-8") as lines:
            lines.write(text)
    except BrokenPipeError:
        pass  # it did not want to know


def _end(process: int, late: list[int]) -> None:
    late.append(process)
    os.kill(process, signal.SIGKILL)
