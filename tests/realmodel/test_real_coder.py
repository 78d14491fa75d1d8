"""Three tiny tasks with a real model of 1.5 billion parameters, through the whole loop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, Places
from harness.model.local import LocalServer
from harness.ooda.turn import Outcome
from harness.session import Session
from harness.tools.approval import Answer

pytestmark = pytest.mark.realmodel

Turn = Callable[[str], tuple[Outcome, list[Any]]]


@pytest.fixture
def turn(coder: LocalServer, workspace: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Turn:
    monkeypatch.setenv("MCA_API_KEY", coder.key)
    options = Options(
        host=coder.base_url,
        protocol="constrained",
        approval="auto",
        temperature=0.0,
        max_steps=12,
        max_new_tokens=300,
    )

    def run(request: str) -> tuple[Outcome, list[Any]]:
        events: list[Any] = []
        where = Places(home=home, workspace=workspace)
        session = Session(
            options, where, lambda _asked: Answer(False), version="", sinks=[events.append]
        )
        try:
            return session.run(request), events
        finally:
            session.close("end")

    return run


def test_it_reads_a_value(turn: Turn) -> None:
    outcome, _ = turn("What is the value of max_attempts in auth.py?")
    assert outcome.kind == "answered"
    assert "3" in outcome.answer
    assert outcome.steps <= 4


def test_it_names_a_function(turn: Turn) -> None:
    outcome, _ = turn("Which method in auth.py unlocks a user again? Answer with its name.")
    assert outcome.kind == "answered"
    assert "reset" in outcome.answer


def test_it_changes_a_value_and_the_loop_tells_the_truth(turn: Turn, workspace: Path) -> None:
    """A test demands the old value. Whether the model also finds that, is luck; that the change
    is then not called done is not."""
    before = (workspace / "auth.py").read_text()
    outcome, events = turn("Change max_attempts from 3 to 5 in auth.py")
    assert (workspace / "auth.py").read_text() == before.replace("attempts = 3", "attempts = 5")
    verdicts = [event.payload for event in events if event.kind == "verdict"]
    assert any(verdict["gate"] == "run_tests" for verdict in verdicts)
    tests_follow = "range(5)" in (workspace / "test_auth.py").read_text()
    assert (outcome.kind in ("verified", "needs_review")) is tests_follow
