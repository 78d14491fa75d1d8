"""`models`: what was found, and which model would be taken."""

import io
import json
from collections.abc import Mapping
from typing import Any

import pytest

from harness.config import Options
from harness.errors import ModelFailure, UsageError
from harness.models_command import models_command
from tests.conftest import Agent
from tests.model.raw_server import free_port
from tests.model.served_routes import listed, routes_at

SHOW = {
    "capabilities": ["completion", "tools"],
    "model_info": {"general.architecture": "q", "q.context_length": 262144},
}
OLLAMA: Mapping[str, Any] = {
    "GET /v1/models": listed(
        "nomic-embed-text", "llama3:8b", "qwen3-coder:30b", owned_by="library"
    ),
    "POST /api/show": SHOW,
    "GET /api/ps": {"models": [{"name": "qwen3-coder:30b", "context_length": 4096}]},
}


def shown(*, known: Mapping[int, str] | None = None, as_json: bool = False, **options: Any) -> str:
    out = io.StringIO()
    assert models_command(Options(**options), out, as_json, known or {}) == 0
    return out.getvalue()


def test_a_table_names_each_model_and_says_which_is_taken() -> None:
    with routes_at(OLLAMA) as served:
        text = shown(host=served.url)
    assert text == (
        f"ollama at {served.url}\n"
        "  model             context           tools  loaded\n"
        "  nomic-embed-text  embeds\n"
        "  llama3:8b         ? of 262,144      yes    no\n"
        "> qwen3-coder:30b   4,096 of 262,144  yes    yes\n"
        f"-> took 'qwen3-coder:30b' of 2 models at {served.url}: a coder with tools, "
        "already loaded (choose another with --model)\n"
    )


def test_it_fits_forty_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    long = "organisation/a-name-that-is-rather-long-for-a-model-日本語-coder"
    with routes_at(
        {"GET /v1/models": listed(long, "b", owned_by="vllm", max_model_len=65536)}
    ) as s:
        lines = shown(host=s.url).splitlines()
    table = lines[1 : next(at for at, line in enumerate(lines) if line.startswith("->"))]
    assert table[0].startswith("> organisation/")
    assert table[1] == "    65,536; tools: ?; loaded: ?"
    assert all(len(line) <= 40 for line in table)


def test_a_table_is_as_wide_as_the_terminal_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    with routes_at({"GET /v1/models": listed("x" * 90, "y", owned_by="vllm")}) as served:
        lines = shown(host=served.url).splitlines()
    assert all(len(line) < 70 for line in lines[1:4])
    assert "…" in lines[2]


def test_for_programs_each_server_is_an_object() -> None:
    ports = {free_port(): "a", free_port(): "b", free_port(): "c"}
    empty, first, wants_key = ports
    refusal = {"GET /v1/models": (401, "Missing authorization header")}
    with (
        routes_at({"GET /v1/models": listed("nomic-embed-text", owned_by="me")}, empty),
        routes_at(OLLAMA, first),
        routes_at(refusal, wants_key),
    ):
        lines = [json.loads(line) for line in shown(known=ports, as_json=True).splitlines()]
    assert [line["server"] for line in lines] == [None, "ollama", "jan"]
    assert [line["taken"] for line in lines] == [None, "qwen3-coder:30b", None]
    assert [bool(line["reason"]) for line in lines] == [False, True, False]
    assert [line["wants_key"] for line in lines] == [False, False, True]
    assert lines[1]["address"] == f"http://127.0.0.1:{first}/v1"
    assert lines[1]["models"][2] == {
        "name": "qwen3-coder:30b",
        "context_length": 4096,
        "context_trained": 262144,
        "tools": True,
        "loaded": True,
        "kind": "chat",
        "vision": False,
    }


def test_several_servers_are_shown_and_one_model_is_taken() -> None:
    ports = {free_port(): "a", free_port(): "b", free_port(): "c"}
    first, second, third = ports
    with (
        routes_at({"GET /v1/models": (401, "Missing authorization header")}, first),
        routes_at({"GET /v1/models": listed()}, second),
        routes_at({"GET /v1/models": listed("one", owned_by="vllm")}, third) as last,
    ):
        text = shown(known=ports)
    assert "jan at " in text
    assert "it wants a key: set MCA_API_KEY" in text
    assert "OpenAI-compatible server at " in text
    assert "it lists no models" in text
    assert text.count("> one") == 1
    assert text.endswith(f"-> takes 'one' at {last.url}: nothing else there can chat\n")


def test_a_model_that_was_named_is_taken() -> None:
    with routes_at(OLLAMA) as served:
        text = shown(host=served.url, model="llama3:8b")
    assert "> llama3:8b" in text
    assert text.endswith(f"-> takes 'llama3:8b' at {served.url}: it was named\n")


def test_a_server_without_a_chat_model_says_how_to_get_one() -> None:
    with routes_at({"GET /v1/models": listed("nomic-embed-text", owned_by="library")}) as served:
        text = shown(host=served.url)
    assert "ollama pull" in text
    assert "> " not in text.replace("-> ", "")


def test_nothing_found_is_one_line() -> None:
    with pytest.raises(ModelFailure, match="no model server found") as caught:
        shown(known={free_port(): "nobody"})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("backend", ["anthropic", "bedrock", "local", "scripted"])
def test_a_backend_that_lists_nothing_is_a_usage_error(backend: str) -> None:
    with pytest.raises(UsageError, match="--model"):
        shown(backend=backend)


def test_the_command_line_names_the_server(agent: Agent) -> None:
    with routes_at(OLLAMA) as served:
        run = agent.run_plain("models", "--json", env={"MCA_HOST": served.url})
        assert (run.code, json.loads(run.out)["server"], run.err) == (0, "ollama", "")
    run = agent.run_plain("models", "--host", served.url)
    assert (run.code, run.out, len(run.err.splitlines())) == (4, "", 1)
