"""Facts that come near to a wanted one: those with most values in common, then the most alike."""

from collections.abc import Iterable, Mapping
from itertools import islice, pairwise

from rules.answers.view import View
from rules.terms import Row, Value, row_order

_SCANNED = 50_000
_COMPARED = 50
_LETTERS = 200


def nearest_rows(
    view: View, predicate: str, wanted: Mapping[int, Value], count: int = 3
) -> list[Row]:
    """At most `count` rows, the nearest first; `wanted` maps columns to values.

    Of a very large relation only the first rows are looked at.
    """
    classes: dict[int, list[Row]] = {}
    for row in islice(view.rows(predicate), _SCANNED):
        equal = sum(row[column] == value for column, value in wanted.items())
        classes.setdefault(equal, []).append(row)
    found: list[Row] = []
    for equal in sorted(classes, reverse=True):
        if len(found) < count:
            found += _most_alike(classes[equal], wanted, count - len(found))
    return found


def _most_alike(rows: list[Row], wanted: Mapping[int, Value], count: int) -> list[Row]:
    """A rough comparison of all, and an exact one of those that come out best."""
    rows.sort(key=row_order)
    if len(rows) > _COMPARED:
        parts = {column: _pairs(value) for column, value in wanted.items()}
        rows.sort(key=lambda row: -sum(len(parts[c] & _pairs(row[c])) for c in wanted))
        rows = rows[:_COMPARED]
    return sorted(rows, key=lambda row: -_alike((row[c], v) for c, v in wanted.items()))[:count]


def _pairs(value: Value) -> set[str]:
    """Each two neighbouring letters."""
    text = str(value)[:_LETTERS]
    return set(map("".join, pairwise(text)))


def _alike(pairs: Iterable[tuple[Value, Value]]) -> float:
    return sum(_likeness(left, right) for left, right in pairs)


def _likeness(left: Value, right: Value) -> float:
    """From 0 to 1."""
    if isinstance(left, int) and isinstance(right, int):
        return 1 / (1 + min(abs(left - right), 1_000_000))
    if isinstance(left, int) or isinstance(right, int):
        return 0.0
    import difflib

    return difflib.SequenceMatcher(None, left[:_LETTERS], right[:_LETTERS]).ratio()
