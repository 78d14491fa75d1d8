"""What types the conditions and the conclusion of a rule ask of their terms."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import count
from typing import NamedTuple

from rules.analysis.bindings import group_names, inner_shared_names
from rules.analysis.places import aggregate_span, argument_span, place_of
from rules.source import Span
from rules.statements import Aggregate, Atom, Declaration, Literal, Negation
from rules.terms import Expression, Term, Variable

TEXT_BUILTINS = frozenset({"starts_with", "ends_with", "contains", "matches", "path_in", "glob"})
Reason = str | tuple[Declaration, int]


class Scope(NamedTuple):
    """A rule outside of all braces, or one pair of braces with what it gets from around it."""

    number: int = 0
    groups: frozenset[str] = frozenset()
    around: "Scope | None" = None

    def key(self, name: str) -> str:
        """A name that tells apart variables of one name in different braces."""
        scope = self
        while scope.around is not None and name in scope.groups:
            scope = scope.around
        return f"{name} {scope.number}"


OUTSIDE = Scope()


class Need(NamedTuple):
    """A term that has to be an `int` or a `string`, or, of no type, the same as another term."""

    type: str
    term: Term
    scope: Scope
    reason: Reason
    span: Span | None
    other: Term | None = None
    other_scope: Scope = OUTSIDE

    @property
    def why(self) -> str:
        if isinstance(self.reason, str):
            return self.reason
        declaration, at = self.reason
        name, place = declaration.names[at], place_of(declaration.span)
        return f"argument {at + 1} ({name}) of '{declaration.predicate}' is declared so{place}"


class Needs:
    """Reads rules; `declared` holds the declarations that have types and bind the rules."""

    def __init__(self, declared: Mapping[str, Declaration]) -> None:
        self.declared = declared
        self._numbers = count(1)

    def of_body(
        self, body: Iterable[Literal], shared: frozenset[str], scope: Scope = OUTSIDE
    ) -> Iterator[Need]:
        for literal in body:
            if isinstance(literal, Aggregate):
                yield from self._of_aggregate(literal, shared, scope)
            elif isinstance(literal, Negation):
                # what has no value only makes it hold
                yield from self._of_declared(literal.atom, scope)
            elif literal.predicate == "=" and len(literal.args) == 2:
                yield from _of_equation(literal, scope)
            else:
                yield from self.of_atom(literal, scope)

    def of_atom(self, atom: Atom, scope: Scope = OUTSIDE) -> Iterator[Need]:
        yield from self._of_declared(atom, scope)
        if atom.predicate in TEXT_BUILTINS:
            reason = f"'{atom.predicate}' is about strings"
            for at, term in enumerate(atom.args):
                yield Need("string", term, scope, reason, argument_span(atom, at))
        for at, term in enumerate(atom.args):
            if isinstance(term, Expression):
                yield from _of_operands(term, scope, argument_span(atom, at))

    def _of_declared(self, atom: Atom, scope: Scope) -> Iterator[Need]:
        declaration = self.declared.get(atom.predicate)
        if declaration is not None:
            for at, (term, kind) in enumerate(zip(atom.args, declaration.types, strict=False)):
                if kind:
                    yield Need(kind, term, scope, (declaration, at), argument_span(atom, at))

    def _of_aggregate(
        self, aggregate: Aggregate, shared: frozenset[str], scope: Scope
    ) -> Iterator[Need]:
        within = Scope(next(self._numbers), group_names(aggregate, shared), scope)
        yield from self.of_body(aggregate.body, inner_shared_names(aggregate, shared), within)
        result, term, function = aggregate.result, aggregate.term, aggregate.function
        at, of = aggregate_span(aggregate, 1), aggregate_span(aggregate, 2)
        if isinstance(result, Expression):
            yield from _of_operands(result, scope, at)
        if isinstance(term, Expression):
            yield from _of_operands(term, within, of)
        if function in {"count", "sum"}:
            yield Need("int", result, scope, f"'{function}' gives an integer", at)
        elif term is not None:
            reason = f"'{function}' gives one of the values of its term"
            yield Need("", result, scope, reason, aggregate.span, term, within)
        if function == "sum" and term is not None:
            yield Need("int", term, within, "'sum' adds up integers", of)


def _of_equation(equation: Atom, scope: Scope) -> Iterator[Need]:
    left, right = equation.args
    for at, term in enumerate(equation.args):
        if isinstance(term, Expression):
            yield from _of_operands(term, scope, argument_span(equation, at))
    yield Need("", left, scope, "'=' compares them", equation.span, right, scope)


def _of_operands(expression: Expression, scope: Scope, span: Span | None) -> Iterator[Need]:
    waiting = [expression]
    while waiting:
        expression = waiting.pop()
        for term in (expression.left, expression.right):
            if isinstance(term, Expression):
                waiting.append(term)
            else:
                reason = f"'{expression.operator}' calculates with integers"
                yield Need("int", term, scope, reason, span)


def variable_key(term: Term | None, scope: Scope) -> str:
    """The key of a named variable; nothing for all other terms."""
    if isinstance(term, Variable) and not term.anonymous:
        return scope.key(term.name)
    return ""
