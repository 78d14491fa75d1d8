"""Whether `_` stands only where a value may be left open: in a condition on facts."""

from collections.abc import Iterable, Iterator

from rules.analysis.places import aggregate_span, argument_fault, fault
from rules.builtins import BUILTINS
from rules.errors import Diagnostic
from rules.statements import Aggregate, Atom, Literal, Negation, Query, Rule
from rules.terms import Expression, Term, Variable

COMPARED = "only a condition on facts may leave a value open"


def misplaced(rule: Rule) -> Iterator[Diagnostic]:
    """Each `_` in a conclusion, a built-in condition, arithmetic, or around an aggregate."""
    for at, term in enumerate(rule.head.args):
        if _has_wildcard(term):
            advice = "name the variable and bind it in a condition"
            yield argument_fault(
                rule.head, at, "wildcard-position", "has no value in a conclusion", advice
            )
    yield from _in_body(rule.body)


def misplaced_in_query(query: Query) -> Iterator[Diagnostic]:
    yield from _in_body(query.body)


def _in_body(body: Iterable[Literal]) -> Iterator[Diagnostic]:
    for literal in body:
        if isinstance(literal, Aggregate):
            yield from _in_aggregate(literal)
        else:
            yield from _in_atom(literal.atom if isinstance(literal, Negation) else literal)


def _in_atom(atom: Atom) -> Iterator[Diagnostic]:
    builtin = atom.predicate in BUILTINS
    for at, term in enumerate(atom.args):
        if (builtin or isinstance(term, Expression)) and _has_wildcard(term):
            note = "cannot be compared" if builtin else "cannot be calculated with"
            yield argument_fault(atom, at, "wildcard-position", note, COMPARED)


def _in_aggregate(aggregate: Aggregate) -> Iterator[Diagnostic]:
    for at, term in enumerate((aggregate.result, aggregate.term), 1):
        if term is not None and _has_wildcard(term):
            message = f"'_' cannot be the {'result' if at == 1 else 'term'} of an aggregate"
            advice = "name the variable; 'count' needs no term"
            yield fault(aggregate_span(aggregate, at), "wildcard-position", message, advice)
    yield from _in_body(aggregate.body)


def _has_wildcard(term: Term) -> bool:
    if not isinstance(term, Expression):
        return isinstance(term, Variable) and term.anonymous
    waiting: list[Term] = [term]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Expression):
            waiting += (term.left, term.right)
        elif isinstance(term, Variable) and term.anonymous:
            return True
    return False
