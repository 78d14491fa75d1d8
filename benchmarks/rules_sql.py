"""The same rules as recursive SQL, for DuckDB and SQLite: an update asks the question again."""

import csv
import importlib
import os
import tempfile
from collections.abc import Sequence
from typing import Any

from benchmarks.rules_workloads import CannotExpress, Row, Update, Workload

INDEXED = {"imports": "c1", "test_covers": "c1", "edge": "c0", "parent": "c1"}
"""The column by which a rule looks facts up."""

AFFECTED = {
    "affected": """WITH RECURSIVE found(c0) AS (SELECT c0 FROM file_modified UNION
        SELECT imports.c0 FROM found JOIN imports ON imports.c1 = found.c0) SELECT c0 FROM found""",
    "run_test": """SELECT DISTINCT test_covers.c0 FROM affected
        JOIN test_covers ON test_covers.c1 = affected.c0""",
}
CLOSURE = {
    "path": """WITH RECURSIVE found(c0, c1) AS (SELECT c0, c1 FROM edge UNION
        SELECT found.c0, edge.c1 FROM found JOIN edge ON edge.c0 = found.c1)
        SELECT c0, c1 FROM found"""
}
GENERATION = {
    "sg": """WITH RECURSIVE found(c0, c1) AS (SELECT c0, c0 FROM person UNION
        SELECT a.c0, b.c0 FROM found JOIN parent a ON a.c1 = found.c0
        JOIN parent b ON b.c1 = found.c1) SELECT c0, c1 FROM found"""
}
QUERIES = {
    "affected": AFFECTED,
    "chain": CLOSURE,
    "random": CLOSURE,
    "dense": CLOSURE,
    "same generation": GENERATION,
}


class _Sql:
    """Facts and conclusions are tables whose columns are c0, c1, ..."""

    def __init__(self) -> None:
        self._connection: Any = self._connect()
        self._queries: dict[str, str] = {}

    def _connect(self) -> Any:
        raise TypeError("made by a subclass")

    def _fill(self, predicate: str, rows: Sequence[Row]) -> None:
        raise TypeError("made by a subclass")

    def load(self, workload: Workload) -> None:
        if workload.name not in QUERIES:
            raise CannotExpress("recursive SQL has no rules that need one another")
        self._queries = QUERIES[workload.name]
        for predicate, rows in workload.facts.items():
            # only file_modified, one column of text, is ever empty
            first = rows[0] if rows else ("",)
            kind = "INTEGER" if isinstance(first[0], int) else "VARCHAR"
            columns = ", ".join(f"c{n} {kind}" for n in range(len(first)))
            self._connection.execute(f"CREATE TABLE {predicate} ({columns})")
            if rows:
                self._fill(predicate, rows)
        self._evaluate()

    def _evaluate(self) -> None:
        for name, query in self._queries.items():
            self._connection.execute(f"DROP TABLE IF EXISTS {name}")
            self._connection.execute(f"CREATE TABLE {name} AS {query}")

    def update(self, added: Sequence[Update], removed: Sequence[Update]) -> None:
        for predicate, row in removed:
            where = " AND ".join(f"c{n} = ?" for n in range(len(row)))
            self._connection.execute(f"DELETE FROM {predicate} WHERE {where}", list(row))
        for predicate, row in added:
            marks = ", ".join("?" * len(row))
            self._connection.execute(f"INSERT INTO {predicate} VALUES ({marks})", list(row))
        self._evaluate()

    def read(self, predicate: str) -> list[Row]:
        rows: list[Row] = self._connection.execute(f"SELECT * FROM {predicate}").fetchall()
        return rows

    def count(self, predicate: str) -> int:
        return int(self._connection.execute(f"SELECT count(*) FROM {predicate}").fetchone()[0])


class Sqlite(_Sql):
    """In memory, with an index where the rules look facts up."""

    def _connect(self) -> Any:
        return importlib.import_module("sqlite3").connect(":memory:", isolation_level=None)

    def _fill(self, predicate: str, rows: Sequence[Row]) -> None:
        marks = ", ".join("?" * len(rows[0]))
        self._connection.execute("BEGIN")
        self._connection.executemany(f"INSERT INTO {predicate} VALUES ({marks})", rows)
        if predicate in INDEXED:
            column = INDEXED[predicate]
            self._connection.execute(f"CREATE INDEX by_{predicate} ON {predicate} ({column})")
        self._connection.execute("COMMIT")


class DuckDb(_Sql):
    """In memory, all its threads; facts go in through a file of commas, its fastest way."""

    def _connect(self) -> Any:
        return importlib.import_module("duckdb").connect()

    def _fill(self, predicate: str, rows: Sequence[Row]) -> None:
        descriptor, path = tempfile.mkstemp(suffix=".csv")
        try:
            with open(descriptor, "w", newline="") as file:
                csv.writer(file).writerows(rows)
            self._connection.execute(f"COPY {predicate} FROM '{path}' (HEADER false)")
        finally:
            os.unlink(path)
