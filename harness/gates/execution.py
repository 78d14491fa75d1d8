"""One test run as a process: started so that its report can be believed, and read back."""

import contextlib
import json
import os
import shlex
import shutil
import signal
import stat
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.code.test_setup import CONFIG_FILES
from harness.gates.command import PytestCommand, ShellCommand
from harness.gates.report import Report
from harness.gates.report_fold import SIZE_LIMIT, parse
from harness.gates.values import GateContext
from harness.process.environment import fresh_bytecode, own_folder
from harness.process.run import Completed, Nudge, run
from harness.process.shell import shell_path

_RUNNER = Path(__file__).parent / "runner/mca_pytest_runner.py"
_PLUGIN = Path(__file__).parent / "runner/mca_pytest_plugin.py"
_LOGS_KEPT = 20
_FOR_READERS = ("NO_COLOR", "PAGER", "PYTHONUNBUFFERED")
"""What a command gets so that its output reads well. Tests may ask for it, and get other answers
than without us."""


@dataclass(frozen=True)
class TestRun:
    """A finished run of the test files `targets`: how the process ended and when (epoch
    seconds), what the runner reported, and where the code stood shortly before the time limit
    (a Python stack, or empty)."""

    __test__ = False

    targets: tuple[str, ...]
    command: PytestCommand | ShellCommand
    completed: Completed
    report: Report
    ended: float
    stack: str = ""


def execute(
    targets: tuple[str, ...],
    command: PytestCommand | ShellCommand,
    environment: Mapping[str, str],
    context: GateContext,
) -> TestRun:
    """Run the tests in the workspace, at most `context.seconds` long.

    `environment` is that of a command. Bytecode, caches and coverage data go to
    `context.private`, where the whole output is kept as a log.
    """
    fresh_bytecode(context.private, context.root)
    scratch = context.private / f"run-{os.urandom(6).hex()}"
    scratch.mkdir(mode=0o700, parents=True)
    variables = {name: environment[name] for name in environment if name not in _FOR_READERS}
    variables["COVERAGE_FILE"] = str(scratch / "coverage")
    try:
        if isinstance(command, PytestCommand):
            completed, report, stack = _by_runner(command, variables, context, scratch)
        else:
            completed, report, stack = _by_shell(command, variables, context, scratch)
        completed = _with_captured(completed, report.captured)
        return TestRun(targets, command, completed, report, time.time(), stack)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _with_captured(completed: Completed, captured: str) -> Completed:
    """What pytest still held of a killed run joins its output and its log."""
    if not (completed.timed_out and captured):
        return completed
    text = f"\nCaptured before it was killed:\n{captured}"
    if completed.log is not None:
        with contextlib.suppress(OSError), completed.log.open("a", errors="replace") as log:
            log.write(text)
    return replace(completed, output=completed.output + text)


def _by_runner(
    command: PytestCommand, environment: Mapping[str, str], context: GateContext, scratch: Path
) -> tuple[Completed, Report, str]:
    """pytest through our runner, which reports over an inherited descriptor without a name."""
    import tempfile

    folder = str(context.private)
    with (
        tempfile.TemporaryFile(dir=folder) as settings_file,
        tempfile.TemporaryFile(dir=folder) as report_file,
        tempfile.TemporaryFile(dir=folder) as stack_file,
    ):
        at_start, afterwards = _split(environment, command, context.root)
        settings = {
            "report": report_file.fileno(),
            "stack": stack_file.fileno(),
            "environment": afterwards,
            **_settings(command, context.root, scratch),
        }
        settings_file.write(json.dumps(settings).encode())
        settings_file.seek(0)
        completed = run(
            # unbuffered: what is killed has said what it could
            [str(command.python), "-u", *command.flags, str(_RUNNER), str(settings_file.fileno())],
            cwd=context.root,
            env=at_start,
            timeout=context.seconds,
            log=_log_path(context.private),
            pass_fds=[file.fileno() for file in (settings_file, report_file, stack_file)],
            stopped=context.stopped,
            nudge=Nudge(signal.SIGURG, max(context.seconds * 0.9, context.seconds - 2)),
        )
        stack = _content(stack_file.fileno()).decode("utf-8", "replace")
        report = parse(_content(report_file.fileno()), context.root)
    return completed, report, stack


def _settings(command: PytestCommand, root: Path, scratch: Path) -> dict[str, Any]:
    own = own_folder()
    arguments = [*command.arguments, "--color=no"]
    if not any("no:cacheprovider" in word for word in command.arguments):
        arguments += ["-o", _cache_option(scratch)]
    if not command.remembered:
        arguments += ["--continue-on-collection-errors"]
    if own in root.parents and not _has_configuration(root):
        arguments += _without_ours(root, scratch)
    return {
        "root": str(root),
        "own": "" if own == root else str(own),
        "own_names": [folder.parent.name for folder in own.glob("*/__init__.py")],
        "shown": list(command.arguments),
        "arguments": arguments,
        "partial": command.partial,
        "path": [str(root)] if command.cwd_first else [],
        "src": [] if command.remembered else _source_layout(root),
    }


def _cache_option(scratch: Path) -> str:
    """A cache that knows of no earlier run, for no option such as --last-failed to shorten
    this one."""
    return f"cache_dir={scratch / 'pytest_cache'}"


def _source_layout(root: Path) -> list[str]:
    """The folder of a src layout, which is found without being installed."""
    folder = root / "src"
    return [str(folder)] if folder.is_dir() and not (folder / "__init__.py").exists() else []


def _without_ours(root: Path, scratch: Path) -> list[str]:
    """For a workspace inside our own folder, where pytest would find our configuration."""
    empty = scratch / "pytest.ini"
    empty.write_text("[pytest]\n")
    return ["-c", str(empty), f"--rootdir={root}", f"--confcutdir={root}"]


def _has_configuration(root: Path) -> bool:
    for name in CONFIG_FILES:
        file = root / name
        if file.is_file() and (name.endswith("pytest.ini") or b"pytest" in file.read_bytes()):
            return True
    return False


def _split(
    environment: Mapping[str, str], command: PytestCommand, root: Path
) -> tuple[dict[str, str], dict[str, str]]:
    """The environment at the start, and what is added once pytest is imported.

    Until then nothing of the workspace may be importable, or its `sitecustomize.py` or
    `pytest.py` would run in place of the real one.
    """
    # with options of ours, a pytest that a test starts would not be as without us
    given = {name: environment[name] for name in environment if name != "PYTEST_ADDOPTS"}
    given.update(command.variables)
    entries = [str(root / entry) for entry in _entries(given.pop("PYTHONPATH", ""))]
    outside = [entry for entry in entries if not Path(entry).is_relative_to(root)]
    names = ("PYTHONPYCACHEPREFIX", "PYTEST_ADDOPTS")
    later = {name: given.pop(name) for name in names if name in given}
    if entries:
        later["PYTHONPATH"] = os.pathsep.join(entries)
    if outside:
        given["PYTHONPATH"] = os.pathsep.join(outside)
    return given, later


def _entries(path: str) -> list[str]:
    return [entry for entry in path.split(os.pathsep) if entry]


def _by_shell(
    command: ShellCommand, environment: Mapping[str, str], context: GateContext, scratch: Path
) -> tuple[Completed, Report, str]:
    """The command as given. pytest, where one starts inside, finds our plugin as an installed
    one and reports to a file; where the import path is reset it finds nothing and goes on."""
    report = scratch / "report.jsonl"
    plugins = _plugin_folder(scratch)
    path = os.pathsep.join([str(plugins), *_entries(environment.get("PYTHONPATH", ""))])
    completed = run(
        [shell_path(), "-c", command.shown],
        cwd=context.root,
        env={
            **environment,
            "MCA_REPORT": str(report),
            "PYTHONPATH": path,
            "PYTEST_ADDOPTS": f"-o {shlex.quote(_cache_option(scratch))}",
        },
        timeout=context.seconds,
        log=_log_path(context.private),
        stopped=context.stopped,
    )
    return completed, parse(_written(report), context.root), ""


def _written(report: Path) -> bytes:
    """What a command left there, which may be anything."""
    try:
        descriptor = os.open(report, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return _content(descriptor) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    finally:
        os.close(descriptor)


def _plugin_folder(scratch: Path) -> Path:
    """A folder that looks to Python like an installed distribution with our plugin."""
    folder = scratch / "plugins"
    described = folder / "mca_report-1.dist-info"
    described.mkdir(parents=True)
    (described / "METADATA").write_text("Metadata-Version: 2.1\nName: mca-report\nVersion: 1\n")
    (described / "entry_points.txt").write_text("[pytest11]\nmca_report = mca_pytest_plugin\n")
    shutil.copyfile(_PLUGIN, folder / _PLUGIN.name)
    return folder


def _log_path(private: Path) -> Path:
    """A new log; the oldest of many are removed."""
    folder = private / "logs"
    kept = sorted(folder.glob("run_tests-*.log"))
    for old in kept[: max(len(kept) - _LOGS_KEPT + 1, 0)]:
        old.unlink(missing_ok=True)
    stamp = time.strftime("%Y%m%d-%H%M%S")
    return folder / f"run_tests-{stamp}-{os.urandom(3).hex()}.log"


def _content(descriptor: int) -> bytes:
    size = min(os.fstat(descriptor).st_size, SIZE_LIMIT)
    return os.pread(descriptor, size, 0)
