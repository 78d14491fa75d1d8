"""Standard output: the answer, or JSON Lines."""

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.journal import Journal, read
from harness.terminal.answer import print_answer
from harness.terminal.console import open_console
from harness.terminal.jsonl import JsonLines
from tests.terminal.stand_in import StandIn


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def printed(kind: str, answer: str, out: io.StringIO) -> str:
    print_answer(kind, "why\nit ended", answer, out)
    return out.getvalue()


@pytest.mark.parametrize("kind", ["answered", "verified"])
def test_a_pipe_gets_a_good_answer_and_nothing_else(kind: str) -> None:
    assert printed(kind, "42\x1b[0m", io.StringIO()) == "42\x1b[0m\n"


@pytest.mark.parametrize("kind", ["failed", "limit", "unverified", "needs_review", "interrupted"])
def test_a_pipe_never_takes_a_rejected_answer_for_a_result(kind: str) -> None:
    assert printed(kind, "All done!", io.StringIO()) == f"All done!\n[{kind}] why it ended\n"


def test_a_terminal_gets_the_answer_cleaned() -> None:
    assert printed("failed", "hi\x1b[2J", Terminal()) == "hi\\x1b[2J\n"


def test_no_answer_is_no_line() -> None:
    assert printed("answered", "", io.StringIO()) == ""


def test_a_full_disk_is_said() -> None:
    with open("/dev/full", "w") as full, pytest.raises(UserError, match="No space left"):
        print_answer("answered", "", "x", full)


def test_the_answer_and_the_rest_go_apart() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    console = open_console(io.StringIO(), stdout, stderr)
    session = StandIn(asker=console.ask)
    session.journal.sinks.extend(console.sinks)
    session.run("hello")
    assert stdout.getvalue() == "You said 'hello'.\n"
    assert stderr.getvalue() == "· answered: nothing was changed\n"


def test_one_terminal_for_both_gets_the_answer_once() -> None:
    terminal = Terminal()
    console = open_console(io.StringIO(), terminal, terminal)
    session = StandIn(asker=console.ask)
    session.journal.sinks.extend(console.sinks)
    session.run("hello")
    assert terminal.getvalue().count("You said") == 1


def test_json_lines_equal_the_journal(tmp_path: Path) -> None:
    stdout = io.TextIOWrapper(io.BytesIO(), encoding="ascii", newline="")
    journal = Journal(tmp_path / "session.jsonl")
    journal.sinks.append(JsonLines(stdout))
    journal.emit("notice", level="info", text="naïve 日本 \x1b[31m \x9b \u2028 \u202e \udcff end")
    journal.live("text", text="not recorded")
    journal.emit("outcome", kind="answered")
    journal.close()
    raw = stdout.detach().getvalue()  # type: ignore[attr-defined]
    lines = raw.decode("utf-8").splitlines()
    recorded = [json.loads(event.to_json()) for event in read(tmp_path / "session.jsonl").events]
    assert [json.loads(line) for line in lines] == recorded
    assert not any(char in raw.decode("utf-8") for char in "\x1b\x9b\u202e")


def test_json_mode_keeps_everything_else_off_standard_output() -> None:
    stdout, stderr = io.StringIO(), io.StringIO()
    console = open_console(io.StringIO(), stdout, stderr, json=True)
    session = StandIn(asker=console.ask)
    session.journal.sinks.extend(console.sinks)
    session.run("edit it")
    kinds = [json.loads(line)["kind"] for line in stdout.getvalue().splitlines()]
    assert kinds[-1] == "outcome"
    assert "text" not in kinds
    console.results.line(("", "output of a command"))
    assert "output of a command" in stderr.getvalue()


@pytest.mark.parametrize("flags", [[], ["--json"]])
def test_a_closed_pipe_is_quiet(flags: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        [sys.executable, "-m", "tests.terminal.stand_in", *flags],
        input="hello\nhello again\n",
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        timeout=20,
        check=False,
    )
    os.close(writing)
    assert run.returncode == 0
    assert run.stderr.count("answered: nothing was changed") == 2
    assert "Error" not in run.stderr
    assert "Traceback" not in run.stderr
