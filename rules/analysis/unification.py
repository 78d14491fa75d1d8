"""Whether an atom may, or must, match the pattern of a guard."""

from collections.abc import Sequence

from rules.terms import Expression, Term, Value, Variable

Node = Value | tuple[str, str]
"""A value, or a variable by its side and name."""


def unify(pattern: Sequence[Term], args: Sequence[Term]) -> bool:
    """Whether some values of the variables make both the same.

    The two have no variables in common. Arithmetic may have any integer as its value.
    """
    if len(pattern) != len(args):
        return False
    same: dict[Node, Node] = {}
    for left, right in zip(pattern, args, strict=True):
        one, other = _node("pattern", left, same), _node("atom", right, same)
        if one is None or other is None:
            if isinstance(right, Expression) and isinstance(one, str):
                return False
        elif isinstance(one, tuple):
            if one != other:
                same[one] = other
        elif isinstance(other, tuple):
            same[other] = one
        elif one != other:
            return False
    return True


def _node(side: str, term: Term, same: dict[Node, Node]) -> Node | None:
    """What a term is known to be; None if it may be anything."""
    if isinstance(term, Expression):
        return None
    if not isinstance(term, Variable):
        return term
    if term.anonymous:
        return None
    node: Node = (side, term.name)
    while node in same:
        node = same[node]
    return node


def covers(pattern: Sequence[Term], args: Sequence[Term]) -> bool:
    """Whether the pattern matches whatever values the variables of the other have.

    The other has no `_`, as no conclusion has.
    """
    if len(pattern) != len(args):
        return False
    seen: dict[str, Term] = {}
    for wanted, term in zip(pattern, args, strict=True):
        if isinstance(wanted, Variable):
            if not wanted.anonymous and seen.setdefault(wanted.name, term) != term:
                return False
        elif wanted != term or isinstance(wanted, Expression):
            return False
    return True
