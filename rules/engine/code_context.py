"""What generated functions work on, and how they stop when it becomes too much."""

from __future__ import annotations

from collections.abc import Callable

from rules.builtins import calculate
from rules.engine.folds import FoldState
from rules.engine.normal import Fold
from rules.engine.ordering import RelationOf
from rules.terms import Value

_FEW_BITS = 1024
_BITS_OF_A_ROW = 17
"""Looking at a row takes about as long as multiplying 2**17 pairs of bits."""


class Context:
    """What functions are made for: where relations and aggregates live, and what is metered.

    `component` holds the predicates that are derived together with the head; `room` and `meter`
    hold how many rows may still be concluded, and looked at.
    """

    def __init__(
        self,
        relation_of: RelationOf,
        fold_of: Callable[[Fold], FoldState],
        component: frozenset[str],
        room: list[int],
        meter: list[int] | None,
    ) -> None:
        self.relation_of = relation_of
        self.fold_of = fold_of
        self.component = component
        self.room = room
        self.meter = meter

    def spend(self, rows: int) -> None:
        """Count work that takes as long as looking at so many rows. Raises Exhausted."""
        if self.meter is not None:
            self.meter[0] -= rows
            if self.meter[0] < 0:
                raise Exhausted

    def fits(self, kind: str, pattern: Value, text: Value) -> bool:
        """`matches` and `glob`, counted."""
        from rules.patterns import within

        if not isinstance(pattern, str) or not isinstance(text, str):
            return False
        return within(kind, pattern, self.spend)(text)

    def calculate(self, operator: str, left: Value, right: Value) -> int | None:
        """As `rules.builtins.calculate`, counted where integers are large."""
        if isinstance(left, int) and isinstance(right, int):
            one, other = left.bit_length(), right.bit_length()
            if one + other > _FEW_BITS:
                self.spend((one * other) >> _BITS_OF_A_ROW)
        return calculate(operator, left, right)


class Exhausted(Exception):
    """A function has concluded or looked at more rows than it may."""


def exhausted() -> None:
    raise Exhausted
