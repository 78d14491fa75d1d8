"""The order in which the conditions of a body are tried when it is asked how far they are met."""

from collections.abc import Container, Iterable, Iterator, Sequence
from heapq import heappop, heappush
from itertools import chain

from rules.analysis.equations import solved
from rules.answers.body import is_match, outer_variables
from rules.builtins import BUILTINS
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Term, Variable, named_variables


def in_order(body: Sequence[Literal], known: set[Variable]) -> list[Literal]:
    """In the order of the body, but each only when its values are known.

    An equation comes as soon as it gives a variable its value: what fails then is said of that
    value, and not of another one that the equation would refuse later.
    """
    known, waiting, done = set(known), dict(enumerate(body)), []
    outer = {*known, *outer_variables(body)}
    equations = _Equations(body)
    while waiting:
        giving = equations.giving(waiting, known)
        ready = (at for at, part in waiting.items() if _ready(part, known, outer))
        # arithmetic in a condition on facts may have to wait until it gives its own variables
        matches = (at for at, part in waiting.items() if is_match(part))
        done.append(waiting.pop(next(chain(giving, ready, matches, waiting))))
        found = [variable for variable in outer_variables(done[-1:]) if variable not in known]
        known.update(found)
        equations.tell(found)
    return done


class _Equations:
    """The equations of a body; each is looked at again when one of its variables is known."""

    def __init__(self, body: Sequence[Literal]) -> None:
        self._sides = {
            at: part.args
            for at, part in enumerate(body)
            if isinstance(part, Atom) and part.predicate == "="
        }
        self._changed = list(self._sides)  # a heap: the first of the body is the first out
        self._users: dict[Variable, list[int]] = {}
        for at, sides in self._sides.items():
            for variable in {v for side in sides for v in named_variables(side)}:
                self._users.setdefault(variable, []).append(at)

    def giving(self, waiting: Container[int], known: set[Variable]) -> Iterator[int]:
        """Where one of them stands that gives a value."""
        while self._changed:
            at = heappop(self._changed)
            left, right = self._sides[at]
            if at in waiting and solved(left, right, known):
                yield at

    def tell(self, found: Iterable[Variable]) -> None:
        for variable in found:
            for at in self._users.get(variable, ()):
                heappush(self._changed, at)


def _ready(literal: Literal, known: set[Variable], outer: set[Variable]) -> bool:
    if isinstance(literal, Aggregate):
        needed = {variable for variable in literal.inner_variables if variable in outer}
        return needed <= known and _assignable(literal.result, known)
    if isinstance(literal, Negation):
        return known.issuperset(literal.variables)
    if literal.predicate not in BUILTINS:
        return all(_assignable(term, known) for term in literal.args)
    if literal.predicate != "=":
        return known.issuperset(literal.variables)
    left, right = literal.args
    return (_is_known(left, known) and _assignable(right, known)) or (
        _is_known(right, known) and _assignable(left, known)
    )


def _is_known(term: Term, known: set[Variable]) -> bool:
    return known.issuperset(named_variables(term))


def _assignable(term: Term, known: set[Variable]) -> bool:
    return isinstance(term, Variable) or _is_known(term, known)
