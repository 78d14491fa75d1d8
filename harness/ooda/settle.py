"""From verdicts to the outcome of a turn, which must be true."""

from __future__ import annotations

from typing import TYPE_CHECKING

from harness.errors import LimitReached, ModelFailure, TurnEnd
from harness.ooda.decide import Decision
from harness.ooda.turn import OutcomeKind, Verification
from harness.workspace.changes import Changes

if TYPE_CHECKING:
    from harness.gates.values import Verdict

Settled = tuple[OutcomeKind, str]


def settle(
    changes: Changes, decision: Decision, verification: Verification, attempts: int, denied: bool
) -> Settled:
    """The outcome of a turn in which the model stopped by itself."""
    if not changes:
        if denied:
            return "denied", "nothing was changed: what the model asked for was not allowed"
        return "answered", "nothing was changed"
    changed = f"changed {listed(changes.paths)}"
    if verification.failed:
        times = "attempt" if attempts == 1 else "attempts"
        return "failed", f"not accepted after {attempts} {times}: {first_failure(verification)}"
    not_run = verification.having("could_not_run", "skipped")
    review = verification.having("needs_review")
    if not_run:
        told = "; ".join([_told(not_run + review), *decision.lost])
        return "unverified", f"{changed}, but {told}"
    if decision.lost:
        found = _told(review) if review else _passed(verification, decision)
        return "unverified", f"{changed}; {found}; but {'; '.join(decision.lost)}"
    if review:
        return "needs_review", f"{changed}; {_told(review)}"
    return "verified", f"{changed}; {_passed(verification, decision)}"


def settle_baseline(changes: Changes, denied: bool) -> Settled:
    """The outcome without observe, orient, decide and verify: what was claimed."""
    if not changes:
        return settle(changes, Decision(), Verification(), 1, denied)
    return "answered", f"changed {listed(changes.paths)}; nothing was checked (--no-ooda)"


def settle_end(end: TurnEnd, changes: Changes, verification: Verification) -> Settled:
    """The outcome of a turn that was stopped: by a limit or by the model's failure."""
    kind: OutcomeKind = "limit" if isinstance(end, LimitReached) else "model_error"
    message = " ".join(str(end).split())
    if isinstance(end, ModelFailure) and not changes:
        return kind, message
    if not changes:
        return kind, f"{message}; nothing was changed"
    if verification.failed:
        state = f"does not pass: {first_failure(verification)}"
    elif not verification.verdicts or verification.having("could_not_run", "skipped"):
        state = "is unverified"
    elif verification.having("needs_review"):
        state = f"needs review: {_told(verification.having('needs_review'))}"
    else:
        state = "passes its checks"
    return kind, f"{message}; the change of {listed(changes.paths)} {state}"


def first_failure(verification: Verification) -> str:
    """The gate, place and message of the first finding, on one line."""
    verdict = verification.having("failed")[0]
    if not verdict.findings:
        return f"{verdict.gate}: {verdict.reason}"
    finding = verdict.findings[0]
    more = len(verdict.findings) - 1
    also = f" (and {more} more)" if more else ""
    message = " ".join(finding.message.split())
    place = (
        f"{finding.where}:{finding.line}"
        if _needs_line(finding.where, finding.line)
        else finding.where
    )
    return f"{verdict.gate}: {place}: {message[:160]}{also}"


def _needs_line(where: str, line: int) -> bool:
    return line > 0 and "::" not in where


def _told(verdicts: tuple[Verdict, ...]) -> str:
    words = {
        "could_not_run": "could not run",
        "skipped": "was skipped",
        "needs_review": "needs review",
    }
    parts: list[str] = []
    for verdict in verdicts:
        if verdict.status == "needs_review" and verdict.findings:
            found = "; ".join(f"{f.where}: {f.message}" for f in verdict.findings)
            parts.append(found)
        else:
            words_for = words.get(verdict.status, "needs review")
            parts.append(f"{verdict.gate} {words_for}: {verdict.reason}")
    return "; ".join(parts)


def _passed(verification: Verification, decision: Decision) -> str:
    parts = [
        f"{verdict.gate} passed" + (f" ({verdict.summary})" if verdict.summary else "")
        for verdict in verification.verdicts
    ]
    text = ", ".join(parts) or "no gate is due for it"
    if decision.uncovered:
        text += f"; no test covers {listed(decision.uncovered)}"
    return text


def listed(paths: tuple[str, ...]) -> str:
    """At most five paths, and how many more there are."""
    shown = ", ".join(paths[:5])
    return shown if len(paths) <= 5 else f"{shown} and {len(paths) - 5} more"
