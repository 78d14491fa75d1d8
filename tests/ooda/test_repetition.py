"""The guard against a model that repeats itself."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import ModelFailure
from harness.model.values import Call
from harness.ooda.guard import Guard
from harness.tools.base import Result


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
