"""A database as its readers see it."""

from __future__ import annotations

from collections.abc import Collection

from rules.engine.store import Store
from rules.program import Program
from rules.terms import Row


class DatabaseView:
    """A database for readers; see `rules.answers.view.View`."""

    def __init__(self, program: Program, arities: dict[str, int], store: Store) -> None:
        self.program = program
        self.arities = arities
        self._store = store
        self._home = store.engine.strata.home

    def rows(self, predicate: str) -> dict[Row, int]:
        relation = self._store.relations.get(predicate)
        return relation.rows if relation else {}

    def matching(self, predicate: str, columns: tuple[int, ...], values: Row) -> Collection[Row]:
        relation = self._store.relations.get(predicate)
        if relation is None:
            return ()
        if not columns:
            return relation.rows
        key = values[0] if len(columns) == 1 else values
        return relation.index(columns).get(key, ())

    def asserted(self, predicate: str) -> dict[Row, tuple[str, str]]:
        relation = self._store.relations.get(predicate)
        return relation.asserted if relation else {}

    def component(self, predicate: str) -> int:
        return self._home.get(predicate, -1)
