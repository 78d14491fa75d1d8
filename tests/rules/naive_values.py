"""The oracle's arithmetic, comparisons and string conditions."""

import re
from collections.abc import Callable

from rules.terms import Value

MOST_BITS = 13_000


def order(value: Value) -> tuple[int, Value]:
    return (0, value) if isinstance(value, int) else (1, value)


def bounded(number: int) -> int | None:
    return number if abs(number) < 1 << MOST_BITS else None


def calculate(operator: str, left: Value | None, right: Value | None) -> int | None:
    """None where an operand is no integer, for a division by zero and for a giant."""
    if not isinstance(left, int) or not isinstance(right, int):
        return None
    if operator in "/%":
        if right == 0:
            return None
        quotient = abs(left) // abs(right)
        quotient = quotient if (left < 0) == (right < 0) else -quotient
        return bounded(quotient if operator == "/" else left - right * quotient)
    return bounded({"+": left + right, "-": left - right, "*": left * right}[operator])


def chosen(function: str, values: list[Value | None]) -> Value | None:
    """The aggregate of the values that there are; each counts as often as it is there."""
    there = [value for value in values if value is not None]
    if function == "count":
        return len(set(there))
    if function == "sum":
        return bounded(sum(value for value in there if isinstance(value, int)))
    ranked = sorted(there, key=order)
    if not ranked:
        return None
    return ranked[0] if function == "min" else ranked[-1]


def strings(test: Callable[[str, str], bool]) -> Callable[[Value, Value], bool]:
    return lambda a, b: isinstance(a, str) and isinstance(b, str) and test(a, b)


def below(folder: str, path: str) -> bool:
    return folder in ("", ".") or (path + "/").startswith(folder.rstrip("/") + "/")


def found(pattern: str, text: str) -> bool:
    try:
        return re.fullmatch(pattern, text) is not None
    except re.error:
        return False


TESTS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: order(a) < order(b),
    "<=": lambda a, b: order(a) <= order(b),
    ">": lambda a, b: order(a) > order(b),
    ">=": lambda a, b: order(a) >= order(b),
    "starts_with": strings(lambda text, part: text[: len(part)] == part),
    "ends_with": strings(lambda text, part: part == "" or text[-len(part) :] == part),
    "contains": strings(lambda text, part: text.find(part) >= 0),
    "path_in": strings(below),
    "matches": strings(found),
    "glob": strings(lambda pattern, path: globbed(pattern, path)),
}
BUILTINS = frozenset(TESTS)


def globbed(pattern: str, path: str) -> bool:
    """`**` between slashes is any number of folders, `*` and `?` stay inside of a name."""
    if not pattern or not path:
        return pattern == path
    first, _, rest = pattern.partition("/")
    if first == "**":
        parts = path.split("/")
        tails = ["/".join(parts[at:]) for at in range(len(parts) + 1)]
        return not rest or any(globbed(rest, tail) for tail in tails if tail)
    name, slash, tail = path.partition("/")
    translated = "".join({"*": "[^/]*", "?": "[^/]"}.get(c, re.escape(c)) for c in first)
    if not re.fullmatch(translated, name):
        return False
    return globbed(rest, tail) if rest and slash else not rest and not slash
