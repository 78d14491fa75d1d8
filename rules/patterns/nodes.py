"""What patterns are made of, once they are read."""

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property

MAX_LENGTH = 2_000
"""Characters of a pattern."""

MAX_SIZE = 5_000
"""Steps of a pattern with its repetitions written out: one character of a text may cost a visit
to each of them."""

MAX_DEPTH = 40
"""Groups within groups."""

Kind = Callable[[str], bool]
"""A class of characters with a name, such as `str.isspace`."""


class PatternFault(ValueError):
    """The pattern is invalid; the message is the reason in one line."""


@dataclass(frozen=True)
class Characters:
    """One character out of a set.

    `bounds` are code points in ascending order at which the set begins and ends in turn.
    """

    bounds: tuple[int, ...]
    kinds: tuple[Kind, ...] = ()
    negated: bool = False

    size = 1

    def __contains__(self, character: str) -> bool:
        within = bisect_right(self.bounds, ord(character)) % 2 == 1
        found = within or any(kind(character) for kind in self.kinds)
        return found is not self.negated


@dataclass(frozen=True)
class Sequence:
    """One part after the other; of no parts, the empty text."""

    parts: "tuple[Node, ...]"

    @cached_property
    def size(self) -> int:
        return 1 + sum(part.size for part in self.parts)


@dataclass(frozen=True)
class Choice:
    """Any one of the parts."""

    parts: "tuple[Node, ...]"

    @cached_property
    def size(self) -> int:
        return 1 + sum(part.size for part in self.parts)


@dataclass(frozen=True)
class Repeat:
    """The body again and again; without end if `most` is None."""

    body: "Node"
    least: int
    most: int | None

    @cached_property
    def size(self) -> int:
        copies = self.least + 1 if self.most is None else self.most
        return 1 + copies * (1 + self.body.size)


Node = Characters | Sequence | Choice | Repeat


def one(character: str) -> Characters:
    return Characters((ord(character), ord(character) + 1))


def any_of(
    ranges: Iterable[tuple[int, int]], kinds: tuple[Kind, ...] = (), negated: bool = False
) -> Characters:
    """The characters of some ranges of code points, each with its last one."""
    bounds: list[int] = []
    for first, last in sorted(ranges):
        if bounds and first <= bounds[-1]:
            bounds[-1] = max(bounds[-1], last + 1)
        else:
            bounds += (first, last + 1)
    return Characters(tuple(bounds), kinds, negated)
