"""A server of our own, as far as that goes without the library; tests/realmodel has the rest."""

import io
import socket
import sys
from pathlib import Path

import pytest

from harness.config import Options
from harness.connection import Connection
from harness.errors import ConfigError, UsageError
from harness.model.gguf import ModelFile
from harness.model.local import LocalServer, first_error
from harness.serve_model import serve_model
from tests.model.gguf_files import QWEN, header

MODEL = ModelFile(Path("tiny.gguf"), "tiny", "llama", 4096)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tiny.gguf"
    path.write_bytes(header(QWEN))
    return path


@pytest.fixture
def no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)


@pytest.mark.usefixtures("no_library")
def test_without_the_extra_the_line_says_how_to_get_it(file: Path) -> None:
    line = r"extra `local` is needed: pip install 'mini-coding-agent\[local\]'"
    with pytest.raises(UsageError, match=line):
        serve_model([str(file)], None, None, io.StringIO())
    connection = Connection(Options(backend="local", model=str(file)), lambda _connected: None)
    with pytest.raises(UsageError, match=line):
        connection.connect()
    connection.close()


def test_a_library_that_cannot_be_loaded_is_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "xllamacpp.py").write_text("raise ImportError('GLIBC_2.99 not found')")
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(UsageError, match=r"cannot be loaded on this machine: GLIBC_2\.99"):
        LocalServer(MODEL).__enter__()


def test_the_backend_needs_a_file() -> None:
    connection = Connection(Options(backend="local"), lambda _connected: None)
    with pytest.raises(ConfigError, match=r"--backend local needs --model FILE\.gguf"):
        connection.connect()


def test_a_server_has_a_key_of_its_own_and_no_more_context_than_the_model() -> None:
    one, other = LocalServer(MODEL), LocalServer(MODEL)
    assert len(one.key) >= 40
    assert one.key != other.key
    assert one.context_length == 4096
    assert LocalServer(MODEL, 1000).context_length == 1000
    with pytest.raises(UsageError, match=r"--context-length 5000 is more than 'tiny' was trained"):
        LocalServer(MODEL, 5000)


@pytest.mark.parametrize(
    ("words", "context", "host", "line"),
    [
        ([], None, None, "serve-model takes a file"),
        (["none.gguf"], None, None, "there is no model file 'none.gguf'"),
        (["FILE"], 0, None, "--context-length must be at least 1, not 0"),
        (["FILE"], None, "10.0.0.1:80", "serve-model listens on this machine only"),
        (["FILE"], None, "http://[::1", "is no address"),
        (["FILE"], None, ":99999", "is no address"),
    ],
)
def test_what_cannot_be_served_is_a_usage_error(
    file: Path, words: list[str], context: int | None, host: str | None, line: str
) -> None:
    words = [str(file) if word == "FILE" else word for word in words]
    out = io.StringIO()
    with pytest.raises(UsageError, match=line):
        serve_model(words, context, host, out)
    assert out.getvalue() == ""


def test_a_port_that_is_taken_is_a_usage_error(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file.parent / "xllamacpp.py").write_text("")
    monkeypatch.delitem(sys.modules, "xllamacpp", raising=False)
    monkeypatch.syspath_prepend(file.parent)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} of 127\.0\.0\.1 cannot be used"):
            serve_model([str(file)], None, f"localhost:{port}", io.StringIO())
    sys.modules.pop("xllamacpp", None)


@pytest.mark.parametrize(
    ("log", "reason"),
    [
        (
            "0.00.042.497 E llama_model_load: error loading model: unknown architecture: 'x'\n",
            "unknown architecture: 'x'",
        ),
        ("0.1 I srv  init: fine\n0.2 E srv          init: init: no template\n", "no template"),
        ("0.3 E common_chat_templates_init: error: Unknown statement: bor\n", "Unknown statement"),
        ("0.1 I all is well\n", ""),
        ("", ""),
    ],
)
def test_the_first_error_of_a_log_is_the_reason(log: str, reason: str) -> None:
    assert first_error(log).startswith(reason)
    assert bool(first_error(log)) is bool(reason)
