"""One call from its announcement to its result; nothing it meets is an exception."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest
from toolrig import rigged

from harness.code.index import CodeIndex
from harness.journal import Journal
from harness.model.history import INTERRUPTED
from harness.model.values import Call
from harness.tools.approval import Answer, Approvals
from harness.tools.base import Result
from harness.tools.toolbox import MOST_CHARACTERS, Toolbox


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    (tmp_path / "ws" / "a.txt").write_text("one\n")
    return tmp_path


def test_a_call_is_announced_then_asked_then_reported(base: Path) -> None:
    with rigged(base) as rig:
        result = rig("write_file", path="b.txt", content="x\n")
        assert rig.kinds() == ["tool_call", "approval", "tool_result"]
        assert rig.events[0].payload == {
            "id": "c1",
            "name": "write_file",
            "arguments": {"path": "b.txt", "content": "x\n"},
            "summary": "b.txt",
        }
        told = rig.last("tool_result")
        assert told["text"] == result.text == "created 'b.txt' (1 line)"
        assert (told["note"], told["ok"], told["denied"]) == ("+1 -0", True, False)
        assert told["diff"].endswith("+x\n")
        assert 0 <= told["seconds"] < 5


def test_reading_is_not_a_matter_of_approval(base: Path) -> None:
    with rigged(base, "ask") as rig:
        rig("read_file", path="a.txt")
        assert rig.kinds() == ["tool_call", "tool_result"]


def test_an_unknown_tool_names_the_near_one(base: Path) -> None:
    with rigged(base) as rig:
        result = rig("read_fil", path="a.txt")
        assert result.malformed
        assert result.error == "unknown_tool"
        assert (
            "There is no tool 'read_fil'. Did you mean 'read_file'? The tools are:" in result.text
        )
        assert rig.last("tool_call")["summary"] == "a.txt"


def test_arguments_that_are_no_object_are_explained(base: Path) -> None:
    with rigged(base) as rig:
        result = rig.send(Call("x", "read_file", None, '{"path": ', "That is not JSON."))
        assert result == Result(
            "Error: That is not JSON.",
            "malformed call",
            ok=False,
            malformed=True,
            error="malformed_tool_call",
        )
        assert rig.last("tool_call")["arguments"] == '{"path": '
        assert rig.send(Call("y", "read_file", None, "[]")).malformed


def test_the_summary_is_the_argument_worth_seeing(base: Path) -> None:
    with rigged(base) as rig:
        for arguments, shown in [
            ({"command": "echo a\n  && echo b"}, "echo a && echo b"),
            ({"cmd": "echo"}, "echo"),
            ({"command": "x" * 500}, "x" * 200),
            ({"command": None}, ""),
            ({}, ""),
        ]:
            rig("run_shell", **arguments)
            assert rig.last("tool_call")["summary"] == shown


def test_a_long_result_loses_its_middle(base: Path) -> None:
    with rigged(base) as rig:
        result = rig("run_shell", command="echo start; seq 100000; echo end")
        assert len(result.text) < MOST_CHARACTERS + 100
        assert result.text.startswith("exit code 0\nstart\n1\n")
        assert result.text.endswith("\nend")
        assert " characters left out ...\n" in result.text


def test_results_hold_nothing_a_request_cannot(base: Path) -> None:
    (base / "ws" / "b.txt").write_bytes(b"caf\xe9\n")
    with rigged(base) as rig:
        shell = rig("run_shell", command=r"printf 'a\0b'")
        read = rig("read_file", path="b.txt")
        bad = rig("read_file", path="\ud800")
        for result in (shell, read, bad):
            json.dumps(result.text, ensure_ascii=False).encode("utf-8")
            assert "\0" not in result.text
        assert "caf\ufffd" in read.text


def test_what_a_tool_trips_over_is_a_sentence(base: Path) -> None:
    def no_index() -> CodeIndex:
        raise KeyError("index")

    with rigged(base) as rig:
        context = replace(rig.context, index=no_index)
        toolbox = Toolbox(context, Approvals("auto", lambda request: Answer(False)), Journal())
        result = toolbox.run(Call("c", "outline", {"path": "a.txt"}, ""))
        assert result.text == "Error: outline failed: KeyError: 'index'"
        assert not result.ok


def test_ctrl_c_is_journalled_and_passed_on(base: Path) -> None:
    import _thread

    with rigged(base) as rig:
        timer = threading.Timer(0.3, _thread.interrupt_main)
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            rig("run_shell", command="sleep 20")
        timer.join()
        assert rig.last("tool_result")["text"] == INTERRUPTED


def test_the_path_of_a_call_is_canonical(base: Path) -> None:
    with rigged(base) as rig:

        def path_of(name: str, **arguments: object) -> str:
            return rig.toolbox.path_of(Call("c", name, arguments, ""))

        assert path_of("read_file", path="./a.txt") == "a.txt"
        assert path_of("read_file", filePath=f"{base}/ws/a.txt") == "a.txt"
        assert path_of("read_file", path="/workspace/a.txt") == "a.txt"
        assert path_of("write_file", path="sub/../new.txt", content="") == "new.txt"
        assert path_of("write_file", path="../new.txt", content="") == ""
        assert path_of("write_file", path=["a"], content="") == ""
        assert path_of("list_files") == ""
        assert path_of("run_shell", command="ls") == ""
        assert path_of("unknown", path="a.txt") == ""
        assert rig.toolbox.path_of(Call("c", "read_file", None, "{")) == ""


def test_which_tools_can_change_files(base: Path) -> None:
    with rigged(base) as rig:
        changing = {
            schema["function"]["name"]
            for schema in rig.toolbox.schemas()
            if rig.toolbox.changes_files(schema["function"]["name"])
        }
        assert changing == {"run_shell", "write_file", "patch_file"}
        assert not rig.toolbox.changes_files("unknown")
