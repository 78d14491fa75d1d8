"""The steps of a search, and how many it may take."""

from collections.abc import Iterator
from contextlib import contextmanager

from rules.answers.body import Group, Match
from rules.terms import Row


class OutOfBudget(Exception):
    """A search looked at more rows than it was given."""


class Budget:
    """Rows that may still be looked at, by several searches together."""

    __slots__ = ("left",)

    def __init__(self, rows: int) -> None:
        self.left = rows

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise OutOfBudget

    @contextmanager
    def part(self, most: int, least: int = 0) -> "Iterator[Budget]":
        """A part of what is left, with `least` rows at any rate."""
        rows = max(least, min(most, self.left))
        part = Budget(rows)
        try:
            yield part
        finally:
            self.left -= rows - max(0, part.left)


class Frame:
    """A condition, the slots (with columns) that its rows fill, and the rows yet to be tried."""

    __slots__ = ("mark", "match", "new", "number", "row", "rows", "seen")

    def __init__(
        self,
        number: int,
        match: Match | Group,
        mark: int,
        rows: Iterator[Row],
        new: list[tuple[int, int]],
    ) -> None:
        self.number = number
        self.match = match
        self.mark = mark
        self.rows = rows
        self.new = new
        self.row: Row = ()
        self.seen: set[Row] = set()

    def is_fresh(self, row: Row) -> bool:
        """Whether the row gives the slots other values than rows before it."""
        if not self.new:
            self.rows = iter(())  # one row is as good as another
            return True
        key = tuple([row[column] for column, _ in self.new])
        if key in self.seen:
            return False
        self.seen.add(key)
        return True
