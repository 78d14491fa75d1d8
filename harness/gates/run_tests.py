"""The gate that the tests covering a change pass."""

from dataclasses import replace

from harness.gates import wording
from harness.gates.baseline import old_failures
from harness.gates.command import default_command, remembered_command
from harness.gates.execution import TestRun, execute
from harness.gates.feedback import compose
from harness.gates.judgement import Judgement, could_not_run, judge, judge_new
from harness.gates.report import Case
from harness.gates.values import Finding, GateContext, Verdict
from harness.process.environment import command_environment
from harness.process.interpreter import find

NAME = "run_tests"


def run_tests(targets: tuple[str, ...], context: GateContext) -> Verdict:
    """Run the test files `targets` with pytest in the workspace's own interpreter, or the
    remembered test command, and judge by the runner's report."""
    interpreter = find(context.root, context.test_command)
    environment = command_environment(context.root, context.private, interpreter)
    there = tuple(name for name in targets if (context.root / name).is_file())
    gone = tuple(name for name in targets if name not in there)
    if not there and not context.test_command:
        return _verdict(could_not_run(_nothing_to_run(gone)), None)
    if context.test_command:
        path = environment["PATH"]
        command = remembered_command(context.test_command, there, interpreter, context.root, path)
    else:
        command = default_command(there, interpreter, context.root)
    run = execute(there, command, environment, context)
    judgement = judge(run, context)
    if judgement.status == "failed" and run.report.failures:
        old = old_failures(run, environment, context)
        judgement = judge_new(run, old) if old else judgement
    return _verdict(judgement, run, gone)


def _nothing_to_run(gone: tuple[str, ...]) -> str:
    if gone:
        return f"{', '.join(gone)} is not there any more, so there is no test to run"
    return "no test file covers the change, so there is no test to run"


def _verdict(judgement: Judgement, run: TestRun | None, gone: tuple[str, ...] = ()) -> Verdict:
    findings = judgement.findings + tuple(
        Finding("warning", name, 0, "this test file is not there any more") for name in gone
    )
    if run is None:
        return Verdict(NAME, judgement.status, judgement.reason, findings=findings)
    passed = judgement.status == "passed"
    return Verdict(
        gate=NAME,
        status=judgement.status,
        reason=judgement.reason,
        summary=_summary(run, judgement.old, findings) if passed else run.report.counts,
        findings=findings,
        feedback="" if passed else _feedback(judgement, run),
        log=run.completed.log,
        command=run.command.shown,
    )


def _summary(run: TestRun, old: tuple[Case, ...], findings: tuple[Finding, ...]) -> str:
    counts = run.report.counts
    if old:
        known = {case.id for case in old}
        others = {name: case for name, case in run.report.cases.items() if name not in known}
        rest = replace(run.report, cases=others).counts
        counts = f"{rest}, {wording.failed_before(old)}"
    if not run.report.begun:
        counts = (
            "exit code 0, without a test report: judged by the exit code alone, which is weaker"
        )
    told = [finding for finding in findings if finding.message != wording.OLD]
    notes = [f"{finding.where}: {finding.message}" for finding in told]
    return "; ".join([counts, *notes])


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
