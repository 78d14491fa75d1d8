"""The guard against a model that repeats itself."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sessions import session_at, step, written

from harness.errors import ModelFailure
from harness.model.values import Call
from harness.ooda.guard import Guard
from harness.tools.base import Result
from tests.conftest import call, say


def made(path: str = "auth.py") -> Call:
    return Call("id", "read_file", {"path": path}, "{}")


def test_equal_results_bring_a_hint_and_then_an_end() -> None:
    guard = Guard()
    hinted: list[bool] = []
    for _ in range(5):
        hinted.append("same call" in guard.note(made(), Result("text")).text)
        guard.check(made())
    assert hinted == [False, False, True, True, True]
    guard.note(made(), Result("text"))
    with pytest.raises(ModelFailure, match="6 times"):
        guard.check(made())


def test_other_results_and_other_calls_are_no_repetition() -> None:
    guard = Guard()
    for number in range(20):
        guard.note(made(), Result(f"text {number}"))
        guard.note(made(f"file{number}.py"), Result("text"))
        guard.check(made())


def test_how_long_tests_took_is_no_other_result() -> None:
    results = [("tests", f"1 failed in 0.{number}s") for number in range(10, 19)]
    assert counted(results) == ([3, 4, 5, 6], 6)


def test_a_changed_file_starts_the_count_anew() -> None:
    guard = Guard()
    for _ in range(20):
        guard.note(made(), Result("text"))
        guard.note(Call("id", "write_file", {}, ""), Result("wrote", diff="+x"))
        guard.check(made())


def test_malformed_calls_end_at_the_third() -> None:
    guard = Guard()
    bad = Call("id", "read_file", None, "{path", "not JSON")
    for _ in range(2):
        guard.note(bad, Result("Error", ok=False, malformed=True))
        guard.check(bad)
    guard.note(bad, Result("Error", ok=False, malformed=True))
    with pytest.raises(ModelFailure, match="cannot be understood"):
        guard.check(bad)


def counted(results: list[tuple[str, str]]) -> tuple[list[int], int | None]:
    """At which of the calls (argument, result) a hint came, and at which the turn ended."""
    guard = Guard()
    hints: list[int] = []
    for number, (argument, text) in enumerate(results, 1):
        noted = guard.note(made(argument), Result(text))
        if noted.text != text:
            hints.append(number)
        try:
            guard.check(made(argument))
        except ModelFailure:
            return hints, number
    return hints, None


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_circles_bring_a_hint_the_third_time_and_an_end_the_sixth(size: int) -> None:
    circle = [(f"{name}.py", f"text of {name}") for name in "abcd"[:size]]
    hints, end = counted(circle * 10)
    assert hints[0] <= 3 * size
    assert hints[0] > 2 * size
    assert end is not None
    assert 5 * size < end <= 6 * size


def test_a_circle_is_told_as_one() -> None:
    guard = Guard()
    for number in range(12):
        noted = guard.note(made("ab"[number % 2]), Result("x = 1"))
    assert "these same 2 calls" in noted.text
    with pytest.raises(
        ModelFailure, match=r"in circles: 2 calls \('read_file'\) .* 6 times"
    ) as told:
        guard.check(made("b"))
    assert told.value.error_class == "loop_detected"


def test_looking_something_up_again_between_new_things_is_no_circle() -> None:
    again = ("auth.py", "class AuthService")
    results = [step for n in range(30) for step in (again, (f"file{n}.py", f"text {n}"))]
    assert counted(results) == ([], None)


results_that_all_differ = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers()), unique=True, max_size=60
)


@given(results_that_all_differ)
def test_what_never_repeats_is_left_alone(steps: list[tuple[str, int]]) -> None:
    assert counted([(name, f"result {number}") for name, number in steps]) == ([], None)


@given(st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("xy"), st.booleans())))
def test_a_change_between_equal_calls_makes_them_no_repetition(
    steps: list[tuple[str, str, bool]],
) -> None:
    guard = Guard()
    seen: set[tuple[str, str]] = set()
    for argument, text, by_tool in steps:
        if (argument, text) in seen:
            seen.clear()
            if by_tool:
                guard.note(Call("id", "write_file", {}, ""), Result("wrote", diff="+x"))
            else:
                guard.changed()
        seen.add((argument, text))
        assert guard.note(made(argument), Result(text)).text == text
        guard.check(made(argument))


@given(st.data(), st.integers(1, 5))
def test_no_order_of_old_calls_goes_on_for_ever(data: st.DataObject, size: int) -> None:
    first = [(f"{n}.py", "text") for n in range(size)]
    later = data.draw(st.lists(st.sampled_from(first), min_size=5 * size + 1, max_size=60))
    hints, end = counted([*first, *later])
    assert end is not None
    assert hints


def patch(old: str, new: str) -> Call:
    arguments = {"path": "auth.py", "old_text": old, "new_text": new}
    return Call("id", "patch_file", arguments, "{}")


def test_the_same_edit_made_undone_and_made_again_ends_at_the_sixth() -> None:
    guard = Guard()
    hints: list[int] = []
    for number in range(1, 11):
        old, new = ("3", "5") if number % 2 else ("5", "3")
        noted = guard.note(patch(old, new), Result("patched", diff=f"-{old}\n+{new}"))
        guard.changed()
        guard.check(patch(old, new))
        if "undone" in noted.text:
            hints.append(number)
    assert hints == [5, 6, 7, 8, 9, 10]
    guard.note(patch("3", "5"), Result("patched", diff="-3\n+5"))
    with pytest.raises(ModelFailure, match=r"same edit with 'patch_file' 6 times") as told:
        guard.check(patch("3", "5"))
    assert told.value.error_class == "loop_detected"


def test_the_same_words_changed_in_other_places_are_other_edits() -> None:
    guard = Guard()
    for number in range(20):
        noted = guard.note(patch("3", "5"), Result("patched", diff=f"@@ -{number}\n-3\n+5"))
        assert noted.text == "patched"
        guard.changed()
        guard.check(patch("3", "5"))


def shell(command: str) -> dict[str, Any]:
    return call("run_shell", command=command)


def edit(number: int) -> dict[str, Any]:
    old, new = f"max_attempts = {number}", f"max_attempts = {number + 1}"
    return call("patch_file", path="auth.py", old_text=old, new_text=new)


TESTS = shell("echo '1 failed in 0.31s'")
PAGES = [call("read_file", path="long.txt", start=n * 100 + 1, end=n * 100 + 100) for n in range(8)]
POLL = shell("echo x >> .polls; test $(wc -l < .polls) -gt 8 && echo ready || wc -l < .polls")


@pytest.mark.parametrize(
    "replies",
    [
        [step for n in range(3, 12) for step in (edit(n), TESTS)],
        [step for n in range(9) for step in (shell(f"echo {n} > notes.txt"), TESTS)],
        PAGES,
        [POLL] * 9,
        [shell("touch f$(ls | wc -l).txt")] * 9,
        [step for page in PAGES for step in (page, call("search", pattern="max_attempts"))],
    ],
    ids=[
        "tests after edits",
        "tests after commands",
        "pages",
        "polling",
        "new files",
        "a look between pages",
    ],
)
def test_work_that_looks_alike_is_let_go_on(workspace: Path, replies: list[dict[str, Any]]) -> None:
    (workspace / "long.txt").write_text("".join(f"line {n}\n" for n in range(1000)))
    given = [*replies, say("Done.")]
    with session_at(workspace, given, protocol="native", ooda=False) as talk:
        outcome = talk.session.run("go on")
        assert (outcome.kind, outcome.answer) == ("answered", "Done."), outcome
        assert not any("Do something else" in each["text"] for each in talk.kinds("tool_result"))


@pytest.mark.parametrize("protocol", ["native", "constrained", "text"])
def test_a_circle_is_hinted_at_and_ended_in_a_turn(workspace: Path, protocol: str) -> None:
    made = {"native": call, "constrained": step, "text": written}[protocol]
    circle = [made("read_file", path="auth.py"), made("search", pattern="attempts")]
    with session_at(workspace, circle * 9, protocol=protocol) as talk:
        outcome = talk.session.run("what is the limit?")
        assert outcome.kind == "model_error"
        assert "went round in circles" in outcome.message
        assert len(talk.bodies) == 12
        texts = [each["text"] for each in talk.kinds("tool_result")]
        assert ["Do something else" in text for text in texts] == [False] * 5 + [True] * 7
        assert "Do something else" in str(talk.bodies[-1]["messages"])
