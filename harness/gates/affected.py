"""Tests that a change merely affects, through imports: they run in the time that is left.

A failure of theirs is one like any other. What did not fit, hung or broke otherwise is told and
blocks nothing, or every edit of a central module would.
"""

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from harness.gates.baseline import old_failures
from harness.gates.blame import mentions
from harness.gates.command import PytestCommand, ShellCommand
from harness.gates.execution import TestRun, execute
from harness.gates.judgement import Judgement, failing, judge_new
from harness.gates.report import Case
from harness.gates.values import Finding, GateContext

WHERE = "affected tests"
_LEAST_SECONDS = 1.0
_TO_CONFIRM = 10.0
"""Seconds that failing tests get at least when they are run by themselves."""

Commanded = Callable[[tuple[str, ...]], PytestCommand | ShellCommand]


@dataclass(frozen=True)
class Affected:
    """What came of them: `judgement` is failed or passed, or None when nothing was shown;
    `findings` say what was not run."""

    judgement: Judgement | None = None
    run: TestRun | None = None
    findings: tuple[Finding, ...] = ()


def run_affected(
    files: tuple[str, ...],
    command: Commanded,
    environment: Mapping[str, str],
    context: GateContext,
    until: float,
) -> Affected:
    """Run the first of `files` until the time `until` (`time.monotonic()`) at the latest."""
    chosen = files[: context.most_further]
    left_out = len(files) - len(chosen)
    findings = [_not_run(left_out, files, _capped(context))] if left_out else []
    made = command(chosen) if chosen else None
    if made is None:
        return Affected(findings=tuple(findings))
    if isinstance(made, ShellCommand) or not made.partial:
        return Affected()  # the remembered command chooses by itself
    seconds = until - time.monotonic()
    if seconds < _LEAST_SECONDS:
        late = _not_run(len(files), files, "no time was left for them")
        return Affected(findings=(late,))
    run = execute(chosen, made, environment, replace(context, seconds=seconds))
    silent = _silent(run)
    if silent and _ended_early(run, seconds):
        findings.append(_not_run(len(silent), files, _ended_early(run, seconds)))
    findings += [_broken(case) for case in _unrelated(run, context)]
    return Affected(_judged(run, command, environment, context, until), run, tuple(findings))


def _judged(
    run: TestRun,
    command: Commanded,
    environment: Mapping[str, str],
    context: GateContext,
    until: float,
) -> Judgement | None:
    related = tuple(case for case in run.report.collect_errors if _is_ours(case, context))
    if run.report.failures:
        judgement = _failures(run, command, environment, context, until)
        if judgement.status == "failed":
            return judgement
    elif not related:
        return Judgement("passed") if run.report.passed else None
    else:
        judgement = Judgement("passed")
    return failing(related, run) if related else judgement


def _failures(
    run: TestRun,
    command: Commanded,
    environment: Mapping[str, str],
    context: GateContext,
    until: float,
) -> Judgement:
    """Only a run that came to its end can be compared with the start of the turn."""
    report = run.report
    if run.completed.timed_out or report.collect_errors or report.unfinished:
        files = tuple(dict.fromkeys(case.id.partition("::")[0] for case in report.failures))
        seconds = max(until - time.monotonic(), _TO_CONFIRM)
        again = execute(files, command(files), environment, replace(context, seconds=seconds))
        if again.report.failures:
            run = again
    return judge_new(run, old_failures(run, environment, context))


def _is_ours(case: Case, context: GateContext) -> bool:
    """Whether a file cannot be imported for something that this turn changed."""
    return mentions(case.text, context.modified) or any(
        re.search(rf"['\"]{re.escape(module)}['\"]", case.text)
        for path in context.modified
        for module in _modules(path)
    )


def _modules(path: str) -> list[str]:
    """What a file may be called in an import: `src/a/b.py` is `src.a.b`, `a.b` or `b`."""
    parts = PurePosixPath(path).with_suffix("").parts
    return [".".join(parts[at:]) for at in range(len(parts))] if path.endswith(".py") else []


def _unrelated(run: TestRun, context: GateContext) -> list[Case]:
    return [case for case in run.report.collect_errors if not _is_ours(case, context)]


def _broken(case: Case) -> Finding:
    return Finding("warning", case.id, case.line, "cannot be imported, not for what was changed")


def _silent(run: TestRun) -> list[str]:
    spoke = {name.partition("::")[0] for name in run.report.cases}
    spoke |= {case.id.partition("::")[0] for case in run.report.collect_errors}
    return [name for name in run.targets if name not in spoke]


def _ended_early(run: TestRun, seconds: float) -> str:
    report = run.report
    if run.completed.timed_out:
        active = (*report.running, *report.importing)
        at = f", at {active[0].id}" if active else ""
        return f"they were stopped after {seconds:.0f} s{at}"
    if run.completed.stopped or run.completed.overflowed:
        return "they were stopped"
    if report.unfinished or report.interrupted or not report.begun:
        return "pytest ended before"
    if report.exit_code in (3, 4):
        return "pytest refused to run them"
    return ""


def _capped(context: GateContext) -> str:
    return f"only the nearest {context.most_further} are (affected_tests)"


def _not_run(count: int, files: tuple[str, ...], why: str) -> Finding:
    message = f"{count} of {len(files)} test files that imports lead to were not run"
    return Finding("warning", WHERE, 0, f"{message}: {why}")
