"""Conditions with the values put in that satisfied them."""

from collections.abc import Mapping

from rules.builtins import BUILTINS, evaluate
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Expression, Term, Value, Variable

Binding = Mapping[Variable, Value]


def put_in(literal: Literal, binding: Binding) -> Literal:
    """The literal with the values of the variables that have one.

    Arithmetic is worked out, except in built-in conditions, where it shows what was compared.
    """
    if isinstance(literal, Negation):
        return Negation(_atom(literal.atom, binding))
    if isinstance(literal, Aggregate):
        return _aggregate(literal, binding)
    return _atom(literal, binding)


def put_into(term: Term, binding: Binding) -> Term:
    """The term with values for variables, arithmetic left as it is."""
    done: list[Term] = []
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        part, operands_done = waiting.pop()
        if not isinstance(part, Expression):
            done.append(binding.get(part, part) if isinstance(part, Variable) else part)
        elif operands_done:
            right, left = done.pop(), done.pop()
            done.append(Expression(part.operator, left, right))
        else:
            waiting += ((part, True), (part.right, False), (part.left, False))
    return done.pop()


def worked_out(term: Term, binding: Binding) -> Term:
    """The value of the term; the term with values put in where it has none."""
    if not isinstance(term, Variable | Expression):
        return term
    value = evaluate(term, binding)
    return put_into(term, binding) if value is None else value


def _atom(atom: Atom, binding: Binding) -> Atom:
    put = put_into if atom.predicate in BUILTINS else worked_out
    return Atom(atom.predicate, tuple(put(term, binding) for term in atom.args))


def _aggregate(part: Aggregate, binding: Binding) -> Aggregate:
    term = None if part.term is None else put_into(part.term, binding)
    body = tuple(put_in(inner, binding) for inner in part.body)
    return Aggregate(part.function, worked_out(part.result, binding), term, body)
