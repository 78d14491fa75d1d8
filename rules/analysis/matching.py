"""Finding, among many patterns, those that an atom may match, without a look at each."""

from collections.abc import Iterable, Iterator, Sequence
from sys import maxsize
from typing import Generic, TypeVar

from rules.analysis.unification import unify
from rules.statements import Atom
from rules.terms import Term, Value, Variable

T = TypeVar("T")
Columns = tuple[int, ...]
Shape = tuple[str, int, Columns]
"""A predicate, the number of its arguments, and which of them are values."""
Entry = tuple[Sequence[Term], T]


class TooManyComparisons(Exception):
    """More patterns had to be looked at than allowed."""


class Patterns(Generic[T]):
    """Atoms with variables and values, and what each stands for.

    Those with values in the same columns are found by these values. At most `most` of those that
    values do not tell apart are looked at, in all; then TooManyComparisons is raised.
    """

    def __init__(self, patterns: Iterable[tuple[Atom, T]], most: int = maxsize) -> None:
        self._by_shape: dict[tuple[str, int], dict[Columns, list[Entry[T]]]] = {}
        self._indexes: dict[tuple[Shape, Columns], dict[tuple[Value, ...], list[Entry[T]]]] = {}
        self._left = most
        for atom, item in patterns:
            shapes = self._by_shape.setdefault((atom.predicate, len(atom.args)), {})
            shapes.setdefault(_known(atom.args), []).append((atom.args, item))

    def that_may_match(self, predicate: str, args: Sequence[Term]) -> Iterator[Entry[T]]:
        """The arguments of each pattern that unifies with these, and what it stands for."""
        known = _known(args)
        for columns, entries in self._by_shape.get((predicate, len(args)), {}).items():
            self._spend()
            common = tuple(column for column in columns if column in known)
            if common:
                index = self._index((predicate, len(args), columns), common, entries)
                entries = index.get(_values(args, common), [])
            for entry in entries:
                self._spend()
                if unify(entry[0], args):
                    yield entry

    def _spend(self) -> None:
        self._left -= 1
        if self._left < 0:
            raise TooManyComparisons

    def _index(
        self, shape: Shape, common: Columns, entries: list[Entry[T]]
    ) -> dict[tuple[Value, ...], list[Entry[T]]]:
        index = self._indexes.get((shape, common))
        if index is None:
            index = self._indexes[shape, common] = {}
            for entry in entries:
                index.setdefault(_values(entry[0], common), []).append(entry)
        return index


def _known(args: Sequence[Term]) -> Columns:
    return tuple(at for at, term in enumerate(args) if isinstance(term, str | int))


def _values(args: Sequence[Term], columns: Columns) -> tuple[Value, ...]:
    return tuple(term for at in columns if isinstance(term := args[at], str | int))


def signature(atom: Atom) -> tuple[object, ...]:
    """The same for atoms that differ in the names of their variables only."""
    numbers: dict[str, int] = {}
    parts: list[object] = [atom.predicate]
    for term in atom.args:
        if isinstance(term, str | int):
            parts.append(term)
        elif isinstance(term, Variable) and not term.anonymous:
            parts.append((numbers.setdefault(term.name, len(numbers)),))
        else:
            parts.append(type(term))
    return tuple(parts)
