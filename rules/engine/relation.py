"""The facts that hold, by predicate, with ranks and with hash indexes made on first use."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import islice
from operator import itemgetter

from rules.terms import Row, Value

Key = Value | Row
"""The value of one column, or a tuple of the values of several."""

Bucket = list[Row] | dict[Row, None]
"""Rows of one key; a dict where taking single rows out of a long list would be slow."""

Index = dict[Key, Bucket]

DEAD = 1 << 62
"""The rank of a row that is about to be removed."""

_LONG = 48
_RARE = 8
"""Where fewer than one row in so many goes, rows are taken out singly."""

_SAMPLE = 256


class Relation:
    """The rows of one predicate, in the order in which they began to hold.

    `rows` maps each to its rank: every row that is not asserted has a derivation whose premises
    of the same component have smaller ranks. `asserted` maps each asserted row to its origin
    and tier. The dicts and indexes stay the same objects for as long as the relation lives.
    """

    __slots__ = ("_indexes", "asserted", "predicate", "rows")

    def __init__(self, predicate: str) -> None:
        self.predicate = predicate
        self.rows: dict[Row, int] = {}
        self.asserted: dict[Row, tuple[str, str]] = {}
        self._indexes: dict[tuple[int, ...], tuple[Callable[[Row], Key], Index]] = {}

    def index(self, columns: tuple[int, ...]) -> Index:
        """Rows by their values in these columns (at least one); kept up to date from now on."""
        found = self._indexes.get(columns)
        if found is None:
            found = self._indexes[columns] = itemgetter(*columns), {}
            _extend(*found, self.rows)
        return found[1]

    def insert(self, rows: Mapping[Row, int]) -> None:
        """Let rows hold that do not."""
        self.rows.update(rows)
        self.enter(rows)

    def enter(self, rows: Collection[Row]) -> None:
        """Put rows into the indexes which are in `rows` already."""
        for key, index in self._indexes.values():
            _extend(key, index, rows)

    def remove(self, rows: Collection[Row]) -> None:
        """Take out rows that are there."""
        held = self.rows
        for row in rows:
            del held[row]
        for key, index in self._indexes.values():
            if len(rows) > 1:
                _filter(key, index, rows)
            else:
                for row in rows:
                    _drop(index, key(row), row)

    def replace(self, rows: Mapping[Row, int]) -> None:
        """Hold these rows and no others."""
        self.rows.clear()
        self.rows.update(rows)
        for key, index in self._indexes.values():
            index.clear()
            _extend(key, index, self.rows)

    def fan_out(self, columns: tuple[int, ...]) -> float:
        """How many rows share their values in these columns, on average; an estimate."""
        size = len(self.rows)
        if not columns or size < 2:
            return size
        indexed = self._indexes.get(columns)
        if indexed is not None:
            return size / max(1, len(indexed[1]))
        key = itemgetter(*columns)
        step = max(1, size // _SAMPLE)
        sample = [key(row) for row in islice(self.rows, 0, None, step)]
        different = len(set(sample))
        if different * 2 > len(sample):  # most are different: there will be more of them
            return len(sample) / different
        return size / different


def _extend(key: Callable[[Row], Key], index: Index, rows: Iterable[Row]) -> None:
    get = index.get
    for row in rows:
        value = key(row)
        bucket = get(value)
        if bucket is None:
            index[value] = [row]
        elif bucket.__class__ is list:
            bucket.append(row)
        else:
            bucket[row] = None  # type: ignore[call-overload]


def _drop(index: Index, value: Key, row: Row) -> None:
    bucket = index[value]
    if len(bucket) == 1:
        del index[value]
        return
    if isinstance(bucket, list):
        if len(bucket) <= _LONG:
            bucket.remove(row)
            return
        bucket = index[value] = dict.fromkeys(bucket)
    del bucket[row]


def _filter(key: Callable[[Row], Key], index: Index, rows: Collection[Row]) -> None:
    """Take many rows out, each bucket in one go."""
    by_key: dict[Key, list[Row]] = {}
    for row in rows:
        by_key.setdefault(key(row), []).append(row)
    for value, gone in by_key.items():
        bucket = index[value]
        if len(gone) == len(bucket):
            del index[value]
        elif isinstance(bucket, dict) or len(gone) * _RARE < len(bucket):
            for row in gone:
                _drop(index, value, row)
        else:
            out = set(gone)
            bucket[:] = [row for row in bucket if row not in out]
