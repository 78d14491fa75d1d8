"""What aggregates within other conditions and in conclusions stand for.

`count { issue(?f, _) } > 3` is `?count_1 = count : { issue(?f, _) }, ?count_1 > 3`, and
a conclusion `n(?f, count(?l))` counts what the conditions of its rule find for each `?f`.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from rules.source import Span
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Expression, Term, Variable, named_variables


@dataclass(frozen=True, repr=False)
class Placeholder(Variable):
    """The result of an aggregate, named by its function until the whole rule has been read.

    `start` is where the aggregate stands, which tells it from the others.
    """

    start: int


class AggregateCall(NamedTuple):
    """`sum(?x)` in a conclusion; `spans` are of the whole and of the term."""

    placeholder: Placeholder
    term: Term | None
    spans: tuple[Span, Span | None]


class Renaming:
    """Gives variables names that their rule does not use."""

    def __init__(self, used: set[str]) -> None:
        self._used = set(used)
        self._numbers: dict[str, int] = {}
        self._names: dict[Variable, Variable] = {}

    def add(self, variables: Iterable[Variable]) -> None:
        for variable in variables:
            if variable not in self._names:
                self._names[variable] = Variable(self._fresh(variable.name))

    def _fresh(self, name: str) -> str:
        while True:
            number = self._numbers[name] = self._numbers.get(name, 0) + 1
            fresh = f"{name}_{number}"
            if fresh not in self._used:
                self._used.add(fresh)
                return fresh

    def next(self) -> "Renaming":
        """For other variables of the same rule."""
        return Renaming(self._used)

    def term(self, term: Term) -> Term:
        if isinstance(term, Variable):
            return self._names.get(term, term)
        if isinstance(term, Expression):
            return Expression(term.operator, self.term(term.left), self.term(term.right))
        return term

    def atom(self, atom: Atom) -> Atom:
        return Atom(atom.predicate, tuple(map(self.term, atom.args)), atom.spans)

    def literal(self, literal: Literal) -> Literal:
        if isinstance(literal, Atom):
            return self.atom(literal)
        if isinstance(literal, Negation):
            return Negation(self.atom(literal.atom), literal.span)
        term = None if literal.term is None else self.term(literal.term)
        result, body = self.term(literal.result), self.body(literal.body)
        return Aggregate(literal.function, result, term, body, literal.spans)

    def body(self, body: Iterable[Literal]) -> tuple[Literal, ...]:
        return tuple(map(self.literal, body))


def spelled_out(
    head: Atom,
    body: Iterable[Literal],
    placeholders: Iterable[Placeholder],
    calls: Iterable[AggregateCall],
    used: set[str],
) -> tuple[Atom, tuple[Literal, ...]]:
    """The rule with names for all placeholders, and with aggregates for the calls of its head."""
    renaming = Renaming(used)
    renaming.add(placeholders)
    found = renaming.body(body)
    groups = set(_named(term for term in head.args))
    inner = renaming.next()
    inner.add(v for literal in found for v in literal.variables if v not in groups)
    inner.add(v for v in _named(call.term for call in calls) if v not in groups)
    counted = inner.body(found) if calls else ()
    return renaming.atom(head), (*found, *_aggregates(calls, renaming, inner, counted))


def _named(terms: Iterable[Term | None]) -> Iterator[Variable]:
    return (v for term in terms if term is not None for v in named_variables(term))


def _aggregates(
    calls: Iterable[AggregateCall],
    renaming: Renaming,
    inner: Renaming,
    counted: tuple[Literal, ...],
) -> Iterator[Aggregate]:
    for call in calls:
        term = None if call.term is None else inner.term(call.term)
        whole, of_term = call.spans
        result = renaming.term(call.placeholder)
        yield Aggregate(call.placeholder.name, result, term, counted, (whole, whole, of_term))
