from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.registry import GATES, ordered, run_gate
from harness.gates.values import Finding, GateContext, Verdict

RunGate = Callable[..., Verdict]


def test_gates_run_cheapest_first() -> None:
    names = {"zeta", "integrity", "run_tests", "lint", "syntax_check"}
    assert ordered(names) == ("syntax_check", "run_tests", "integrity", "lint", "zeta")
    assert tuple(GATES) == ordered(GATES)


@pytest.mark.parametrize("name", ["lint", "types", "security", "coverage"])
def test_a_gate_of_a_tool_that_is_missing_is_skipped_and_says_so(name: str, gate: RunGate) -> None:
    verdict = gate(name, "auth.py")
    assert verdict.status == "skipped"
    assert verdict.trace_line == f"  [verify] {name}: skipped (not installed)"


def test_an_unknown_gate_could_not_run(gate: RunGate) -> None:
    verdict = gate("securty", "auth.py")
    assert verdict.status == "could_not_run"
    assert verdict.reason == "no gate named 'securty' is built in"


def test_a_gate_that_breaks_could_not_run(example: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    context = GateContext(example, tmp_path / "file" / "private", 20)
    verdict = run_gate("run_tests", ("test_auth.py",), context)
    assert verdict.status == "could_not_run"
    assert verdict.reason.startswith("the gate itself broke: NotADirectoryError: ")


def test_every_verdict_says_how_long_it_took(example: Path, gate: RunGate) -> None:
    assert gate("syntax_check", "auth.py").seconds > 0


def test_integrity_passes_without_findings(gate: RunGate) -> None:
    assert gate("integrity").status == "passed"


def test_integrity_asks_for_a_look_and_blocks_on_errors(gate: RunGate) -> None:
    review = Finding("warning", "test_auth.py", 24, "an expectation changed")
    hard = Finding("error", "test_auth.py", 30, "a test was removed")
    verdict = gate("integrity", findings=(review,))
    assert verdict.status == "needs_review"
    assert verdict.reason == "test_auth.py, line 24: an expectation changed"
    verdict = gate("integrity", findings=(review, hard))
    assert verdict.status == "failed"
    assert verdict.reason == "test_auth.py, line 30: a test was removed"
    assert "an expectation changed" in verdict.summary
    assert verdict.findings == (review, hard)
    assert gate("integrity", "test_other.py", findings=(review, hard)).status == "passed"
