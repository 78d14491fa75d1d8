"""Which server was named, and who is given which key."""

from collections.abc import Mapping

import pytest
from raw_server import HEAD, RawServer, delta, free_port, sse
from served_routes import listed, models_at, routes_at

from harness.config import Options
from harness.connection import Connection
from harness.errors import ModelFailure, UsageError
from harness.model.named import api_key, named_server
from harness.model.servers import resolve
from harness.model.values import Asked

GOOD = HEAD + sse(delta(content="Fine."), delta("stop"))
KEYS = {"OPENAI_API_KEY": "sk-openai"}
SDK = {
    "OPENAI_ORG_ID": "sk-org",
    "OPENAI_PROJECT_ID": "sk-project",
    "OPENAI_CUSTOM_HEADERS": "Authorization: Bearer sk-gateway\nX-Gateway: sk-header",
}


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OLLAMA_HOST", "MCA_API_KEY", *KEYS, *SDK):
        monkeypatch.delenv(name, raising=False)


def given(monkeypatch: pytest.MonkeyPatch, variables: Mapping[str, str]) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)


def asked(server: RawServer, host: str | None = None, backend: str = "auto") -> tuple[str, str]:
    """What the server was sent to list its models, and to reply."""
    connection = Connection(Options(host=host, backend=backend), lambda _connected: None)
    user = {"role": "user", "content": "go"}
    assert connection.complete(Asked([user]), str, repr).text == "Fine."
    head_of_list, head_of_post = server.heads
    return head_of_list, head_of_post


@pytest.mark.parametrize(
    ("host", "backend", "variables", "url", "key"),
    [
        ("x:1", "auto", {}, "http://x:1/v1", "sk-openai"),
        ("x:1", "openai", {"OPENAI_BASE_URL": "http://y:2"}, "http://x:1/v1", "sk-openai"),
        ("x", "ollama", {}, "http://x:11434/v1", "sk-openai"),
        (None, "auto", {"OPENAI_BASE_URL": "http://y:2"}, "http://y:2/v1", "sk-openai"),
        (None, "openai", {"OPENAI_BASE_URL": "http://y:2"}, "http://y:2/v1", "sk-openai"),
        (None, "openai", {}, "https://api.openai.com/v1", "sk-openai"),
        (None, "openai", {"OLLAMA_HOST": "z"}, "https://api.openai.com/v1", "sk-openai"),
        (None, "ollama", {}, "http://127.0.0.1:11434/v1", None),
        (None, "ollama", {"OPENAI_BASE_URL": "http://y:2"}, "http://127.0.0.1:11434/v1", None),
        (None, "ollama", {"OLLAMA_HOST": "z"}, "http://z:11434/v1", None),
        (None, "auto", {"OLLAMA_HOST": "z"}, "http://z:11434/v1", None),
        ("http://127.0.0.1:9", "scripted", {}, "http://127.0.0.1:9/v1", None),
    ],
)
def test_the_openai_key_is_for_a_server_that_was_named_for_it(
    monkeypatch: pytest.MonkeyPatch,
    host: str | None,
    backend: str,
    variables: Mapping[str, str],
    url: str,
    key: str | None,
) -> None:
    given(monkeypatch, {**KEYS, **variables})
    named = named_server(host, backend)
    assert named is not None
    assert named.url == url
    assert api_key(named.for_openai) == key
    given(monkeypatch, {"MCA_API_KEY": " ours\n"})
    assert api_key(named.for_openai) == "ours"


def test_nobody_named_is_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    given(monkeypatch, {"OPENAI_BASE_URL": "", "OLLAMA_HOST": "", "MCA_API_KEY": " "})
    assert named_server(None, "auto") is None
    assert api_key(for_openai=True) is None
    given(monkeypatch, KEYS)
    assert api_key(for_openai=True) == "sk-openai"


@pytest.mark.parametrize("name", ["MCA_API_KEY", "OPENAI_API_KEY"])
@pytest.mark.parametrize("key", ["a b\x1b", "a\r\nX-Other: b", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_a_usage_error(
    monkeypatch: pytest.MonkeyPatch, name: str, key: str
) -> None:
    given(monkeypatch, {name: key})
    with pytest.raises(UsageError, match=name) as caught:
        resolve(f"127.0.0.1:{free_port()}", "auto")
    assert key not in str(caught.value)


def test_a_named_server_is_given_the_key_with_every_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, KEYS)
    with RawServer(GOOD) as server:
        for head in asked(server, host=server.url):
            assert "authorization: bearer sk-openai" in head.lower()
    given(monkeypatch, {"MCA_API_KEY": "sk-ours"})
    with RawServer(GOOD) as server:
        for head in asked(server, host=server.url):
            assert "authorization: bearer sk-ours" in head.lower()


@pytest.mark.parametrize("backend", ["auto", "ollama"])
def test_an_ollama_is_given_nothing_that_is_openais(
    monkeypatch: pytest.MonkeyPatch, backend: str
) -> None:
    with RawServer(GOOD) as server:
        given(monkeypatch, {**KEYS, **SDK, "OLLAMA_HOST": f"127.0.0.1:{server.port}"})
        if backend == "ollama":
            given(monkeypatch, {"OPENAI_BASE_URL": "http://y:2"})
        for head in asked(server, backend=backend):
            assert "sk-" not in head
    with RawServer(GOOD) as server:
        ours = {"OLLAMA_HOST": f"127.0.0.1:{server.port}", "MCA_API_KEY": "ours"}
        given(monkeypatch, {**ours, "OPENAI_BASE_URL": ""})
        for head in asked(server, backend=backend):
            assert "authorization: bearer ours" in head.lower()
            assert "sk-" not in head


def test_a_server_that_was_only_found_is_given_nothing_that_is_openais(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, {**KEYS, **SDK})
    port = free_port()
    with models_at(listed("a"), port):
        found = resolve(None, "auto", known={port: "vLLM"})
        assert (found.for_openai, found.api_key) == (False, None)
        given(monkeypatch, {"MCA_API_KEY": "ours"})
        found = resolve(None, "auto", known={port: "vLLM"})
        assert (found.for_openai, found.api_key) == (False, "ours")


@pytest.mark.parametrize("owner", ["", "library", "sglang", "llamacpp", "koboldcpp"])
def test_all_that_is_asked_of_a_server_goes_with_its_own_key_and_no_other(
    monkeypatch: pytest.MonkeyPatch, owner: str
) -> None:
    answer = listed("a", owned_by=owner)
    given(monkeypatch, KEYS)
    with routes_at({"GET /v1/models": answer}) as named:
        resolve(named.url, "auto")
    port = free_port()
    with routes_at({"GET /v1/models": answer}, port) as found:
        resolve(None, "auto", known={port: "any"})
        seen = [head.get("Authorization") for _, head, _ in found.asked]
        given(monkeypatch, {"MCA_API_KEY": "ours"})
        resolve(None, "auto", known={port: "any"})
    assert len(seen) > 1
    assert set(seen) == {None}
    assert {head["Authorization"] for _, head, _ in named.asked} == {"Bearer sk-openai"}
    assert {head["Authorization"] for _, head, _ in found.asked[len(seen) :]} == {"Bearer ours"}


def test_the_sdks_own_variables_reach_a_server_that_was_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given(monkeypatch, SDK)
    with RawServer(GOOD) as server:
        _, head = asked(server, host=server.url)
    for word in ("sk-org", "sk-project", "sk-header"):
        assert word in head


def test_a_key_is_not_shown() -> None:
    with RawServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("MCA_API_KEY", "sk-ours")
        assert "sk-ours" not in repr(resolve(server.url, "auto"))


class TestProxies:
    @pytest.fixture(autouse=True)
    def no_proxy_yet(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"):
            monkeypatch.delenv(name, raising=False)

    @pytest.mark.parametrize(
        "proxy", ["http://a..b", "http://☃.net", "http://" + "a" * 64, "ftp://x", "http://[::1"]
    )
    def test_one_that_cannot_be_used_is_one_line(
        self, monkeypatch: pytest.MonkeyPatch, proxy: str
    ) -> None:
        monkeypatch.setenv("http_proxy", proxy.replace("//", "//user:secret@"))
        with pytest.raises(UsageError, match="http_proxy") as caught:
            resolve("http://models.example:8000", "auto")
        assert "models.example:8000" in str(caught.value)
        assert "\n" not in str(caught.value)
        assert "secret" not in str(caught.value)

    def test_one_may_be_named_without_scheme(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with RawServer() as proxy:
            monkeypatch.setenv("http_proxy", f"127.0.0.1:{proxy.port}")
            assert resolve("http://models.example:8000", "auto").models == ()
        assert proxy.heads[0].startswith("GET http://models.example:8000/v1/models")

    def test_one_where_nobody_listens_is_a_failure(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{free_port()}")
        with pytest.raises(ModelFailure, match=r"models\.example"):
            resolve("http://models.example:8000", "auto")
