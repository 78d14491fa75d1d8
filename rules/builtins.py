"""Built-in conditions on two values, and arithmetic.

Conditions test values and never make new ones; `=` alone may also give a variable its value.
"""

import operator
from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING

from rules.terms import MAX_INTEGER_BITS, Expression, Term, Value, Variable

if TYPE_CHECKING:
    from types import ModuleType

Builtin = Callable[[Value, Value], bool]


def _less(left: Value, right: Value) -> bool:
    """The order of `row_order`: integers before strings."""
    if isinstance(left, int):
        return isinstance(right, str) or left < right
    return isinstance(right, str) and left < right


def _less_or_equal(left: Value, right: Value) -> bool:
    return not _less(right, left)


def _greater(left: Value, right: Value) -> bool:
    return _less(right, left)


def _greater_or_equal(left: Value, right: Value) -> bool:
    return not _less(left, right)


def _of_strings(test: Callable[[str, str], bool]) -> Builtin:
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


@cache
def _patterns() -> "ModuleType":
    """Loaded on first use: most runs ask for no pattern, and starting is timed."""
    from rules import patterns

    return patterns


def _matches(pattern: Value, text: Value) -> bool:
    if not isinstance(pattern, str) or not isinstance(text, str):
        return False
    found: bool = _patterns().expression(pattern)(text)
    return found


def _glob(pattern: Value, path: Value) -> bool:
    if not isinstance(pattern, str) or not isinstance(path, str):
        return False
    found: bool = _patterns().path_pattern(pattern)(path)
    return found


BUILTINS: Mapping[str, Builtin] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": _less,
    "<=": _less_or_equal,
    ">": _greater,
    ">=": _greater_or_equal,
    "starts_with": _of_strings(str.startswith),
    "ends_with": _of_strings(str.endswith),
    "contains": _of_strings(str.__contains__),
    "path_in": _of_strings(_path_in),
    "matches": _matches,
    "glob": _glob,
}
"""Each takes two values. `contains(text, part)`, `path_in(folder, path)`,
`matches(pattern, text)`, `glob(pattern, path)`."""


def calculate(operator: str, left: Value, right: Value) -> int | None:
    """The value of `left operator right`, or None where it has none (see `Expression`)."""
    if isinstance(left, str) or isinstance(right, str):
        return None
    if operator == "+":
        result = left + right
    elif operator == "-":
        result = left - right
    elif operator == "*":
        # a product has at least this many bits; a huge one is never worked out
        if left.bit_length() + right.bit_length() - 1 > MAX_INTEGER_BITS:
            return None
        result = left * right
    elif right == 0:
        return None
    else:
        result = _divided(operator, left, right)
    return result if result.bit_length() <= MAX_INTEGER_BITS else None


def _divided(operator: str, left: int, right: int) -> int:
    """The quotient cut towards zero, or for `%` the remainder that belongs to it."""
    quotient = abs(left) // abs(right)
    if (left < 0) != (right < 0):
        quotient = -quotient
    return quotient if operator == "/" else left - quotient * right


def _combined(operator: str, left: Value | None, right: Value | None) -> int | None:
    return None if left is None or right is None else calculate(operator, left, right)


def evaluate(term: Term, binding: Mapping[Variable, Value]) -> Value | None:
    """The value of a term, or None where it has none; an unbound variable has none."""
    values: list[Value | None] = []
    waiting: list[tuple[Term, bool]] = [(term, False)]
    while waiting:
        part, operands_done = waiting.pop()
        if not isinstance(part, Expression):
            values.append(binding.get(part) if isinstance(part, Variable) else part)
        elif operands_done:
            right, left = values.pop(), values.pop()
            values.append(_combined(part.operator, left, right))
        else:
            waiting += ((part, True), (part.right, False), (part.left, False))
    return values.pop()
