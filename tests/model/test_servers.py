import json
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread

import pytest
from raw_server import RawServer, free_port, http
from served_routes import listed, models_at, routes_at

from harness.errors import ModelFailure, UsageError
from harness.model.address import base_url
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.model.servers import (
    KNOWN,
    Model,
    Server,
    choose,
    discover,
    list_models,
    look_around,
    refresh,
    resolve,
    taken,
)

VARIABLES = (
    *("OPENAI_BASE_URL", "OLLAMA_HOST", "OPENAI_API_KEY", "MCA_API_KEY"),
    *("http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"),
)


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


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
        assert choose(server, None).model.name == "default"

    @pytest.mark.parametrize("status", [401, 403, 404, 500])
    def test_a_server_that_refuses_to_list_is_used_all_the_same(self, status: int) -> None:
        with models_at("{}", status=status) as url:
            server = resolve(url, "auto")
        wants_key = status in (401, 403)
        assert server == Server("openai", url, for_openai=True, wants_key=wants_key)

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


class TestLookingAround:
    @pytest.fixture
    def ports(self) -> dict[int, str]:
        """Three free ports: of an Ollama, a vLLM and a Jan."""
        return {free_port(): kind for kind in ("Ollama", "vLLM", "Jan")}

    def test_nobody_at_all_is_said_at_once_with_what_would_help(
        self, ports: dict[int, str]
    ) -> None:
        with pytest.raises(ModelFailure) as caught:
            resolve(None, "auto", known=ports)
        line = str(caught.value)
        assert caught.value.error_class == "backend_unavailable"
        tried = [f"{kind} :{port}" for port, kind in ports.items()]
        for word in (*tried, "ollama serve", "llama-server", "--host", "demo"):
            assert word in line
        assert "\n" not in line

    def test_a_local_server_is_found_and_recognised(self, ports: dict[int, str]) -> None:
        first = next(iter(ports))
        with models_at(listed("a-embed", "qwen3-coder", owned_by="vllm"), first) as url:
            server = resolve(None, "auto", known=ports)
            places = look_around(known=ports)
        assert (server.kind, server.base_url) == ("vllm", url)
        assert server.models == ("a-embed", "qwen3-coder")
        assert [place.port for place in places] == list(ports)
        assert [place.server for place in places] == [server, None, None]
        assert [place.listening for place in places] == [True, False, False]

    def test_something_else_on_a_known_port_is_passed_over(self, ports: dict[int, str]) -> None:
        first, _, last = ports
        with models_at("<html>", first), models_at(listed("a"), last) as url:
            assert resolve(None, "auto", known=ports).base_url == url
            place = look_around(known=ports)[0]
        assert place.listening
        assert place.server is None

    def test_a_server_without_models_is_passed_over_for_one_with(
        self, ports: dict[int, str]
    ) -> None:
        first, second, last = ports
        with (
            models_at(listed(), first),
            models_at(listed("nomic-embed-text"), second),
            models_at(listed("a"), last) as url,
        ):
            assert resolve(None, "auto", known=ports).base_url == url
            servers = [place.server for place in look_around(known=ports) if place.server]
        used = taken(servers)
        assert used is not None
        assert used.base_url == url
        assert taken(servers[:2]) == servers[0]
        assert taken([]) is None

    def test_a_server_that_wants_a_key_is_found(self, ports: dict[int, str]) -> None:
        last = list(ports)[-1]
        with models_at("Missing authorization header", last, status=401) as url:
            assert resolve(None, "auto", known=ports) == Server("jan", url, wants_key=True)

    def test_servers_are_listed_with_all_that_they_tell(self, ports: dict[int, str]) -> None:
        show = {"capabilities": ["completion", "tools"], "parameters": "num_ctx 8192"}
        names = [f"m{number}" for number in range(9)]
        routes = {"GET /v1/models": listed(*names, owned_by="library"), "POST /api/show": show}
        with routes_at(routes, next(iter(ports))):
            server = look_around(known=ports)[0].server
        assert server is not None
        assert {model.context_length for model in server.entries} == {8192}

    def test_a_program_that_only_listens_is_not_waited_for(self, ports: dict[int, str]) -> None:
        started = time.monotonic()
        with socket.create_server(("127.0.0.1", next(iter(ports)))), pytest.raises(ModelFailure):
            resolve(None, "auto", known=ports)
        assert time.monotonic() - started < 5

    def test_the_usual_ports_are_looked_at(self) -> None:
        assert sorted(KNOWN) == [1234, 1337, 8000, 8080, 9931, 11434, 30000]


class TestRefresh:
    def test_an_ollama_tells_the_context_when_it_has_loaded_the_model(self) -> None:
        running: dict[str, list[object]] = {"models": []}
        routes = {"GET /v1/models": listed("q:1b", owned_by="library"), "GET /api/ps": running}
        with routes_at(routes) as served:
            found = discover(served.url)
            assert found.model == Model("q:1b", loaded=False)
            running["models"].append({"name": "q:1b", "context_length": 4096})
            fresh = refresh(found.server, found.model)
        assert fresh == Model("q:1b", 4096, loaded=True)

    @pytest.mark.parametrize(
        ("kind", "loaded"), [("vllm", None), ("openai", None), ("lmstudio", True)]
    )
    def test_nothing_is_asked_where_nothing_can_have_changed(
        self, kind: str, loaded: bool | None
    ) -> None:
        model = Model("m", 1, loaded=loaded)
        with routes_at({}) as served:
            assert refresh(Server(kind, served.url, (), True), model) is model
        assert served.asked == []

    @pytest.mark.parametrize("answer", [(500, "{}"), listed("other"), listed("m")])
    def test_what_is_known_stays_when_nothing_new_is_told(self, answer: object) -> None:
        model = Model("m", 1)
        with routes_at({"GET /v1/models": answer}) as served:
            assert refresh(Server("ollama", served.url, (), True), model) is model
        gone = Server("ollama", f"http://127.0.0.1:{free_port()}/v1", (), True)
        assert refresh(gone, model) is model
