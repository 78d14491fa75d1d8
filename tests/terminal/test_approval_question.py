"""The question before a tool call."""

import io

import pytest

from harness.terminal.ask import Ask, answer_to
from harness.terminal.screen import Screen
from harness.tools.approval import Answer, ApprovalRequest

SHELL = ApprovalRequest("run_shell", "make test", "it may change files", "make test")


def ask(
    typed: str, request: ApprovalRequest = SHELL, width: int | None = None
) -> tuple[Answer, str]:
    out = io.StringIO()
    answer = Ask(io.StringIO(typed), Screen(out, width=width))(request)
    return answer, out.getvalue()


@pytest.mark.parametrize("word", ["y", "Y", "yes", "o", "once", " YES "])
def test_yes_is_for_once(word: str) -> None:
    assert answer_to(word) == Answer(True, "once", "", "user")


@pytest.mark.parametrize("word", ["s", "Session", "a", "always"])
def test_yes_for_the_session(word: str) -> None:
    assert answer_to(word) == Answer(True, "session", "", "user")


@pytest.mark.parametrize("word", ["n", "NO", "", "  "])
def test_no(word: str) -> None:
    assert answer_to(word) == Answer(False, "once", "", "user")


def test_any_other_text_is_a_no_with_a_comment_for_the_model() -> None:
    assert answer_to("use  tox instead ") == Answer(False, "once", "use  tox instead", "user")


def test_the_question_shows_tool_reason_and_command_once() -> None:
    answer, text = ask("y\n")
    assert answer.allow
    assert text.splitlines() == [
        "? run_shell",
        "  it may change files",
        "  make test",
        "  y once, s session, n no, or why not: y",
    ]


def test_one_line_is_taken_for_each_question() -> None:
    stdin = io.StringIO("y\nno, thanks\n")
    asker = Ask(stdin, Screen(io.StringIO()))
    assert asker(SHELL).allow
    assert asker(SHELL).comment == "no, thanks"


def test_the_end_of_input_is_a_denial_and_stays_one() -> None:
    stdin = io.StringIO("")
    out = io.StringIO()
    asker = Ask(stdin, Screen(out))
    assert asker(SHELL) == Answer(False, "once", "", "end of input")
    asked = out.getvalue()
    assert asker(SHELL) == Answer(False, "once", "", "end of input")
    assert out.getvalue() == asked


def test_a_long_preview_is_bounded_and_shown_in_full_on_demand() -> None:
    diff = "@@ -1 +1,60 @@\n" + "".join(f"+line {n}\n" for n in range(60))
    request = ApprovalRequest("write_file", "a.py", "it writes a file", diff)
    answer, text = ask("v\ny\n", request)
    assert answer.allow
    first, _, rest = text.partition("lines not shown, v shows all")
    assert "line 59" not in first
    assert first.endswith("… 43 of 61 ")
    assert "line 59" in rest


def test_a_long_command_is_shown_to_its_last_character_in_rows() -> None:
    command = "echo " + "x" * 100 + " && rm -rf /"
    _, text = ask("n\n", ApprovalRequest("run_shell", command, "", command), width=40)
    rows = [line[2:] for line in text.splitlines() if line.startswith(("  echo", "| "))]
    assert "".join(rows) == command
    assert all(len(line) < 40 for line in text.splitlines()[:-1])


def test_a_hidden_carriage_return_or_escape_is_visible() -> None:
    command = "rm -rf /\rmake test\x1b[1A"
    _, text = ask("n\n", ApprovalRequest("run_shell", command, "", command))
    assert r"  rm -rf /\rmake test\x1b[1A" in text.splitlines()


def test_without_a_preview_the_argument_is_shown_whole() -> None:
    _, text = ask("n\n", ApprovalRequest("remember", "k" * 100, "", ""), width=40)
    assert "k" * 100 in text
