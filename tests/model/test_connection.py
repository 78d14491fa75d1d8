"""A session's model: found once, and what is learned of it on the way."""

import json
from pathlib import Path
from typing import Any

import pytest
from raw_server import delta, sse
from served_routes import listed, routes_at

from harness.config import Options
from harness.connection import Connected, Connection
from harness.errors import ConfigError, ModelFailure
from harness.model.probe import listening
from harness.model.values import Asked

GOOD = sse(delta(content="Fine."), delta("stop")).decode()
CHAT = "POST /v1/chat/completions"
USER = Asked([{"role": "user", "content": "go"}])


def connection(seen: list[Connected] | None = None, **options: Any) -> Connection:
    return Connection(Options(**options), (seen if seen is not None else []).append)


def test_a_model_is_looked_for_once_and_told() -> None:
    seen: list[Connected] = []
    answer = listed("a", "q-coder", owned_by="vllm", max_model_len=8192)
    with routes_at({"GET /v1/models": answer, CHAT: GOOD}) as served:
        session = connection(seen, host=served.url)
        assert session.described == ("no model yet", served.url)
        assert session.complete(USER, str, repr).text == "Fine."
        session.complete(USER, str, repr)
    assert served.paths() == ["GET /v1/models", CHAT, CHAT]
    (connected,) = seen
    assert connected.reason.startswith("took 'q-coder' of 2 models")
    assert (connected.context_length, session.context_length) == (8192, 8192)
    assert session.described == ("q-coder", served.url)


def test_a_context_that_was_set_comes_before_what_is_found_but_not_before_what_is_learned() -> None:
    answer = listed("a", owned_by="vllm", max_model_len=8192)
    with routes_at({"GET /v1/models": answer}) as served:
        session = connection(host=served.url, context_length=100_000)
        session.connect()
    assert session.context_length == 100_000
    session.learn_context(4096)
    assert session.context_length == 4096


def test_an_unknown_context_stays_unknown() -> None:
    with routes_at({"GET /v1/models": listed("a")}) as served:
        session = connection(host=served.url)
        assert session.context_length is None
        session.connect()
    assert session.context_length is None


def test_a_model_that_the_first_request_loads_tells_its_context_after_it() -> None:
    running: list[dict[str, Any]] = []
    routes: dict[str, Any] = {
        "GET /v1/models": listed("q:9b", owned_by="library"),
        "GET /api/ps": {"models": running},
        CHAT: GOOD,
    }
    with routes_at(routes) as served:
        session = connection(host=served.url)
        session.connect()
        assert session.context_length is None
        running.append({"name": "q:9b", "context_length": 4096})
        session.complete(USER, str, repr)
        assert session.context_length == 4096
        asked = len(served.asked)
        session.complete(USER, str, repr)
        assert len(served.asked) == asked + 1


def test_an_overflow_teaches_the_context() -> None:
    error = {
        "code": 400,
        "message": "the request exceeds the available context size (4096 tokens)",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": 5000,
        "n_ctx": 4096,
    }
    routes = {"GET /v1/models": listed("a"), CHAT: (400, json.dumps({"error": error}))}
    with routes_at(routes) as served:
        session = connection(host=served.url)
        with pytest.raises(ModelFailure) as caught:
            session.complete(USER, str, repr)
    assert caught.value.error_class == "context_overflow"
    assert session.context_length == 4096


def test_a_scripted_server_lives_as_long_as_the_connection(tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "Hello."}]}')
    session = connection(backend="scripted", script=str(script))
    port = int(session.connect().server.base_url.split(":")[2].partition("/")[0])
    assert session.complete(USER, str, repr).text == "Hello."
    session.close()
    assert listening([port]) == ()
    with pytest.raises(ConfigError, match="--script"):
        connection(backend="scripted").connect()
