"""`rules check|run|why|query`: rules tried out from the command line, without a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from harness.config import LARGEST_FILE, check_size
from harness.errors import UsageError, UserError
from harness.flags import PROGRAM, rules_parser
from harness.ooda.bounds import Bounds
from harness.rulebook import faults, files
from harness.rulebook.loading import each_source_once
from harness.terminal.safe import clean, encodable
from harness.tools.base import plural
from harness.usage import RULES_HELP
from rules import Database, Diagnostic, DoesNotHold, LimitError, Program, RuleError

if TYPE_CHECKING:
    from rules.answers.absence import Absence
    from rules.answers.provenance import Proof

DOES_NOT_HOLD = 1
LIMIT_REACHED = 3


def rules_command(argv: Sequence[str], out: TextIO) -> int:
    """Run one of them; the exit code. Raises UserError with one line."""
    if "-h" in argv or "--help" in argv:
        out.write(RULES_HELP)
        return 0
    word = argv[0]
    given = rules_parser(word).parse_intermixed_args(argv[1:])
    try:
        return _COMMANDS[word](given, out)
    except LimitError as error:
        _complain(f"{PROGRAM}: {_with_option(error)}\n")
        return LIMIT_REACHED


def _with_option(error: LimitError) -> str:
    """What was exceeded, and how to raise it here: not all can be."""
    text = str(error)
    if error.rule is None:
        return text.removesuffix(", or raise the limit")
    option = f"--{error.limit.replace('_', '-')}"
    return f"{text} with {option} N" if text.endswith("raise the limit") else text


def _check(given: argparse.Namespace, out: TextIO) -> int:
    read = _read(_named(given.files))
    programs, found = read.programs, read.faults
    whole = None
    try:
        whole = Program.union([*_shipped(given.alone), *programs])
    except RuleError as error:
        found = _each_once([*found, *error.diagnostics])
    if whole is not None:
        shipped = {warning for each in _shipped(given.alone) for warning in each.warnings}
        found = _each_once([*found, *(each for each in whole.warnings if each not in shipped)])
    errors = sum(each.severity == "error" for each in found)
    if given.json:
        _write_json(out, [_as_record(each) for each in found])
    else:
        for each in found:
            _write(out, f"{faults.without_folder(str(each))}\n")
    read.raise_problem()
    if not given.json:
        count = sum(len(program.statements) for program in programs)
        # what is in a file with errors cannot be counted
        counted = "" if errors else f"{plural(count, 'statement')}, "
        warned = plural(len(found) - errors, "warning")
        _write(out, f"{counted}{plural(errors, 'error')}, {warned}\n")
    return 2 if errors else 0


def _run(given: argparse.Namespace, out: TextIO) -> int:
    database = _database(given.files, given)
    if database is None:
        return 2
    facts = database.derived()
    for name in given.predicate:
        if name not in database.program.arities:
            raise UsageError(f"--predicate {name}: no rule and no fact has this predicate")
    if given.predicate:
        facts = [fact for fact in facts if fact.predicate in given.predicate]
    if given.json:
        _write_json(out, [{"predicate": f.predicate, "args": list(f.args)} for f in facts])
        return 0
    for fact in facts:
        _write(out, f"{fact}\n")
    return 0


def _why(given: argparse.Namespace, out: TextIO) -> int:
    names = list(given.files)
    if given.fact is None and not names:
        raise UsageError(f"which fact, in which files? See {PROGRAM} rules --help")
    fact = given.fact if given.fact is not None else names.pop(0)
    database = _database(names, given)
    if database is None:
        return 2
    try:
        code, found = _explained(database, fact)
    except RuleError as error:
        raise UsageError(faults.first_of(error)) from error
    if given.json:
        _write_json(out, found.to_json())
    else:
        _write(out, f"{found.text()}\n")
    return code


def _explained(database: Database, fact: str) -> tuple[int, Proof | Absence]:
    try:
        return 0, database.why(fact)
    except DoesNotHold:
        return DOES_NOT_HOLD, database.why_not(fact)


def _query(given: argparse.Namespace, out: TextIO) -> int:
    database = _database(given.files, given)
    if database is None:
        return 2
    queries = [*database.program.queries, *given.query]
    if not queries:
        raise UsageError("no query: give one with --query, or write '?- ATOM.' in a file")
    records: list[object] = []
    for query in queries:
        text = str(query)
        try:
            answers = database.solve(query)
        except RuleError as error:
            raise UsageError(faults.first_of(error)) from error
        if given.json:
            records.append({"query": text, **answers.to_json()})
            continue
        lines = answers.text().splitlines()
        _write(out, "".join(f"{line}\n" for line in (text, *(f"  {each}" for each in lines))))
    if given.json:
        _write_json(out, records)
    return 0


_Command = Callable[[argparse.Namespace, TextIO], int]
_COMMANDS: dict[str, _Command] = {"check": _check, "run": _run, "why": _why, "query": _query}


def _database(names: Sequence[str], given: argparse.Namespace) -> Database | None:
    """The facts and conclusions of the files; None when they cannot be used, which is said."""
    read = _read(_named(names))
    found = read.faults
    try:
        if not found and read.problem is None:
            # usually the bounds of a session: what is tried out here shall do there
            program = Program.union([*_shipped(given.alone), *read.programs])
            return _bounds(given).open(program)
    except RuleError as error:
        found = [*found, *error.diagnostics]
    _complain("".join(f"{faults.without_folder(str(fault))}\n" for fault in found))
    read.raise_problem()
    return None


def _bounds(given: argparse.Namespace) -> Bounds:
    wanted = {name: getattr(given, name) for name in ("derived", "rounds", "work")}
    return Bounds(**{name: bound for name, bound in wanted.items() if bound is not None})


def _shipped(alone: bool) -> list[Program]:
    return [] if alone else [files.read(file) for file in files.shipped()]


def _named(names: Sequence[str]) -> Sequence[str]:
    if not names:
        raise UsageError(f"which files? See {PROGRAM} rules --help")
    if "" in names:
        raise UsageError("'' is no name of a file")
    if names.count("-") > 1:
        raise UsageError("standard input (-) can be read only once")
    return names


@dataclass(frozen=True)
class _Read:
    """The programs of all files that can be used, the faults of those that cannot, and the first
    problem with one that cannot even be read."""

    programs: list[Program]
    faults: list[Diagnostic]
    problem: UserError | None

    def raise_problem(self) -> None:
        if self.problem is not None:
            raise self.problem


def _read(names: Sequence[str]) -> _Read:
    programs: list[tuple[str, Program]] = []
    found: list[Diagnostic] = []
    problem: UserError | None = None
    for name in names:
        try:
            programs.append((name, _program(name)))
        except RuleError as error:
            found += error.diagnostics
        except UserError as error:
            problem = problem or error
    return _Read([each for _, each in each_source_once(programs)], _each_once(found), problem)


def _each_once(found: Sequence[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(found))


def _program(name: str) -> Program:
    if name == "-":
        return Program.parse(_standard_input(), source="<stdin>", tier="workspace")
    try:
        check_size(Path(name))
        return Program.load(name, tier="workspace")
    except OSError as error:
        raise UsageError(f"cannot read {name!r}: {error.strerror or error}") from error


def _standard_input() -> str:
    data = sys.stdin.buffer.read(LARGEST_FILE + 1) if hasattr(sys.stdin, "buffer") else b""
    if len(data) > LARGEST_FILE:
        raise UserError(f"standard input has more than {LARGEST_FILE} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"standard input is not UTF-8 (byte {error.start + 1})") from error


def _as_record(fault: Diagnostic) -> dict[str, Any]:
    return {
        "severity": fault.severity,
        "code": fault.code,
        "file": fault.source,
        "line": fault.line,
        "column": fault.column,
        "message": fault.message,
        "help": fault.help,
    }


def _write_json(out: TextIO, value: object) -> None:
    import json

    _write(out, json.dumps(value, indent=2) + "\n")


def _write(out: TextIO, text: str) -> None:
    out.write(encodable(clean(text), out.encoding))


def _complain(text: str) -> None:
    _write(sys.stderr, text)
