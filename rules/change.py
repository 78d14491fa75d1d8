"""What a propagation changed, for those who listen."""

from collections.abc import Iterator
from dataclasses import dataclass

from rules.propagation import Conclusion
from rules.relation import Model
from rules.terms import Fact, sorted_rows


@dataclass(frozen=True)
class Change:
    """How one propagation changed the derived facts: those added in the order in which they
    were derived, those removed in sorted order."""

    added: tuple[Fact, ...]
    removed: tuple[Fact, ...] = ()


def change_between(before: Model, after: Model, concluded: list[Conclusion]) -> Change:
    """The difference of two models; `concluded` lists what is derived in the second, in order.

    They are one model when facts were only added, and `concluded` then lists what is new.
    """
    facts = (Fact(relation.predicate, row) for relation, row, _ in concluded)
    if before is after:
        return Change(tuple(facts))
    added = tuple(fact for fact in facts if not before.concludes(*fact))
    return Change(added, tuple(_lost(before, after)))


def _lost(before: Model, after: Model) -> Iterator[Fact]:
    for name in sorted(before.relations):
        for row in sorted_rows(before.relations[name].concluded):
            if not after.concludes(name, row):
                yield Fact(name, row)
