"""Aggregates at run time: the value of every group that was asked for."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from rules.engine.normal import Absent, Fold, Scan, Step, predicates
from rules.terms import Row, Value

Log = list[tuple[Callable[[Any], object], Any]]
"""What to call, last first, to make changes undone."""

Changes = Mapping[str, Collection[Row]]
"""Rows that came or went, by predicate."""

_SPARE = 64

MISSING = object()
"""In place of a value that was never asked for."""


class FoldState:
    """The values of one aggregate by group key; None where a group has no value.

    Nothing is concluded from a group that is not in `memo`: it was never asked for, or no row of
    `asking`, a scan beside the aggregate that names its group, is in it any more.
    `changed` holds `(former, present)` for groups that the running update has changed.
    """

    def __init__(
        self,
        fold: Fold,
        log: Log,
        evaluate: Callable[[Row], Value | None],
        groups: Callable[[int], Callable[[Collection[Row], dict[Row, None]], None] | None],
        crowded: dict[FoldState, None],
    ) -> None:
        """`log` notes what to undo; it stays the same object. `crowded` gets this when most of
        its groups can be forgotten.

        `groups` makes, for a step of the body by its place, what finds the groups that rows of
        the step are in; None where that takes more than the body.
        """
        self.fold = fold
        self.memo: dict[Row, Value | None] = {}
        self.changed: dict[Row, tuple[Value | None, Value | None]] = {}
        self.reads = frozenset(name for name, _ in predicates(fold.body))
        self._evaluate = evaluate
        self._groups = groups
        self._log = log
        self._crowded = crowded
        self._asking: tuple[Collection[Row], tuple[int, ...]] | None = None

    def asked_by(self, body: Iterable[Step], rows_of: Callable[[str], Collection[Row]]) -> None:
        """What stands beside the aggregate in its clause; the rows stay the same object."""
        scans = (step for step in body if isinstance(step, Scan))
        for scan in scans:
            columns = self._columns(scan)
            if columns is not None:
                self._asking = rows_of(scan.predicate), columns
                return

    def compute(self, key: Row) -> Value | None:
        """The value of a group that is not in `memo` yet."""
        value = self.memo[key] = self._evaluate(key)
        self._log.append((self.memo.pop, key))
        if self._asking and len(self.memo) > 2 * len(self._asking[0]) + _SPARE:
            self._crowded[self] = None
        return value

    def forget_idle(self) -> None:
        """Between two updates: forget the groups that no row asks for."""
        if self._asking is None:
            return
        rows, columns = self._asking
        asked = {tuple([row[at] for at in columns]) for row in rows}
        idle = {key: value for key, value in self.memo.items() if key not in asked}
        self._log.append((self.memo.update, idle))
        for key in idle:
            del self.memo[key]

    def former(self, key: Row) -> tuple[Value, ...]:
        """The values a group has or had when the running update began."""
        values = self.changed.get(key) or (self.memo.get(key),)
        return tuple(value for value in values if value is not None)

    def refresh(self, changes: Changes) -> None:
        """Compute the groups anew that changes below may have touched."""
        for key in self._touched(changes):
            before, after = self.memo[key], self._evaluate(key)
            if before != after:
                self._log.append((self.memo.update, {key: before}))
                self.memo[key] = after
                self.changed[key] = before, after

    def _touched(self, changes: Changes) -> list[Row]:
        touched: dict[Row, None] = {}
        changed = [
            (place, rows)
            for place, step in enumerate(self.fold.body)
            for rows in _rows_of(step, changes)
        ]
        for place, rows in changed:
            columns = self._columns(self.fold.body[place])
            if columns is not None:
                touched.update((tuple([row[at] for at in columns]), None) for row in rows)
                continue
            # the other steps say which groups, as long as they are what they were
            groups = self._groups(place) if len(changed) == 1 else None
            if groups is None:
                return list(self.memo)
            groups(rows, touched)
        return [key for key in touched if key in self.memo]

    def _columns(self, step: Step) -> tuple[int, ...] | None:
        """Where the values of the group stand in rows of a step, if all do."""
        if not isinstance(step, Scan | Absent):
            return None
        args = list(step.args)
        if not all(variable in args for variable in self.fold.group):
            return None
        return tuple(args.index(variable) for variable in self.fold.group)


def _rows_of(step: Step, changes: Changes) -> Iterator[Collection[Row]]:
    names: Iterable[str] = (name for name, _ in predicates((step,)))
    yield from (changes[name] for name in names if name in changes)
