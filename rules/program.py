"""A program: rules, stated facts and declarations that have passed the checks."""

import os
from collections.abc import Iterable
from functools import cached_property

from rules import checks
from rules.errors import MAX_DIAGNOSTICS, Diagnostic, RuleError, diagnose
from rules.filters import FILTERS
from rules.parser import Parser
from rules.source import Source, Span
from rules.terms import TIERS, Atom, Fact, Rule, Variable


class Program:
    """Statements in file order. A program never changes; `extend` and `union` make a new one."""

    def __init__(self, statements: Iterable[Rule] = (), declarations: Iterable[Atom] = ()) -> None:
        """Statements are rules, and facts as rules without a body.

        Raises RuleError with every fault of a statement, and for statements that contradict:
        a predicate with two arities, a rule name used twice.
        """
        self.statements = tuple(statements)
        self.declarations = tuple(declarations)
        _raise_any(self._faults())

    @classmethod
    def parse(cls, text: str, source: str = "<text>", tier: str = "kernel") -> "Program":
        """Read and check a text; `source` is its name in messages.

        Raises RuleError with every fault found, and nothing else whatever the text.
        """
        return _read(Source(source, text), tier)

    @classmethod
    def load(cls, path: str | os.PathLike[str], tier: str = "kernel") -> "Program":
        """Read and check a UTF-8 file. Raises RuleError, and OSError for an unreadable file."""
        with open(path, "rb") as file:
            data = file.read()
        return _read(_decoded(os.fspath(path), data), tier)

    @staticmethod
    def union(programs: "Iterable[Program]") -> "Program":
        """All programs as one, in their order. Raises RuleError where they contradict."""
        parts = tuple(programs)
        return Program(
            (statement for part in parts for statement in part.statements),
            (declaration for part in parts for declaration in part.declarations),
        )

    def extend(self, other: "Program") -> "Program":
        """This program followed by another. Raises RuleError where they contradict."""
        return Program.union((self, other))

    @cached_property
    def rules(self) -> tuple[Rule, ...]:
        """The rules, in file order."""
        return tuple(statement for statement in self.statements if statement.body)

    @cached_property
    def axioms(self) -> tuple[Rule, ...]:
        """The facts stated in files, as rules without a body, which know their place."""
        return tuple(statement for statement in self.statements if not statement.body)

    @property
    def facts(self) -> tuple[Fact, ...]:
        """The facts stated in files, each once."""
        return tuple(dict.fromkeys(ground(axiom.head) for axiom in self.axioms))

    @cached_property
    def arities(self) -> dict[str, int]:
        """Number of arguments of every predicate that occurs."""
        atoms = [atom for rule in self.statements for atom in (rule.head, *rule.body)]
        atoms += self.declarations
        return {a.predicate: len(a.args) for a in atoms if a.predicate not in FILTERS}

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is allowed and yet likely a mistake, such as a misspelt predicate."""
        unknown = checks.unknown_predicates(self.declarations, self.statements)
        return (*unknown, *checks.disguised_variables(self.statements))

    def _faults(self) -> list[Diagnostic]:
        own = [fault for rule in self.statements for fault in checks.check_rule(rule)]
        own += [fault for atom in self.declarations for fault in checks.check_declaration(atom)]
        clashes = checks.check_arities(self.declarations, self.statements)
        return [*own, *clashes, *checks.check_names(self.statements)]


def ground(atom: Atom) -> Fact:
    """The fact that an atom without variables states."""
    return Fact(atom.predicate, tuple(t for t in atom.args if not isinstance(t, Variable)))


def _read(source: Source, tier: str) -> Program:
    if tier not in TIERS:
        raise ValueError(f"unknown tier {tier!r}; tiers are {', '.join(TIERS)}")
    parser = Parser(source, tier)
    faults = parser.diagnostics
    try:
        program = Program(parser.statements, parser.declarations)
    except RuleError as refused:
        faults.extend(refused.diagnostics)
        program = Program()
    _raise_any(sorted(faults, key=lambda fault: (fault.line, fault.column)))
    return program


def _raise_any(faults: list[Diagnostic]) -> None:
    if faults:
        raise RuleError(tuple(faults[:MAX_DIAGNOSTICS]))


def _decoded(name: str, data: bytes) -> Source:
    try:
        return Source(name, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        source = Source(name, data.decode("utf-8", "replace"))
        at = len(data[: error.start].decode("utf-8").removeprefix("\ufeff"))
        note = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
        fault = diagnose(Span(source, at, at + 1), "encoding", note, "save the file as UTF-8")
        raise RuleError((fault,)) from None
