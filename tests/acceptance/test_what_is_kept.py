"""ACCEPTANCE 27 to 31: sessions, knowledge files, retrieval, user rules."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import PASSWORD_RULES, Agent, call, calls, say

Entries = Callable[..., Path]
DONE = say("Done.")
PATCH = call(
    "patch_file", path="auth.py",
    old_text="Keeps users and their failed attempts in memory.", new_text="Keeps users.",
)  # fmt: skip


def journals(home: Path) -> list[Path]:
    return sorted(home.rglob("sessions/*.jsonl"), key=lambda path: path.stat().st_mtime_ns)


def test_27_resume_restores_the_history(agent: Agent, home: Path) -> None:
    read = call("read_file", path="README.md")
    agent.run("First request.", replies=[read, say("First answer.")])
    for wanted in ("latest", journals(home)[0].stem):
        run = agent.run("--resume", wanted, "Second request.", replies=[say("Second answer.")])
        roles = [message["role"] for message in run.requests[0]["messages"]]
        assert roles[:5] == ["system", "user", "assistant", "tool", "assistant"]
        assert "First request." in run.contents(0)
        assert "First answer." in run.contents(0)
    assert len(journals(home)) == 1
    events = [json.loads(line) for line in journals(home)[0].read_text().splitlines()]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


@pytest.mark.parametrize("wanted", ["20200101-000000-ffff", "../../x", "latest"])
def test_27_an_unknown_session_is_one_line(agent: Agent, wanted: str) -> None:
    run = agent.run("--resume", wanted, "Go on.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert run.requests == []


def test_27_a_corrupt_journal_is_one_line_and_left_alone(agent: Agent, home: Path) -> None:
    agent.run("First request.")
    path = journals(home)[0]
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(lines[0] + b"not json\n" + b"".join(lines[1:]))
    before = path.read_bytes()
    run = agent.run("--resume", path.stem, "Go on.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert "line 2" in run.err
    assert path.read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"\0\1\2", b"\0\1\2\n"])
def test_27_a_file_without_any_event_is_corrupt(agent: Agent, home: Path, data: bytes) -> None:
    agent.run("First request.")
    path = journals(home)[0]
    path.write_bytes(data)
    run = agent.run("--resume", path.stem, "Go on.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert path.read_bytes() == data


def test_27_a_torn_tail_is_repaired_and_said(agent: Agent, home: Path) -> None:
    agent.run("First request.", replies=[say("First answer.")])
    path = journals(home)[0]
    with path.open("ab") as file:
        file.write(b'{"schema":1,"seq":99,"ti')
    run = agent.run("--resume", "latest", "Go on.")
    assert run.code == 0, run.err
    assert "incomplete last line" in run.err
    assert "First answer." in run.contents(0)
    for line in path.read_text().splitlines():
        json.loads(line)


def test_27_a_step_cut_off_by_a_kill_leaves_a_legal_history(agent: Agent, home: Path) -> None:
    agent.run("First.", replies=[call("read_file", path="README.md"), say("Answer.")])
    path = journals(home)[0]
    kept: list[str] = []
    for line in path.read_text().splitlines():
        if json.loads(line)["kind"] == "tool_result":
            break
        kept.append(line)
    path.write_text("\n".join(kept) + "\n")
    run = agent.run("--resume", "latest", "Go on.")
    assert run.code == 0, run.err
    messages = run.requests[0]["messages"]
    wanted = [call["id"] for m in messages for call in m.get("tool_calls") or []]
    assert wanted
    assert [m["tool_call_id"] for m in messages if m["role"] == "tool"] == wanted


def test_27_another_workspace_is_pointed_out(agent: Agent, home: Path, tmp_path: Path) -> None:
    agent.run("First request.", replies=[say("First answer.")])
    other = tmp_path / "elsewhere"
    shutil.copytree(agent.workspace, other)
    run = Agent(other).run("--resume", journals(home)[0].stem, "Go on.")
    assert str(agent.workspace) in run.err
    assert "First answer." in run.contents(0)


@pytest.mark.parametrize(
    "text",
    ["{corrupt", "null", "7", '"text"', "\xff", "[[1]]", '[{"key": 5, "content": "x"}]'],
)
def test_28_a_bad_file_is_said_and_kept(agent: Agent, entries: Entries, text: str) -> None:
    path = entries(text=text)
    before = path.read_bytes()
    remember = call("remember", key="new", content="Passwords are long")
    run = agent.run("--approval", "auto", "passwords", replies=[remember, DONE])
    assert run.code == 0, run.err
    assert "entries.json" in run.err
    assert run.tool_messages()[0]["content"] == "remembered 'new' (workspace)"
    everything = [p.read_bytes() for p in path.parent.iterdir() if p.is_file()]
    assert before in everything, "nothing is lost"
    assert any(b"Passwords are long" in data for data in everything)


def test_28_good_entries_beside_bad_ones_are_used(agent: Agent, entries: Entries) -> None:
    good = json.dumps(PASSWORD_RULES)
    entries(text=f'[{good}, "a text", {{"key": "x"}}, {{"key": "y", "content": 7}}]')
    run = agent.run("change_password")
    assert "at least 8 chars" in run.contents(0)
    assert "entries.json" in run.err


def test_28_many_and_huge_entries(agent: Agent, entries: Entries) -> None:
    many = [{**PASSWORD_RULES, "key": f"k{n}", "content": f"rule number {n}"} for n in range(200)]
    huge = {**PASSWORD_RULES, "key": "huge", "content": "passwords " * 100_000}
    entries(*many, huge, PASSWORD_RULES)
    run = agent.run("add a change_password method")
    assert run.code == 0
    assert "at least 8 chars" in run.contents(0)
    assert len(run.contents(0)) < 40_000


def test_28_an_entry_that_says_global_in_a_workspace_stays_there(
    agent: Agent, entries: Entries, home: Path
) -> None:
    entries({**PASSWORD_RULES, "scope": "global"})
    run = agent.run("change_password", stdin="")
    assert "password_rules (workspace)" in run.contents(0)
    assert not (home / ".mini-coding-agent" / "knowledge").exists()


def test_29_one_of_fifty_entries(agent: Agent, entries: Entries) -> None:
    topics = "logging caching routing billing exports imports metrics tracing queues locks".split()
    others = [
        {
            **PASSWORD_RULES,
            "key": f"{topic}_{n}",
            "content": f"Use the shared {topic} layer, variant {n}, and never rename a {topic} key",
        }
        for n in range(5)
        for topic in topics
    ][:49]
    entries(*others, PASSWORD_RULES)
    text = agent.run("add a change_password method").contents(0)
    assert "password_rules" in text
    assert not any(entry["key"] in text for entry in others)
    text = agent.run("rename a variable").contents(0)
    assert "password_rules" not in text
    assert not any(entry["key"] in text for entry in others)


def test_30_words_bring_the_code_and_edits_are_seen(agent: Agent, workspace: Path) -> None:
    for folder in (".venv/lib", "node_modules/x"):
        (workspace / folder).mkdir(parents=True)
        (workspace / folder / "lockout.py").write_text("def lockout_threshold():\n    pass\n")
    edit = call(
        "patch_file", path="auth.py", old_text="def reset(self, username):",
        new_text="def unlock_user(self, username):",
    )  # fmt: skip
    look = calls(
        call("find_definitions", name="unlock_user"), call("find_definitions", name="reset"),
        call("find_definitions", name="lockout_threshold"),
    )  # fmt: skip
    run = agent.run("--approval", "auto", "--max-attempts", "1", "lockout threshold",
                    replies=[edit, look, DONE])  # fmt: skip
    assert "class AuthService" in run.contents(0)
    assert ".venv" not in run.contents(0)
    found, gone, hidden = (m["content"] for m in run.requests[2]["messages"][-3:])
    assert "auth.py:" in found
    assert "nowhere" in gone
    assert "nowhere" in hidden


def test_30_a_workspace_under_a_folder_called_build_is_indexed(
    workspace: Path, tmp_path: Path
) -> None:
    inner = tmp_path / "build" / "venv" / "project"
    shutil.copytree(workspace, inner)
    run = Agent(inner).run("--trace", "lockout threshold")
    assert "class AuthService" in run.contents(0)
    assert "test_covers('test_auth.py', 'auth.py')" in run.err


RULE = "api_gate: file_modified(?f) + path_in('api', ?f) -> verify_gate('security')\n"


def write_rule(folder: Path, text: str) -> Path:
    path = folder / ".mini-coding-agent" / "rules" / "team.dl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.parametrize("where", ["workspace", "home"])
def test_31_a_users_rule_takes_effect(
    agent: Agent, home: Path, workspace: Path, where: str
) -> None:
    write_rule({"workspace": workspace, "home": home}[where], RULE)
    new = call("write_file", path="api/views.py", content="x = 1\n")
    run = agent.run("--approval", "auto", "--trace", "Do it.", replies=[new, DONE])
    assert "  [rules] api_gate: file_modified('api/views.py') + path_in('api', 'api/views.py')" in (
        run.err
    )
    assert "  [verify] security: skipped (not installed)\n" in run.err
    assert run.code == 5, "a gate that is due and did not run is no silent pass"
    assert "security" in run.last_line


def test_31_an_error_in_a_rule_file_names_its_place(agent: Agent, workspace: Path) -> None:
    path = write_rule(workspace, "# ours\nbad: file_modified(?f) -> verify_gate(?g)\n")
    run = agent.run("Do it.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert f"{path}:2:" in run.err
    assert "?g" in run.err
    assert run.requests == []
