"""What an aggregate makes of the values of its term."""

from collections.abc import Iterable

from rules.terms import MAX_INTEGER_BITS, Value, row_order


def fold(function: str, found: Iterable[Value | None]) -> Value | None:
    """None where there is none; among the values it is a term that has no value."""
    values = (value for value in found if value is not None)
    if function == "count":
        return len(set(values))
    if function == "sum":
        total = sum(value for value in values if isinstance(value, int))
        return total if total.bit_length() <= MAX_INTEGER_BITS else None
    choose = min if function == "min" else max
    return choose(values, key=lambda value: row_order((value,)), default=None)
