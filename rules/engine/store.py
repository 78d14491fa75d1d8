"""All components of a program, kept up to date edit by edit, with a way back."""

from __future__ import annotations

from typing import NamedTuple
from weakref import WeakSet

from rules.engine import deletion, maintenance
from rules.engine.folds import Log
from rules.engine.maintenance import Edits, Origin
from rules.engine.net import Net, undone
from rules.engine.relation import DEAD, Relation
from rules.engine.state import Engine, Limits
from rules.errors import LimitError
from rules.statements import Rule
from rules.terms import Fact, Row

Batch = dict[Fact, Origin | None]
"""Facts to assert, with origin and tier, and facts to retract, with None."""


class Snapshot:
    """A state to which a database can go back for as long as someone holds this."""

    __slots__ = ("__weakref__", "at")

    def __init__(self, at: int) -> None:
        self.at = at


class _Past(NamedTuple):
    """One update: how to undo it, what it changed, and what was left of the room before it.

    `origins` has what its facts had for origins before. From these alone the former state can be
    derived anew; `era` tells whether the notes for undoing still fit.
    """

    log: Log
    net: Net
    room: int
    origins: Batch
    era: int


class Store:
    """Asserted facts and all that the rules conclude from them, after each batch.

    An update that is broken off, by Ctrl-C for one, leaves `_broken`: the assertions to put back.
    All else is then derived anew, at the latest when the store is used again.
    """

    def __init__(self, rules: tuple[Rule, ...], limits: Limits) -> None:
        self.engine = Engine(rules, limits)
        self._history: list[_Past] = []
        self._first = 0
        self._snapshots: WeakSet[Snapshot] = WeakSet()
        self._era = 0
        self._broken: list[Batch] = []

    @property
    def relations(self) -> dict[str, Relation]:
        """The facts that hold, by predicate."""
        if self._broken:
            self.settle()
        return self.engine.relations

    def start(self, stated: Batch) -> None:
        """Derive everything from what is stated, in a store that is empty. Raises LimitError."""
        self.engine.limits.restart()
        maintenance.enter(self.engine, _by_predicate(stated))
        self._measure_room()
        self._derive_all()

    def _measure_room(self) -> None:
        engine = self.engine
        held = sum(len(engine.relation(name).rows) for name in engine.strata.home)
        engine.limits.room[0] = engine.limits.max_derived - held

    def _derive_all(self) -> None:
        engine = self.engine
        for component in engine.strata.components:
            maintenance.derive_all(engine, component, {})
        engine.log.clear()

    def apply(self, batch: Batch) -> Net:
        """Make all edits and bring everything up to date: what changed.

        Each edit must change what is asserted. An exception, of which LimitError is one,
        leaves everything as it was.
        """
        self.settle()
        engine, left = self.engine, self.engine.limits.room[0]
        origins: Batch = {}
        for fact in batch:
            predicate, row = fact
            relation = engine.relations.get(predicate)
            origins[fact] = relation.asserted.get(row) if relation else None
        engine.limits.restart()
        try:
            try:
                net = self._update(batch)
            except LimitError:
                _undo(engine.log)
                engine.limits.room[0] = left
                raise
            if self._snapshots:
                self._history.append(_Past(engine.log[:], net, left, origins, self._era))
            elif self._history:
                self._forget()
            engine.log.clear()
        except LimitError:
            raise
        except BaseException:
            self._broken = [origins]
            if self._history and self._history[-1].origins is origins:
                self._history.pop()
            self.settle()
            raise
        return net

    def settle(self) -> None:
        """Mend what a broken update has left behind."""
        if not self._broken:
            return
        engine = self.engine
        for origins in self._broken:
            for (predicate, row), origin in origins.items():
                asserted = engine.relation(predicate).asserted
                if origin is None:
                    asserted.pop(row, None)
                else:
                    asserted[row] = origin
        self._era += 1
        engine.limits.lift_all()
        engine.plans.forget_values()
        for relation in engine.relations.values():
            relation.replace(dict.fromkeys(relation.asserted, 0))
        self._derive_all()
        self._measure_room()
        self._broken = []

    def _update(self, batch: Batch) -> Net:
        engine, net = self.engine, Net()
        engine.plans.forget_idle_groups()
        home, readers = engine.strata.home, engine.strata.readers
        base = Edits()
        above: dict[int, Edits] = {}
        for fact, origin in batch.items():
            at = home.get(fact.predicate)
            edits = base if at is None else above.setdefault(at, Edits())
            _enter(edits, fact, origin)
        maintenance.update_base(engine, base, net)
        waiting = set(above)
        for changes in (net.added, net.removed):
            for name in changes:
                waiting.update(readers.get(name, ()))
        while waiting:
            at = min(waiting)
            waiting.remove(at)
            component = engine.strata.components[at]
            maintenance.update(engine, component, above.get(at), net)
            for name in component.predicates:
                if name in net.added or name in net.removed:
                    waiting.update(readers.get(name, ()))
        return net

    def concludes(self, predicate: str, row: Row) -> bool:
        """Whether some rule concludes a row that holds, be it asserted or not."""
        self.settle()
        engine = self.engine
        engine.limits.lift()
        component = engine.strata.components[engine.strata.home[predicate]]
        return bool(deletion.supported(engine, component, predicate, [(row, DEAD)]))

    def snapshot(self) -> Snapshot:
        self.settle()
        self._forget()
        snapshot = Snapshot(self._first + len(self._history))
        self._snapshots.add(snapshot)
        return snapshot

    def _forget(self) -> None:
        """Drop the updates from before the first state that is still asked for."""
        end = self._first + len(self._history)
        first = min((snapshot.at for snapshot in self._snapshots), default=end)
        del self._history[: first - self._first]
        self._first = first

    def rollback(self, snapshot: Snapshot) -> Net:
        """Undo all since a snapshot, which stays good. Raises ValueError for one that is not."""
        self.settle()
        if snapshot not in self._snapshots:
            raise ValueError("the snapshot is of a state that is not on the way back any more")
        past = self._history[snapshot.at - self._first :]
        try:
            self._go_back(past)
            del self._history[snapshot.at - self._first :]
            for other in list(self._snapshots):
                if other.at > snapshot.at:
                    self._snapshots.discard(other)
        except BaseException:
            # half the way back is no place to stay: go all the way
            self._broken = [each.origins for each in reversed(past)]
            del self._history[snapshot.at - self._first :]
            self.settle()
            raise
        return undone(each.net for each in reversed(past))

    def _go_back(self, past: list[_Past]) -> None:
        engine = self.engine
        if any(each.era != self._era for each in past):
            self._broken = [each.origins for each in reversed(past)]
            self.settle()
            return
        _undo(engine.log)  # which notes what questions have worked out since the last update
        for each in reversed(past):
            _undo(each.log[:])
            engine.limits.room[0] = each.room


def _undo(log: Log) -> None:
    while log:
        call, argument = log.pop()
        call(argument)


def _by_predicate(batch: Batch) -> Edits:
    edits = Edits()
    for fact, origin in batch.items():
        _enter(edits, fact, origin)
    return edits


def _enter(edits: Edits, fact: Fact, origin: Origin | None) -> None:
    predicate, row = fact
    if origin is None:
        edits.retracted.setdefault(predicate, []).append(row)
    else:
        edits.asserted.setdefault(predicate, {})[row] = origin
