"""Built-in conditions: comparisons, and questions about two strings.

They test values and never make new ones; `=` alone may also give a variable its value.
"""

import operator
from collections.abc import Callable, Mapping

from rules.terms import Value, row_order

Order = tuple[tuple[bool, Value], ...]
Filter = Callable[[Value, Value], bool]


def _ordered(compare: Callable[[Order, Order], bool]) -> Filter:
    """Compare any two values in the one order of `row_order`: integers before strings."""

    def test(left: Value, right: Value) -> bool:
        return compare(row_order((left,)), row_order((right,)))

    return test


def _of_strings(test: Callable[[str, str], bool]) -> Filter:
    """False where either value is an integer."""

    def check(left: Value, right: Value) -> bool:
        return isinstance(left, str) and isinstance(right, str) and test(left, right)

    return check


def _path_in(folder: str, path: str) -> bool:
    """The path is the folder or lies below it; `.` and the empty string are the root."""
    if folder in {"", "."}:
        return True
    stem = folder.rstrip("/")
    return path == stem or path.startswith(stem + "/")


FILTERS: Mapping[str, Filter] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": _ordered(operator.lt),
    "<=": _ordered(operator.le),
    ">": _ordered(operator.gt),
    ">=": _ordered(operator.ge),
    "starts_with": _of_strings(str.startswith),
    "ends_with": _of_strings(str.endswith),
    "contains": _of_strings(str.__contains__),
    "path_in": _of_strings(_path_in),
}
"""Each takes two values. `contains(text, part)`, `path_in(folder, path)`."""

PLANNED = ("glob", "matches")
"""Names kept free for filters to come."""
