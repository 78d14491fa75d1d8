"""Whether every variable of a rule or query gets its value from somewhere."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import chain
from typing import NamedTuple

from rules.analysis.bindings import (
    aggregates_in,
    bound_names,
    group_names,
    inner_shared_names,
    names_in,
    needed_names,
    shared_names,
)
from rules.analysis.places import aggregate_span, argument_span, fault, occurrences
from rules.builtins import BUILTINS
from rules.errors import Diagnostic
from rules.source import Span
from rules.statements import Aggregate, Atom, Literal, Negation, Query, Rule
from rules.terms import Expression, Variable

UNBOUND = "is not bound by any positive condition"
NOTES = {
    "negation": UNBOUND,
    "value": UNBOUND,
    "argument": UNBOUND,
    "inner": f"{UNBOUND} between the braces",
    "group": f"{UNBOUND} outside of the braces",
}
"""What a variable is used for; where it is used for several, the last of these counts."""
ADVICE = {
    "value": "use it in a condition on facts, or write a value",
    "negation": "use it in a condition on facts, or write '_' for 'none at all'",
    "argument": "arithmetic is not solved backwards: in place of q(?x + 1) write q(?t) and "
    "?x = ?t - 1",
    "group": "bind it outside by a condition on facts; for a variable of the braces alone, "
    "choose a name that is used nowhere else in the rule",
    "inner": "use it in a condition on facts between the braces, or write a value",
}


class Use(NamedTuple):
    """A variable that must have a value, what it is used for, and in which stretch of text."""

    name: str
    role: str
    span: Span | None


def unsafe(rule: Rule) -> Iterator[Diagnostic]:
    """The first use of each variable to which nothing gives a value."""
    names = names_in(rule.head.args)
    if rule.body:
        head = partial(_atom_uses, rule.head, "value")
        yield from _scope(rule.body, names, head, shared_names(rule.body, names), None)
    elif names:
        yield from map(_in_fact, _first_uses(_atom_uses(rule.head, "value")))


def unsafe_query(query: Query) -> Iterator[Diagnostic]:
    yield from _scope(query.body, (), tuple, shared_names(query.body), None)


def _scope(
    body: Sequence[Literal],
    names: Iterable[str],
    uses: Callable[[], Iterable[Use]],
    shared: frozenset[str],
    given: frozenset[str] | None,
) -> Iterator[Diagnostic]:
    """The faults of a body and of what stands within its braces.

    `names` and `uses` are what the conclusion needs, or the term of the aggregate around the
    body; `given` are the groups of that aggregate.
    """
    known = bound_names(body, given or (), shared)
    needed = chain(names, *(needed_names(literal, shared) for literal in body))
    if not known.issuperset(needed):
        role = "value" if given is None else "inner"
        wanted = chain(uses(), *(_uses(literal, role, shared) for literal in body))
        yield from _missing([use for use in wanted if use.name not in known], body, given, shared)
    for aggregate in aggregates_in(body):
        term = () if aggregate.term is None else names_in((aggregate.term,))
        yield from _scope(
            aggregate.body,
            term,
            partial(_term_uses, aggregate, term),
            inner_shared_names(aggregate, shared),
            group_names(aggregate, shared),
        )


def _missing(
    uses: list[Use], body: Sequence[Literal], given: frozenset[str] | None, shared: frozenset[str]
) -> Iterator[Diagnostic]:
    """A result that only waits for its groups is not a fault of its own."""
    groups = {use.name for use in uses if use.role == "group"}
    known = bound_names(body, groups.union(given or ()), shared) - groups
    return map(_unbound, _first_uses(use for use in uses if use.name not in known))


def _uses(literal: Literal, role: str, shared: frozenset[str]) -> Iterator[Use]:
    """The variables of a condition which it does not bind itself."""
    if isinstance(literal, Negation):
        built_in = literal.atom.predicate in BUILTINS
        yield from _atom_uses(literal.atom, role if built_in else "negation")
    elif isinstance(literal, Aggregate):
        yield from _aggregate_uses(literal, role, shared)
    elif literal.predicate in BUILTINS:
        yield from _atom_uses(literal, role)
    else:
        for at, term in enumerate(literal.args):
            if isinstance(term, Expression):
                span = argument_span(literal, at)
                solved = "argument" if role == "value" else role
                yield from (Use(name, solved, span) for name in names_in((term,)))


def _atom_uses(atom: Atom, role: str) -> Iterator[Use]:
    for at, term in enumerate(atom.args):
        if isinstance(term, Variable | Expression):
            span = argument_span(atom, at)
            yield from (Use(name, role, span) for name in names_in((term,)))


def _aggregate_uses(aggregate: Aggregate, role: str, shared: frozenset[str]) -> Iterator[Use]:
    """A plain result is bound by the aggregate, once its groups are."""
    if isinstance(aggregate.result, Expression):
        span = aggregate_span(aggregate, 1)
        yield from (Use(name, role, span) for name in names_in((aggregate.result,)))
    groups = group_names(aggregate, shared)
    for variable in aggregate.inner_variables:
        if variable.name in groups:
            yield Use(variable.name, "group", aggregate.span)


def _term_uses(aggregate: Aggregate, names: Iterable[str]) -> list[Use]:
    return [Use(name, "inner", aggregate_span(aggregate, 2)) for name in names]


def _first_uses(uses: Iterable[Use]) -> list[Use]:
    """The first use of each name in the text, with the most telling role of them all."""
    roles = list(NOTES)
    first: dict[str, Use] = {}
    for use in map(_exact, uses):
        known = first.setdefault(use.name, use)
        role = max(known.role, use.role, key=roles.index)
        earlier = use if _start(use) < _start(known) else known
        first[use.name] = earlier._replace(role=role)
    return sorted(first.values(), key=_start)


def _exact(use: Use) -> Use:
    """The use with the place of the variable itself."""
    found = next(occurrences(use.span, use.name), None) if use.span else None
    return use._replace(span=found or use.span)


def _start(use: Use) -> int:
    return use.span.start if use.span else 0


def _unbound(use: Use) -> Diagnostic:
    return fault(use.span, "unsafe-variable", f"'{_text(use)}' {NOTES[use.role]}", ADVICE[use.role])


def _in_fact(use: Use) -> Diagnostic:
    message = f"'{_text(use)}' is a variable, and a fact has none"
    advice = f"for the string write {use.name!r} in quotes; a rule needs conditions"
    return fault(use.span, "unsafe-fact", message, advice)


def _text(use: Use) -> str:
    return use.span.text if use.span else f"?{use.name}"
