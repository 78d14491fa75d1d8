"""`--no-ooda`: orient, decide and verify replaced by nothing, so that a comparison is honest."""

from collections.abc import Sequence

from harness.model.values import Call
from harness.ooda.decide import Decision
from harness.ooda.observe import Observe
from harness.ooda.turn import Context, Turn, Verification
from harness.tools.approval import Requested, Ruling
from harness.workspace.changes import Changes, Snapshot, compare


def no_context(turn: Turn) -> Context:
    return Context()


def no_verification(turn: Turn, decision: Decision, changes: Changes) -> Verification:
    return Verification()


class NoDecision:
    """Knows what changed, and decides nothing."""

    def __init__(self, observe: Observe) -> None:
        self._observe = observe

    def start(self, now: Snapshot) -> None:
        return

    def forget(self) -> None:
        return

    def begin(self, turn: Turn) -> None:
        return

    def requested(self, call: Call, path: str) -> None:
        return

    def permission(self, requested: Requested) -> Ruling:
        return Ruling()

    def withheld(self, tool: str, paths: Sequence[str]) -> dict[str, str]:
        return {}

    def attempt(self, number: int) -> None:
        return

    def look(self, turn: Turn, origin: str) -> Changes:
        return compare(self._observe.start_of(turn), self._observe.now())

    def __call__(self, turn: Turn) -> Decision:
        return Decision()
