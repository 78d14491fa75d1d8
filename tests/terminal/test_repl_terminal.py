"""The conversation on a real pseudo-terminal."""

import os
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pexpect
import pytest

# the test runner's own threads are none of the child's
pytestmark = pytest.mark.filterwarnings("ignore:.*forkpty.*:DeprecationWarning")

RUN = ("-m", "tests.terminal.stand_in")
ALT_ENTER = "\x1b\r"
UP = "\x1b[A"
CTRL_C, CTRL_D = "\x03", "\x04"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "authentication.py").touch()
    return workspace


class Conversation:
    """A REPL in a child process, seen through its terminal."""

    def __init__(self, root: Path, *flags: str, columns: int = 100, **environ: str) -> None:
        self.history = root.parent / "state" / "history"
        usual = {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1", "NO_COLOR": "1"}
        self.child = pexpect.spawn(
            sys.executable,
            [*RUN, "--root", str(root), "--history", str(self.history), *flags],
            env={**os.environ, **usual, **environ},
            dimensions=(30, columns),
            encoding="utf-8",
            timeout=10,
        )
        self.child.delaybeforesend = None
        self.child.delayafterclose = self.child.delayafterterminate = 0.02
        self.expect("Ctrl-D leaves")
        self.prompt()
        self.after_greeting = str(self.child.before)

    def expect(self, text: str) -> str:
        self.child.expect_exact(text)
        return str(self.child.before)

    def prompt(self) -> None:
        # the sequence that switches bracketed paste on: the prompt is ready
        self.expect("\x1b[?2004h")
        time.sleep(0.05)

    def type(self, *keys: str) -> None:
        for key in keys:
            self.child.send(key)
            time.sleep(0.02)

    def code(self) -> int:
        self.child.expect(pexpect.EOF)
        self.child.close()
        return int(self.child.exitstatus)


@pytest.fixture
def talk(root: Path) -> Iterator[Conversation]:
    conversation = Conversation(root)
    yield conversation
    conversation.child.close(force=True)


def test_a_typed_request_is_answered_and_ctrl_d_leaves_with_0(talk: Conversation) -> None:
    talk.type("hello there\r")
    talk.expect("You said 'hello there'.")
    talk.expect("· answered: nothing was changed")
    talk.prompt()
    talk.type(CTRL_D)
    assert talk.code() == 0


def test_exit_leaves_with_0(talk: Conversation) -> None:
    talk.type("/exit\r")
    assert talk.code() == 0


def test_tab_completes_commands_and_paths(talk: Conversation) -> None:
    talk.type("/mem", "\t", "\r")
    talk.expect("estimated tokens")
    talk.prompt()
    talk.type("look at authen", "\t", "\r")
    talk.expect("You said 'look at authentication.py'.")


def test_rules_are_proposed_and_added_at_the_prompt(talk: Conversation) -> None:
    talk.type("/rules prop", "\t", "\r")
    talk.expect("1. api: file_modified(?f)")
    talk.prompt()
    talk.type("/rules ad", "\t", "p(?x) -> q(?x)", ALT_ENTER, "q(?x) -> r(?x)", "\r")
    talk.expect("in force, and kept in local.dl")
    talk.prompt()
    talk.type("/rules add bad: ->\r")
    talk.expect("error[syntax]")
    talk.expect("nothing was written")


def test_alt_enter_and_a_backslash_make_new_lines(talk: Conversation) -> None:
    talk.type("one", ALT_ENTER, "two", "\r")
    talk.expect("You said 'one\\ntwo'.")
    talk.prompt()
    talk.type("three\\", "\r", "four", "\r")
    talk.expect("You said 'three\\nfour'.")


def test_a_paste_keeps_its_lines(talk: Conversation) -> None:
    talk.type("\x1b[200~def f():\r\n    pass\x1b[201~", "\r")
    talk.expect("You said 'def f():\\n    pass'.")


def test_history_outlives_the_process_and_is_private(root: Path, talk: Conversation) -> None:
    talk.type("remember me\r")
    talk.expect("answered")
    talk.prompt()
    talk.type(CTRL_D)
    assert talk.code() == 0
    assert talk.history.stat().st_mode & 0o777 == 0o600
    second = Conversation(root)
    second.type(UP, "\r")
    second.expect("You said 'remember me'.")
    second.child.close(force=True)


def test_an_unusable_history_file_is_said_and_no_obstacle(root: Path) -> None:
    (root.parent / "state").touch()
    talk = Conversation(root)
    assert "! no history is kept" in talk.after_greeting
    talk.type("hello\r")
    talk.expect("You said 'hello'.")
    talk.child.close(force=True)


def test_ctrl_c_clears_the_line_and_twice_leaves_with_130(talk: Conversation) -> None:
    talk.type("half a request", CTRL_C)
    talk.expect("line cleared")
    talk.prompt()
    talk.type(CTRL_C)
    assert talk.code() == 130


def test_two_slow_ctrl_c_do_not_leave(talk: Conversation) -> None:
    talk.type(CTRL_C)
    talk.expect("line cleared")
    talk.prompt()
    time.sleep(2.1)
    talk.type(CTRL_C)
    talk.expect("line cleared")
    talk.prompt()
    talk.type("hello\r")
    talk.expect("You said 'hello'.")


def test_ctrl_c_in_a_turn_returns_to_the_prompt(talk: Conversation) -> None:
    talk.type("slow\r")
    talk.expect("Let me think")
    talk.type(CTRL_C)
    talk.expect("– interrupted: stopped by Ctrl-C")
    talk.prompt()
    talk.type("hello\r")
    talk.expect("You said 'hello'.")


def test_ctrl_c_in_a_turn_and_again_at_the_prompt_leaves_with_130(talk: Conversation) -> None:
    talk.type("slow\r")
    talk.expect("Let me think")
    talk.type(CTRL_C)
    talk.expect("interrupted")
    talk.prompt()
    talk.type(CTRL_C)
    assert talk.code() == 130


def test_ctrl_c_twice_in_a_turn_that_will_not_end_leaves_with_130(talk: Conversation) -> None:
    talk.type("stubborn\r")
    talk.expect("Let me think")
    talk.type(CTRL_C)
    talk.expect("saving")
    talk.type(CTRL_C)
    assert talk.code() == 130


def test_a_question_is_answered_at_the_keyboard(talk: Conversation) -> None:
    talk.type("shell make all\r")
    talk.expect("n no, or why not: ")
    talk.type("s\r")
    talk.expect("allow session")
    talk.prompt()
    talk.type("shell make all\r")
    talk.expect("n no, or why not: ")
    talk.type(CTRL_D)
    talk.expect("denied by end of input")
    talk.prompt()
    talk.type("shell make all\r")
    talk.expect("n no, or why not: ")
    talk.type("only the tests, please\r")
    talk.expect("⊘ run_shell")
    talk.expect("only the tests, please")


def test_ctrl_c_at_a_question_ends_the_turn(talk: Conversation) -> None:
    talk.type("shell make all\r")
    talk.expect("n no, or why not: ")
    talk.type(CTRL_C)
    talk.expect("– interrupted")
    talk.prompt()


def test_what_was_typed_before_a_question_does_not_answer_it(root: Path) -> None:
    talk = Conversation(root)
    talk.type("wait\r")
    talk.expect("waiting")
    talk.type("y\r")
    talk.expect("n no, or why not: ")
    assert "allow" not in str(talk.child.before)
    talk.type("n\r")
    talk.expect("deny once")
    talk.child.close(force=True)


def test_forty_columns_without_colour(root: Path) -> None:
    talk = Conversation(root, columns=40)
    talk.type("edit the limit\r")
    talk.expect("context: password_rules (matched 'pass…\r\n")
    seen = talk.expect("run_tests)")
    assert "\x1b" not in seen
    assert "✓ patch_file auth.py              +1 -1\r\n" in seen
    talk.child.close(force=True)


def test_colour_where_the_terminal_has_it(root: Path) -> None:
    talk = Conversation(root, NO_COLOR="")
    talk.type("edit the limit\r")
    talk.expect("\x1b[32m+        self.max_attempts = 5\x1b[0m")
    talk.expect("\x1b[32m✓\x1b[0m verified")
    talk.child.close(force=True)


def test_a_dumb_terminal_gets_plain_lines(root: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        [*RUN, "--root", str(root)],
        env={**os.environ, "TERM": "dumb"},
        encoding="utf-8",
        timeout=10,
    )
    child.expect_exact("> ")
    child.sendline("hello")
    child.expect_exact("You said 'hello'.")
    child.expect_exact("> ")
    child.sendeof()
    seen = child.read()
    child.close()
    assert child.exitstatus == 0
    assert "\x1b" not in seen


@pytest.mark.parametrize("at", range(12))
def test_a_signal_at_any_moment_around_the_prompt_is_neither_lost_nor_fatal(
    talk: Conversation, at: int
) -> None:
    talk.type("/session\r")
    time.sleep(at * 0.004)
    os.kill(talk.child.pid, signal.SIGINT)
    assert "Traceback" not in talk.expect("Ctrl-C again")
    os.kill(talk.child.pid, signal.SIGINT)
    assert talk.code() == 130
    assert "Traceback" not in str(talk.child.before)


def test_a_signal_and_a_key_are_two_presses(talk: Conversation) -> None:
    os.kill(talk.child.pid, signal.SIGINT)
    talk.expect("Ctrl-C again")
    talk.prompt()
    talk.type(CTRL_C)
    assert talk.code() == 130
