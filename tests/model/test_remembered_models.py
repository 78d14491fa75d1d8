"""What is remembered of a model, from one run of the program to the next."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from raw_server import HEAD, RawServer, delta, sse

from tests.conftest import Agent, Run

EMPTY = HEAD + sse(delta("stop", content=""))
FOUND = HEAD + sse(delta("stop", content=json.dumps({"tool": "read_file", "path": "auth.py"})))
ANSWER = HEAD + sse(delta("stop", content=json.dumps({"tool": "answer", "text": "Three."})))


def ask(agent: Agent, server: RawServer) -> Run:
    flags = ("--host", server.url, "--model", "m", "--cwd", str(agent.workspace))
    return agent.run_plain(*flags, "what is the limit?")


def test_the_next_run_begins_with_the_protocol_that_worked(agent: Agent, home: Path) -> None:
    with RawServer(EMPTY, EMPTY, FOUND, ANSWER, FOUND, ANSWER) as server:
        first, second = ask(agent, server), ask(agent, server)
        assert (first.code, second.code) == (0, 0), first.err + second.err
        ways = ["tools" in body for body in server.posts]
    assert ways == [True, True, False, False, False, False]
    assert all("response_format" in body for body in server.posts[2:])
    assert second.out.strip() == "Three."


def damaged(path: Path) -> None:
    path.write_bytes(b'{"schema": 9, "models": \xff')


def a_folder(path: Path) -> None:
    path.mkdir()


@pytest.mark.parametrize(
    ("spoil", "told"), [(damaged, "found out anew"), (a_folder, "cannot be written")]
)
def test_a_memory_that_cannot_be_used_is_told_and_stops_nothing(
    agent: Agent, home: Path, spoil: Callable[[Path], None], told: str
) -> None:
    path = home / ".mini-coding-agent" / "models.json"
    path.parent.mkdir()
    spoil(path)
    with RawServer(EMPTY, EMPTY, FOUND, ANSWER) as server:
        run = ask(agent, server)
    assert run.code == 0
    assert run.out.strip() == "Three."
    assert run.err.count("models.json") == 1
    assert told in run.err
    assert "Traceback" not in run.err
    assert path.is_dir() == (spoil is a_folder)
