"""A program: rules, stated facts, declarations and more that have passed the checks."""

import os
from collections.abc import Callable, Iterable
from functools import cached_property

from rules.analysis import checks
from rules.analysis.rule_names import told_apart
from rules.builtins import BUILTINS
from rules.errors import MAX_DIAGNOSTICS, Diagnostic, RuleError
from rules.source import Source
from rules.statements import Atom, Declaration, Guard, Query, Rule, atoms_of
from rules.syntax.loading import Reading, read_file, read_text
from rules.terms import TIERS, Fact

_Tiered = Rule | Declaration | Guard


class Program:
    """Statements in file order. A program never changes; `extend` and others make a new one.

    Programs are equal when they say the same, wherever it was written.
    """

    def __init__(
        self,
        statements: Iterable[Rule] = (),
        declarations: Iterable[Declaration] = (),
        guards: Iterable[Guard] = (),
        queries: Iterable[Query] = (),
    ) -> None:
        """Statements are rules, and facts as rules without a body.

        Raises RuleError with every fault of a statement, and for statements that contradict.
        """
        self._parts = checks.Parts(
            told_apart(statements), tuple(declarations), tuple(guards), tuple(queries)
        )
        self._text_warnings: tuple[Diagnostic, ...] = ()
        _raise_any(checks.faults(self._parts))

    @classmethod
    def parse(cls, text: str, source: str = "<text>", tier: str = "kernel") -> "Program":
        """Read and check a text; `source` is its name in messages.

        Raises RuleError with every fault found, and nothing else whatever the text.
        """
        _check_tier(tier)
        return _checked(read_text(Source(source, text), tier))

    @classmethod
    def load(cls, path: str | os.PathLike[str], tier: str = "kernel") -> "Program":
        """Read and check a UTF-8 file and what it includes.

        Raises RuleError, and OSError if the file itself cannot be read.
        """
        _check_tier(tier)
        return _checked(read_file(os.fspath(path), tier))

    @staticmethod
    def union(programs: "Iterable[Program]") -> "Program":
        """All programs as one, in their order. Raises RuleError where they contradict."""
        parts = [each for each in programs if each._text_warnings or each._parts != checks.Parts()]
        if len(parts) == 1:
            return parts[0]
        whole = Program(
            (statement for part in parts for statement in part.statements),
            (declaration for part in parts for declaration in part.declarations),
            (guard for part in parts for guard in part.guards),
            (query for part in parts for query in part.queries),
        )
        whole._text_warnings = tuple(warning for part in parts for warning in part._text_warnings)
        return whole

    def extend(self, other: "Program") -> "Program":
        """This program followed by another. Raises RuleError where they contradict."""
        return Program.union((self, other))

    def without_tier(self, tier: str) -> "Program":
        """What is left without the rules, facts and declarations of a tier.

        Its guards stay, which other tiers have been checked against.
        """
        _check_tier(tier)
        return self._reduced(lambda rule: rule.tier != tier, lambda each: each.tier != tier)

    def without(self, names: Iterable[str]) -> "Program":
        """What is left without the rules of these names; unknown ones do not matter."""
        dropped = set(names)
        return self._reduced(
            lambda rule: not rule.body or rule.name not in dropped, lambda each: True
        )

    def _reduced(
        self, keeps: Callable[[Rule], bool], keeps_declaration: Callable[[Declaration], bool]
    ) -> "Program":
        """With fewer statements and declarations, which need no check: none depends on another
        to be right."""
        reduced = Program()
        reduced._parts = checks.Parts(
            tuple(filter(keeps, self.statements)),
            tuple(filter(keeps_declaration, self.declarations)),
            self.guards,
            self.queries,
        )
        reduced._text_warnings = self._text_warnings
        return reduced

    @property
    def statements(self) -> tuple[Rule, ...]:
        """Rules and stated facts, in file order."""
        return self._parts.statements

    @property
    def declarations(self) -> tuple[Declaration, ...]:
        return self._parts.declarations

    @property
    def guards(self) -> tuple[Guard, ...]:
        return self._parts.guards

    @property
    def queries(self) -> tuple[Query, ...]:
        return self._parts.queries

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
        arities = {each.predicate: each.arity for each in self.declarations}
        heads = [each.head for each in self.statements] + [each.atom for each in self.guards]
        bodies = [each.body for each in self.rules] + [each.body for each in self.queries]
        conditions = (atom for body in bodies for atom in atoms_of(body))
        for atom in (*heads, *conditions):
            if atom.predicate not in BUILTINS:
                arities.setdefault(atom.predicate, len(atom.args))
        return arities

    @cached_property
    def tiers(self) -> tuple[str, ...]:
        """The tiers that anything in the program has, strongest first."""
        parts: list[_Tiered] = [*self.statements, *self.declarations, *self.guards]
        found = {each.tier for each in parts}
        return tuple(tier for tier in TIERS if tier in found)

    @cached_property
    def warnings(self) -> tuple[Diagnostic, ...]:
        """What is allowed and yet likely a mistake, such as a misspelt predicate."""
        return (*self._text_warnings, *checks.warnings(self._parts))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Program):
            return NotImplemented
        return self._parts == other._parts

    def __hash__(self) -> int:
        return hash(self._parts)

    def __repr__(self) -> str:
        return f"<Program of {len(self.rules)} rules and {len(self.axioms)} facts>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, clauses: bool = False) -> str:
        """The whole program as a file, which reads as a program equal to this one.

        `clauses` prints rules in the conventional notation.
        """
        lines: list[str] = []
        tier = TIERS[0]
        parts: list[_Tiered] = [*self.declarations, *self.guards, *self.statements]
        for each in parts:
            if each.tier != tier:
                tier = each.tier
                lines.append(f"@{tier}")
            lines.append(each.as_clause() if clauses and isinstance(each, Rule) else str(each))
        return "".join(f"{line}\n" for line in (*lines, *self.queries))


def ground(atom: Atom) -> Fact:
    """The fact that an atom without variables states."""
    return Fact(atom.predicate, tuple(t for t in atom.args if isinstance(t, str | int)))


def _check_tier(tier: str) -> None:
    if tier not in TIERS:
        raise ValueError(f"unknown tier {tier!r}; tiers are {', '.join(TIERS)}")


def _checked(reading: Reading) -> Program:
    """Raises RuleError with the faults of the texts and of what they say."""
    parts = (reading.statements, reading.declarations, reading.guards, reading.queries)
    faults = reading.diagnostics
    try:
        program = Program(*parts)
    except RuleError as refused:
        faults = [*faults, *refused.diagnostics]
    _raise_any(reading.in_order(faults))
    program._text_warnings = tuple(reading.warnings)
    return program


def _raise_any(faults: list[Diagnostic]) -> None:
    if faults:
        raise RuleError(tuple(faults[:MAX_DIAGNOSTICS]))
