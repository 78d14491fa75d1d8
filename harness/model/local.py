"""Serves a model file inside this process: llama.cpp's own server, through `xllamacpp`.

The server listens on loopback only, on a free port and with a random key, and ends with this
process however that ends. What the library does beyond that is kept in bounds here: it takes
SIGINT and SIGTERM for itself, logs to standard error, and would keep 8 GiB of former prompts.
"""

import importlib
import os
import re
import secrets
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import Any, Self

from harness.errors import ModelFailure, UsageError
from harness.model.cores import model_threads
from harness.model.failures import RequestFailed
from harness.model.gguf import ModelFile
from harness.model.inquiry import Inquiry
from harness.model.probe import exchange
from harness.model.servers import Discovery, choose

LOOPBACK = "127.0.0.1"
USUAL_CONTEXT = 8192
"""Tokens of context when nobody said: enough for a small task, and its memory is there."""

_LIBRARY = "xllamacpp"
_SILENT, _ERRORS = -1, 1
_START_SECONDS = 30.0
"""The loop begins within milliseconds, and on a busy machine later."""

_TAKEN = (signal.SIGINT, signal.SIGTERM)


class LocalServer:
    """A context manager; to be entered on the main thread, because signals are set back there.

    `base_url` and `key` are known once it is entered. Raises UsageError for a context that the
    model was not trained for, a port that is taken or a missing library, ModelFailure when
    llama.cpp cannot load the file.
    """

    def __init__(
        self,
        model: ModelFile,
        context_length: int | None = None,
        threads: int | None = None,
        port: int = 0,
    ) -> None:
        self.model = model
        self.context_length = _context(model, context_length)
        self.threads = threads or model_threads()
        self.key = secrets.token_urlsafe(32)
        self.base_url = ""
        self._port = port
        self._server: Any = None

    def __enter__(self) -> Self:
        library = _library()
        _check_port(self._port)
        # llama.cpp would call a debugger to show where it failed; only C code is to see this
        os.putenv("GGML_NO_BACKTRACE", "1")
        with _signals_stay_ours():
            try:
                self._server = library.Server(self._parameters(library, _SILENT))
            except RuntimeError:
                raise self._failure(library) from None
            self.base_url = f"{self._server.listening_address}/v1"
            self._wait_until_it_works()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the server, also in the middle of a reply, and give its memory back."""
        # the library has no other way than its destructor
        self._server = None

    def discovery(self) -> Discovery:
        """The server as it tells of itself, with the one model it has."""
        inquiry = Inquiry(self.base_url, self.key, "llama.cpp")
        server = inquiry.server(inquiry.models(), self.model.name)
        server = replace(server, api_key=self.key)
        return Discovery(server, choose(server, self.model.name).model)

    def _wait_until_it_works(self) -> None:
        """The library's destructor never returns while the loop that answers has not begun. Slots
        are told by that loop."""
        root = self.base_url.removesuffix("/v1")
        with suppress(RequestFailed):
            exchange(f"{root}/slots", {"Authorization": f"Bearer {self.key}"}, _START_SECONDS)

    def _parameters(self, library: Any, verbosity: int) -> Any:
        parameters = library.CommonParams()
        parameters.model.path = os.fspath(self.model.path)
        parameters.model_alias = {self.model.name}
        parameters.n_ctx = self.context_length
        parameters.n_parallel = 1
        parameters.cpuparams.n_threads = self.threads
        parameters.cpuparams_batch.n_threads = self.threads
        parameters.hostnames = [LOOPBACK]
        parameters.port = self._port
        parameters.api_keys = [self.key]
        parameters.use_jinja = True
        parameters.cache_ram_mib = 0
        parameters.ui = False
        parameters.offline = True
        parameters.verbosity = verbosity
        return parameters

    def _failure(self, library: Any) -> ModelFailure:
        """What llama.cpp says when it is asked once more, this time aloud."""
        said = _said_by(lambda: library.Server(self._parameters(library, _ERRORS)))
        reason = first_error(said) or "llama.cpp gives no reason"
        return ModelFailure(
            "backend_unavailable",
            f"llama.cpp cannot serve {str(self.model.path)!r}: {reason}. Get the file again, use "
            "another one, or ask for a shorter --context-length if memory is short",
        )


def first_error(log: str) -> str:
    """The first error in llama.cpp's log, without the time and the functions it went through:
    `0.00.042.497 E llama_model_load: error loading model: unknown model architecture: 'x'`."""
    found = re.search(r"^\S+ E (.*)$", log, re.MULTILINE)
    text = found[1] if found else ""
    while (
        shorter := re.sub(r"\A\s*(?:srv\s+\w+|\w+|error|error loading \w+): ", "", text)
    ) != text:
        text = shorter
    return text.strip()


def _context(model: ModelFile, wanted: int | None) -> int:
    if wanted is None:
        return min(USUAL_CONTEXT, model.context_length)
    if wanted > model.context_length:
        raise UsageError(
            f"--context-length {wanted} is more than {model.name!r} was trained for: "
            f"{model.context_length} at most"
        )
    return wanted


def _library() -> Any:
    try:
        return importlib.import_module(_LIBRARY)
    except ModuleNotFoundError:
        raise UsageError(
            "to serve a model file, the extra `local` is needed: pip install "
            "'mini-coding-agent[local]' (in a checkout: pip install '.[local]')"
        ) from None
    except ImportError as error:
        raise UsageError(f"{_LIBRARY} cannot be loaded on this machine: {error}") from None


def _check_port(port: int) -> None:
    with socket.socket() as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind((LOOPBACK, port))
        except OSError as error:
            raise UsageError(
                f"port {port} of {LOOPBACK} cannot be used ({error.strerror}): name another one"
            ) from None


@contextmanager
def _signals_stay_ours() -> Iterator[None]:
    """Set SIGINT and SIGTERM back to what Python has for them. The library's threads inherit the
    blocked signals, so that these always reach the main thread."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _TAKEN)
    try:
        yield
    finally:
        for number in _TAKEN:
            if (ours := signal.getsignal(number)) is not None:
                signal.signal(number, ours)
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _said_by(failing: Callable[[], object]) -> str:
    """What a call that fails writes to the descriptor of standard error."""
    import tempfile

    with tempfile.TemporaryFile() as log:
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            failing()
        except RuntimeError:
            pass
        finally:
            os.dup2(kept, 2)
            os.close(kept)
        log.seek(0)
        return log.read().decode("utf-8", "replace")
