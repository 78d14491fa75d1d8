"""From a test run to a verdict.

The report decides. The exit code can only make it worse: a process that says 0 and has no
report, or none that ended, has shown nothing. What is not the turn's doing could not run; what
may be is failed, so that the model looks at it.
"""

import re
from dataclasses import dataclass, replace
from pathlib import Path

from harness.code.test_setup import CONFIG_FILES
from harness.gates import wording
from harness.gates.blame import mentions, not_installed
from harness.gates.command import PytestCommand, ShellCommand
from harness.gates.execution import TestRun
from harness.gates.report import Activity, Case
from harness.gates.values import Finding, GateContext, Status
from harness.gates.wording import ending, last_line
from harness.process.interpreter import Interpreter

_USAGE, _INTERNAL = 4, 3
"""Exit codes of pytest."""


@dataclass(frozen=True)
class Judgement:
    """A verdict without its presentation. `cases` are what to show of it, `old` the failures
    that the turn began with."""

    status: Status
    reason: str = ""
    findings: tuple[Finding, ...] = ()
    cases: tuple[Case, ...] = ()
    old: tuple[Case, ...] = ()


def judge(run: TestRun, context: GateContext) -> Judgement:
    """What the run shows about the test files that were its targets."""
    checks = (
        _not_started,
        _stopped,
        _late,
        _failed,
        _not_collected,
        _vanished,
        _refused,
        _cut_short,
        _without_report,
        _nothing_shown,
        _other_exit_code,
    )
    for check in checks:
        judgement = check(run, context)
        if judgement is not None:
            return judgement
    return Judgement("passed", findings=_silent_targets(run))


def judge_new(run: TestRun, old_ids: frozenset[str]) -> Judgement:
    """What a run in which tests failed shows when some of the failures are old."""
    old = tuple(case for case in run.report.failures if case.id in old_ids)
    new = tuple(case for case in run.report.failures if case.id not in old_ids)
    if new:
        return replace(failing(new, run), old=old)
    if not run.report.passed:
        return could_not_run(f"no test passed: {wording.failed_before(old)}")
    warnings = tuple(Finding("warning", case.id, case.line, wording.OLD) for case in old)
    return Judgement("passed", findings=_silent_targets(run) + warnings, old=old)


def could_not_run(reason: str) -> Judgement:
    return Judgement("could_not_run", reason)


def _not_started(run: TestRun, context: GateContext) -> Judgement | None:
    report, completed = run.report, run.completed
    if report.no_pytest and isinstance(run.command, PytestCommand):
        interpreter = Interpreter(run.command.python, "")
        return could_not_run(wording.install_pytest(interpreter, report.no_pytest))
    if completed.exit_code in (126, 127) and not report.begun:
        return could_not_run(f"{run.command.shown!r} cannot run: {last_line(completed.output)}")
    if isinstance(run.command, ShellCommand) or report.begun:
        return None
    if completed.timed_out:
        return could_not_run(f"pytest was not ready after {context.seconds:g} s")
    end = ending(completed.exit_code)
    return could_not_run(
        f"{str(run.command.python)!r} did not get as far as pytest ({end}): "
        f"{last_line(completed.output)}"
    )


def _stopped(run: TestRun, context: GateContext) -> Judgement | None:
    if run.completed.stopped:
        return could_not_run("stopped before the tests had finished")
    if run.completed.overflowed:
        return _about_running(run, "the tests printed more than 50 MB and were stopped")
    return None


def _late(run: TestRun, context: GateContext) -> Judgement | None:
    """Hanging is when one thing took most of the time; else there were too many tests."""
    if not run.completed.timed_out:
        return None
    report = run.report
    killed = f"killed after {context.seconds:g} s"
    place = wording.place_of_hang(run.stack, context.root)
    where = f" (at {place})" if place else ""
    activity = _longest(report.running, run) or _longest(report.importing, run)
    if activity is not None:
        what = activity.id if report.running else f"importing {activity.id}"
        return _about_running(run, f"{what} hangs{where}: {killed}")
    if report.failures:
        return None
    if report.begun and not report.unfinished:
        reason = f"the test process did not end after its tests ({report.counts}): {killed}"
        return Judgement("failed", reason)
    if report.collected:
        ran = f"{len(report.cases)} of {len(report.collected)} tests had run"
        return could_not_run(f"the tests took too long, {killed}: {ran}")
    doing = "pytest had not begun to run tests" if report.begun else "it was not done"
    status: Status = "failed" if mentions(place, context.modified) else "could_not_run"
    return Judgement(status, f"{run.command.shown!r} was {killed}: {doing}{where}")


def _failed(run: TestRun, context: GateContext) -> Judgement | None:
    return failing(run.report.failures, run) if run.report.failures else None


def failing(failures: tuple[Case, ...], run: TestRun) -> Judgement:
    """Failed for these cases, and for what could not be collected beside them."""
    number = len(run.report.cases)
    noun = "test" if number == 1 else "tests"
    names = ", ".join(case.id for case in failures[:3])
    more = f" and {len(failures) - 3} more" if len(failures) > 3 else ""
    reason = f"{len(failures)} of {number} {noun} failed: {names}{more}"
    cases = failures + run.report.collect_errors
    return Judgement("failed", reason, tuple(map(wording.finding, cases)), cases)


def _not_collected(run: TestRun, context: GateContext) -> Judgement | None:
    """A file that cannot be imported is a failure, unless a package is missing for it."""
    cases = run.report.collect_errors
    if run.report.exit_code == _USAGE and not cases:
        case = wording.conftest_error(run.completed.output, context.root)
        cases = (case,) if case is not None else ()
    if not cases:
        return None
    missing = [not_installed(case.text, context) for case in cases]
    if all(missing):
        python = _python_words(run)
        needs = [f"{case.id} needs {name!r}" for case, name in zip(cases, missing, strict=True)]
        counts = f" ({run.report.counts} in the rest)" if run.report.cases else ""
        return could_not_run(f"{'; '.join(needs)}, which is not installed in {python}{counts}")
    reason = f"{cases[0].id} could not be collected: {wording.short(cases[0])}"
    return Judgement("failed", reason, tuple(map(wording.finding, cases)), cases)


def _vanished(run: TestRun, context: GateContext) -> Judgement | None:
    """The process ended and pytest never said so: os._exit, a crash, a killed process."""
    report = run.report
    if not report.unfinished and not report.raised:
        return None
    end = ending(run.completed.exit_code)
    active = report.running or report.importing
    if active:
        doing = "running" if report.running else "importing"
        reason = f"the test process ended ({end}) while {doing} {active[0].id}"
        return _about_running(run, reason)
    if report.collected:
        return Judgement("failed", f"the test process ended ({end}) before pytest had finished")
    reason = f"pytest ended ({end}) while reading its configuration and conftest.py"
    if report.raised:
        reason += f": {last_line(report.raised)}"
    ours = mentions(report.raised, context.modified) or _changed_setup(context)
    return Judgement("failed" if ours else "could_not_run", reason)


def _refused(run: TestRun, context: GateContext) -> Judgement | None:
    """pytest did not accept its options, or broke."""
    code = run.report.exit_code
    if code not in (_USAGE, _INTERNAL):
        return None
    output = run.completed.output
    if code == _USAGE:
        message = wording.usage_message(output)
        reason = f"pytest refused its options or configuration: {message}"
        ours = _changed_setup(context) or mentions(message, context.modified)
    else:
        reason = f"pytest broke with an internal error: {wording.internal_message(output)}"
        ours = mentions(output, context.modified)
    return Judgement("failed" if ours else "could_not_run", reason)


def _cut_short(run: TestRun, context: GateContext) -> Judgement | None:
    report = run.report
    if not report.interrupted and not report.not_run:
        return None
    ran = len(report.collected) - len(report.not_run)
    reason = f"pytest ran {ran} of the {len(report.collected)} tests that it collected"
    if report.interrupted:
        reason += f" and stopped: {report.interrupted}"
    ours = mentions(report.interrupted, context.modified) or _changed_setup(context)
    return Judgement("failed" if ours else "could_not_run", reason)


def _without_report(run: TestRun, context: GateContext) -> Judgement | None:
    """A command that is not pytest, or hid it from us: its exit code is all there is."""
    if run.report.begun:
        return None
    code, output = run.completed.exit_code, run.completed.output
    if code != 0:
        reason = f"{run.command.shown!r} ended with {ending(code)}: {last_line(output)}"
        return Judgement("failed", reason)
    if re.search(r"^Ran 0 tests in|^NO TESTS RAN|no tests ran", output, re.MULTILINE):
        return could_not_run(f"{run.command.shown!r} ran no tests")
    return Judgement("passed")


def _nothing_shown(run: TestRun, context: GateContext) -> Judgement | None:
    report = run.report
    if not report.begun or report.passed:
        return None
    if report.deselected and not report.collected:
        reason = f"no test ran: all {report.deselected} were deselected"
    elif not report.cases:
        reason = f"pytest collected no tests with {run.command.shown!r}"
    else:
        why = next((case.text for case in report.cases.values() if case.text), "")
        reason = f"no test passed: {report.counts}" + (f" ({why})" if why else "")
    return Judgement("failed" if _changed_tests(run, context) else "could_not_run", reason)


def _other_exit_code(run: TestRun, context: GateContext) -> Judgement | None:
    code = run.completed.exit_code
    if code == 0:
        return None
    said = last_line(run.completed.output)
    return Judgement("failed", f"no test failed, but the command ended with {ending(code)}: {said}")


def _silent_targets(run: TestRun) -> tuple[Finding, ...]:
    """Warnings for the test files that had nothing to say in a run with a report."""
    if not run.report.begun:
        return ()
    spoke = {name.partition("::")[0] for name in run.report.cases}
    message = "no test ran in this file"
    return tuple(Finding("warning", name, 0, message) for name in run.targets if name not in spoke)


def _about_running(run: TestRun, reason: str) -> Judgement:
    """Failed at what was going on when the run ended, beside the failures before that."""
    report = run.report
    active = (report.running or report.importing)[:1]
    findings = tuple(Finding("error", one.id, 0, reason) for one in active)
    failures = report.failures
    return Judgement("failed", reason, findings + tuple(map(wording.finding, failures)), failures)


def _longest(activities: tuple[Activity, ...], run: TestRun) -> Activity | None:
    """The one that took at least half of the time since the first event, if there is one."""
    if not activities:
        return None
    oldest = min(activities, key=lambda activity: activity.since)
    end = run.ended
    return oldest if end - oldest.since >= 0.5 * (end - run.report.first) else None


def _changed_setup(context: GateContext) -> bool:
    """Whether this turn changed what decides how tests are collected and run."""
    names = {Path(path).name for path in context.modified}
    return bool(names & {*CONFIG_FILES, "conftest.py"})


def _changed_tests(run: TestRun, context: GateContext) -> bool:
    concerned = {*run.targets, *(name.partition("::")[0] for name in run.report.cases)}
    return bool(concerned & set(context.modified)) or _changed_setup(context)


def _python_words(run: TestRun) -> str:
    if isinstance(run.command, PytestCommand):
        return repr(str(run.command.python))
    return f"the Python of {run.command.shown!r}"
