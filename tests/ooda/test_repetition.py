"""The guard against a model that repeats itself."""

import pytest

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
