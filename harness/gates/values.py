"""What a gate is asked and what it answers."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from harness.journal import on_a_line
from harness.workspace.changes import Snapshot

Severity = Literal["error", "warning", "note"]
Status = Literal["passed", "failed", "skipped", "could_not_run", "needs_review"]

SHORT: dict[Status, str] = {
    "passed": "pass",
    "failed": "fail",
    "skipped": "skipped",
    "could_not_run": "could not run",
    "needs_review": "needs review",
}


@dataclass(frozen=True)
class Finding:
    """One thing a gate has to say. `line` is 1-based, 0 when there is none; `where` is a
    workspace-relative path or a pytest node id."""

    severity: Severity
    where: str
    line: int
    message: str


@dataclass(frozen=True)
class Verdict:
    """A gate's result.

    `reason` says in one line why a gate was skipped, could not run or failed; `summary` is what
    to show beside a pass ("5 passed"); `feedback` is the text for the model, already bounded;
    `log` the file with the whole output.
    """

    gate: str
    status: Status
    reason: str = ""
    summary: str = ""
    findings: tuple[Finding, ...] = ()
    feedback: str = ""
    seconds: float = 0.0
    log: Path | None = None
    command: str = ""

    @property
    def trace_line(self) -> str:
        note = f" ({self.reason})" if self.reason and self.status != "failed" else ""
        return on_a_line(f"  [verify] {self.gate}: {SHORT[self.status]}{note}")


@dataclass(frozen=True)
class GateContext:
    """What every gate may use. `root` is the real path of the workspace, `private` a folder of
    ours (mode 0700) for reports and logs, `test_command` the remembered one or None, `modified`
    the paths that differ from the start of the turn, deleted ones too, and `before` what one of
    them held then, None when it was not there or nobody knows. `start` is the workspace at the
    start of the turn, which began at `began` (epoch seconds); None when it cannot be rebuilt.
    `further` is what the gate looks at besides its targets as far as there is time, at most
    `most_further` of them and the first ones first."""

    root: Path
    private: Path
    seconds: float
    test_command: str | None = None
    modified: tuple[str, ...] = ()
    findings: tuple[Finding, ...] = field(default=())
    stopped: Callable[[], bool] = lambda: False
    before: Callable[[str], bytes | None] = lambda path: None
    start: Snapshot | None = None
    began: float = 0.0
    further: tuple[str, ...] = ()
    most_further: int = 50


class Gate(Protocol):
    """One gate: a function of its targets (workspace-relative paths) and the context."""

    def __call__(self, targets: tuple[str, ...], context: GateContext) -> Verdict: ...
