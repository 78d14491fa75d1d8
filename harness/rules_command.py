"""`rules check|run|why|query`: rules tried out from the command line, without a model."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from harness.errors import UsageError, UserError
from harness.flags import PROGRAM
from harness.ooda.bounds import Bounds
from harness.rulebook import files
from harness.rulebook.loading import each_source_once
from harness.terminal.safe import clean, encodable
from harness.tools.base import plural
from rules import Database, Diagnostic, DoesNotHold, LimitError, Program, RuleError

if TYPE_CHECKING:
    from rules.answers.absence import Absence
    from rules.answers.provenance import Proof

DOES_NOT_HOLD = 1
LIMIT_REACHED = 3
HELP = """\
usage: mini-coding-agent rules check FILE...
       mini-coding-agent rules run FILE... [--predicate NAME]
       mini-coding-agent rules why FACT FILE...
       mini-coding-agent rules query FILE... [--query '?- ATOM, ...']

Try out rule files without a model. FILE is a file of rules, and of facts to
try them on; - is standard input. The shipped rules are in force beside them,
and the files have the rights of a workspace's own: see docs/rules.md.

  check                  every error and warning, with its place
  run                    what the rules conclude, sorted
  why FACT               its proof; or, if it does not hold, what is missing
  query                  the answers to each query, those in the files too

options:
  -h, --help             show this help
  --alone                without the shipped rules
  --json                 for programs
  --predicate NAME       run: only facts of this predicate (may be repeated)
  --fact FACT            why: the fact, when all else are files
  --query QUERY          query: a question (may be repeated)

exit codes:
  0 done, no errors      1 why: the fact does not hold
  2 usage, or rules that cannot be used      3 the rules conclude without end
"""


def rules_command(argv: Sequence[str], out: TextIO) -> int:
    """Run one of them; the exit code. Raises UserError with one line."""
    if "-h" in argv or "--help" in argv:
        out.write(HELP)
        return 0
    word = argv[0]
    given = _parser(word).parse_intermixed_args(argv[1:])
    try:
        return _COMMANDS[word](given, out)
    except LimitError as error:
        _complain(f"{PROGRAM}: {error}\n")
        return LIMIT_REACHED


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{PROGRAM} rules: {message} (see {PROGRAM} rules --help)\n")


def _parser(word: str) -> argparse.ArgumentParser:
    made = _Parser(prog=f"{PROGRAM} rules {word}", add_help=False, allow_abbrev=False)
    made.add_argument("files", nargs="*")
    made.add_argument("--alone", action="store_true")
    made.add_argument("--json", action="store_true")
    if word == "run":
        made.add_argument("--predicate", action="append", default=[])
    elif word == "why":
        made.add_argument("--fact")
    elif word == "query":
        made.add_argument("--query", action="append", default=[])
    return made


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
            _write(out, f"{each}\n")
    read.raise_problem()
    if not given.json:
        count = sum(len(program.statements) for program in programs)
        warned = plural(len(found) - errors, "warning")
        _write(out, f"{plural(count, 'statement')}, {plural(errors, 'error')}, {warned}\n")
    return 2 if errors else 0


def _run(given: argparse.Namespace, out: TextIO) -> int:
    database = _database(given.files, given.alone)
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
    database = _database(names, given.alone)
    if database is None:
        return 2
    try:
        code, found = _explained(database, fact)
    except RuleError as error:
        raise UsageError(error.first_line) from error
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
    database = _database(given.files, given.alone)
    if database is None:
        return 2
    queries = [*map(str, database.program.queries), *given.query]
    if not queries:
        raise UsageError("no query: give one with --query, or write '?- ATOM.' in a file")
    records: list[object] = []
    for text in queries:
        try:
            answers = database.solve(text)
        except RuleError as error:
            raise UsageError(error.first_line) from error
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


def _database(names: Sequence[str], alone: bool) -> Database | None:
    """The facts and conclusions of the files; None when they cannot be used, which is said."""
    read = _read(_named(names))
    faults = read.faults
    try:
        if not faults and read.problem is None:
            # the bounds of a session: what is tried out here shall do there
            program = Program.union([*_shipped(alone), *read.programs])
            return Bounds().open(program)
    except RuleError as error:
        faults = [*faults, *error.diagnostics]
    _complain("".join(f"{fault}\n" for fault in faults))
    read.raise_problem()
    return None


def _shipped(alone: bool) -> list[Program]:
    return [] if alone else [files.read(file) for file in files.shipped()]


def _named(names: Sequence[str]) -> Sequence[str]:
    if not names:
        raise UsageError(f"which files? See {PROGRAM} rules --help")
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
    faults: list[Diagnostic] = []
    problem: UserError | None = None
    for name in names:
        try:
            programs.append((name, _program(name)))
        except RuleError as error:
            faults += error.diagnostics
        except UserError as error:
            problem = problem or error
    return _Read([each for _, each in each_source_once(programs)], _each_once(faults), problem)


def _each_once(faults: Sequence[Diagnostic]) -> list[Diagnostic]:
    return list(dict.fromkeys(faults))


def _program(name: str) -> Program:
    if name == "-":
        return Program.parse(_standard_input(), source=_source(name), tier="workspace")
    try:
        files.check_size(Path(name))
        return Program.load(name, tier="workspace")
    except OSError as error:
        raise UsageError(f"cannot read {name!r}: {error.strerror or error}") from error


def _standard_input() -> str:
    data = sys.stdin.buffer.read(files.MOST_BYTES + 1) if hasattr(sys.stdin, "buffer") else b""
    if len(data) > files.MOST_BYTES:
        raise UserError(f"standard input has more than {files.MOST_BYTES} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"standard input is not UTF-8 (byte {error.start + 1})") from error


def _source(name: str) -> str:
    return "<stdin>" if name == "-" else name


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
