"""A pattern as it is read, and the classes of characters that both kinds of patterns have."""

from collections.abc import Callable

from rules.patterns.nodes import Kind, PatternFault

Member = str | Kind
"""In a class: one character, or a class with a name."""


class Scanner:
    """The pattern and the place that was reached in it; `at` counts from 0."""

    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.at = 0

    @property
    def done(self) -> bool:
        return self.at == len(self.pattern)

    def sees(self, *choices: str) -> bool:
        return self.pattern.startswith(choices, self.at)

    def take(self, *choices: str) -> str:
        """Step over the first of the choices that stands here; the empty text if none does."""
        for choice in choices:
            if self.pattern.startswith(choice, self.at):
                self.at += len(choice)
                return choice
        return ""

    def next(self) -> str:
        """One character. Raises PatternFault at the end."""
        if self.done:
            raise PatternFault("it ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def fault(self, start: int, note: str) -> PatternFault:
        """A fault of what was read since a place."""
        return PatternFault(f"{self.pattern[start : self.at]!a} at character {start + 1} {note}")


def read_class(
    scanner: Scanner, negations: tuple[str, ...], escape: Callable[[], Member]
) -> tuple[list[tuple[int, int]], list[Kind], bool]:
    """What follows a `[`: ranges of code points, named classes, and whether it is negated.

    A `]` that comes first, and a `-` that comes first or last, stand for themselves.
    """
    start = scanner.at - 1
    negated = scanner.take(*negations) != ""
    ranges: list[tuple[int, int]] = []
    kinds: list[Kind] = []
    first = True
    while first or not scanner.take("]"):
        first = False
        if scanner.done:
            raise PatternFault(f"'[' at character {start + 1} is never closed with ']'")
        begin = scanner.at
        member = _member(scanner, escape)
        if scanner.sees("-") and not scanner.sees("-]"):
            scanner.next()
            ranges.append(_range(scanner, begin, member, _member(scanner, escape)))
        elif isinstance(member, str):
            ranges.append((ord(member), ord(member)))
        else:
            kinds.append(member)
    return ranges, kinds, negated


def _member(scanner: Scanner, escape: Callable[[], Member]) -> Member:
    return escape() if scanner.sees("\\") else scanner.next()


def _range(scanner: Scanner, begin: int, first: Member, last: Member) -> tuple[int, int]:
    if not isinstance(first, str) or not isinstance(last, str):
        raise scanner.fault(begin, "is no range: it needs a character at both ends")
    if first > last:
        raise scanner.fault(begin, "is no range: its ends are the wrong way round")
    return ord(first), ord(last)
