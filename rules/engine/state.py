"""What a database runs on: relations, plans, limits, and the notes by which to undo."""

from __future__ import annotations

from collections.abc import Sequence

from rules.engine.code_context import Exhausted
from rules.engine.folds import FoldState
from rules.engine.plans import Plans
from rules.engine.relation import Relation
from rules.engine.strata import Strata, Use
from rules.errors import LimitError
from rules.statements import Rule
from rules.terms import Row

TYPE_CHECKING = False
if TYPE_CHECKING:
    from rules.engine.folds import Log

Delta = dict[str, list[Row]]
"""Rows that began to hold, by predicate."""

ChangedFold = tuple[FoldState, Use]
"""An aggregate some of whose groups changed."""

_UNMETERED = 1 << 62


class Limits:
    """How much may be derived, in how many rounds, and how many rows joins may look at.

    `room` and `meter` hold what is left, for the running update; `rounds` is its bound.
    """

    def __init__(self, max_derived: int, max_rounds: int, max_work: int | None) -> None:
        self.max_derived = max_derived
        self.max_rounds = max_rounds
        self.max_work = max_work
        self.room = [max_derived]
        self.meter = None if max_work is None else [max_work]
        self.rounds = max_rounds

    def restart(self) -> None:
        self.rounds = self.max_rounds
        if self.meter is not None and self.max_work is not None:
            self.meter[0] = self.max_work

    def look_at(self, rows: int) -> None:
        """Count rows that lead. Raises Exhausted."""
        if self.meter is not None:
            self.meter[0] -= rows
            if self.meter[0] < 0:
                raise Exhausted

    def lift(self) -> None:
        """Let joins look at whatever they want until the next update: a question is none."""
        if self.meter is not None:
            self.meter[0] = _UNMETERED

    def lift_all(self) -> None:
        """Let a state be derived anew that held before, which many updates may have built."""
        self.lift()
        self.rounds = self.room[0] = _UNMETERED

    def exceeded(self, rule: Rule, limit: str) -> LimitError:
        bound = {
            "max_derived": f"{self.max_derived:,} derived facts",
            "max_rounds": f"{self.max_rounds:,} rounds of recursion",
            "max_work": f"{self.max_work or 0:,} rows looked at in one update",
        }[limit]
        message = (
            f"rule {rule.name!r} ({rule.source}:{rule.line}) goes beyond {limit}, {bound}; "
            "nothing of this change was kept: narrow the conditions of the rule or raise the limit"
        )
        return LimitError(limit, message, rule)


class Engine:
    """The state of a database, for those who change it. `clock` gives ever higher ranks.

    `log` says how to undo the running update: what to call with what, the last first.
    """

    def __init__(self, rules: Sequence[Rule], limits: Limits) -> None:
        self.strata = Strata(rules)
        self.limits = limits
        self.log: Log = []
        self.relations: dict[str, Relation] = {}
        self.plans = Plans(self.strata, self.relation, self.log, limits.room, limits.meter)
        self.clock = 0

    def relation(self, predicate: str) -> Relation:
        found = self.relations.get(predicate)
        if found is None:
            found = self.relations[predicate] = Relation(predicate)
        return found

    def tick(self) -> int:
        self.clock += 1
        return self.clock
