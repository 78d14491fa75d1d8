"""What rule files consist of: atoms, conditions, rules, queries and directives."""

import os.path
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from rules.source import Span
from rules.terms import (
    OPERATORS,
    Term,
    Variable,
    application,
    enclosed_text,
    is_label,
    named_variables,
    quote,
    term_text,
)

AGGREGATES = ("count", "sum", "min", "max")
PLACE_NAME = "rule@"
"""Begins the name of a rule that has no label."""


def _side_text(term: Term, clause: bool) -> str:
    """A side of a comparison. In the trace notation `+` joins conditions, so that arithmetic
    stands in parentheses there."""
    return term_text(term, capitals=True) if clause else enclosed_text(term, capitals=False)


@dataclass(frozen=True, repr=False)
class Atom:
    """A condition or conclusion: a predicate, or a built-in such as `<`, and its arguments.

    `spans` tells where the atom and then each argument was written, where that is known.
    """

    predicate: str
    args: tuple[Term, ...] = ()
    spans: tuple[Span, ...] = field(default=(), compare=False)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Named variables, once for each occurrence."""
        return tuple(variable for term in self.args for variable in named_variables(term))

    @property
    def span(self) -> Span | None:
        return self.spans[0] if self.spans else None

    def __repr__(self) -> str:
        return f"<Atom {self}>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, clause: bool = False) -> str:
        """In the trace notation, or as in a clause: there a variable `X` needs no question mark,
        and arithmetic no parentheses."""
        if self.predicate in OPERATORS:
            return f" {self.predicate} ".join(_side_text(term, clause) for term in self.args)
        return application(self.predicate, [term_text(term, clause) for term in self.args])


@dataclass(frozen=True, repr=False)
class Negation:
    """Holds when nothing matches the atom, or when the built-in condition is false."""

    atom: Atom
    span: Span | None = field(default=None, compare=False)

    @property
    def variables(self) -> tuple[Variable, ...]:
        return self.atom.variables

    def __repr__(self) -> str:
        return f"<Negation {self}>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, clause: bool = False) -> str:
        text = self.atom.as_text(clause)
        return f"not ({text})" if self.atom.predicate in OPERATORS else f"not {text}"


@dataclass(frozen=True, repr=False)
class Aggregate:
    """`result = function term : { body }`.

    Variables that also occur outside of the braces are given from there and make the group; the
    others, `_` among them, range over all their values, and each combination counts. `count`
    without a term counts combinations, with one the different values of the term; `sum` adds up
    the integers among its values. Of nothing, `count` and `sum` are 0, and `min` and `max` have
    no value, so that the condition does not hold.

    `spans` tells where the whole, the result and the term were written.
    """

    function: str
    result: Term
    term: Term | None
    body: "tuple[Literal, ...]"
    spans: tuple[Span | None, ...] = field(default=(), compare=False)

    @property
    def span(self) -> Span | None:
        return self.spans[0] if self.spans else None

    @property
    def inner_variables(self) -> tuple[Variable, ...]:
        """Named variables in the term and between the braces, once for each occurrence."""
        own = () if self.term is None else tuple(named_variables(self.term))
        return (*own, *(variable for part in self.body for variable in part.variables))

    @property
    def variables(self) -> tuple[Variable, ...]:
        return (*named_variables(self.result), *self.inner_variables)

    def __repr__(self) -> str:
        return f"<Aggregate {self}>"

    def __str__(self) -> str:
        return self.as_text()

    def as_text(self, clause: bool = False) -> str:
        term = "" if self.term is None else f" {enclosed_text(self.term, clause)}"
        body = ", ".join(part.as_text(clause) for part in self.body)
        result = _side_text(self.result, clause)
        return f"{result} = {self.function}{term} : {{ {body} }}"


Literal = Atom | Negation | Aggregate


def atoms_of(body: Iterable[Literal]) -> Iterator[Atom]:
    """Atoms and built-ins in the order in which they stand, also within negation and braces."""
    for literal in body:
        if isinstance(literal, Atom):
            yield literal
        elif isinstance(literal, Negation):
            yield literal.atom
        else:
            yield from atoms_of(literal.body)


@dataclass(frozen=True, repr=False)
class Rule:
    """`body` implies `head`. A fact stated in a file is a rule with an empty body.

    Rules are equal when they say the same under the same label, wherever they were written.
    """

    head: Atom
    body: tuple[Literal, ...] = ()
    label: str = ""
    tier: str = field(default="kernel", compare=False)
    span: Span | None = field(default=None, compare=False)
    file: str = field(default="", compare=False)
    """What tells its file from others of the same base name, where a program has such."""

    @cached_property
    def name(self) -> str:
        """The label, or a name made of the place, such as `rule@team.dl:12`."""
        if self.label or self.span is None:
            return self.label or "rule"
        # a second rule on one line needs its column to have a name of its own
        column = "" if self.span.opens_line else f":{self.span.column}"
        file = self.file or os.path.basename(self.source)
        return f"{PLACE_NAME}{file}:{self.line}{column}"

    @property
    def source(self) -> str:
        return self.span.source.name if self.span else ""

    @property
    def line(self) -> int:
        return self.span.line if self.span else 0

    def __repr__(self) -> str:
        return f"<Rule {self}>"

    def __str__(self) -> str:
        return self.as_trace()

    def as_trace(self) -> str:
        """`name: p(?x) + q(?x) -> r(?x)`; a fact ends with a full stop. A name that is no plain
        word stands before the rule as `@name('...')`."""
        if not self.body:
            return f"{self.head}."
        return f"{self._prefix}{' + '.join(map(str, self.body))} -> {self.head}"

    def as_clause(self) -> str:
        """`name: r(?x) :- p(?x), q(?x).`"""
        head, *body = (part.as_text(clause=True) for part in (self.head, *self.body))
        return f"{self._prefix}{head} :- {', '.join(body)}." if body else f"{head}."

    @property
    def _prefix(self) -> str:
        if not self.label:
            return ""
        return f"{self.label}: " if is_label(self.label) else f"@name({quote(self.label)}) "


@dataclass(frozen=True, repr=False)
class Query:
    """`?- p(X), q(X, Y).`: for which values of its variables the conditions hold.

    `unwritten` are the names that results of aggregates within other conditions were given.
    """

    body: tuple[Literal, ...]
    span: Span | None = field(default=None, compare=False)
    unwritten: frozenset[Variable] = field(default=frozenset(), compare=False)

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """What an answer gives values for, in order of first use: the named variables outside of
        aggregates, and results of aggregates that were given a name in the text."""
        found: list[Variable] = []
        for part in self.body:
            outer = named_variables(part.result) if isinstance(part, Aggregate) else part.variables
            found += outer
        return tuple(dict.fromkeys(v for v in found if v not in self.unwritten))

    def __repr__(self) -> str:
        return f"<Query {self}>"

    def __str__(self) -> str:
        return f"?- {', '.join(part.as_text(clause=True) for part in self.body)}."


@dataclass(frozen=True)
class Declaration:
    """`.decl p(path: string, n: int)`; `types` holds `string`, `int` or the empty text."""

    predicate: str
    names: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    tier: str = field(default="kernel", compare=False)
    span: Span | None = field(default=None, compare=False)

    @property
    def arity(self) -> int:
        return len(self.names)

    def __str__(self) -> str:
        words = [
            f"{name}: {kind}" if kind else name
            for name, kind in zip(self.names, self.types, strict=True)
        ]
        return f".decl {self.predicate}" + (f"({', '.join(words)})" if words else "")


@dataclass(frozen=True)
class Guard:
    """`.closed permission(_, 'allow', _)`: no lower tier may conclude or state what matches.

    `.open exempt(_)`: lower tiers may, although a conclusion of this tier depends negatively,
    or through an aggregate, on the predicate.
    """

    kind: str
    atom: Atom
    tier: str = field(default="kernel", compare=False)
    span: Span | None = field(default=None, compare=False)

    def __str__(self) -> str:
        return f".{self.kind} {self.atom}"
