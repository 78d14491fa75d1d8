"""The gate that every modified Python file compiles.

The workspace's interpreter is the judge where it is not of our version: it may know newer
syntax than ours, or less.
"""

import stat
import sys
from pathlib import Path

from harness.gates.compile_source import problem
from harness.gates.feedback import bounded, plain
from harness.gates.values import Finding, GateContext, Verdict
from harness.process.interpreter import Interpreter, find

NAME = "syntax_check"
SIZE_LIMIT = 5 * 1024 * 1024
"""Bytes. A larger file is not read."""

_SUFFIXES = (".py", ".pyi", ".pyw")
_WIDEST = 120

_Problem = tuple[int, int, str, str]


def syntax_check(targets: tuple[str, ...], context: GateContext) -> Verdict:
    """Compile the bytes of each Python file among `targets` without running anything."""
    names = tuple(name for name in targets if name.endswith(_SUFFIXES))
    if not names:
        return Verdict(NAME, "skipped", "no Python file was changed")
    sources: dict[str, bytes] = {}
    findings: list[Finding] = []
    for name in names:
        source = _read(context.root, name)
        if isinstance(source, Finding):
            findings.append(source)
        else:
            sources[name] = source
    problems, version = _problems(sources, context)
    findings += [
        Finding("error", name, line, message) for name, (line, _, message, _) in problems.items()
    ]
    return _verdict(len(sources), findings, problems, version)


def _verdict(
    checked: int, findings: list[Finding], problems: dict[str, _Problem], version: str
) -> Verdict:
    errors = [finding for finding in findings if finding.severity == "error"]
    if errors:
        reason = f"{_place(errors[0])}: {errors[0].message}"
        feedback = bounded("\n\n".join(_shown(finding, problems) for finding in findings))
        return Verdict(NAME, "failed", reason, "", tuple(findings), feedback)
    if not checked:
        reason = "; ".join(f"{finding.where} {finding.message}" for finding in findings)
        return Verdict(NAME, "skipped", reason, "", tuple(findings))
    noun = "file compiles" if checked == 1 else "files compile"
    return Verdict(NAME, "passed", "", f"{checked} {noun} with {version}", tuple(findings))


def _read(root: Path, name: str) -> bytes | Finding:
    """The file's bytes, or the finding that says why it was not checked."""
    path = root / name
    try:
        if not path.resolve().is_relative_to(root):
            return Finding("error", name, 0, "leads outside the workspace, so it was not read")
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            return Finding("error", name, 0, "is not a regular file, so it cannot be checked")
        if found.st_size > SIZE_LIMIT:
            return Finding("warning", name, 0, "is larger than 5 MiB, so it was not checked")
        return path.read_bytes()
    except FileNotFoundError:
        return Finding("warning", name, 0, "is not there any more, so it was not checked")
    except (OSError, ValueError) as error:
        return Finding("error", name, 0, f"cannot be read: {error}")


def _problems(sources: dict[str, bytes], context: GateContext) -> tuple[dict[str, _Problem], str]:
    """What does not compile, and the words for the interpreter that said so."""
    ours = sys.version_info[:2]
    interpreter = find(context.root, context.test_command)
    if sources and interpreter.version != ours:
        theirs = _ask(interpreter, tuple(sources), context)
        if theirs is not None:
            return theirs, f"{str(interpreter.path)!r}"
    found = {name: problem(data, name) for name, data in sources.items()}
    return (
        {name: one for name, one in found.items() if one is not None},
        f"Python {ours[0]}.{ours[1]}",
    )


def _ask(
    interpreter: Interpreter, names: tuple[str, ...], context: GateContext
) -> dict[str, _Problem] | None:
    """The verdict of the workspace's own interpreter, None when it cannot give one."""
    import json

    from harness.gates import compile_source
    from harness.process.environment import command_environment
    from harness.process.run import run

    completed = run(
        [str(interpreter.path), "-I", "-S", compile_source.__file__, *names],
        cwd=context.root,
        env=command_environment(context.root, context.private, interpreter),
        timeout=min(context.seconds, 30.0),
        keep=8 * SIZE_LIMIT,
        stopped=context.stopped,
    )
    try:
        found = json.loads(completed.output) if completed.exit_code == 0 else None
    except ValueError:
        return None
    if not isinstance(found, list) or len(found) != len(names):
        return None
    return {
        name: (int(one[0]), int(one[1]), str(one[2]), str(one[3]))
        for name, one in zip(names, found, strict=True)
        if one is not None
    }


def _place(finding: Finding) -> str:
    return f"{finding.where}, line {finding.line}" if finding.line else finding.where


def _shown(finding: Finding, problems: dict[str, _Problem]) -> str:
    heading = f"{_place(finding)}: {finding.message}"
    _, column, _, source = problems.get(finding.where, (0, 0, "", ""))
    if not source.strip():
        return heading
    start = max(column - 1 - _WIDEST // 2, 0) if len(source) > _WIDEST else 0
    line = plain(source[start : start + _WIDEST])
    if not 0 < column <= len(source) + 1:
        return f"{heading}\n    {line}"
    before = line[: column - 1 - start]
    pad = "".join(char if char == "\t" else " " for char in before)
    return f"{heading}\n    {line}\n    {pad}^"
