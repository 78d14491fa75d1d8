"""The outcome follows from verdicts and nothing else."""

import pytest

from harness.errors import LimitReached, ModelFailure
from harness.gates.values import Finding, Status, Verdict
from harness.ooda.decide import Decision
from harness.ooda.settle import settle, settle_baseline, settle_end
from harness.ooda.turn import EXIT_CODES, Verification
from harness.workspace.changes import Changes

CHANGED = Changes(modified=("auth.py",))
NOTHING = Changes()


def verification(*statuses: Status) -> Verification:
    return Verification(tuple(Verdict(f"gate{n}", s, "why") for n, s in enumerate(statuses)))


@pytest.mark.parametrize(
    ("statuses", "kind"),
    [
        ((), "verified"),
        (("passed",), "verified"),
        (("passed", "failed"), "failed"),
        (("failed", "skipped"), "failed"),
        (("passed", "could_not_run"), "unverified"),
        (("skipped",), "unverified"),
        (("could_not_run", "needs_review"), "unverified"),
        (("passed", "needs_review"), "needs_review"),
    ],
)
def test_a_change_is_verified_only_when_every_due_gate_passed(
    statuses: tuple[Status, ...], kind: str
) -> None:
    assert settle(CHANGED, Decision(), verification(*statuses), 1, False)[0] == kind


@pytest.mark.parametrize("status", ["passed", "needs_review", "could_not_run"])
def test_a_change_is_not_verified_while_rules_are_lost(status: Status) -> None:
    decision = Decision(lost=("the workspace rules are not in force: too much",))
    kind, message = settle(CHANGED, decision, verification(status), 1, False)
    assert kind == "unverified"
    assert "the workspace rules are not in force: too much" in message
    assert settle(NOTHING, decision, Verification(), 1, False)[0] == "answered"


def test_without_a_change_it_is_answered_or_denied() -> None:
    assert settle(NOTHING, Decision(), Verification(), 1, False)[0] == "answered"
    assert settle(NOTHING, Decision(), Verification(), 1, True)[0] == "denied"


def test_a_denial_beside_a_change_does_not_hide_the_change() -> None:
    assert settle(CHANGED, Decision(), verification("passed"), 1, True)[0] == "verified"


def test_a_failure_names_its_first_finding_on_one_line() -> None:
    finding = Finding("error", "test_auth.py::test_lockout", 9, "assert False\n +  where")
    failed = Verification((Verdict("run_tests", "failed", "1 failed", findings=(finding,)),))
    _, message = settle(CHANGED, Decision(), failed, 3, False)
    assert message == (
        "not accepted after 3 attempts: run_tests: test_auth.py::test_lockout: assert False + where"
    )


def test_the_baseline_says_that_nothing_was_checked() -> None:
    kind, message = settle_baseline(CHANGED, False)
    assert kind == "answered"
    assert "nothing was checked" in message


@pytest.mark.parametrize(
    ("statuses", "words"),
    [
        (("passed",), "passes its checks"),
        (("failed",), "does not pass"),
        (("could_not_run",), "is unverified"),
        ((), "is unverified"),
        (("needs_review",), "needs review"),
    ],
)
def test_a_limit_tells_the_state_of_the_change(statuses: tuple[Status, ...], words: str) -> None:
    end = LimitReached("step limit of 3 reached")
    kind, message = settle_end(end, CHANGED, verification(*statuses))
    assert kind == "limit"
    assert message.startswith("step limit of 3 reached; ")
    assert words in message


def test_a_failed_model_leaves_its_change_unverified() -> None:
    failure = ModelFailure("server_error", "the server\nfailed")
    assert settle_end(failure, NOTHING, Verification()) == ("model_error", "the server failed")
    assert "is unverified" in settle_end(failure, CHANGED, Verification())[1]


def test_only_an_answer_or_a_verified_change_exits_with_0() -> None:
    assert {kind for kind, code in EXIT_CODES.items() if code == 0} == {"answered", "verified"}
