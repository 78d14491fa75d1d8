"""Values and variables as slots of one list, which a search fills and empties.

Slot OPEN is never filled: it stands for `_`. Constants have slots that are filled from the
start, so that a known column is one whose slot is filled, whatever stands there.
"""

from collections.abc import Sequence

from rules.builtins import calculate
from rules.terms import Expression, Term, Value, Variable

OPEN = 0

Values = Sequence[Value | None]
"""The content of all slots; None where nothing is known."""

Code = tuple[int | str, ...]
"""A term in postfix notation: slots, and operators after their two operands."""


class Slots:
    """Gives out slots; `initial` is the list to start from."""

    def __init__(self) -> None:
        self.initial: list[Value | None] = [None]
        self.known: dict[Term, int] = {}

    def new(self, value: Value | None = None) -> int:
        self.initial.append(value)
        return len(self.initial) - 1

    def of(self, term: Variable | Value) -> int:
        """The slot of a variable or value, always the same one."""
        if isinstance(term, Variable) and term.anonymous:
            return OPEN
        found = self.known.get(term)
        if found is None:
            value = None if isinstance(term, Variable) else term
            found = self.known[term] = self.new(value)
        return found

    def code(self, term: Term) -> Code:
        found: list[int | str] = []
        waiting = [term]
        while waiting:
            part = waiting.pop()
            if isinstance(part, Expression):
                found.append(part.operator)
                waiting += (part.left, part.right)
            else:
                found.append(self.of(part))
        return tuple(reversed(found))


def slots_of(code: Code) -> set[int]:
    return {part for part in code if isinstance(part, int)}


def value_of(code: Code, values: Values) -> Value | None:
    """The value of a term, None where it has none."""
    stack: list[Value | None] = []
    for part in code:
        if isinstance(part, int):
            stack.append(values[part])
            continue
        right, left = stack.pop(), stack.pop()
        if left is None or right is None:
            return None
        stack.append(calculate(part, left, right))
    return stack[0]
