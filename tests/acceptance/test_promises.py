"""What holds over whole runs: a stable prompt, a legal history, nothing of ours in the way."""

import os
from pathlib import Path
from typing import Any

from tests.conftest import PASSWORD_RULES, Agent, Run, call, calls, say

DONE = say("Done.")
PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)


def assert_legal(run: Run) -> None:
    """The rules of the strictest chat templates, for every request of a run."""
    for request in run.requests:
        messages = request["messages"]
        assert [m["role"] == "system" for m in messages] == [True] + [False] * (len(messages) - 1)
        wanted: list[str] = []
        former = ""
        for message in messages[1:]:
            if message["role"] == "tool":
                assert message["tool_call_id"] == wanted.pop(0)
                continue
            assert not wanted
            assert isinstance(message["content"], str)
            assert not (message["role"] == former == "user")
            former = message["role"]
            wanted = [item["id"] for item in message.get("tool_calls") or []]
            assert len(set(wanted)) == len(wanted)
            assert "reasoning_content" not in message
        assert not wanted


def assert_stable(run: Run) -> None:
    """Whatever was sent is sent again, byte for byte, at the same place."""
    for before, after in zip(run.requests, run.requests[1:], strict=False):
        assert after["messages"][: len(before["messages"])] == before["messages"]
        assert after["tools"] == before["tools"]


def test_history_is_legal_and_its_beginning_stable(agent: Agent, entries: Any) -> None:
    entries(PASSWORD_RULES)
    bad = {"calls": [{"name": "nothing", "arguments": {}}]}
    replies = [
        calls(call("read_file", path="auth.py"), PATCH),
        {"text": ""},
        bad,
        DONE,
        {"text": "Half", "finish": "length"},
        {"reasoning": "hm", "text": "Done again."},
        call("read_file", path="test_auth.py"),
        DONE,
    ]
    stdin = "change a password rule\nand once more\nthanks\n"
    run = agent.run("--approval", "auto", stdin=stdin, replies=replies)
    assert len(run.requests) >= 8
    assert_legal(run)
    assert_stable(run)


def test_a_denied_call_leaves_a_legal_history(agent: Agent) -> None:
    run = agent.run(stdin="one\nno\ntwo\n", replies=[PATCH, DONE, DONE])
    assert_legal(run)
    assert_stable(run)


def test_a_workspace_may_use_our_package_names(agent: Agent, workspace: Path) -> None:
    for name in ("rules", "harness", "knowledge"):
        (workspace / name).mkdir()
        (workspace / name / "__init__.py").write_text(f"OWNER = 'the workspace, {name}'\n")
    (workspace / "tests").mkdir()
    (workspace / "tests" / "__init__.py").write_text("")
    (workspace / "tests" / "test_names.py").write_text(
        "import harness, knowledge, rules\nimport auth\n\n\ndef test_names():\n"
        "    for module in (harness, knowledge, rules):\n"
        "        assert 'the workspace' in module.OWNER\n"
    )
    edit = call("patch_file", path="auth.py", old_text="Users who", new_text="People who")
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    run = agent.run("--approval", "auto", "--json", "Do it.", replies=[edit, DONE], env=env)
    assert run.code == 0, run.err
    verdict = run.events("verdict")[-1]["payload"]
    assert verdict["summary"].startswith("6 passed")


def test_a_src_layout_needs_no_installation(agent: Agent, workspace: Path) -> None:
    (workspace / "src" / "accounts").mkdir(parents=True)
    (workspace / "src" / "accounts" / "__init__.py").write_text("")
    (workspace / "auth.py").rename(workspace / "src" / "accounts" / "auth.py")
    (workspace / "tests").mkdir()
    test = (workspace / "test_auth.py").read_text().replace("from auth", "from accounts.auth")
    (workspace / "tests" / "test_auth.py").write_text(test)
    (workspace / "test_auth.py").unlink()
    edit = call(
        "patch_file", path="src/accounts/auth.py", old_text="Users who", new_text="People who"
    )
    run = agent.run("--approval", "auto", "Do it.", replies=[edit, DONE])
    assert run.code == 0, run.err
    assert "5 passed" in run.last_line


def test_our_packages_are_not_importable_in_a_gate_run(agent: Agent, workspace: Path) -> None:
    (workspace / "test_ours.py").write_text(
        "import auth\n\n\ndef test_ours():\n"
        "    for name in ('harness', 'rules', 'knowledge'):\n"
        "        try:\n            __import__(name)\n"
        "        except ImportError:\n            continue\n"
        "        raise AssertionError(name)\n"
    )
    edit = call("patch_file", path="auth.py", old_text="Users who", new_text="People who")
    env = {"PYTHONPATH": str(Path(__file__).parents[2])}
    run = agent.run("--approval", "auto", "--json", "Do it.", replies=[edit, DONE], env=env)
    assert run.code == 0, run.out[-3000:]


def test_what_changes_while_the_checks_run_is_not_verified(agent: Agent, workspace: Path) -> None:
    (workspace / "test_meddling.py").write_text(
        "import auth\n\n\ndef test_meddling():\n    open('auth.py', 'a').write('# meddled\\n')\n"
    )
    edit = call("patch_file", path="auth.py", old_text="Users who", new_text="People who")
    run = agent.run("--approval", "auto", "Do it.", replies=[edit, DONE])
    assert run.code == 5, run.err
    assert "auth.py changed while the checks ran" in run.last_line


def test_reading_alone_leaves_no_trace_in_the_workspace(agent: Agent, workspace: Path) -> None:
    before = sorted(path.name for path in workspace.iterdir())
    run = agent.run("What is here?", replies=[call("list_files"), say("Three files.")])
    assert run.code == 0
    assert sorted(path.name for path in workspace.iterdir()) == before


def test_the_demo_shows_both_sides(agent: Agent, tmp_path: Path) -> None:
    here = tmp_path / "here"
    here.mkdir()
    run = agent.run_plain("demo", cwd=here, env={"COLUMNS": "100"})
    assert run.code == 0, run.err
    assert "scripted" in run.out
    assert "1 failed, 4 passed" in run.out
    assert "5 passed" in run.out
    assert "test_lockout_after_max_attempts" in run.out
    assert (
        "  [rules] tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
        " -> verify_gate('run_tests')\n"
    ) in run.out
    assert list(here.iterdir()) == []


def test_the_demo_fits_a_narrow_terminal(agent: Agent, tmp_path: Path) -> None:
    run = agent.run_plain("demo", cwd=tmp_path, env={"COLUMNS": "40"})
    assert run.code == 0
    table = run.out.split("tests that run.", 1)[1].split("Why those gates", 1)[0]
    assert all(len(line) <= 40 for line in table.splitlines())


def test_the_doctor_says_what_is_missing_and_how_to_get_it(agent: Agent) -> None:
    run = agent.run_plain("--cwd", str(agent.workspace), "doctor", env={"PATH": os.defpath})
    assert run.code == (1 if "no local model server" in run.out else 0)
    for word in ("python", "pytest", "git", "server", "sandbox"):
        assert word in run.out


def test_the_doctor_gives_the_workspaces_python_no_key(agent: Agent, tmp_path: Path) -> None:
    python = agent.workspace / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\nprintf '\\033[2Jred'\n")
    python.chmod(0o755)
    keys = {"MCA_API_KEY": "sesame", "OPENAI_API_KEY": "sesame"}
    run = agent.run_plain("--cwd", str(agent.workspace), "doctor", env=keys)
    assert "PATH=" in (tmp_path / "seen").read_text()
    assert "sesame" not in (tmp_path / "seen").read_text()
    assert "\x1b" not in run.out
    assert r"\x1b[2Jred" in run.out


def test_flags_may_stand_among_the_words_of_a_request(agent: Agent) -> None:
    run = agent.run("Say", "--approval", "never", "hello", replies=[say("Hello.")])
    assert run.out == "Hello.\n"
    assert "Say hello" in run.contents(0)


def test_a_request_from_standard_input(agent: Agent) -> None:
    run = agent.run("-", stdin="Say\nhello.\n", replies=[say("Hello.")])
    assert "Say\nhello." in run.contents(0)
    assert run.code == 0


def test_usage_errors_are_one_line(agent: Agent) -> None:
    for flags in (
        ["--nope"],
        ["--backend", "x"],
        ["--max-steps", "x"],
        [""],
        ["--max-attempts", "0"],
    ):
        run = agent.run(*flags) if flags != ["--nope"] else agent.run_plain(*flags)
        assert run.code == 2, flags
        assert len(run.err.strip().splitlines()) == 1, run.err
        assert run.requests == []
