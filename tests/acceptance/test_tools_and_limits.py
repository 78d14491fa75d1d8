"""ACCEPTANCE 17 to 23 and 25: tools, approval, confinement, limits."""

import os
import time
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Agent, Run, call, calls, say

DONE = say("Done.")
PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)


def results(run: Run) -> list[str]:
    """What the model was told of its calls, in the last request."""
    return [message["content"] for message in run.tool_messages()]


def auto(agent: Agent, *replies: dict[str, Any], flags: tuple[str, ...] = ()) -> Run:
    return agent.run("--approval", "auto", *flags, "Do it.", replies=[*replies, DONE])


def test_17_never_denies_changes_and_allows_reading(agent: Agent, workspace: Path) -> None:
    before = (workspace / "auth.py").read_bytes()
    (workspace / "x.sh").write_text("#!/bin/sh\ntouch ran\n")
    (workspace / "x.sh").chmod(0o755)
    run = agent.run(
        "--approval", "never", "Do it.",
        replies=[
            calls(
                PATCH,
                call("write_file", path="new.py", content="x = 1\n"),
                call("run_shell", command="touch ran"),
                call("read_file", path="auth.py"),
                call("search", pattern="--pre=./x.sh"),
            ),
            DONE,
        ],
    )  # fmt: skip
    patch, write, shell, read, search = results(run)
    assert all(text.startswith("Denied") for text in (patch, write, shell))
    assert "class AuthService" in read
    assert "No line matches" in search
    assert (workspace / "auth.py").read_bytes() == before
    assert not (workspace / "new.py").exists()
    assert not (workspace / "ran").exists()
    assert run.code == 7


def test_17_the_end_of_input_is_a_denial_and_the_model_is_told(agent: Agent) -> None:
    run = agent.run("--approval", "ask", "Do it.", replies=[PATCH, DONE], stdin="")
    assert results(run)[0].startswith("Denied")
    assert run.code == 7


def test_17_a_comment_goes_to_the_model(agent: Agent) -> None:
    run = agent.run("Do it.", replies=[PATCH, DONE], stdin="use seven\n")
    assert "use seven" in results(run)[0]


def test_17_invalid_arguments_never_prompt(agent: Agent) -> None:
    bad = calls(
        call("patch_file", path="auth.py", old_text="nothing like it", new_text="x"),
        call("patch_file", path="auth.py"),
        call("write_file", path="../x", content="x"),
        call("run_shell", command=""),
    )
    run = agent.run("--json", "Do it.", replies=[bad, DONE], stdin="y\ny\ny\ny\n")
    assert run.events("approval") == []
    assert len(results(run)) == 4


@pytest.fixture
def outside(workspace: Path) -> Path:
    folder = workspace.parent / "outside"
    folder.mkdir()
    (folder / "victim.txt").write_text("VICTIM")
    (workspace / "link.txt").symlink_to(folder / "victim.txt")
    (workspace / "linked").symlink_to(folder)
    return folder


OUTSIDE = ["../outside/victim.txt", "/etc/passwd", "link.txt", "linked/victim.txt"]


@pytest.mark.parametrize("path", OUTSIDE)
def test_18_nothing_outside_is_read_or_written(agent: Agent, outside: Path, path: str) -> None:
    several = calls(
        call("read_file", path=path),
        call("list_files", path=path),
        call("search", pattern="VICTIM|root:", path=path),
        call("outline", path=path),
        call("read_symbol", path=path, name="x"),
        call("write_file", path=path, content="changed"),
        call("patch_file", path=path, old_text="VICTIM", new_text="changed"),
    )
    run = auto(agent, several)
    for text in results(run):
        assert text.startswith("Error: "), text
        assert "outside the workspace" in text
        assert "root:x" not in text
        assert text != "VICTIM"
    assert (outside / "victim.txt").read_text() == "VICTIM"
    assert [item.name for item in outside.iterdir()] == ["victim.txt"]


def test_18_a_new_file_through_a_linked_folder_is_refused(agent: Agent, outside: Path) -> None:
    run = auto(agent, call("write_file", path="linked/new.txt", content="x"))
    assert results(run)[0].startswith("Error: ")
    assert not (outside / "new.txt").exists()


def test_18_cwd_is_the_root_not_the_repository_above(agent: Agent, workspace: Path) -> None:
    (workspace / ".git").mkdir()
    inner = workspace / "inner"
    inner.mkdir()
    (inner / "a.py").write_text("x = 1\n")
    run = Agent(inner).run("--approval", "auto", "Look.", replies=[
        calls(call("list_files"), call("read_file", path="../auth.py")), DONE
    ])  # fmt: skip
    listed, refused = results(run)
    assert listed.strip() == "a.py"
    assert refused.startswith("Error: ")


def test_18_a_missing_cwd_is_a_usage_error(agent: Agent, tmp_path: Path) -> None:
    missing = tmp_path / "missing"
    run = agent.run_plain("--cwd", str(missing), "Do it.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert "missing" in run.err
    assert not missing.exists()


def test_19_a_patch_must_match_once(agent: Agent, workspace: Path) -> None:
    before = (workspace / "test_auth.py").read_bytes()
    several = calls(
        call("patch_file", path="test_auth.py", old_text="range(3)", new_text="range(5)"),
        call("patch_file", path="test_auth.py", old_text="range(4)", new_text="range(5)"),
    )
    twice, never = results(auto(agent, several))
    lines = [
        str(number)
        for number, line in enumerate(before.decode().splitlines(), 1)
        if "range(3)" in line
    ]
    assert "2 times" in twice
    assert ", ".join(lines) in twice
    assert "0 times" in never
    assert (workspace / "test_auth.py").read_bytes() == before


def test_20_calls_that_cannot_be_understood_get_helpful_sentences(agent: Agent) -> None:
    raw = {
        "calls": [
            {"name": "read_fil", "arguments": {"path": "auth.py"}},
            {"name": "read_file", "arguments": {}},
            {"name": "read_file", "arguments": {"path": ["auth.py"]}},
            {"name": "read_file", "arguments": {"path": "auth.py", "start": "two"}},
        ]
    }
    run = auto(agent, raw)
    ids = [item["id"] for item in run.requests[1]["messages"][-5]["tool_calls"]]
    assert [message["tool_call_id"] for message in run.tool_messages()] == ids
    unknown, missing, wrong, text = results(run)
    assert "'read_file'" in unknown
    assert "needs 'path'" in missing
    assert "must be a string" in wrong
    assert "must be an integer" in text


def test_20_the_third_identical_malformed_call_ends_the_turn(agent: Agent) -> None:
    run = agent.run("--approval", "auto", "Do it.", replies=[call("read_file")])
    assert run.code == 4
    assert len(run.requests) == 3
    assert "'read_file'" in run.last_line


def test_21_several_calls_are_answered_once_and_in_order(agent: Agent) -> None:
    several = calls(*(call("read_file", path=p) for p in ("auth.py", "test_auth.py", "README.md")))
    run = auto(agent, several)
    heads = [text.split(":", 1)[0] for text in results(run)]
    assert heads == ["auth.py", "test_auth.py", "README.md"]


@pytest.mark.parametrize(
    "reply",
    [
        {"text": ""},
        {"text": "   \n"},
        {"reasoning": "I think about it."},
        {"text": "Half a sent", "finish": "length"},
        {**call("write_file", path="auth.py", content="x"), "finish": "length"},
    ],
)
def test_21_a_reply_that_cannot_be_used_is_asked_for_again(
    agent: Agent, workspace: Path, reply: dict[str, Any]
) -> None:
    before = (workspace / "auth.py").read_bytes()
    run = agent.run("--approval", "auto", "Do it.", replies=[reply, say("A real answer.")])
    assert run.code == 0, run.err
    assert run.out == "A real answer.\n"
    assert len(run.requests) == 2
    assert (workspace / "auth.py").read_bytes() == before


def test_21_asking_again_ends(agent: Agent) -> None:
    run = agent.run("--approval", "auto", "Do it.", replies=[{"text": ""}])
    assert run.code == 4
    assert len(run.requests) == 3
    assert run.out == ""


def test_22_a_loop_gets_a_hint_and_then_an_end(agent: Agent) -> None:
    run = agent.run("--approval", "auto", "Do it.", replies=[call("read_file", path="auth.py")])
    assert run.code == 4
    assert len(run.requests) == 6
    hints = [("same call" in text) for text in results(run)]
    assert hints == [False, False, True, True, True]
    assert "6 times" in run.last_line


def test_22_the_same_call_after_a_change_is_fine(agent: Agent) -> None:
    replies: list[dict[str, Any]] = []
    for number in range(8):
        replies.append(call("read_file", path="README.md"))
        replies.append(call("write_file", path="count.txt", content=f"{number}\n"))
    run = auto(agent, *replies)
    assert run.code == 0, run.err
    assert not any("same call" in text for text in results(run))


@pytest.mark.parametrize(
    ("flag", "value", "word"),
    [("--max-steps", "2", "step"), ("--max-tokens", "50", "token")],
)
def test_23_limits_are_checked_before_a_request(
    agent: Agent, flag: str, value: str, word: str
) -> None:
    replies = [call("read_file", path=path) for path in ("auth.py", "README.md", "test_auth.py")]
    run = agent.run(flag, value, "Do it.", replies=replies)
    assert run.code == 3
    assert f"{word} limit of {value}" in run.last_line
    assert flag in run.last_line
    assert len(run.requests) == (2 if flag == "--max-steps" else 1)


def test_23_the_time_limit(agent: Agent) -> None:
    slow = {**call("read_file", path="auth.py"), "delay": 0.7}
    run = agent.run("--max-seconds", "1", "Do it.", replies=[slow])
    assert run.code == 3
    assert "time limit of 1 s" in run.last_line


def test_25_pytest_is_found_without_activation(agent: Agent) -> None:
    path = "/usr/bin:/bin"
    run = agent.run(
        "--approval", "auto", "Do it.",
        replies=[call("run_shell", command="pytest --version && python -m pytest --version"), DONE],
        env={"PATH": path},
    )  # fmt: skip
    assert results(run)[0].startswith("exit code 0"), results(run)[0]


def test_25_partial_output_survives_a_time_out(agent: Agent) -> None:
    run = auto(agent, call("run_shell", command="echo early; sleep 30; echo late", timeout=1))
    text = results(run)[0]
    assert "early" in text
    assert "late" not in text
    assert "1 s" in text


def test_25_a_background_child_does_not_hang_the_call(agent: Agent) -> None:
    started = time.monotonic()
    run = auto(agent, call("run_shell", command="sleep 60 & echo started"))
    assert time.monotonic() - started < 20
    assert "started" in results(run)[0]


def test_25_keys_are_not_in_a_commands_environment(agent: Agent) -> None:
    keys = {"OPENAI_API_KEY": "sk-secret-1", "MCA_API_KEY": "sk-secret-2", "AWS_TOKEN": "sk-3"}
    run = agent.run(
        "--approval", "auto", "Do it.",
        replies=[call("run_shell", command="env"), DONE], env=keys,
    )  # fmt: skip
    text = results(run)[0]
    assert "PATH=" in text
    assert "sk-" not in text


def test_our_own_packages_are_not_importable_in_a_command(agent: Agent, workspace: Path) -> None:
    modules = ("harness", "rules", "knowledge", "tests")
    command = "; ".join(f"python -c 'import {module}'" for module in modules)
    env = {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), str(workspace)])}
    run = agent.run(
        "--approval", "auto", "Do it.", replies=[call("run_shell", command=command), DONE], env=env
    )
    assert results(run)[0].count("ModuleNotFoundError") == len(modules)
