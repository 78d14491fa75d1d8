import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import pytest
from raw_server import RawServer, free_port, http

from harness.errors import ModelFailure, UsageError
from harness.model.address import base_url
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.model.servers import (
    KNOWN,
    Server,
    choose_model,
    list_models,
    probe_all,
    resolve,
)

VARIABLES = (
    *("OPENAI_BASE_URL", "OLLAMA_HOST", "OPENAI_API_KEY", "MCA_API_KEY"),
    *("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"),
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


@contextmanager
def models_at(answer: Any, port: int = 0, status: int = 200) -> Iterator[str]:
    """A server whose GET /v1/models answers with `answer`; gives its base URL."""
    body = answer if isinstance(answer, str) else json.dumps(answer)

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_args: Any) -> None:
            pass

        def do_GET(self) -> None:
            self.send_response(status if self.path == "/v1/models" else 404)
            self.end_headers()
            self.wfile.write(body.encode())

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/v1"
        finally:
            server.shutdown()
            thread.join()


def listed(*ids: Any, **fields: Any) -> dict[str, Any]:
    return {"object": "list", "data": [{"id": name, **fields} for name in ids]}


class TestAddress:
    @pytest.mark.parametrize(
        ("host", "url"),
        [
            ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:11434/", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:11434/v1/", "http://127.0.0.1:11434/v1"),
            ("http://127.0.0.1:11434/v1/chat/completions", "http://127.0.0.1:11434/v1"),
            ("127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
            ("localhost:8080/v1", "http://localhost:8080/v1"),
            ("localhost", "http://localhost/v1"),
            (" box.lan:80 ", "http://box.lan:80/v1"),
            ("192.168.1.7", "http://192.168.1.7/v1"),
            ("[::1]:8080", "http://[::1]:8080/v1"),
            ("api.openai.com", "https://api.openai.com/v1"),
            ("https://api.example.com/openai", "https://api.example.com/openai/v1"),
            ("https://api.example.com/api/v3", "https://api.example.com/api/v3"),
            ("https://api.example.com/v1beta", "https://api.example.com/v1beta"),
            ("http://Bücher.lan:80", "http://xn--bcher-kva.lan:80/v1"),
            ("☃.net", "https://xn--n3h.net/v1"),
            (f"http://{'a' * 63}.lan.", f"http://{'a' * 63}.lan./v1"),
        ],
    )
    def test_what_a_user_types_becomes_a_base_url(self, host: str, url: str) -> None:
        assert base_url(host) == url

    def test_a_missing_port_may_have_a_default(self) -> None:
        assert base_url("localhost", 11434) == "http://localhost:11434/v1"
        assert base_url("http://localhost", 11434) == "http://localhost/v1"

    @pytest.mark.parametrize(
        "host",
        [
            *("ftp://x", "http://", "http://x:99999", "http://x:abc", "http://a b", "://"),
            *(
                "http://user:secret@x",
                "http://x?y=1",
                "http://x#y",
                "file:///etc/passwd",
                "http://[::1",
            ),
            *("http://x:0", "\x00", "http://x\ny"),
            *("http://a..b/", "https://.a", ".", "http://" + "a" * 64, "http://" + "ü" * 60),
            *("http://\udcff", "http://[::1%☃]:4"),
        ],
    )
    def test_what_is_no_address_is_a_usage_error(self, host: str) -> None:
        with pytest.raises(UsageError) as caught:
            base_url(host)
        assert "--host" in str(caught.value)
        assert "\n" not in str(caught.value)


class TestResolve:
    @pytest.mark.parametrize("suffix", ["", "/", "/v1", "/v1/"])
    def test_a_host_is_taken_as_given(self, suffix: str) -> None:
        with models_at(listed("qwen3:8b", "nomic-embed-text", owned_by="library")) as url:
            server = resolve(url.removesuffix("/v1") + suffix, "auto")
        assert (server.kind, server.base_url, server.lists_models) == ("ollama", url, True)
        assert server.models == ("qwen3:8b", "nomic-embed-text")

    @pytest.mark.parametrize(
        "answer", ["<html>no</html>", "[]", '{"data": 3}', '{"data": null}', ""]
    )
    def test_a_server_that_lists_nothing_is_used_all_the_same(self, answer: str) -> None:
        with models_at(answer) as url:
            server = resolve(url, "openai")
        assert server == Server("openai", url, for_openai=True)
        assert choose_model(server, None) == "default"

    @pytest.mark.parametrize("status", [401, 404, 500])
    def test_a_server_that_refuses_to_list_is_used_all_the_same(self, status: int) -> None:
        with models_at("{}", status=status) as url:
            assert resolve(url, "auto") == Server("openai", url, for_openai=True)

    def test_a_port_that_does_not_speak_http_is_left_to_the_request(self) -> None:
        with RawServer() as server:
            assert resolve(server.url, "auto").models == ()

    def test_a_named_host_where_nobody_listens_is_named(self) -> None:
        port = free_port()
        with pytest.raises(ModelFailure, match=f"connect to http://127.0.0.1:{port}/v1") as caught:
            resolve(f"localhost:{port}".replace("localhost", "127.0.0.1"), "auto")
        assert caught.value.error_class == "backend_unavailable"

    def test_environment_names_a_server(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with models_at(listed("a")) as url:
            monkeypatch.setenv("OPENAI_BASE_URL", url)
            assert resolve(None, "auto").base_url == url
            assert resolve(None, "openai").base_url == url
            monkeypatch.delenv("OPENAI_BASE_URL")
            monkeypatch.setenv("OLLAMA_HOST", url.removesuffix("/v1").removeprefix("http://"))
            assert resolve(None, "ollama").base_url == url
            assert resolve(None, "auto").base_url == url

    @pytest.mark.parametrize("bound", ["0.0.0.0:{}", "http://0.0.0.0:{}", ":{}"])
    def test_an_ollama_bound_to_everywhere_is_reached_here(
        self, bound: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        with models_at(listed("a")) as url:
            port = url.removesuffix("/v1").rpartition(":")[2]
            monkeypatch.setenv("OLLAMA_HOST", bound.format(port))
            assert resolve(None, "ollama").base_url == url

    def test_a_dead_server_of_the_environment_is_blamed_on_its_variable(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{free_port()}")
        with pytest.raises(ModelFailure, match="OPENAI_BASE_URL"):
            resolve(None, "auto")
        monkeypatch.setenv("OPENAI_BASE_URL", "ftp://x")
        with pytest.raises(UsageError, match="OPENAI_BASE_URL"):
            resolve(None, "auto")

    def test_scripted_needs_a_script(self) -> None:
        with pytest.raises(UsageError, match="--script"):
            resolve(None, "scripted")
        with ScriptedServer(Script.from_json({"replies": [{}]})) as server:
            assert resolve(server.base_url, "scripted").kind == "scripted"

    def test_chunked_lists_are_read(self) -> None:
        body = json.dumps(listed("a")).encode()
        pieces = b"".join(
            f"{len(p):x};x=y\r\n".encode() + p + b"\r\n" for p in (body[:9], body[9:])
        )
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        with gets(head + pieces + b"0\r\n\r\n") as url:
            assert list_models(url) == ("a",)

    def test_a_list_is_not_waited_for_to_the_end_of_the_connection(self) -> None:
        started = time.monotonic()
        with gets(http(200, json.dumps(listed("a"))), hold=4) as url:
            assert list_models(url) == ("a",)
            assert time.monotonic() - started < 2


@contextmanager
def gets(answer: bytes, hold: float = 0) -> Iterator[str]:
    """A server that answers any request with exact bytes and keeps the connection open."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        sock, _ = listener.accept()
        with sock:
            sock.recv(65536)
            sock.sendall(answer)
            sock.settimeout(hold or 0.01)
            try:
                sock.recv(1)
            except OSError:
                return

    thread = Thread(target=serve)
    with listener:
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
    thread.join()


class TestDiscovery:
    @pytest.fixture
    def ports(self) -> dict[str, int]:
        return {kind: free_port() for kind in ("ollama", "vllm", "jan")}

    def test_nobody_at_all_is_said_at_once_with_what_would_help(
        self, ports: dict[str, int]
    ) -> None:
        started = time.monotonic()
        with pytest.raises(ModelFailure) as caught:
            resolve(None, "auto", known=ports)
        assert time.monotonic() - started < 0.3
        line = str(caught.value)
        assert caught.value.error_class == "backend_unavailable"
        for word in ("vllm", str(ports["vllm"]), "ollama serve", "llama-server", "--host", "demo"):
            assert word in line
        assert "\n" not in line

    def test_a_local_server_is_found_and_recognised(self, ports: dict[str, int]) -> None:
        with models_at(listed("a-embed", "qwen3-coder", owned_by="vllm"), ports["ollama"]) as url:
            server = resolve(None, "auto", known=ports)
            places = probe_all(known=ports)
        assert server == Server("vllm", url, ("a-embed", "qwen3-coder"), True)
        assert [(place.kind, place.port) for place in places] == list(ports.items())
        assert [place.server for place in places] == [server, None, None]
        assert [place.listening for place in places] == [True, False, False]

    def test_something_else_on_a_known_port_is_passed_over(self, ports: dict[str, int]) -> None:
        with models_at("<html>", ports["ollama"]), models_at(listed("a"), ports["jan"]) as url:
            assert resolve(None, "auto", known=ports).base_url == url
            place = probe_all(known=ports)[0]
        assert place.listening
        assert place.server is None

    def test_a_server_without_models_is_passed_over_for_one_with(
        self, ports: dict[str, int]
    ) -> None:
        with models_at(listed(), ports["ollama"]), models_at(listed("a"), ports["jan"]) as url:
            assert resolve(None, "auto", known=ports).base_url == url

    def test_a_server_that_wants_a_key_is_found(self, ports: dict[str, int]) -> None:
        with models_at("{}", ports["jan"], status=401) as url:
            assert resolve(None, "auto", known=ports) == Server("jan", url)

    def test_a_silent_program_on_a_known_port_delays_only_a_moment(
        self, ports: dict[str, int]
    ) -> None:
        started = time.monotonic()
        with socket.create_server(("127.0.0.1", ports["vllm"])), pytest.raises(ModelFailure):
            resolve(None, "auto", known=ports)
        assert time.monotonic() - started < 2

    def test_the_usual_ports_are_looked_at(self) -> None:
        assert sorted(KNOWN.values()) == [1234, 1337, 8000, 8080, 11434, 30000]


class TestChooseModel:
    @pytest.mark.parametrize(
        ("models", "chosen"),
        [
            (["llama3", "qwen3:8b", "starcoder2", "qwen3-coder:30b"], "qwen3-coder:30b"),
            (["llama3", "qwen3:8b", "starcoder2"], "starcoder2"),
            (["llama3", "Qwen3:8b"], "Qwen3:8b"),
            (["text-embedding-nomic", "bge-m3", "llama3"], "llama3"),
            ([".DS_Store", "README.md", "qwen3-coder.gguf"], "qwen3-coder.gguf"),
        ],
    )
    def test_a_coder_is_preferred_and_junk_skipped(self, models: list[str], chosen: str) -> None:
        assert choose_model(Server("x", "u", tuple(models), True), None) == chosen

    def test_the_wanted_model_is_taken_unseen(self) -> None:
        assert choose_model(Server("x", "u", ("a",), True), "b") == "b"

    def test_a_server_without_a_chat_model_is_an_error(self) -> None:
        with pytest.raises(ModelFailure, match="ollama pull") as caught:
            choose_model(Server("ollama", "u", ("nomic-embed-text",), True), None)
        assert caught.value.error_class == "model_not_found"
