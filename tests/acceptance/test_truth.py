"""An outcome is true: ways in which one could be made to look better than it is."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Agent, Run, call, calls, say

DONE = say("Done.")
BREAK = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)


def auto(agent: Agent, *replies: dict[str, Any], flags: tuple[str, ...] = ()) -> Run:
    return agent.run(
        "--approval", "auto", "--max-attempts", "1", *flags, "Do it.", replies=[*replies, DONE]
    )


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("pytest.ini", "[pytest]\naddopts = -k 'not max_attempts'\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-k 'not max_attempts'\"\n"),
        ("conftest.py", "def pytest_collection_modifyitems(items):\n    del items[3]\n"),
    ],
)
def test_tests_switched_off_by_configuration_need_review(
    agent: Agent, path: str, content: str
) -> None:
    run = auto(agent, calls(BREAK, call("write_file", path=path, content=content)))
    assert run.code == 6, run.err
    assert f"{path}: the test setup was changed" in run.last_line


def test_configuration_that_pytest_does_not_read_needs_no_review(
    agent: Agent, workspace: Path
) -> None:
    (workspace / "pyproject.toml").write_text("[project]\nname = 'x'\nversion = '1'\n")
    patch = call("patch_file", path="pyproject.toml", old_text="'1'", new_text="'2'")
    run = auto(agent, patch)
    assert run.code == 0, run.err
    assert "5 passed" in run.last_line


def test_the_first_test_setup_of_a_project_needs_no_review(agent: Agent, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    new = calls(
        call("write_file", path="conftest.py", content="import sys\n"),
        call("write_file", path="test_one.py", content="def test_one():\n    assert True\n"),
    )
    assert auto(Agent(empty), new).code == 0


def test_an_expectation_in_an_ignored_test_is_noticed(agent: Agent, workspace: Path) -> None:
    (workspace / ".gitignore").write_text("test_auth.py\n")
    text = (workspace / "test_auth.py").read_text().replace("range(3)", "range(5)")
    run = auto(agent, call("write_file", path="test_auth.py", content=text))
    assert "expectation was changed" in run.last_line


def test_what_is_remembered_in_a_turn_does_not_change_its_judge(agent: Agent) -> None:
    judge = call("remember", key="test_command", content="true")
    run = auto(agent, calls(BREAK, judge))
    assert run.code == 1, run.err
    assert "test_lockout_after_max_attempts" in run.last_line


def test_a_command_without_a_report_is_said_to_be_weaker(agent: Agent, entries: Any) -> None:
    entries({"key": "test_command", "content": "true", "scope": "workspace"})
    run = auto(agent, BREAK)
    assert "judged by the exit code alone, which is weaker" in run.last_line


def test_duties_that_a_rule_file_states_are_done(agent: Agent, workspace: Path) -> None:
    rules = workspace / ".mini-coding-agent" / "rules"
    rules.mkdir(parents=True)
    (rules / "always.dl").write_text(
        "verify_gate('run_tests').\ngate_target('run_tests', 'test_auth.py').\n"
    )
    note = call("patch_file", path="README.md", old_text="A small", new_text="A tiny")
    run = auto(agent, note)
    assert run.code == 0, run.err
    assert "5 passed" in run.last_line


def test_a_review_is_not_hidden_by_a_gate_that_could_not_run(agent: Agent, workspace: Path) -> None:
    skip = call(
        "patch_file", path="test_auth.py", old_text="def test_lockout_after_max_attempts",
        new_text="@pytest.mark.skip\ndef test_lockout_after_max_attempts",
    )  # fmt: skip
    rules = workspace / ".mini-coding-agent" / "rules"
    rules.mkdir(parents=True)
    (rules / "lint.dl").write_text("lint: file_modified(_) -> verify_gate('lint')\n")
    run = auto(agent, calls(BREAK, skip))
    assert run.code == 5
    assert "lint was skipped: not installed" in run.last_line
    assert "a test was switched off" in run.last_line


def test_what_an_earlier_turn_broke_is_not_forgotten(agent: Agent) -> None:
    note = call("patch_file", path="README.md", old_text="A small", new_text="A tiny")
    run = agent.run(
        "--approval", "auto", "--max-attempts", "1", "--json",
        stdin="break it\nnow the readme\n", replies=[BREAK, DONE, note, DONE],
    )  # fmt: skip
    first, second = (event["payload"] for event in run.events("outcome"))
    assert first["kind"] == "failed"
    assert second["kind"] == "verified"
    assert second["message"].endswith("; not accepted in an earlier turn: auth.py")


def test_the_time_limit_holds_for_commands(agent: Agent) -> None:
    sleeps = calls(*(call("run_shell", command=f"sleep {30 + n}") for n in range(3)))
    run = auto(agent, sleeps, flags=("--max-seconds", "3"))
    assert run.code == 3
    assert "time limit of 3 s" in run.last_line


def test_a_server_that_counts_nothing_does_not_lift_the_token_limit(agent: Agent) -> None:
    delta = {"role": "assistant", "tool_calls": [{
        "index": 0, "id": "c1", "type": "function",
        "function": {"name": "list_files", "arguments": "{}"},
    }]}  # fmt: skip
    first = {"choices": [{"index": 0, "delta": delta, "finish_reason": "tool_calls"}]}
    usage = {"choices": [], "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
    lying = {"chunks": [json.dumps(first), json.dumps(usage), "[DONE]"]}
    run = auto(agent, lying, flags=("--max-tokens", "500"))
    assert run.code == 3
    assert len(run.requests) == 1
