"""Whole turns and sessions with Anthropic and Bedrock, against strict doubles on loopback."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import anthropic_double
import bedrock_double
import pytest
from raw_server import RawServer

from harness.config import Options, Places
from harness.errors import ConfigError
from harness.journal import Event
from harness.resume import find
from harness.session import Session
from tests.conftest import Agent

CLAUDE = "claude-sonnet-4-5"


def nobody(*_: object) -> NoReturn:
    raise AssertionError("nobody is to be asked")


@contextmanager
def session(
    where: Places, resume: str | None = None, **settings: Any
) -> Iterator[tuple[Session, list[Event]]]:
    seen: list[Event] = []
    opened = Session(
        Options(approval="auto", **settings),
        where,
        nobody,
        version="0",
        former=find(where, resume) if resume else None,
        sinks=[seen.append],
    )
    try:
        yield opened, seen
    finally:
        opened.close("end")


@pytest.fixture
def where(workspace: Path, home: Path) -> Places:
    return Places(home=home, workspace=workspace)


@pytest.fixture(autouse=True)
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    monkeypatch.setenv("AWS_REGION", "eu-west-1")


def answer(text: str = "Fine.", **more: Any) -> bytes:
    double = anthropic_double
    return double.stream(*double.events(double.text(text), **more))


def payloads(seen: list[Event], kind: str) -> list[Any]:
    return [event.payload for event in seen if event.kind == kind]


EDIT = {"path": "auth.py", "old_text": "max_attempts = 3", "new_text": "max_attempts = 4"}


@pytest.mark.parametrize("double", [anthropic_double, bedrock_double])
def test_a_whole_turn_reads_and_edits_and_every_request_is_accepted(
    double: Any, where: Places
) -> None:
    backend = "anthropic" if double is anthropic_double else "bedrock"
    model = CLAUDE if backend == "anthropic" else "eu.anthropic.claude-sonnet-4-5-20250929-v1:0"
    target = where.workspace / "auth.py"
    target.write_text("max_attempts = 3\n")
    (where.workspace / "test_auth.py").unlink()
    replies = [
        double.events(
            double.thought("Both may matter."),
            double.text("I look."),
            double.use("t1", "read_file", path="auth.py"),
            double.use("t2", "list_files"),
            stop="tool_use",
        ),
        double.events(double.use("t3", "patch_file", **EDIT), stop="tool_use"),
        double.events(double.text("Done.")),
    ]
    with RawServer(*(double.stream(*reply) for reply in replies)) as server:
        url = f"http://127.0.0.1:{server.port}"
        with session(where, backend=backend, model=model, host=url) as (talk, seen):
            outcome = talk.run("Raise max_attempts to 4.")
            info = dict(talk.info())
    for post in server.posts:
        double.check({"modelId": model, **post} if backend == "bedrock" else post)
    assert len(server.posts) == 3
    assert outcome.kind == "verified"
    assert target.read_text() == "max_attempts = 4\n"
    assert payloads(seen, "connected")[0]["backend"] == backend
    each = [reply["cost"] for reply in payloads(seen, "model_reply")]
    assert all(cost > 0 for cost in each)
    assert outcome.cost == pytest.approx(sum(each))
    assert info["cost"].startswith("$")
    assert info["host"] == url


def test_a_session_ends_at_its_cost_before_the_next_request(where: Places) -> None:
    usage = {"input_tokens": 1_000_000}
    double = anthropic_double
    call = double.events(double.use("t1", "list_files"), stop="tool_use", usage=usage)
    with RawServer(double.stream(*call)) as server:
        limited = {"backend": "anthropic", "model": CLAUDE, "host": server.url, "max_cost": 1.0}
        with session(where, **limited) as (talk, _):
            outcome = talk.run("List the files.")
            again = talk.run("Again.")
        with session(where, resume="latest", **limited) as (talk, _):
            resumed = talk.run("And again.")
    assert outcome.kind == again.kind == resumed.kind == "limit"
    assert outcome.exit_code == 3
    assert "cost limit of $1.00" in outcome.message
    assert "--max-cost" in outcome.message
    assert outcome.cost is not None
    assert outcome.cost > 1
    assert len(server.posts) == 1


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"backend": "scripted"}, "this machine"),
        ({"backend": "anthropic", "model": "qwen3", "host": "127.0.0.1:9"}, "'qwen3'"),
    ],
)
def test_a_limit_on_costs_refuses_a_model_without_a_price(
    settings: dict[str, Any], words: str, where: Places, tmp_path: Path
) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "ok"}]}')
    with (
        session(where, **settings, script=str(script), max_cost=1.0) as (talk, seen),
        pytest.raises(ConfigError) as caught,
    ):
        talk.run("Hello.")
    assert "--max-cost" in str(caught.value)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not payloads(seen, "model_request")


def test_a_server_on_this_machine_has_tokens_and_no_cost(where: Places, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "ok"}]}')
    with session(where, backend="scripted", script=str(script)) as (talk, seen):
        outcome = talk.run("Hello.")
        info = dict(talk.info())
    assert outcome.cost is None
    assert payloads(seen, "model_reply")[0]["cost"] is None
    assert payloads(seen, "outcome")[0]["cost"] is None
    assert info["cost"] == "unknown: it runs on this machine"
    assert int(info["tokens"].replace(",", "")) == outcome.prompt_tokens + outcome.completion_tokens


def test_what_the_provider_refuses_ends_the_turn_with_one_line(where: Places) -> None:
    refused = anthropic_double.error(401, "authentication_error", "invalid x-api-key")
    with (
        RawServer(refused) as server,
        session(where, backend="anthropic", model=CLAUDE, host=server.url) as (talk, _),
    ):
        outcome = talk.run("Hello.")
    assert (outcome.kind, outcome.exit_code) == ("model_error", 4)
    assert "ANTHROPIC_API_KEY" in outcome.message


def test_a_truncated_reply_is_asked_for_again_and_the_requests_stay_legal(where: Places) -> None:
    cut = answer("I begin by", stop="max_tokens")
    with (
        RawServer(cut, answer("Short.")) as server,
        session(where, backend="anthropic", model=CLAUDE, host=server.url) as (talk, _),
    ):
        outcome = talk.run("Explain auth.py.")
    for post in server.posts:
        anthropic_double.check(post)
    assert outcome.kind == "answered"
    assert outcome.answer == "Short."


def test_an_overflow_makes_the_conversation_shorter(where: Places) -> None:
    long = where.workspace / "long.txt"
    long.write_text("word " * 4000)
    double = anthropic_double
    reads = [
        double.stream(
            *double.events(double.use(f"t{n}", "read_file", path="long.txt"), stop="tool_use")
        )
        for n in range(2)
    ]
    full = double.error(
        400, "invalid_request_error", "prompt is too long: 9000 tokens > 8000 maximum"
    )
    with (
        RawServer(*reads, full, answer("Long.")) as server,
        session(where, backend="anthropic", model=CLAUDE, host=server.url) as (talk, _),
    ):
        outcome = talk.run("What is in long.txt?")
    assert outcome.kind == "answered"
    for post in server.posts:
        double.check(post)
    sizes = [len(str(post["messages"])) for post in server.posts]
    assert sizes[3] < sizes[2]


def test_the_command_line_refuses_to_start_without_a_price(agent: Agent, tmp_path: Path) -> None:
    script = tmp_path / "script.json"
    script.write_text('{"replies": [{"text": "ok"}]}')
    scripted = ("--backend", "scripted", "--script", str(script), "--cwd", str(agent.workspace))
    run = agent.run_plain(*scripted, "--max-cost", "0.5", "Hello.")
    assert run.code == 2
    assert "--max-cost" in run.last_line
    assert "scripted-qwen" in run.last_line
    shown = agent.run_plain(*scripted, "Hello.")
    assert re.search(r"\[about [\d,]+ tokens\]|\[[\d,]+ tokens\]", shown.last_line)
    assert "$" not in shown.last_line
