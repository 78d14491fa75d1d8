"""`serve-model FILE.gguf`: a model file for any number of sessions, until Ctrl-C."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO
from urllib.parse import urlsplit

from harness.errors import UsageError
from harness.model.gguf import read_model_file
from harness.model.local import LOOPBACK, LocalServer
from harness.terminal.safe import encodable, one_line

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def serve_model(
    words: Sequence[str], context_length: int | None, host: str | None, out: TextIO
) -> int:
    """Serve the one file in `words` and print how to use it; 0 when told to end.

    `host` may name a port of this machine. Raises UsageError for a file or an address that
    cannot be used, ModelFailure when llama.cpp cannot load the file.
    """
    if not words:
        raise UsageError("serve-model takes a file: mini-coding-agent serve-model FILE.gguf")
    if context_length is not None and context_length < 1:
        raise UsageError(f"--context-length must be at least 1, not {context_length}")
    model = read_model_file(Path(words[0]))
    with _waiting() as wait, LocalServer(model, context_length, port=_port(host)) as server:
        for line in _told(server):
            out.write(encodable(f"{one_line(line)}\n", out.encoding))
        out.flush()
        wait()
    return 0


def _port(host: str | None) -> int:
    """The port in `127.0.0.1:8080`, `localhost:8080`, `:8080` or the same as a URL; 0 for any."""
    if host is None:
        return 0
    try:
        parts = urlsplit(host if "://" in host else f"http://{host}")
        port = parts.port or 0
    except ValueError as error:
        raise UsageError(f"--host {host!r} is no address: {error}") from None
    if parts.hostname not in (None, "localhost", LOOPBACK):
        raise UsageError(
            f"--host {host!r}: serve-model listens on this machine only; name {LOOPBACK}:PORT"
        )
    return port


def _told(server: LocalServer) -> Iterator[str]:
    threads = f"{server.threads} thread{'' if server.threads == 1 else 's'}"
    address = server.base_url.removesuffix("/v1")
    yield f"serving {server.model.name!r}: {server.context_length} tokens of context, {threads}"
    yield f"base URL  {server.base_url}"
    yield f"key       {server.key}"
    yield f"use it    MCA_API_KEY={server.key} mini-coding-agent --host {address}"
    yield f"end it    Ctrl-C, or kill {os.getpid()}"


@contextmanager
def _waiting() -> Iterator[Callable[[], object]]:
    """Gives a function that returns once the user wants an end. Signals are blocked from here on,
    so that one that comes early, while the model loads, is not lost."""
    wanted = [number for number in _ENDING if signal.getsignal(number) != signal.SIG_IGN]
    before = signal.pthread_sigmask(signal.SIG_BLOCK, wanted)
    try:
        yield lambda: signal.sigwait(wanted)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
