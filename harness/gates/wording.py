"""Sentences about what a test run did, for people and for the model."""

import re
import signal
from pathlib import Path

from harness.gates.feedback import plain
from harness.gates.report import Case
from harness.gates.values import Finding
from harness.process.interpreter import Interpreter

OLD = "failed before this turn too"
"""What is said of a failure that the turn began with."""
_WIDEST = 300
_FRAME = re.compile(r'^  File "(?P<file>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)


def ending(exit_code: int | None) -> str:
    """`exit code 0`, or `signal SIGSEGV` for a negative one."""
    if exit_code is None:
        return "killed"
    if exit_code >= 0:
        return f"exit code {exit_code}"
    try:
        return f"signal {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"signal {-exit_code}"


def last_line(text: str) -> str:
    lines = [line.strip("= \t") for line in plain(text).splitlines()]
    lines = [line for line in lines if line]
    return lines[-1][:_WIDEST] if lines else "it printed nothing"


def short(case: Case) -> str:
    """One line: the statement that failed and what was raised."""
    if case.raised:
        return f"reported as passed, although it raised {case.raised}"
    said = [line[1:].strip() for line in case.lines if line.startswith("E ")]
    if said and said[0].startswith('File "'):
        # a syntax error: the statement shown is the compiler's, not the one at fault
        return plain(f"{said[-1]} ({said[0]})")[:_WIDEST]
    message = case.message.strip() or "\n".join(said) or last_line(case.text)
    opening = case.lines[0] if case.lines else ""
    statement = "" if opening.startswith("E ") else opening.removeprefix(">").strip()
    first = message.splitlines()[0].strip()
    return plain(f"{statement} -> {first}" if statement else first)[:_WIDEST]


def failed_before(cases: tuple[Case, ...]) -> str:
    """How many old failures there are and the first three of their names."""
    more = f" and {len(cases) - 3} more" if len(cases) > 3 else ""
    return f"{len(cases)} {OLD}: {', '.join(case.id for case in cases[:3])}{more}"


def finding(case: Case) -> Finding:
    file, line = _place(case)
    return Finding("error", case.id, line if file == case.file else case.line, short(case))


def paragraph(case: Case) -> str:
    """The name, where it failed, and the telling lines."""
    file, line = _place(case)
    heading = f"{case.id} ({file}:{line})" if line else case.id
    if case.raised:
        return f"{heading}\n{short(case)}"
    return "\n".join([heading, *(case.lines or case.text.splitlines()[-12:])])


def _place(case: Case) -> tuple[str, int]:
    """File and line where it failed: in the workspace if the text of the failure names a place
    there, also when what was raised came from a library."""
    if case.crash_line and not Path(case.crash_file).is_absolute():
        return case.crash_file, case.crash_line
    frames = re.findall(
        r'^(?:E +File ")?([^\s"]+?)(?:", line |:)(\d+)(?::.*)?$', case.text, re.MULTILINE
    )
    own = [int(line) for file, line in frames if f"/{file}".endswith(f"/{case.file}")]
    return case.file, own[-1] if own else case.line


def install_pytest(interpreter: Interpreter, error: str) -> str:
    """What to do about an interpreter that cannot import pytest."""
    python = str(interpreter.path)
    if "No module named 'pytest'" not in error:
        return f"pytest cannot be used in {python!r}: {error}"
    command = f"{python} -m pip install pytest"
    if interpreter.made_by_uv:
        command = f"uv pip install --python {python} pytest"
    return f"pytest is not installed in {python!r}: install it with '{command}'"


def usage_message(output: str) -> str:
    """What pytest said about options or configuration that it did not take."""
    lines = plain(output).splitlines()
    said = [line for line in lines if re.match(r"ERROR: (?!usage:)|\S+: error: ", line)]
    return "; ".join(line.strip() for line in said[:3])[:_WIDEST] or last_line(output)


def internal_message(output: str) -> str:
    lines = [line for line in plain(output).splitlines() if line.startswith("INTERNALERROR>")]
    said = [line.removeprefix("INTERNALERROR>").strip() for line in lines]
    return next((line[:_WIDEST] for line in reversed(said) if line), last_line(output))


def place_of_hang(stack: str, root: Path) -> str:
    """The innermost line of the workspace in a Python stack, as `auth.py:12 in check`."""
    for frame in _FRAME.finditer(stack):
        file = Path(frame["file"])
        if file.is_relative_to(root) and "site-packages" not in file.parts:
            return f"{file.relative_to(root)}:{frame['line']} in {frame['name']}"
    return ""


def conftest_error(output: str, root: Path) -> Case | None:
    """The import error of a conftest.py, which pytest prints and does not report."""
    text = plain(output)
    found = re.search(r"^ImportError while loading conftest '(?P<path>.+)'\.$", text, re.MULTILINE)
    if found is None:
        return None
    path = Path(found["path"])
    name = str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
    details = text[found.end() :].strip("\n")
    innermost = re.split(r"^\S+:\d+: in .*\n", details, flags=re.MULTILINE)[-1]
    lines = tuple(line for line in innermost.splitlines() if line.strip())
    return Case(id=name, outcome="error", file=name, lines=lines, text=details)
