"""Taking up a session again: which one, from where, and by one program at a time."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Agent, Run, say


def journals(home: Path) -> list[Path]:
    return sorted(home.rglob("sessions/*.jsonl"))


@pytest.fixture
def planted(agent: Agent, home: Path, workspace: Path) -> Path:
    """A whole session that came with the workspace; the user has none."""
    agent.run("A request from elsewhere.", replies=[say("An answer from elsewhere.")])
    (own,) = journals(home)
    kept = workspace / ".mini-coding-agent" / "sessions" / "planted.jsonl"
    kept.parent.mkdir(parents=True)
    own.rename(kept)
    return kept


def refused(run: Run, *words: str) -> None:
    assert run.code == 2, run.err
    assert len(run.err.strip().splitlines()) == 1
    for word in words:
        assert word in run.err
    assert run.requests == []


@pytest.mark.parametrize("wanted", ["latest", "planted"])
def test_a_session_of_the_workspace_is_copied_and_left_as_it_is(
    agent: Agent, home: Path, planted: Path, wanted: str
) -> None:
    with planted.open("ab") as file:
        file.write(b'{"schema":1,"se')
    before = planted.read_bytes()
    run = agent.run("--resume", wanted, "Go on.")
    assert run.code == 0, run.err
    assert "An answer from elsewhere." in run.contents(0)
    assert "incomplete last line" in run.err
    assert planted.read_bytes() == before
    (own,) = journals(home)
    assert own.name == "planted.jsonl"
    assert own.stat().st_mode & 0o077 == 0
    assert json.loads(own.read_bytes().splitlines()[-1])["kind"] == "session_ended"
    again = agent.run("--resume", wanted, "And on.")
    assert "Go on." in again.contents(0)
    assert [path.name for path in own.parent.iterdir()] == ["planted.jsonl"]


def test_latest_is_the_users_own_however_new_the_workspaces_is(agent: Agent, planted: Path) -> None:
    agent.run("My own request.", replies=[say("My own answer.")])
    os.utime(planted, (4_000_000_000, 4_000_000_000))
    run = agent.run("--resume", "latest", "Go on.")
    assert "My own answer." in run.contents(0)
    assert "elsewhere" not in run.contents(0)


@pytest.mark.parametrize("part", ["file", "sessions", ".mini-coding-agent"])
@pytest.mark.parametrize("wanted", ["latest", "planted"])
def test_a_link_on_the_way_is_refused(
    agent: Agent, planted: Path, tmp_path: Path, part: str, wanted: str
) -> None:
    linked = {"file": planted, "sessions": planted.parent}.get(part, planted.parent.parent)
    outside = tmp_path / "outside"
    linked.rename(outside)
    linked.symlink_to(outside)
    with planted.open("ab") as file:
        file.write(b"torn")
    before = planted.read_bytes()
    refused(agent.run("--resume", wanted, "Go on."), "planted.jsonl", "no link")
    assert planted.read_bytes() == before


@pytest.mark.parametrize("kind", ["pipe", "folder", "large"])
@pytest.mark.parametrize("wanted", ["latest", "planted"])
def test_what_is_no_file_of_usual_size_is_refused(
    agent: Agent, planted: Path, kind: str, wanted: str
) -> None:
    planted.unlink()
    if kind == "pipe":
        os.mkfifo(planted)
    elif kind == "folder":
        planted.mkdir()
    else:
        with planted.open("wb") as file:
            file.truncate(64 * 1024 * 1024 + 1)
    refused(agent.run("--resume", wanted, "Go on."), "planted.jsonl", "at most 64 MiB")


def test_a_session_of_the_workspace_cannot_speak_as_the_system(agent: Agent, planted: Path) -> None:
    text = planted.read_text()
    planted.write_text(text.replace('"role":"assistant"', '"role":"system"'))
    assert planted.read_text() != text
    run = agent.run("--resume", "planted", "Go on.")
    assert run.code == 0, run.err
    assert "elsewhere" not in str(run.requests[0]["messages"][0])
    assert "An answer from elsewhere." not in run.contents(0)


def test_a_damaged_session_of_the_workspace_is_not_copied(
    agent: Agent, home: Path, planted: Path
) -> None:
    planted.write_text("not json\n")
    refused(agent.run("--resume", "latest", "Go on."), "line 1")
    assert journals(home) == []


def test_a_pipe_among_the_users_own_sessions_is_not_waited_for(agent: Agent, home: Path) -> None:
    agent.run("First.")
    (own,) = journals(home)
    own.unlink()
    os.mkfifo(own)
    refused(agent.run("--resume", "latest", "Go on."), own.name, "not a regular file")


@pytest.fixture
def conversing(agent: Agent, home: Path) -> Iterator[Path]:
    """The journal of a session that another program has open."""
    agent.run("First.", replies=[say("First answer.")])
    (own,) = journals(home)
    command = agent.command("--cwd", str(agent.workspace), "--resume", own.stem)
    flags = ["--host", "http://127.0.0.1:9", "--json"]
    with subprocess.Popen(
        [*command, *flags],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as other:
        assert other.stdout is not None
        assert any('"kind":"notice"' in line for line in other.stdout), "it found no model"
        yield own
        other.communicate("")


@pytest.mark.parametrize("wanted", ["latest", "id"])
def test_one_session_is_resumed_by_one_program(agent: Agent, conversing: Path, wanted: str) -> None:
    with conversing.open("ab") as file:
        file.write(b'{"schema":1,"se')
    before = conversing.read_bytes()
    name = conversing.stem
    run = agent.run("--resume", name if wanted == "id" else wanted, "Go on.")
    refused(run, repr(name), "in use by another program")
    assert conversing.read_bytes().startswith(before)
