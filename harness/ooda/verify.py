"""Verify: run the gates that are due, cheapest first, and collect their verdicts."""

import os
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from harness.gates.registry import ordered, run_gate
from harness.gates.values import Finding, GateContext, Verdict
from harness.journal import Journal
from harness.ooda.decide import Decision
from harness.ooda.turn import DueGate, Turn, Verification
from harness.workspace.changes import Changes, Snapshot

COVERED_BY_AUTO = "a test expectation was changed"
"""The review that `--approval auto` answers beforehand; switched-off tests are never covered."""


@dataclass(frozen=True)
class VerifySettings:
    """`test_command` gives the remembered command, or None, at the moment it is asked; `content`
    the bytes that had a hash, when they were kept; `start_of` what a turn began with;
    `most_further` how many files a gate looks at that the change merely affects."""

    root: Path
    private: Path
    seconds: float
    approval: str
    test_command: Callable[[], str | None]
    content: Callable[[str | None], bytes | None]
    start_of: Callable[[Turn], Snapshot]
    most_further: int = 50


class Verify:
    """Runs gates and journals what they say."""

    def __init__(self, settings: VerifySettings, journal: Journal) -> None:
        self._settings = settings
        self._journal = journal

    def __call__(self, turn: Turn, decision: Decision, changes: Changes) -> Verification:
        """Every due gate gets a verdict; after a failure the dearer ones are skipped."""
        context = self._context(turn, decision, changes)
        verdicts: list[Verdict] = []
        due = {gate.name: gate for gate in decision.gates}
        for gate in (due[name] for name in ordered(due)):
            failed = next((v.gate for v in verdicts if v.status == "failed"), None)
            if failed is not None and gate.name != "integrity":
                verdict = Verdict(gate.name, "skipped", f"{failed} failed first")
            else:
                verdict = self._run(gate, context)
            self._report(verdict)
            verdicts.append(verdict)
        return Verification(tuple(verdicts))

    def _context(self, turn: Turn, decision: Decision, changes: Changes) -> GateContext:
        settings = self._settings
        start = settings.start_of(turn)
        return GateContext(
            root=settings.root,
            private=settings.private,
            seconds=settings.seconds,
            test_command=settings.test_command(),
            modified=changes.paths,
            findings=decision.findings,
            before=lambda path: settings.content(start.get(path)),
            start=None if decision.commanded else start,
            began=turn.began,
            most_further=settings.most_further,
        )

    def _run(self, gate: DueGate, context: GateContext) -> Verdict:
        targets = gate.targets
        if gate.name != "integrity":
            targets = tuple(t for t in targets if os.path.exists(context.root / t))
        self._journal.emit("gate_started", gate=gate.name, targets=list(targets), command="")
        further = tuple(t for t in gate.further if os.path.exists(context.root / t))
        if gate.targets and not targets and not further:
            return Verdict(gate.name, "could_not_run", "every file it would look at was deleted")
        verdict = run_gate(gate.name, targets, replace(context, further=further))
        if gate.name == "integrity":
            verdict = self._reviewed(verdict, context.findings)
        return verdict

    def _reviewed(self, verdict: Verdict, findings: tuple[Finding, ...]) -> Verdict:
        """`--approval auto` allows changed expectations; they stay shown."""
        covered = all(finding.message.startswith(COVERED_BY_AUTO) for finding in findings)
        if verdict.status == "needs_review" and self._settings.approval == "auto" and covered:
            told = "; ".join(f"{finding.where}: {finding.message}" for finding in findings)
            summary = f"{told} (allowed by --approval auto)"
            return replace(verdict, status="passed", reason="", summary=summary)
        return verdict

    def _report(self, verdict: Verdict) -> None:
        self._journal.emit(
            "verdict",
            gate=verdict.gate,
            status=verdict.status,
            reason=verdict.reason,
            summary=verdict.summary,
            findings=[asdict(finding) for finding in verdict.findings],
            seconds=round(verdict.seconds, 3),
            log=str(verdict.log) if verdict.log else None,
            command=verdict.command,
            line=verdict.trace_line,
        )
