"""What questions and proofs see of a database."""

from collections.abc import Collection, Mapping
from typing import Protocol

from rules.program import Program
from rules.terms import Row


class View(Protocol):
    """The facts that hold, in a fixed order, and what is known of each.

    Every row that is not asserted has a derivation whose premises of the same component have
    smaller ranks; ranks compare only within one component.
    """

    @property
    def program(self) -> Program: ...

    @property
    def arities(self) -> Mapping[str, int]:
        """The number of arguments of every predicate that is known."""
        ...

    def rows(self, predicate: str) -> Mapping[Row, int]:
        """Each row with its rank, in the order in which they began to hold."""
        ...

    def matching(self, predicate: str, columns: tuple[int, ...], values: Row) -> Collection[Row]:
        """The rows that have these values in these (ascending) columns; all for no columns."""
        ...

    def asserted(self, predicate: str) -> Mapping[Row, tuple[str, str]]:
        """Each asserted row with its origin and tier."""
        ...

    def component(self, predicate: str) -> int:
        """The number of the set of mutually recursive predicates that this one is in."""
        ...
