"""Semi-naive evaluation: what is new in one round drives the next, until nothing is new.

Within a round rules run in file order over the facts of earlier rounds. So the premises of a
conclusion held before it, and the order of conclusions depends on nothing but the order of
rules and facts.
"""

from collections.abc import Collection, Mapping

from rules.engine import Engine
from rules.errors import LimitError
from rules.plan import START, Plan
from rules.relation import Model, Relation, Support
from rules.terms import Row

Conclusion = tuple[Relation, Row, Support]

Delta = Mapping[str, Collection[Row]]
"""Rows that began to hold in the last round, by predicate."""


class Propagation:
    """One batch of new facts and all that follows from them; can be undone as a whole.

    `concluded` lists what rules newly conclude, in order.
    """

    def __init__(self, engine: Engine, model: Model, max_derived: int) -> None:
        self.concluded: list[Conclusion] = []
        self._engine = engine
        self._model = model
        self._room = max_derived - model.derived
        self._max_derived = max_derived
        self._asserted: list[tuple[Relation, Row]] = []
        self._delta: dict[str, list[Row]] = {}
        self._fresh: dict[str, set[Row]] = {}

    def add(self, predicate: str, row: Row, origin: str) -> None:
        """Assert a row that is not asserted yet."""
        relation = self._model.relation(predicate)
        self._asserted.append((relation, row))
        if relation.assert_row(row, origin):
            self._delta.setdefault(predicate, []).append(row)

    def run(self) -> None:
        """Conclude what follows. Raises LimitError, with the work half done."""
        self._rounds(self._delta)

    def run_from_scratch(self) -> None:
        """Conclude everything, in a model of asserted facts alone. Raises LimitError."""
        relations = self._model.relations
        delta: dict[str, Collection[Row]] = {
            name: list(relation.rows) for name, relation in relations.items() if relation.rows
        }
        self._rounds({START: [()], **delta})

    def undo(self) -> None:
        """Make the model what it was, also after an exception within `run`."""
        self._model.derived -= len(self.concluded)
        for relation, row, _ in reversed(self.concluded):
            if row in relation.asserted:
                relation.rows[row] = None
            else:
                relation.take_back(row)
        for relation, row in reversed(self._asserted):
            del relation.asserted[row]
            if relation.rows[row] is None:
                relation.take_back(row)

    def _rounds(self, delta: Delta) -> None:
        while delta:
            self._fresh = {}
            order: list[Conclusion] = []
            readers = self._engine.readers
            for number in sorted({rule for name in delta for rule in readers.get(name, ())}):
                for lead, rows in self._leads(number, delta):
                    self._fire(self._engine.plan(number, lead), rows, order)
            delta = self._merge(order)

    def _leads(self, number: int, delta: Delta) -> list[tuple[int | None, Collection[Row]]]:
        """The conditions of a rule that have new rows.

        Where all rows of one are new it covers every instance, and the smallest such will do.
        """
        new = [
            (at, name, delta[name]) for at, name in self._engine.conditions[number] if name in delta
        ]
        whole = [
            (at, rows)
            for at, name, rows in new
            if len(rows) == len(self._model.relation(name).rows)
        ]
        if whole:
            return [min(whole, key=lambda lead: len(lead[1]))]
        return [(at, rows) for at, _, rows in new]

    def _fire(self, plan: Plan, rows: Collection[Row], order: list[Conclusion]) -> None:
        """Collect the conclusions of one plan that are new."""
        relation = self._model.relation(plan.rule.head.predicate)
        fresh = self._fresh.setdefault(relation.predicate, set())
        concluded, head = relation.rows.get, plan.head
        fixed = plan.fixed_head
        if fixed is not None and (concluded(fixed) is not None or fixed in fresh):
            return
        for support in plan.supports(self._model, rows):
            row = head(support)
            if concluded(row) is None and row not in fresh:
                fresh.add(row)
                order.append((relation, row, support))
                if len(order) > self._room:
                    raise self._limit(plan)
                if fixed is not None:
                    return

    def _merge(self, order: list[Conclusion]) -> Delta:
        """Let the conclusions of a round hold; those that did not hold before."""
        delta: dict[str, list[Row]] = {}
        for relation, row, support in order:
            if row in relation.rows:
                relation.rows[row] = support
            else:
                relation.add(row, support)
                delta.setdefault(relation.predicate, []).append(row)
        self.concluded += order
        self._room -= len(order)
        self._model.derived += len(order)
        return delta

    def _limit(self, plan: Plan) -> LimitError:
        rule = plan.rule
        message = (
            f"rule {rule.name!r} ({rule.source}:{rule.line}) goes beyond max_derived, "
            f"{self._max_derived:,} derived facts; nothing of this change was kept: "
            "narrow the conditions of the rule or raise the limit"
        )
        return LimitError("max_derived", message)
