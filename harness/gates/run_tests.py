"""The gate that the tests covering a change pass."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial

from harness.gates import wording
from harness.gates.affected import Affected, run_affected
from harness.gates.baseline import old_failures
from harness.gates.command import (
    PytestCommand,
    ShellCommand,
    default_command,
    remembered_command,
)
from harness.gates.execution import TestRun, execute
from harness.gates.feedback import compose
from harness.gates.judgement import Judgement, could_not_run, judge, judge_new
from harness.gates.report import Case
from harness.gates.test_files import TestFiles, sort_out
from harness.gates.values import Finding, GateContext, Verdict
from harness.process.environment import command_environment
from harness.process.interpreter import Interpreter, find

NAME = "run_tests"
_LONGEST = 200
"""Characters of a name that a rule made up."""


def run_tests(targets: tuple[str, ...], context: GateContext) -> Verdict:
    """Run the test files `targets` with pytest in the workspace's own interpreter, or the
    remembered test command, and judge by the runner's report. When they pass, those run that
    the change merely affects, in the time that is left."""
    until = time.monotonic() + context.seconds
    interpreter = find(context.root, context.test_command)
    environment = command_environment(context.root, context.private, interpreter)
    command = partial(_command, interpreter, environment, context)
    chosen = sort_out(targets, context.root)
    further = sort_out(context.further, context.root).files
    further = tuple(name for name in further if name not in chosen.files)
    outcome = _Outcome(chosen)
    if chosen.files or context.test_command:
        run = execute(chosen.files, command(chosen.files), environment, context)
        judgement = _judged(run, environment, context)
        outcome = replace(outcome, run=run, judgement=judgement)
        if isinstance(run.command, ShellCommand):
            outcome = replace(outcome, chosen=replace(chosen, refused=()))
        if not chosen.files or judgement.status != "passed":
            return outcome.verdict()  # without files, the command has run all there is
    if further:
        affected = run_affected(further, command, environment, context, until)
        outcome = replace(outcome, affected=affected)
    return outcome.verdict()


def _command(
    interpreter: Interpreter,
    environment: Mapping[str, str],
    context: GateContext,
    files: tuple[str, ...],
) -> PytestCommand | ShellCommand:
    if not context.test_command:
        return default_command(files, interpreter, context.root)
    path = environment["PATH"]
    return remembered_command(context.test_command, files, interpreter, context.root, path)


def _judged(run: TestRun, environment: Mapping[str, str], context: GateContext) -> Judgement:
    judgement = judge(run, context)
    if judgement.status == "failed" and run.report.failures:
        old = old_failures(run, environment, context)
        judgement = judge_new(run, old) if old else judgement
    return judgement


@dataclass(frozen=True)
class _Outcome:
    """What there is to say in the end."""

    chosen: TestFiles
    run: TestRun | None = None
    judgement: Judgement | None = None
    affected: Affected = field(default_factory=Affected)

    def verdict(self) -> Verdict:
        judgement, run = self._decisive()
        refused = self.chosen.refused
        if refused and judgement.status == "passed" and run is not None:
            counts = run.report.counts
            reason = f"{_not_tests(refused)} (in the rest: {counts})"
            judgement = replace(judgement, status="could_not_run", reason=reason)
        findings = judgement.findings + self._remarks()
        if run is None:
            return Verdict(NAME, judgement.status, judgement.reason, findings=findings)
        passed = judgement.status == "passed"
        return Verdict(
            gate=NAME,
            status=judgement.status,
            reason=judgement.reason,
            summary=self._summary(run, judgement, findings) if passed else run.report.counts,
            findings=findings,
            feedback="" if passed else _feedback(judgement, run),
            log=run.completed.log,
            command=run.command.shown,
        )

    def _decisive(self) -> tuple[Judgement, TestRun | None]:
        """The judgement that counts and the run it is of: a failure goes before all else."""
        affected = self.affected
        shown = affected.judgement
        if shown is not None and (shown.status == "failed" or self.judgement is None):
            return shown, affected.run
        if self.judgement is not None:
            return self.judgement, self.run
        if affected.run is not None or affected.findings:
            return could_not_run("no test of those that the change affects has passed"), None
        return could_not_run(_nothing_to_run(self.chosen)), None

    def _remarks(self) -> tuple[Finding, ...]:
        gone, refused = self.chosen.gone, self.chosen.refused
        told = [*((name, "this test file is not there any more") for name in gone)]
        told += [(name, "no test file of this workspace: it was not run") for name in refused]
        also = self.affected.judgement
        old = (
            also.findings if also is not None and self.judgement and also.status == "passed" else ()
        )
        remarks = tuple(Finding("warning", name[:_LONGEST], 0, message) for name, message in told)
        return remarks + old + self.affected.findings

    def _summary(self, run: TestRun, judgement: Judgement, findings: tuple[Finding, ...]) -> str:
        summary = _counts(run, judgement.old)
        also = self.affected
        if also.judgement is not None and also.run is not None and also.run is not run:
            more = _counts(also.run, also.judgement.old)
            summary += f", and of the tests that imports lead to {more}"
        told = [finding for finding in findings if finding.message != wording.OLD]
        return "; ".join([summary, *(f"{each.where}: {each.message}" for each in told)])


def _not_tests(names: tuple[str, ...]) -> str:
    shown = ", ".join(repr(name[:_LONGEST]) for name in names[:3])
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    are = "is no test file" if len(names) == 1 else "are no test files"
    return f"{shown}{more} {are} of this workspace"


def _nothing_to_run(chosen: TestFiles) -> str:
    if chosen.refused:
        return f"{_not_tests(chosen.refused)}, so there is no test to run"
    if chosen.gone:
        return f"{', '.join(chosen.gone)} is not there any more, so there is no test to run"
    return "no test file covers the change, so there is no test to run"


def _counts(run: TestRun, old: tuple[Case, ...]) -> str:
    if not run.report.begun:
        return "exit code 0, without a test report: judged by the exit code alone, which is weaker"
    if not old:
        return run.report.counts
    known = {case.id for case in old}
    others = {name: case for name, case in run.report.cases.items() if name not in known}
    return f"{replace(run.report, cases=others).counts}, {wording.failed_before(old)}"


def _feedback(judgement: Judgement, run: TestRun) -> str:
    counts = f" ({run.report.counts})" if run.report.counts else ""
    log = run.completed.log
    old = f"\nnot yours: {wording.failed_before(judgement.old)}" if judgement.old else ""
    return compose(
        f"{run.command.shown}{counts}\n{judgement.reason}{old}",
        [wording.paragraph(case) for case in judgement.cases],
        run.completed.output,
        f"Whole log: {log}" if log is not None else "",
    )
