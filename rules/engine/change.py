"""What an update changed, for those who listen."""

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from rules.engine.net import Net
from rules.engine.strata import Strata, hidden
from rules.terms import Fact, Row, sorted_rows


class Change(NamedTuple):
    """Facts of the predicates that rules conclude which hold now and did not before, and
    those which held before and do not.

    The first are grouped by predicate, in the order in which they were derived; a predicate comes
    after those it depends on. The others are sorted.
    """

    added: tuple[Fact, ...]
    removed: tuple[Fact, ...] = ()


def change_of(net: Net, strata: Strata) -> Change:
    added = sorted(_concluded(net.added, strata), key=lambda of: strata.home[of[0]])
    return Change(
        tuple(Fact(name, row) for name, rows in added for row in rows),
        tuple(
            Fact(name, row)
            for name, rows in sorted(_concluded(net.removed, strata))
            for row in sorted_rows(list(rows))
        ),
    )


def _concluded(
    changes: Mapping[str, Collection[Row]], strata: Strata
) -> Iterator[tuple[str, Collection[Row]]]:
    for name, rows in changes.items():
        if name in strata.home and not hidden(name):
            yield name, rows
