"""run_shell, remember and forget."""

import json
import os
import time
from pathlib import Path

import pytest
from toolrig import rigged


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path


# run_shell


def test_exit_code_and_output_are_told(base: Path) -> None:
    with rigged(base) as rig:
        result = rig("run_shell", command="echo out; echo err >&2; exit 3")
        assert result.text == "exit code 3\nout\nerr"
        assert (result.note, result.ok) == ("exit 3", False)
        assert rig("run_shell", command="true").text == "exit code 0\n(no output)"


def test_it_runs_in_the_workspace_without_input(base: Path) -> None:
    with rigged(base) as rig:
        assert rig("run_shell", command="pwd -P; cat").text == f"exit code 0\n{base}/ws"


def test_a_time_limit_keeps_what_was_printed(base: Path) -> None:
    with rigged(base, seconds=30) as rig:
        started = time.monotonic()
        result = rig("run_shell", command="echo partial; sleep 60", timeout=1)
        assert time.monotonic() - started < 10
        assert result.text == (
            "stopped after 1 s, with everything it had started; output so far:\npartial"
        )
        assert (result.note, result.ok) == ("timed out", False)


def test_the_configured_limit_holds_when_none_is_named(base: Path) -> None:
    with rigged(base, seconds=0.5) as rig:
        assert rig("run_shell", command="sleep 60").text.startswith("stopped after 0.5 s")
    with rigged(base, seconds=900) as rig:
        assert rig("run_shell", command="echo 1").ok


def test_what_a_command_changes_can_be_shown(base: Path) -> None:
    (base / "ws" / "a.txt").write_text("before\n")
    with rigged(base) as rig:
        before = rig.tracker.snapshot()
        rig("run_shell", command="sed -i s/before/after/ a.txt; rm -f b.txt")
        assert rig.text("a.txt") == "after\n"
        assert rig.tracker.content(before["a.txt"]) == b"before\n"


def test_no_key_is_in_the_environment(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with rigged(base) as rig:
        assert "sk-secret" not in rig("run_shell", command="env").text
    assert os.environ["OPENAI_API_KEY"] == "sk-secret"


# remember and forget


def entries(base: Path, *place: str) -> dict[str, str]:
    path = base.joinpath(*place, "knowledge", "entries.json")
    return {item["key"]: item["content"] for item in json.loads(path.read_text())}


def test_remember_writes_the_workspace_file(base: Path) -> None:
    with rigged(base) as rig:
        result = rig("remember", key="test_command", content="python -m pytest -v")
        assert result.text == "remembered 'test_command' (workspace)"
        assert entries(base, "ws", ".mini-coding-agent") == {"test_command": "python -m pytest -v"}
        result = rig("remember", key=" style ", content="tabs", scope="workspace")
        assert result.text == "remembered 'style' (workspace)"
        assert set(entries(base, "ws", ".mini-coding-agent")) == {"test_command", "style"}


def test_global_entries_touch_the_other_file_alone(base: Path) -> None:
    with rigged(base) as rig:
        assert (
            rig("remember", key="k", content="c", scope="global").text == "remembered 'k' (global)"
        )
        assert entries(base, "private", "home") == {"k": "c"}
        assert not (base / "ws" / ".mini-coding-agent").exists()


def test_forget_removes_one_entry(base: Path) -> None:
    with rigged(base) as rig:
        rig("remember", key="a", content="1")
        rig("remember", key="b", content="2")
        assert rig("forget", key="a").text == "forgot 'a' (workspace)"
        assert entries(base, "ws", ".mini-coding-agent") == {"b": "2"}
        assert rig("forget", key="a").text == (
            "Error: There is no workspace entry 'a'; known: 'b'."
        )
        assert "known: none" in rig("forget", key="b", scope="global").text


@pytest.mark.parametrize(
    "arguments",
    [
        {"key": "", "content": "x"},
        {"key": "k", "content": "  "},
        {"key": "k" * 300, "content": "x"},
        {"key": "a\nb", "content": "x"},
    ],
)
def test_what_cannot_be_remembered_is_a_sentence(base: Path, arguments: dict[str, str]) -> None:
    with rigged(base) as rig:
        result = rig("remember", **arguments)
        assert not result.ok
        assert "nothing was remembered" in result.text
        assert not (base / "ws" / ".mini-coding-agent").exists()
