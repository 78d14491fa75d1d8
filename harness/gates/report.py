"""What the runner's report says of one test run."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

CaseOutcome = Literal["passed", "failed", "error", "skipped", "xfailed", "xpassed"]


@dataclass(frozen=True)
class Case:
    """What became of one test, or of one file that could not be collected.

    `id` and `file` are relative to the workspace. `lines` are the telling lines of the failure,
    `message` is what was raised, at `crash_file`:`crash_line`. `raised` names the exception of
    a test that was reported as passed all the same.
    """

    id: str
    outcome: CaseOutcome
    file: str = ""
    line: int = 0
    message: str = ""
    lines: tuple[str, ...] = ()
    text: str = ""
    crash_file: str = ""
    crash_line: int = 0
    raised: str = ""

    @property
    def is_failure(self) -> bool:
        return self.outcome in ("failed", "error") or self.raised != ""


@dataclass(frozen=True)
class Activity:
    """Something that had begun and not ended when the report did; `since` in epoch seconds."""

    id: str
    since: float


@dataclass(frozen=True)
class Report:
    """One test run as its runner saw it, perhaps of several pytest processes.

    `begun` counts pytest processes that were ready to read their configuration, `unfinished`
    those of them that never reported their end. `exit_code` is the last one reported.
    `captured` is what pytest held back of the output shortly before the time limit.
    """

    begun: int = 0
    unfinished: int = 0
    first: float = 0.0
    exit_code: int | None = None
    collected: tuple[str, ...] = ()
    deselected: int = 0
    cases: Mapping[str, Case] = field(default_factory=dict)
    collect_errors: tuple[Case, ...] = ()
    running: tuple[Activity, ...] = ()
    importing: tuple[Activity, ...] = ()
    no_pytest: str = ""
    raised: str = ""
    interrupted: str = ""
    captured: str = ""

    @property
    def failures(self) -> tuple[Case, ...]:
        return tuple(case for case in self.cases.values() if case.is_failure)

    @property
    def passed(self) -> int:
        return self.count("passed") + self.count("xpassed")

    @property
    def not_run(self) -> tuple[str, ...]:
        return tuple(name for name in self.collected if name not in self.cases)

    def count(self, outcome: CaseOutcome) -> int:
        cases = self.cases.values()
        return sum(1 for case in cases if case.outcome == outcome and not case.raised)

    @property
    def counts(self) -> str:
        """For example `4 passed, 1 failed`; empty when there was no test."""
        order: tuple[CaseOutcome, ...] = (
            "failed",
            "error",
            "passed",
            "skipped",
            "xfailed",
            "xpassed",
        )
        numbers = {outcome: self.count(outcome) for outcome in order}
        numbers["failed"] += sum(1 for case in self.cases.values() if case.raised)
        parts = [f"{number} {outcome}" for outcome, number in numbers.items() if number]
        if self.deselected:
            parts.append(f"{self.deselected} deselected")
        return ", ".join(parts)
