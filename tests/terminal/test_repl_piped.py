"""The conversation without a terminal."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from harness.terminal.interrupts import Interrupts

COMMAND = [sys.executable, "-m", "tests.terminal.stand_in"]


def talk(text: str, *flags: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*COMMAND, *flags],
        input=text,
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        env={**os.environ, **environ},
    )


def test_each_line_is_a_request_and_the_end_of_input_leaves_with_0() -> None:
    run = talk("first\n\nsecond")
    assert run.returncode == 0
    assert run.stdout == "You said 'first'.\nYou said 'second'.\n"
    assert run.stderr.count("answered: nothing was changed") == 2


def test_a_backslash_at_the_end_continues_the_request() -> None:
    assert "You said 'one\\ntwo'." in talk("one\\\ntwo\n").stdout
    assert "You said 'one'." in talk("one\\\n").stdout


def test_commands_answer_on_standard_output() -> None:
    run = talk("/help\n/exit\nnever read\n")
    assert run.returncode == 0
    assert "/knowledge" in run.stdout
    assert "You said" not in run.stdout


def test_an_unknown_command_never_reaches_the_model() -> None:
    run = talk("/hepl\n/etc/passwd is wrong\n /etc/passwd is wrong\n")
    assert run.stdout == "You said '/etc/passwd is wrong'.\n"
    assert "did you mean /help?" in run.stderr


def test_a_model_error_does_not_end_the_conversation() -> None:
    run = talk("down\nhello\n")
    assert run.returncode == 0
    assert "✗ model_error: no server at http://127.0.0.1:11434" in run.stderr
    assert run.stdout == "You said 'hello'.\n"


def test_approval_questions_read_the_same_lines() -> None:
    run = talk("shell make\ny\nshell make\nbetter not\nshell make\n")
    assert run.stdout.splitlines() == ["allow once", "deny once", "deny once"]
    assert "(end of input)" in run.stderr
    assert "denied by end of input" in run.stderr


def test_bytes_that_are_no_text_are_no_crash() -> None:
    run = subprocess.run(
        COMMAND, input=b"caf\xe9\r\n", capture_output=True, timeout=20, check=False
    )
    assert run.returncode == 0
    assert "caf\ufffd".encode() in run.stdout


def test_no_color_narrow_and_ascii() -> None:
    run = talk("edit it\n", NO_COLOR="1", COLUMNS="40", PYTHONIOENCODING="ascii")
    assert "\x1b" not in run.stderr
    assert "+ patch_file auth.py              +1 -1" in run.stderr.splitlines()
    assert run.stderr.isascii()


def test_json_is_all_that_is_on_standard_output() -> None:
    run = talk("edit it\n/help\n/nope\n", "--json")
    kinds = [json.loads(line)["kind"] for line in run.stdout.splitlines()]
    assert kinds[-1] == "outcome"
    assert "/knowledge" in run.stderr


def test_the_prompt_library_is_not_loaded() -> None:
    run = subprocess.run(
        [sys.executable, "-X", "importtime", *COMMAND[1:]],
        input="hello\n/help\n",
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
    )
    assert run.returncode == 0
    assert "harness.terminal.repl" in run.stderr
    for heavy in ("prompt_toolkit", "asyncio", "difflib", "subprocess"):
        assert f" {heavy}\n" not in run.stderr


def started(text: str) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    process.stdin.write(text)
    process.stdin.flush()
    return process


def interrupt_after(process: "subprocess.Popen[str]", seconds: float) -> None:
    time.sleep(seconds)
    process.send_signal(signal.SIGINT)


def test_a_signal_ends_the_turn_and_the_next_line_is_read() -> None:
    process = started("slow\nhello\n")
    assert process.stderr is not None
    process.stderr.readline()
    interrupt_after(process, 0.5)
    out, err = process.communicate(timeout=10)
    assert process.returncode == 0
    assert "interrupted: stopped by Ctrl-C" in err
    assert out.endswith("You said 'hello'.\n")


def test_two_signals_within_two_seconds_leave_with_130() -> None:
    process = started("stubborn\nhello\n")
    assert process.stderr is not None
    process.stderr.readline()
    interrupt_after(process, 0.5)
    interrupt_after(process, 0.5)
    out, _ = process.communicate(timeout=10)
    assert process.returncode == 130
    assert "hello" not in out


def test_presses_count_only_within_the_window() -> None:
    times = iter([0.0, 2.5, 4.0])
    interrupts = Interrupts(lambda: next(times))
    assert not interrupts.press()
    assert not interrupts.press()
    assert interrupts.press()
    assert interrupts.leaving


def test_a_signal_is_raised_within_work_and_otherwise_told_once() -> None:
    interrupts, woken = Interrupts(), []
    with interrupts.listening():
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupts.owed()
        assert not interrupts.owed()
        with interrupts.waking(lambda: woken.append(True)):
            os.kill(os.getpid(), signal.SIGINT)
        assert woken == [True]
        with pytest.raises(KeyboardInterrupt), interrupts.working():
            pytest.fail("a signal that came before the work stops it")
        with pytest.raises(KeyboardInterrupt), interrupts.working():
            os.kill(os.getpid(), signal.SIGINT)
        assert not interrupts.owed()
    assert interrupts.leaving
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_signal_while_waiting_for_a_line_leaves() -> None:
    process = started("hello\n")
    assert process.stdout is not None
    process.stdout.readline()
    interrupt_after(process, 0.3)
    process.communicate(timeout=10)
    assert process.returncode == 130
