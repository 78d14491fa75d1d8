"""Equations, solved for the one variable in them that has no value yet."""

from collections.abc import Container

from rules.terms import Expression, Term, Variable, named_variables


def solved(left: Term, right: Term, bound: Container[Variable]) -> tuple[Variable, Term] | None:
    """The variable that an equation gives a value to, and what has that value.

    Besides `X = term` this finds `X` in `term = X + term` and its like: there `X` is bound by a
    condition on facts too, but knowing its value first makes that condition a look-up.
    """
    for side, other in ((left, right), (right, left)):
        if _is_known(other, bound):
            found = _unknown(side, other, bound)
            if found is not None:
                return found
    return None


def _unknown(side: Term, value: Term, bound: Container[Variable]) -> tuple[Variable, Term] | None:
    """Solve `side = value` for the one variable of the side that is not bound."""
    while isinstance(side, Expression):
        operator, left, right = side.operator, side.left, side.right
        if operator not in {"+", "-"}:
            return None
        if _is_known(right, bound):
            side, value = left, Expression("-" if operator == "+" else "+", value, right)
        elif not _is_known(left, bound):
            return None
        elif operator == "+":
            side, value = right, Expression("-", value, left)
        else:
            side, value = right, Expression("-", left, value)
    if isinstance(side, Variable) and side not in bound:
        return side, value
    return None


def _is_known(term: Term, bound: Container[Variable]) -> bool:
    return all(variable in bound for variable in named_variables(term))
