"""Which known name may be meant by one that is not known."""

from collections.abc import Iterable, Iterator
from functools import cached_property

LONGEST = 64
"""Longer names are like no other one."""

_SHORTEST = 3
"""Two shorter names that differ in one place have little in common."""
_MOST_COMPARED = 2_000
_MOST_CANDIDATES = 20


class Names:
    """Known names. Questions cost about the same however many there are, after a first few."""

    def __init__(self, known: Iterable[str]) -> None:
        self._known = sorted({name for name in known if len(name) <= LONGEST})
        self._compared = 0

    def nearest(self, name: str) -> str:
        """The known name most like this one, or nothing. Once many have been compared, only names
        that are one slip away are looked at."""
        if len(name) > LONGEST:
            return ""
        candidates = self._known
        if self._compared + len(candidates) > _MOST_COMPARED:
            candidates = self.one_slip_away(name)[:_MOST_CANDIDATES]
        self._compared += len(candidates)
        import difflib

        return next(iter(difflib.get_close_matches(name, candidates, 1)), "")

    def one_slip_away(self, name: str) -> list[str]:
        """The known names, sorted, that one letter more, fewer, changed or moved makes of this."""
        if not _SHORTEST <= len(name) <= LONGEST:
            return []
        shorter = self._by_shorter
        return sorted({other for each in _shorter(name) for other in shorter.get(each, ())})

    @cached_property
    def _by_shorter(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name in self._known:
            if len(name) >= _SHORTEST:
                for shorter in _shorter(name):
                    found.setdefault(shorter, []).append(name)
        return found


def _shorter(name: str) -> Iterator[str]:
    """The name, and all that is left of it without one letter."""
    yield name
    yield from {name[:at] + name[at + 1 :] for at in range(len(name))}
