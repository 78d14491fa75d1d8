"""The loop: observe, orient, then act, decide and verify until the turn is settled."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from harness.errors import LimitReached, TurnEnd
from harness.journal import Journal
from harness.model.values import Call
from harness.ooda import prompts
from harness.ooda.act import Act
from harness.ooda.decide import Decision
from harness.ooda.limits import Limits, Meter
from harness.ooda.observe import Observe
from harness.ooda.settle import Settled, listed, settle, settle_baseline, settle_end
from harness.ooda.turn import Context, Outcome, OutcomeKind, Turn, Verification
from harness.workspace.changes import Changes, compare


class Deciding(Protocol):
    """What the loop needs of decide; see `Decide`."""

    def begin(self, turn: Turn) -> None: ...
    def requested(self, call: Call, path: str) -> None: ...
    def attempt(self, number: int) -> None: ...
    def look(self, turn: Turn, origin: str) -> Changes: ...
    def __call__(self, turn: Turn) -> Decision: ...


@dataclass(frozen=True)
class Phases:
    """The five phases. Without OODA, orient, decide and verify are those of `baseline`."""

    observe: Observe
    orient: Callable[[Turn], Context]
    act: Act
    decide: Deciding
    verify: Callable[[Turn, Decision, Changes], Verification]
    ooda: bool = True


class Loop:
    """Runs turns for one session."""

    def __init__(
        self,
        phases: Phases,
        limits: Limits,
        journal: Journal,
        path_of: Callable[[Call], str],
        denials: Callable[[], int],
    ) -> None:
        self._phases = phases
        self._limits = limits
        self._journal = journal
        self._path_of = path_of
        self._denials = denials
        self._unaccepted: dict[str, str] = {}

    def run(self, request: str) -> Outcome:
        """One turn, from the text typed to an outcome; raises nothing for what ends a turn."""
        run = self._begin()
        turn = self._observe(request)
        try:
            try:
                settled = self._pursue(turn, run)
            except TurnEnd as end:
                settled = self._end(turn, run, end)
        except KeyboardInterrupt:
            settled = self._interrupt(turn, run)
        return self._finish(run, settled)

    def _pursue(self, turn: Turn, run: "_Run") -> Settled:
        """Attempt after attempt, until one is settled."""
        self._ask(turn, self._orient(turn))
        while True:
            self._act(turn, run)
            decision = self._decide(turn, run)
            self._verify(turn, run, decision)
            if not run.verification.failed or run.attempt >= self._limits.attempts:
                return self._settle(run, decision)
            failed = run.verification.having("failed")
            self._phases.act.say(prompts.feedback(failed), "feedback")

    def _ask(self, turn: Turn, context: Context) -> None:
        """Put the request to the model; where the context is short, the code goes first."""
        entries = prompts.context(pick for pick in context.picks if pick.kind == "entry")
        shorter = prompts.request(turn.request, entries, turn.elsewhere)
        text = prompts.request(turn.request, context.text, turn.elsewhere)
        self._phases.act.say(text, "request", shorter)

    def refuse(self, failure: TurnEnd) -> Outcome:
        """The outcome of a request for which there is no model: nothing was begun."""
        run = self._begin()
        return self._finish(run, settle_end(failure, run.changes, run.verification))

    def _begin(self) -> "_Run":
        act = self._phases.act
        return _Run(Meter(self._limits, act.spent), act.requests, self._denials())

    def _observe(self, request: str) -> Turn:
        turn = self._phases.observe.begin(request)
        self._journal.emit("turn_started", turn=turn.number, request=request, branch=turn.branch)
        self._phases.decide.begin(turn)
        return turn

    def _orient(self, turn: Turn) -> Context:
        context = self._phases.orient(turn)
        picks = [
            {
                "kind": pick.kind,
                "name": pick.name,
                "reason": pick.reason,
                "score": round(pick.score, 3),
                "tokens": pick.tokens,
            }
            for pick in context.picks
        ]
        self._journal.emit("context", picks=picks, left_out=context.left_out)
        return context

    def _act(self, turn: Turn, run: "_Run") -> None:
        run.attempt += 1
        self._journal.emit("attempt_started", attempt=run.attempt)
        self._phases.decide.attempt(run.attempt)

        def before(call: Call) -> None:
            self._phases.decide.requested(call, self._path_of(call))

        def after(call: Call) -> bool:
            former = run.changes
            run.changes = self._phases.decide.look(turn, f"tool:{call.id}")
            return run.changes != former

        run.answer = self._phases.act(run.meter, before, after)

    def _decide(self, turn: Turn, run: "_Run") -> Decision:
        run.changes = self._phases.decide.look(turn, "scan")
        decision = self._phases.decide(turn)
        gates = [
            {
                "name": gate.name,
                "targets": list(gate.targets),
                "further": list(gate.further),
                "why": gate.why,
            }
            for gate in decision.gates
        ]
        self._journal.emit("gates_due", gates=gates)
        return decision

    def _verify(self, turn: Turn, run: "_Run", decision: Decision) -> None:
        """Run the gates; what changed under them meanwhile has not been verified."""
        before = self._phases.observe.last
        run.verification = self._phases.verify(turn, decision, run.changes)
        if not decision.gates:
            run.moved = ()
            return
        moved = compare(before, self._phases.observe.now())
        run.moved = tuple(path for path in moved.paths if path in before)

    def _settle(self, run: "_Run", decision: Decision) -> Settled:
        denied = self._denials() > run.denials_before
        if not self._phases.ooda:
            return settle_baseline(run.changes, denied)
        settled = settle(run.changes, decision, run.verification, run.attempt, denied)
        if run.moved and settled[0] in ("verified", "needs_review"):
            return "unverified", f"{listed(run.moved)} changed while the checks ran"
        return settled

    def _end(self, turn: Turn, run: "_Run", end: TurnEnd) -> Settled:
        """A limit still gets its changes verified; a failed model gets them told."""
        self._phases.act.repair()
        run.verification = Verification()
        decision = self._decide(turn, run)
        if isinstance(end, LimitReached) and run.changes:
            self._verify(turn, run, decision)
        return settle_end(end, run.changes, run.verification)

    def _interrupt(self, turn: Turn, run: "_Run") -> Settled:
        self._phases.act.repair()
        run.changes = self._phases.decide.look(turn, "scan")
        state = f"; the change of {listed(run.changes.paths)} is unverified" if run.changes else ""
        return "interrupted", f"stopped by Ctrl-C{state}"

    def _finish(self, run: "_Run", settled: Settled) -> Outcome:
        self._phases.observe.end()
        kind, message = settled
        self._phases.act.ended(kind)
        spent = run.meter.spent
        outcome = Outcome(
            kind=kind,
            message=message + self._left_over(kind, run.changes),
            answer=run.answer,
            changed=run.changes.paths,
            steps=run.meter.steps,
            attempts=run.attempt,
            requests=self._phases.act.requests - run.requests_before,
            prompt_tokens=spent.prompt_tokens,
            completion_tokens=spent.completion_tokens,
            cached_tokens=spent.cached_tokens,
            estimated=spent.estimated,
            cost=spent.cost,
            seconds=round(run.meter.seconds, 3),
            verdicts=run.verification.verdicts,
        )
        self._journal.emit("outcome", **as_payload(outcome))
        return outcome

    def _left_over(self, kind: OutcomeKind, changes: Changes) -> str:
        """A reminder of what earlier turns left unaccepted and nobody has changed since."""
        now = self._phases.observe.last
        if not self._phases.ooda:
            return ""
        if kind in ("verified", "needs_review", "answered", "denied"):
            old = {p: d for p, d in self._unaccepted.items() if p not in changes.paths}
            self._unaccepted = {path: d for path, d in old.items() if now.get(path, "") == d}
            paths = tuple(sorted(self._unaccepted))
            return f"; not accepted in an earlier turn: {listed(paths)}" if paths else ""
        self._unaccepted |= {path: now.get(path, "") for path in changes.paths}
        return ""


class _Run:
    """What happens in one turn."""

    def __init__(self, meter: Meter, requests_before: int, denials_before: int) -> None:
        self.meter = meter
        self.requests_before = requests_before
        self.denials_before = denials_before
        self.attempt = 0
        self.answer = ""
        self.changes = Changes()
        self.verification = Verification()
        self.moved: tuple[str, ...] = ()


def as_payload(outcome: Outcome) -> dict[str, object]:
    """The payload of an `outcome` event."""
    return {
        "kind": outcome.kind,
        "exit_code": outcome.exit_code,
        "message": outcome.message,
        "answer": outcome.answer,
        "changed": list(outcome.changed),
        "steps": outcome.steps,
        "attempts": outcome.attempts,
        "requests": outcome.requests,
        "prompt_tokens": outcome.prompt_tokens,
        "completion_tokens": outcome.completion_tokens,
        "cached_tokens": outcome.cached_tokens,
        "estimated": outcome.estimated,
        "cost": outcome.cost,
        "seconds": outcome.seconds,
    }
