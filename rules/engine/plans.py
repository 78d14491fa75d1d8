"""The functions that run clauses, made when they are first needed, from sizes at that time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from rules.engine import codegen, fold_code
from rules.engine.code_context import Context
from rules.engine.codegen import Led
from rules.engine.folds import FoldState
from rules.engine.normal import Clause, Fold, Scan, Step
from rules.engine.relation import Relation
from rules.engine.strata import INNER, Strata, Use
from rules.terms import Row, Value

TYPE_CHECKING = False  # the name type checkers know; `typing` itself is slow to load
if TYPE_CHECKING:
    from typing import Any

    from rules.engine.folds import Log

_GROWTH = 4
_SMALL = 256
_OFTEN = 16

Make = Callable[[Sequence[Led], Context], Callable[..., None]]


class Plan:
    """One function. A plan that joins in an order chosen from sizes is stale once they grew."""

    __slots__ = ("function", "joined", "limit")

    def __init__(self, function: Callable[..., Any], joined: tuple[Relation, ...]) -> None:
        self.function = function
        self.joined = joined
        self.limit = _GROWTH * self.size + _SMALL

    @property
    def size(self) -> int:
        return sum(len(relation.rows) for relation in self.joined)


class Bundle(NamedTuple):
    """Uses as few functions, each with its own, all of one head; some remain alone."""

    parts: tuple[tuple[Callable[..., None], tuple[Use, ...]], ...]
    alone: tuple[Use, ...]


class Plans:
    """All plans of one database. `room` and `meter` are as in `code_context.Context`."""

    def __init__(
        self,
        strata: Strata,
        relation_of: Callable[[str], Relation],
        log: Log,
        room: list[int],
        meter: list[int] | None,
    ) -> None:
        self._clauses = strata.clauses
        self._relation_of = relation_of
        self._contexts = [
            Context(relation_of, self.fold, component.predicates, room, meter)
            for component in strata.components
        ]
        self._home = strata.home
        self._insertions: dict[Use, Plan] = {}
        self._candidates: dict[Use, Plan] = {}
        self._derivations: dict[Use, Plan] = {}
        self._heat: dict[tuple[Make, int], tuple[int, tuple[Use, ...]]] = {}
        self._bundles: dict[tuple[Make, int], Bundle] = {}
        self._log = log
        self._folds: dict[int, FoldState] = {}
        self._crowded: dict[FoldState, None] = {}
        self._places = {
            id(fold): use for component in strata.components for fold, use in component.folds
        }
        self._values: dict[int, Plan] = {}
        self._groups: dict[tuple[int, int], Plan] = {}

    def insertion(self, use: Use) -> Callable[..., None] | None:
        """For new rows of a step (place -1: of none). None while some scanned relation is empty."""
        plan = self._insertions.get(use)
        if plan is None or (plan.joined and plan.size > plan.limit):
            number, place = use
            clause = self._clauses[number]
            if plan is None and self._impossible(clause):
                return None
            function = codegen.insertion([(clause, place)], self._context(clause))
            plan = self._insertions[use] = Plan(function, self._joined(clause.body, place))
        return plan.function

    def candidates(self, use: Use) -> Callable[..., None]:
        plan = self._candidates.get(use)
        if plan is None or (plan.joined and plan.size > plan.limit):
            number, place = use
            clause = self._clauses[number]
            function = codegen.candidates([(clause, place)], self._context(clause))
            plan = self._candidates[use] = Plan(function, self._joined(clause.body, place))
        return plan.function

    def derivation(self, use: Use) -> Callable[..., None]:
        plan = self._derivations.get(use)
        if plan is None or (plan.joined and plan.size > plan.limit):
            clause = self._clauses[use[0]]
            function = codegen.derivation(clause, self._context(clause))
            plan = self._derivations[use] = Plan(function, self._joined(clause.body, -1))
        return plan.function

    def bundle(self, uses: tuple[Use, ...], make: Make) -> Bundle | None:
        """For uses that often run together for one row, as `Uses.of` gives them."""
        found = self._bundles.get((make, id(uses)))
        if found is not None:
            return found
        heat, _ = self._heat.get((make, id(uses)), (0, uses))
        self._heat[make, id(uses)] = heat + 1, uses
        if heat + 1 < _OFTEN:
            return None
        made = self._bundles[make, id(uses)] = self._bundled(uses, make)
        return made

    def _bundled(self, uses: tuple[Use, ...], make: Make) -> Bundle:
        together: dict[str, list[Use]] = {}
        alone: list[Use] = []
        for number, place in uses:
            clause = self._clauses[number]
            if place < 0 or self._joined(clause.body, place):
                alone.append((number, place))
            else:
                together.setdefault(clause.predicate, []).append((number, place))
        parts = []
        for members in together.values():
            led = [(self._clauses[number], place) for number, place in members]
            parts.append((make(led, self._context(led[0][0])), tuple(members)))
        return Bundle(tuple(parts), tuple(alone))

    def fold(self, fold: Fold) -> FoldState:
        state = self._folds.get(id(fold))
        if state is None:
            state = self._folds[id(fold)] = FoldState(
                fold,
                self._log,
                lambda key: self._fold_plan(fold)(key),
                lambda place: self._group_plan(fold, place),
                self._crowded,
            )
            number, place = self._places[id(fold)]
            if place != INNER:
                body = self._clauses[number].body
                state.asked_by(body, lambda name: self._relation_of(name).rows)
        return state

    def forget_idle_groups(self) -> None:
        """Of aggregates that remember many; before an update, when all is as it should be."""
        while self._crowded:
            state, _ = self._crowded.popitem()
            state.forget_idle()

    def forget_values(self) -> None:
        """Of all aggregates."""
        for state in self._folds.values():
            state.memo.clear()
            state.changed.clear()

    def _fold_plan(self, fold: Fold) -> Callable[[Row], Value | None]:
        plan = self._values.get(id(fold))
        if plan is None or (plan.joined and plan.size > plan.limit):
            # what stands between the braces is derived below: any context will do for it
            function = fold_code.fold_value(fold, self._contexts[0])
            plan = self._values[id(fold)] = Plan(function, self._joined(fold.body, -1))
        return plan.function

    def _group_plan(self, fold: Fold, place: int) -> Callable[..., None] | None:
        plan = self._groups.get((id(fold), place))
        if plan is None or (plan.joined and plan.size > plan.limit):
            if not fold_code.finds_groups(fold, place):
                return None
            function = fold_code.fold_groups(fold, place, self._contexts[0])
            plan = self._groups[id(fold), place] = Plan(function, self._joined(fold.body, place))
        return plan.function

    def _context(self, clause: Clause) -> Context:
        return self._contexts[self._home[clause.predicate]]

    def _impossible(self, clause: Clause) -> bool:
        scans = (step for step in clause.body if isinstance(step, Scan))
        return not all(self._relation_of(scan.predicate).rows for scan in scans)

    def _joined(self, body: Sequence[Step], place: int) -> tuple[Relation, ...]:
        """The relations whose sizes decide the order: none unless there is a choice."""
        joined = [
            self._relation_of(step.predicate)
            for at, step in enumerate(body)
            if isinstance(step, Scan) and at != place
        ]
        return tuple(joined) if len(joined) > 1 else ()
