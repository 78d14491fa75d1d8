"""S1 to S8: the three scenarios of the article, the baseline, and the second walk-through."""

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import PASSWORD_RULES, Agent, call, calls, say

ADD_METHOD = "Add a change_password method to AuthService."
RAISE = "Raise the lockout threshold to 5 attempts."
PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)
PATCH_TEST = call(
    "patch_file",
    path="test_auth.py",
    old_text="""    for _ in range(3):
        service.authenticate("alice", "looking-glass")
    assert service.is_locked("alice")""",
    new_text="""    for _ in range(5):
        service.authenticate("alice", "looking-glass")
    assert service.is_locked("alice")""",
)
READ_TEST = call("read_file", path="test_auth.py")
METHOD = """
    def change_password(self, username, password):
        if len(password) < 8 or not any(c.isdigit() for c in password):
            raise ValueError("at least 8 characters and a digit")
        self.users_db[username]["password"] = password
"""
TDD_LINE = (
    "  [rules] tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
    " -> verify_gate('run_tests')"
)
Entries = Callable[..., Path]


def test_s1_the_matching_convention_is_in_the_first_request(agent: Agent, entries: Entries) -> None:
    other = {**PASSWORD_RULES, "key": "deploy", "content": "Deploys happen on Tuesdays"}
    entries(PASSWORD_RULES, other)
    run = agent.run("--approval", "auto", ADD_METHOD)
    first = run.contents(0)
    assert "Passwords must be at least 8 chars and contain a digit" in first
    assert "Tuesdays" not in first
    assert "def authenticate" in first, "the code that matters is there too"


def test_s1_without_ooda_no_convention_is_sent(agent: Agent, entries: Entries) -> None:
    entries(PASSWORD_RULES)
    run = agent.run("--approval", "auto", "--no-ooda", ADD_METHOD)
    assert "at least 8 chars" not in run.sent(0)
    assert "def authenticate" not in run.sent(0)


def test_s2_a_correct_method_is_verified_and_works(
    agent: Agent, entries: Entries, workspace: Path
) -> None:
    entries(PASSWORD_RULES)
    end = "    def is_locked(self, username):\n"
    patch = call(
        "patch_file", path="auth.py", old_text=end, new_text=METHOD.lstrip("\n") + "\n" + end
    )
    run = agent.run("--approval", "auto", "--trace", ADD_METHOD, replies=[patch, say("Done.")])
    assert run.code == 0, run.err
    assert "  [verify] syntax_check: pass\n" in run.err
    assert "  [verify] run_tests: pass\n" in run.err
    check = """
from auth import AuthService
s = AuthService(); s.add_user("a", "b")
for bad in ("short1", "nodigitshere"):
    try: s.change_password("a", bad)
    except ValueError: continue
    raise SystemExit("accepted " + bad)
s.change_password("a", "longpass1")
assert s.authenticate("a", "longpass1")
"""
    subprocess.run([sys.executable, "-c", check], cwd=workspace, check=True)


def test_s3_the_regression_is_found_and_fed_back(agent: Agent) -> None:
    run = agent.run(
        "--approval", "auto", "--trace", RAISE, replies=[PATCH, say("Done."), say("ok")]
    )
    assert "  [facts] assert test_covers('test_auth.py', 'auth.py')\n" in run.err
    assert TDD_LINE + "\n" in run.err
    assert "  [verify] run_tests: fail\n" in run.err
    assert "test_lockout_after_max_attempts" not in run.requests[1]["messages"][-1]["content"]
    feedback = run.requests[2]["messages"][-1]
    assert feedback["role"] == "user"
    assert "test_lockout_after_max_attempts" in feedback["content"]
    assert 'assert service.is_locked("alice")' in feedback["content"]


@pytest.mark.parametrize(("approval", "stdin", "code"), [("auto", "", 0), ("ask", "y\n" * 20, 6)])
def test_s4_a_repaired_expectation_needs_review_unless_allowed(
    agent: Agent, approval: str, stdin: str, code: int
) -> None:
    replies = [PATCH, say("Done."), READ_TEST, PATCH_TEST, say("Done, the test follows.")]
    run = agent.run("--approval", approval, "--trace", RAISE, replies=replies, stdin=stdin)
    assert run.code == code, run.err
    assert "test_auth.py" in run.last_line
    assert "expectation" in run.last_line
    assert "+    for _ in range(5):" in run.err, "the change is shown"
    assert ("needs review" in run.err) == (code == 6)


def test_s4_the_baseline_believes_the_first_done(agent: Agent, workspace: Path) -> None:
    replies = [PATCH, say("Done."), READ_TEST, PATCH_TEST, say("Done, the test follows.")]
    run = agent.run("--approval", "auto", "--no-ooda", "--json", RAISE, replies=replies)
    assert run.code == 0
    assert len(run.requests) == 2
    assert run.events("verdict") == []
    assert run.events("gate_started") == []
    assert "self.max_attempts = 5" in (workspace / "auth.py").read_text()
    truth = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=workspace,
        capture_output=True,
        text=True,
        check=False,
    )
    assert truth.returncode == 1
    assert "1 failed, 4 passed" in truth.stdout


def test_s5_done_for_ever_ends_failed_and_names_the_test(agent: Agent) -> None:
    run = agent.run("--approval", "auto", RAISE, replies=[PATCH, say("Done.")])
    assert run.code == 1
    assert len(run.requests) == 4
    assert "test_lockout_after_max_attempts" in run.last_line
    assert "test_lockout_after_max_attempts" in run.out.splitlines()[-1]


def test_s5_the_last_line_of_json_names_it_too(agent: Agent) -> None:
    run = agent.run("--approval", "auto", "--json", RAISE, replies=[PATCH, say("Done.")])
    assert run.code == 1
    assert "test_lockout_after_max_attempts" in run.out.splitlines()[-1]


def test_s6_what_is_remembered_is_there_for_a_new_process(agent: Agent, entries: Entries) -> None:
    path = entries(PASSWORD_RULES)
    command = "python -m pytest test_auth.py -v"
    remember = call("remember", key="test_command", content=command)
    first = agent.run("--approval", "auto", "Remember it.", replies=[remember, say("Remembered.")])
    assert first.code == 0, first.err
    assert first.tool_messages()[0]["content"] == "remembered 'test_command' (workspace)"
    saved = json.loads(path.read_text())
    assert [entry["key"] for entry in saved] == ["password_rules", "test_command"]

    second = agent.run("--approval", "auto", "--json", ADD_METHOD, replies=[PATCH, say("Done.")])
    assert "Passwords must be at least 8 chars" in second.contents(0)
    assert command in second.contents(0)
    verdicts = [
        e["payload"] for e in second.events("verdict") if e["payload"]["gate"] == "run_tests"
    ]
    assert verdicts[0]["command"].endswith("pytest test_auth.py -v")


def test_s7_global_scope_reaches_other_workspaces_and_loses_to_theirs(
    agent: Agent, entries: Entries, home: Path, tmp_path: Path
) -> None:
    remember = call("remember", key="style", content="Passwords are named secret", scope="global")
    run = agent.run("--approval", "auto", "Remember it.", replies=[remember, say("ok")])
    assert run.tool_messages()[0]["content"] == "remembered 'style' (global)"
    assert not (agent.workspace / ".mini-coding-agent").exists()
    shared = home / ".mini-coding-agent" / "knowledge" / "entries.json"
    before = shared.read_bytes()

    other = tmp_path / "other"
    other.mkdir()
    assert "Passwords are named secret" in Agent(other).run("rename passwords").contents(0)
    entries(
        {"key": "style", "content": "Passwords are named pw", "scope": "workspace"}, folder=other
    )
    text = Agent(other).run("rename passwords").contents(0)
    assert "Passwords are named pw" in text
    assert "named secret" not in text
    assert shared.read_bytes() == before


def test_s8_from_an_empty_folder_to_a_verified_program(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    good = """def binary_search(items, wanted):
    low, high = 0, len(items)
    while low < high:
        middle = (low + high) // 2
        if items[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(items) and items[low] == wanted else -1
"""
    tests = """from binary_search import binary_search


def test_finds_each():
    items = [1, 3, 5, 7]
    assert [binary_search(items, i) for i in items] == [0, 1, 2, 3]


def test_missing():
    assert binary_search([1, 3], 2) == -1
"""
    wrong = good.replace("low = middle + 1", "low = middle + 2")
    both = calls(
        call("write_file", path="binary_search.py", content=wrong),
        call("write_file", path="test_binary_search.py", content=tests),
    )
    repair = call("write_file", path="binary_search.py", content=good)
    replies: list[dict[str, Any]] = [both, say("Done."), repair, say("Repaired.")]
    run = Agent(empty).run(
        "--approval", "auto", "write binary_search.py with tests", replies=replies
    )
    assert run.code == 0, run.err
    assert "test_finds_each" in run.contents(2)
    assert run.out.strip() == "Repaired."
    assert sorted(p.name for p in empty.iterdir()) == ["binary_search.py", "test_binary_search.py"]
