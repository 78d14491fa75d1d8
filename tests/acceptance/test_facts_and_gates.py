"""ACCEPTANCE 1 to 13 and 15: facts, gates and verdicts, through the command line."""

import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Agent, Run, call, calls, say

PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)
HARMLESS = call(
    "patch_file",
    path="auth.py",
    old_text="Keeps users and their failed attempts in memory.",
    new_text="Keeps users and failed attempts in memory.",
)
DONE = say("Done.")


def change(agent: Agent, *replies: dict[str, Any], flags: tuple[str, ...] = ()) -> Run:
    return agent.run("--approval", "auto", "--trace", *flags, "Do it.", replies=[*replies, DONE])


def verdicts(run: Run) -> dict[str, dict[str, Any]]:
    """The last verdict of each gate of a `--json` run."""
    return {event["payload"]["gate"]: event["payload"] for event in run.events("verdict")}


def json_change(agent: Agent, *replies: dict[str, Any], flags: tuple[str, ...] = ()) -> Run:
    return agent.run("--approval", "auto", "--json", *flags, "Do it.", replies=[*replies, DONE])


def test_1_start_up_asserts_who_covers_whom(agent: Agent) -> None:
    run = agent.run("--trace", "Hello.")
    assert "  [facts] assert test_covers('test_auth.py', 'auth.py')\n" in run.err
    assert "  [facts] assert has_tests\n" in run.err


def test_1_without_tests_only_the_syntax_is_due(agent: Agent, workspace: Path) -> None:
    (workspace / "test_auth.py").unlink()
    run = change(agent, PATCH)
    assert "has_tests" not in run.err
    assert "verify_gate('syntax_check')" in run.err
    assert "run_tests" not in run.err
    assert run.code == 0
    assert "no test covers auth.py" in run.last_line


def test_2_a_readme_needs_no_tests_also_after_code_was_edited(agent: Agent) -> None:
    note = call("patch_file", path="README.md", old_text="A small login", new_text="A login")
    run = agent.run(
        "--approval", "auto", "--json",
        stdin="edit the code\nedit the readme\n",
        replies=[HARMLESS, DONE, note, DONE],
    )  # fmt: skip
    turns = [event["payload"]["gates"] for event in run.events("gates_due")]
    assert [[gate["name"] for gate in gates] for gates in turns] == [
        ["run_tests", "syntax_check"],
        [],
    ] or [sorted(gate["name"] for gate in gates) for gates in turns] == [
        ["run_tests", "syntax_check"],
        [],
    ]
    assert [event["payload"]["kind"] for event in run.events("outcome")] == ["verified"] * 2


@pytest.mark.parametrize("spelling", ["./auth.py", "{root}/auth.py", "tests/../auth.py"])
def test_3_spellings_of_a_path_are_one_fact(agent: Agent, workspace: Path, spelling: str) -> None:
    path = spelling.format(root=workspace)
    patch = {"calls": [{**HARMLESS["calls"][0]}]}
    patch["calls"][0]["arguments"] = {**HARMLESS["calls"][0]["arguments"], "path": path}
    run = change(agent, patch)
    modified = [line for line in run.err.splitlines() if "assert file_modified" in line]
    assert modified == ["  [facts] assert file_modified('auth.py')"]
    assert run.code == 0, run.err


@pytest.mark.parametrize(
    ("test_path", "head"),
    [
        ("tests/test_auth.py", "from auth import AuthService"),
        ("tests/unit/test_auth.py", "from auth import AuthService"),
        ("auth_test.py", "from auth import AuthService"),
        ("test_login.py", "import auth as a\nAuthService = a.AuthService"),
        ("test_login.py", "from auth import AuthService as Service\nAuthService = Service"),
    ],
)
def test_4_where_and_how_a_test_covers(
    agent: Agent, workspace: Path, test_path: str, head: str
) -> None:
    original = (workspace / "test_auth.py").read_text()
    (workspace / "test_auth.py").unlink()
    target = workspace / test_path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(original.replace("from auth import AuthService", head))
    run = change(agent, PATCH, say("Done."), flags=("--max-attempts", "1"))
    assert f"test_covers('{test_path}', 'auth.py')" in run.err
    assert run.code == 1, run.err
    assert "test_lockout_after_max_attempts" in run.last_line


def test_4_two_modules_of_one_name_have_each_their_own_test(agent: Agent, workspace: Path) -> None:
    for package in ("billing", "shipping"):
        folder = workspace / package
        (folder / "tests").mkdir(parents=True)
        (folder / "__init__.py").write_text("")
        (folder / "tests" / "__init__.py").write_text("")
        (folder / "utils.py").write_text("def rate():\n    return 1\n")
        (folder / "tests" / "test_utils.py").write_text(
            f"from {package}.utils import rate\n\n\ndef test_rate():\n    assert rate() == 1\n"
        )
    patch = call("patch_file", path="billing/utils.py", old_text="return 1", new_text="return 2")
    run = json_change(agent, patch, flags=("--max-attempts", "1"))
    due = {
        gate["name"]: gate["targets"] for gate in run.events("gates_due")[-1]["payload"]["gates"]
    }
    assert due["run_tests"] == ["billing/tests/test_utils.py"]
    assert run.code == 1


def test_5_a_test_written_in_this_turn_counts_in_this_turn(agent: Agent, workspace: Path) -> None:
    (workspace / "test_auth.py").unlink()
    test = call(
        "write_file",
        path="test_limit.py",
        content="from auth import AuthService\n\n\ndef test_limit():\n"
        "    assert AuthService().max_attempts == 3\n",
    )
    run = json_change(agent, calls(PATCH, test), flags=("--max-attempts", "1"))
    assert run.code == 1
    assert verdicts(run)["run_tests"]["findings"][0]["where"] == "test_limit.py::test_limit"


def test_5_editing_only_a_test_runs_it(agent: Agent) -> None:
    patch = call(
        "patch_file",
        path="test_auth.py",
        old_text='"alice", "wonderland1")\n    return service',
        new_text='"alice", "wonderland1")\n    # ready\n    return service',
    )
    run = json_change(agent, patch)
    assert verdicts(run)["run_tests"]["status"] == "passed"
    assert run.code == 0


@pytest.mark.parametrize(
    ("command", "facts"),
    [
        ("sed -i.bak 's/max_attempts = 3/max_attempts = 5/' auth.py && rm auth.py.bak",
         ["file_modified('auth.py')"]),
        ("rm auth.py", ["file_deleted('auth.py')"]),
        ("mv auth.py login.py", ["file_deleted('auth.py')", "file_created('login.py')"]),
    ],
)  # fmt: skip
def test_6_changes_by_a_command_are_seen_and_tested(
    agent: Agent, command: str, facts: list[str]
) -> None:
    run = change(agent, call("run_shell", command=command), flags=("--max-attempts", "1"))
    for fact in facts:
        assert f"  [facts] assert {fact}\n" in run.err
    assert "  [verify] run_tests: fail\n" in run.err
    assert run.code == 1


def test_6_a_file_put_back_by_git_is_not_modified(agent: Agent, workspace: Path) -> None:
    git = ["git", "-C", str(workspace), "-c", "user.name=t", "-c", "user.email=t@example.com"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run([*git, *arguments], check=True)
    undo = call("run_shell", command="git checkout -q auth.py")
    run = change(agent, PATCH, undo)
    assert "  [facts] retract file_modified('auth.py')\n" in run.err
    assert "[verify]" not in run.err
    assert run.code == 0


def test_7_a_syntax_error_is_named_tests_wait_and_the_repair_is_accepted(agent: Agent) -> None:
    broken = call(
        "patch_file", path="auth.py", old_text="def reset(self, username):", new_text="def reset(:"
    )
    repair = call(
        "patch_file", path="auth.py", old_text="def reset(:", new_text="def reset(self, username):"
    )
    run = change(agent, calls(HARMLESS, broken), DONE, repair)
    assert "  [verify] syntax_check: fail\n" in run.err
    assert "  [verify] run_tests: skipped (syntax_check failed first)\n" in run.err
    feedback = run.requests[2]["messages"][-1]["content"]
    assert "auth.py" in feedback
    assert "def reset(:" in feedback
    assert "invalid syntax" in feedback
    assert run.code == 0, run.err


@pytest.mark.parametrize(
    "source", [b"\xef\xbb\xbfx = 1\n", b"# -*- coding: latin-1 -*-\nx = '\xe9'\n"]
)
def test_7_a_byte_order_mark_or_a_coding_cookie_is_no_error(
    agent: Agent, workspace: Path, source: bytes
) -> None:
    (workspace / "given.bin").write_bytes(source)
    run = json_change(agent, call("run_shell", command="cp given.bin other.py"))
    assert verdicts(run)["syntax_check"]["status"] == "passed"


@pytest.mark.parametrize("source", [b"x = 1\0\n", b"x = '\xff'\n"])
def test_7_bytes_that_are_no_python_are_a_sentence(
    agent: Agent, workspace: Path, source: bytes
) -> None:
    (workspace / "given.bin").write_bytes(source)
    copy = call("run_shell", command="cp given.bin other.py")
    run = json_change(agent, copy, flags=("--max-attempts", "1"))
    verdict = verdicts(run)["syntax_check"]
    assert verdict["status"] == "failed"
    assert verdict["findings"][0]["where"] == "other.py"
    assert "Traceback" not in run.err


RED = """

def test_red(service):
    assert service.is_locked("nobody")
"""


def test_9_a_test_that_was_red_before_is_told_and_does_not_block(
    agent: Agent, workspace: Path
) -> None:
    with (workspace / "test_auth.py").open("a") as file:
        file.write(RED)
    run = change(agent, HARMLESS)
    assert run.code == 0, run.err
    assert "5 passed, 1 failed before this turn too: test_auth.py::test_red" in run.last_line
    assert len(run.requests) == 2, "the model is not asked to repair it"


def test_9_a_new_failure_beside_an_old_one_is_caught(agent: Agent, workspace: Path) -> None:
    with (workspace / "test_auth.py").open("a") as file:
        file.write(RED)
    run = change(agent, PATCH, flags=("--max-attempts", "2"))
    assert run.code == 1
    assert "test_lockout_after_max_attempts" in run.last_line
    assert "test_red" not in run.last_line
    old = "not yours: 1 failed before this turn too: test_auth.py::test_red"
    assert old in run.contents(2)


def test_9_after_a_command_nothing_is_called_old(agent: Agent, workspace: Path) -> None:
    (workspace / "data").mkdir()
    (workspace / "data" / "n.txt").write_text("1")
    (workspace / ".gitignore").write_text("data/\n")
    with (workspace / "test_auth.py").open("a") as file:
        file.write('\n\ndef test_data():\n    assert open("data/n.txt").read() == "1"\n')
    removal = call("run_shell", command="rm data/n.txt")
    run = change(agent, removal, HARMLESS, flags=("--max-attempts", "1"))
    assert run.code == 1
    assert "test_data" in run.last_line


def test_10_an_edit_of_equal_size_in_the_same_second_is_seen(agent: Agent, workspace: Path) -> None:
    env = {"PYTHONPYCACHEPREFIX": ""}
    good = call(
        "patch_file", path="auth.py", old_text="max_attempts = 5", new_text="max_attempts = 3"
    )
    run = agent.run(
        "--approval", "auto", "--json", "Do it.", replies=[PATCH, DONE, good, DONE], env=env
    )
    assert [v["payload"]["status"] for v in run.events("verdict")][:2] == ["passed", "failed"]
    assert run.code == 0, run.err
    left = {path.name for path in workspace.rglob("*")}
    assert left.isdisjoint({"__pycache__", ".pytest_cache"})


def test_10_a_test_run_by_the_model_leaves_nothing(agent: Agent, workspace: Path) -> None:
    run = change(agent, call("run_shell", command="python -m pytest -q"))
    assert "5 passed" in run.tool_messages()[0]["content"]
    left = {path.name for path in workspace.rglob("*")}
    assert left.isdisjoint({"__pycache__", ".pytest_cache"})


def test_11_pytest_missing_in_the_workspaces_interpreter(agent: Agent, workspace: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "venv", "--without-pip", str(workspace / ".venv")], check=True
    )
    run = change(agent, HARMLESS)
    assert run.code == 5
    assert "pytest is not installed" in run.last_line
    assert len(run.requests) == 2, "the model is not blamed for it"


def test_11_no_test_collected(agent: Agent, workspace: Path) -> None:
    (workspace / "test_auth.py").write_text("import auth\n")
    run = change(agent, HARMLESS)
    assert run.code == 5
    assert "no test" in run.last_line.lower()
    assert len(run.requests) == 2


def test_11_a_collection_error_of_the_change_is_a_failure(agent: Agent) -> None:
    rename = call(
        "patch_file", path="auth.py", old_text="class AuthService:", new_text="class Login:"
    )
    run = change(agent, rename, flags=("--max-attempts", "2"))
    assert run.code == 1
    assert "AuthService" in run.contents(2)


def test_11_a_usage_error_is_not_the_models(agent: Agent, workspace: Path) -> None:
    (workspace / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    run = change(agent, HARMLESS)
    assert run.code == 5
    assert "--no-such-option" in run.err
    assert len(run.requests) == 2


def test_12_a_hanging_test_is_killed_with_its_children(agent: Agent, workspace: Path) -> None:
    (workspace / "test_hang.py").write_text(
        "import subprocess, time\nimport auth\n\n\ndef test_hangs():\n"
        "    print('before it hangs', flush=True)\n"
        "    subprocess.Popen(['sleep', '987'], start_new_session=True)\n    time.sleep(600)\n"
    )
    run = agent.run(
        "--approval", "auto", "--json", "--max-attempts", "1", "Do it.",
        replies=[HARMLESS, DONE], env={"MCA_GATE_TIMEOUT": "4"},
    )  # fmt: skip
    assert run.code in (1, 5)
    verdict = verdicts(run)["run_tests"]
    assert "test_hangs" in verdict["reason"] + str(verdict["findings"])
    assert "before it hangs" in Path(verdict["log"]).read_text()
    time.sleep(0.2)
    left = subprocess.run(["pgrep", "-f", "sleep 987"], capture_output=True, check=False)
    assert left.stdout == b""


def test_13_much_output_is_bounded_and_kept_on_disk(agent: Agent, workspace: Path) -> None:
    (workspace / "test_loud.py").write_text(
        "import auth\n\n\ndef test_loud():\n    print('x' * 99 + '\\n', end='')\n"
        "    for n in range(3000):\n        print('y' * 99)\n    print('z' * 99)\n"
        "    assert auth.AuthService().max_attempts == 3, 'three wanted'\n"
    )
    run = agent.run(
        "--approval", "auto", "--json", "--max-attempts", "2", "Do it.", replies=[PATCH, DONE]
    )
    feedback = run.requests[2]["messages"][-1]["content"]
    assert len(feedback) < 12_000
    assert "test_loud.py::test_loud" in feedback
    assert "assert auth.AuthService().max_attempts == 3" in feedback
    first = next(v for v in run.events("verdict") if v["payload"]["gate"] == "run_tests")
    log = Path(first["payload"]["log"])
    assert str(log) in feedback
    assert log.stat().st_size > 300_000


def test_15_three_failed_verifications_end_the_turn(agent: Agent) -> None:
    run = change(agent, PATCH)
    assert run.code == 1
    assert run.err.count("  [verify] run_tests: fail\n") == 3


def test_15_at_a_limit_the_change_is_still_verified(agent: Agent) -> None:
    run = change(agent, HARMLESS, flags=("--max-steps", "1"))
    assert run.code == 3
    assert "  [verify] run_tests: pass\n" in run.err
    run = change(agent, PATCH, flags=("--max-steps", "1"))
    assert run.code == 3
    assert "test_lockout_after_max_attempts" in run.last_line or "unverified" in run.last_line
