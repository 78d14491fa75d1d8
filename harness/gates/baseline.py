"""Which failures are old: the failing tests are run once more against the turn's start.

Old is only what fails there in the same place with the same words. Whatever cannot be compared
is new.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from harness.gates.command import PytestCommand
from harness.gates.execution import TestRun, execute
from harness.gates.report import Case
from harness.gates.start_state import NotKnown, rebuild
from harness.gates.values import GateContext
from harness.process.environment import bytecode_folder

_LEAST_SECONDS = 10.0
_MOST_FAILURES = 200
_LONGEST = 10_000
"""Characters; a longer message may have been shortened where it differs."""
_PLAIN_OPTION = re.compile(r"-[vqsxl]+|--(verbose|quiet|exitfirst|tb=\w+)")
_ADDRESS = re.compile(r"\bat 0x[0-9a-f]+")
_OF_A_CHILD = re.compile(r"CalledProcess|return_?code|exit[ _-]?(status|code)|SystemExit", re.I)
"""A failure told by a child process, whose reason does not show."""


def old_failures(
    run: TestRun, environment: Mapping[str, str], context: GateContext
) -> frozenset[str]:
    """The node ids of the failures in `run` that the turn began with."""
    command = _command(run, context)
    suspects = [case for case in run.report.failures if _is_comparable(case, context)]
    if command is None or not suspects or len(suspects) > _MOST_FAILURES:
        return frozenset()
    folder = context.private / f"before-{os.urandom(6).hex()}"
    scratch = folder / (context.root.name or "workspace")
    try:
        folder.mkdir(mode=0o700, parents=True)
        omitted = rebuild(scratch, context)
        suspects = [case for case in suspects if not _needs(case, omitted)]
        if not suspects:
            return frozenset()
        earlier = _run_there(scratch, suspects, command, environment, run, context)
    except (NotKnown, OSError):
        return frozenset()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        mirror = bytecode_folder(context.private) / folder.relative_to(folder.anchor)
        shutil.rmtree(mirror, ignore_errors=True)
    return frozenset(
        case.id for case in suspects if _is_same(case, earlier.get(case.id), scratch, context)
    )


def _command(run: TestRun, context: GateContext) -> PytestCommand | None:
    """The command with its options and no targets; None when the runs could not be compared."""
    report, completed, command = run.report, run.completed, run.command
    if context.start is None or not isinstance(command, PytestCommand):
        return None
    killed = completed.timed_out or completed.stopped or completed.overflowed
    broken = report.collect_errors or report.unfinished or report.raised
    if killed or broken or report.interrupted or report.not_run:
        return None
    if report.exit_code != 1 or completed.exit_code != 1:
        return None
    options = tuple(word for word in command.arguments if word.startswith("-"))
    if command.variables or not all(map(_PLAIN_OPTION.fullmatch, options)):
        return None
    if _is_installed_from(context.root, command.python):
        return None
    return replace(command, arguments=options, partial=True)


def _is_installed_from(root: Path, python: Path) -> bool:
    """Whether that Python imports from the workspace wherever it runs (an editable install):
    then the copy would be tested with today's code. What cannot be read may say so, too."""
    for file in _path_files(python):
        try:
            text = file.read_text("utf-8", "replace")
        except OSError:
            return True
        if str(root) in text:
            return True
        lines = text.splitlines() if file.suffix != ".py" else []
        places = [os.path.realpath(file.parent / line.strip()) for line in lines if line.strip()]
        if any(_meet(Path(place), root) for place in places):
            return True
    return False


def _meet(place: Path, root: Path) -> bool:
    if place == Path(place.anchor) or not place.is_dir():
        return False
    return root.is_relative_to(place) or place.is_relative_to(root)


def _path_files(python: Path) -> Iterator[Path]:
    """What extends the import path: `.pth` files, and the finders of editable installs."""
    prefixes = {python.absolute().parent.parent, python.resolve().parent.parent}
    for prefix in (*sorted(prefixes), Path.home() / ".local"):
        for pattern in ("*.pth", "*.egg-link", "__editable__*.py"):
            for folder in ("site-packages", "dist-packages"):
                yield from prefix.glob(f"lib*/python*/{folder}/{pattern}")


def _is_comparable(case: Case, context: GateContext) -> bool:
    """Not a test that was edited, nor a failure whose words do not tell one from another."""
    file = case.id.partition("::")[0]
    if os.path.isabs(file) or {file, case.file} & set(context.modified):
        return False
    told = case.message.strip() and len(case.message) < _LONGEST and not case.raised
    return bool(told) and not _OF_A_CHILD.search(case.text + case.message)


def _needs(case: Case, omitted: frozenset[str]) -> bool:
    """Whether the failure speaks of something that the copy does not have."""
    words = [re.escape(name.lstrip(".")) for name in sorted(omitted)]
    return any(re.search(rf"\b{word}\b", case.text, re.IGNORECASE) for word in words)


def _run_there(
    scratch: Path,
    suspects: list[Case],
    command: PytestCommand,
    environment: Mapping[str, str],
    run: TestRun,
    context: GateContext,
) -> Mapping[str, Case]:
    seconds = max(context.seconds - run.completed.seconds, _LEAST_SECONDS)
    names = tuple(f"./{case.id}" for case in suspects)
    path = environment.get("PYTHONPATH", "").split(os.pathsep)
    moved = os.pathsep.join(_moved(Path(entry), context.root, scratch) for entry in path if entry)
    earlier = execute(
        names,
        replace(command, arguments=(*command.arguments, *names)),
        {**environment, "PYTHONPATH": moved},
        replace(context, root=scratch, seconds=seconds),
    )
    ended = not (earlier.completed.timed_out or earlier.report.unfinished)
    return earlier.report.cases if ended else {}


def _moved(place: Path, root: Path, scratch: Path) -> str:
    inside = place.is_relative_to(root)
    return str(scratch / place.relative_to(root) if inside else place)


def _is_same(now: Case, then: Case | None, scratch: Path, context: GateContext) -> bool:
    if then is None or not then.is_failure or then.outcome != now.outcome or then.raised:
        return False
    places = (str(scratch), str(context.root))
    if _words(now, *places) != _words(then, *places) or now.crash_file != then.crash_file:
        return False
    # a file that was edited may have more lines above the statement
    return now.crash_line == then.crash_line or now.crash_file in context.modified


def _words(case: Case, scratch: str, root: str) -> list[str]:
    """What was raised and by which statement, without what differs from run to run."""
    said = (case.message, *case.lines)
    return [_ADDRESS.sub("at 0x", text.replace(scratch, root)) for text in said]
