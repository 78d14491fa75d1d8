"""Clauses by component: what is derived together, who reads what, and who concludes what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property

from rules.analysis.graph import components
from rules.analysis.stratification import generates
from rules.engine.normal import Absent, Clause, Fold, Scan, clauses, predicates
from rules.statements import Rule
from rules.terms import Row, Term, Value

INNER = -2
"""In place of the place of an aggregate within another, which never leads."""

Use = tuple[int, int]
"""A clause by its number, and the place of a step in its body (-1 for the head)."""


class Uses:
    """Places where a predicate is used, found by the constants that stand in its arguments."""

    def __init__(self) -> None:
        self._added: list[tuple[Use, Sequence[Term]]] = []
        self._of_one: dict[tuple[Value | None, ...], tuple[Use, ...]] = {}

    def add(self, use: Use, args: Sequence[Term]) -> None:
        self._added.append((use, args))

    def of(self, rows: Collection[Row]) -> list[tuple[tuple[Use, ...], Collection[Row]]]:
        """The uses that may match some of the rows, each with all of the rows that it may match.

        It is the same tuple of uses whenever the constants are the same.
        """
        tables = self._by_constant
        if not tables:
            return [(self._open, rows)]
        if len(rows) == 1:
            return [(self._of_row(next(iter(rows))), rows)]
        found: list[tuple[tuple[Use, ...], Collection[Row]]] = []
        if self._open:
            found.append((self._open, rows))
        for column, table in tables.items():
            by_value: dict[Value, list[Row]] = {}
            for row in rows:
                if row[column] in table:
                    by_value.setdefault(row[column], []).append(row)
            found += [(table[value], some) for value, some in by_value.items()]
        return found

    def _of_row(self, row: Row) -> tuple[Use, ...]:
        tables = self._by_constant
        key = tuple([row[at] if row[at] in table else None for at, table in tables.items()])
        found = self._of_one.get(key)
        if found is None:
            uses = list(self._open)
            for column, table in tables.items():
                uses += table.get(row[column], ())
            found = self._of_one[key] = tuple(sorted(uses))
        return found

    @cached_property
    def _open(self) -> tuple[Use, ...]:
        """Those without a constant."""
        return tuple(use for use, args in self._added if not _constants(args))

    @cached_property
    def _by_constant(self) -> dict[int, dict[Value, tuple[Use, ...]]]:
        """Each of the others by its constant that the fewest share, by column and value."""
        shared = Counter(constant for _, args in self._added for constant in _constants(args))
        tables: dict[int, dict[Value, tuple[Use, ...]]] = {}
        uses: dict[tuple[int, Value], list[Use]] = {}
        for use, args in self._added:
            constants = _constants(args)
            if constants:
                uses.setdefault(min(constants, key=shared.__getitem__), []).append(use)
        for (column, value), some in uses.items():
            tables.setdefault(column, {})[value] = tuple(some)
        return tables


def _constants(args: Sequence[Term]) -> list[tuple[int, Value]]:
    return [(at, term) for at, term in enumerate(args) if isinstance(term, str | int)]


class Component:
    """Predicates that depend on each other.

    `scanned`, `negated` and `concluded` hold the uses by predicate; `folds` the aggregates with
    the use of each, those within others before these. `reads` names the predicates below that
    matter to it.
    """

    def __init__(self, names: Iterable[str], numbers: Sequence[int], program: Sequence[Clause]):
        self.predicates = frozenset(names)
        self.numbers = tuple(numbers)
        self.scanned: dict[str, Uses] = {}
        self.negated: dict[str, Uses] = {}
        self.concluded: dict[str, Uses] = {}
        self.folds: list[tuple[Fold, Use]] = []
        self.reads: set[str] = set()
        for number in numbers:
            self._enter(number, program[number])
        rules = [program[number].rule for number in numbers]
        self.recursive = not self.predicates.isdisjoint(self.scanned)
        self.generates = self.recursive and generates(rules)

    def _enter(self, number: int, clause: Clause) -> None:
        self.concluded.setdefault(clause.predicate, Uses()).add((number, -1), clause.args)
        self.reads.update(name for name, _ in predicates(clause.body))
        for place, step in enumerate(clause.body):
            if isinstance(step, Scan):
                self.scanned.setdefault(step.predicate, Uses()).add((number, place), step.args)
            elif isinstance(step, Absent):
                self.negated.setdefault(step.predicate, Uses()).add((number, place), step.args)
            elif isinstance(step, Fold):
                self.folds += [(inner, (number, INNER)) for inner in _nested(step)]
                self.folds.append((step, (number, place)))


class Strata:
    """A program in components, each after those it depends on.

    `home` gives the component of a predicate, `readers` the components that a change of a
    predicate below them matters to.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.clauses = tuple(
            clause for number, rule in enumerate(rules) for clause in clauses(rule, number)
        )
        by_head: dict[str, list[int]] = {}
        for number, clause in enumerate(self.clauses):
            by_head.setdefault(clause.predicate, []).append(number)
        edges = {
            head: [name for at in numbers for name, _ in predicates(self.clauses[at].body)]
            for head, numbers in by_head.items()
        }
        self.components = [
            Component(names, sorted(at for name in names for at in by_head[name]), self.clauses)
            for names in components(by_head, edges)
        ]
        self.home: dict[str, int] = {}
        self.readers: dict[str, list[int]] = {}
        for at, component in enumerate(self.components):
            self.home.update(dict.fromkeys(component.predicates, at))
            for name in sorted(component.reads - component.predicates):
                self.readers.setdefault(name, []).append(at)


def _nested(fold: Fold) -> Iterator[Fold]:
    """The aggregates within another, the innermost first."""
    for step in fold.body:
        if isinstance(step, Fold):
            yield from _nested(step)
            yield step


def hidden(predicate: str) -> bool:
    """Whether a predicate is only a piece of a long rule, and nobody's business."""
    return predicate.startswith(" ")
