"""Keeping what is derived equal to what the rules conclude, one component after the other."""

from __future__ import annotations

from collections.abc import Mapping

from rules.engine import deletion, insertion
from rules.engine.code_context import Exhausted
from rules.engine.net import Net
from rules.engine.state import ChangedFold, Delta, Engine
from rules.engine.strata import INNER, Component
from rules.terms import Row

Origin = tuple[str, str]
"""Where an asserted fact comes from, and its tier."""


class Edits:
    """Assertions that come, and that go, by predicate. Each changes what is asserted."""

    def __init__(self) -> None:
        self.asserted: dict[str, dict[Row, Origin]] = {}
        self.retracted: dict[str, list[Row]] = {}


def enter(engine: Engine, edits: Edits) -> tuple[Delta, dict[str, list[Row]]]:
    """Note what is asserted; the rows that began to hold by it, and those left without reason."""
    fresh: Delta = {}
    for name, origins in edits.asserted.items():
        relation = engine.relation(name)
        before = {row: relation.asserted.get(row) for row in origins}
        engine.log.append((_forget, (relation.asserted, before)))
        relation.asserted.update(origins)
        new = {row: 0 for row in origins if row not in relation.rows}
        if new:
            relation.insert(new)
            engine.log.append((relation.remove, list(new)))
            fresh[name] = list(new)
    for name, rows in edits.retracted.items():
        asserted = engine.relation(name).asserted
        engine.log.append((asserted.update, {row: asserted.pop(row) for row in rows}))
    return fresh, edits.retracted


def _forget(assertions: tuple[dict[Row, Origin], dict[Row, Origin | None]]) -> None:
    asserted, before = assertions
    for row, origin in before.items():
        if origin is None:
            asserted.pop(row, None)
        else:
            asserted[row] = origin


def update_base(engine: Engine, edits: Edits, net: Net) -> None:
    """Edit predicates that no rule concludes."""
    fresh, retracted = enter(engine, edits)
    net.added.update(fresh)
    for name, rows in retracted.items():
        relation = engine.relation(name)
        ranks = {row: relation.rows[row] for row in rows}
        relation.remove(rows)
        engine.log.append((relation.insert, ranks))
        net.removed[name] = rows


def update(engine: Engine, component: Component, edits: Edits | None, net: Net) -> None:
    """Make a component follow from its assertions and from what is below it.

    `net` holds the changes below, and gets those of the component. Raises LimitError.
    """
    folds = _refresh(engine, component, net) if component.folds else []
    entered, retracted = enter(engine, edits) if edits else ({}, {})
    engine.limits.room[0] -= sum(map(len, entered.values()))
    doubts = deletion.doubts_from_below(engine, component, net, folds)
    for name, rows in retracted.items():
        doubts.setdefault(name, {}).update(dict.fromkeys(rows))
    dead = deletion.bury(engine, component, doubts) if any(doubts.values()) else {}
    if dead is None:
        _derive_anew(engine, component, entered, net)
        return
    delta = deletion.revive(engine, component, dead) if dead and component.recursive else {}
    _extend(delta, entered)
    insertion.fire(engine, insertion.from_below(engine, component, net, folds), delta)
    if delta and component.recursive:
        delta = insertion.spread(engine, component, delta, {})
    _settle(engine, delta, dead, net)


def _extend(delta: Delta, more: Delta) -> None:
    for name, rows in more.items():
        delta.setdefault(name, []).extend(rows)


def _settle(engine: Engine, added: Delta, dead: deletion.Ranks, net: Net) -> None:
    for name, rows in added.items():
        gone = dead.get(name, {})
        came = [row for row in rows if row not in gone] if gone else rows
        if came:
            net.added[name] = came
    for name, ranks in dead.items():
        held = engine.relation(name).rows
        went = [row for row in ranks if row not in held]
        if went:
            net.removed[name] = went


def _refresh(engine: Engine, component: Component, net: Net) -> list[ChangedFold]:
    """Bring aggregates up to date; those with a group whose value is another one now."""
    changed: list[ChangedFold] = []
    for fold, use in component.folds:
        state = engine.plans.fold(fold)
        state.changed.clear()
        try:
            for changes in (net.added, net.removed):
                if any(name in changes for name in state.reads):
                    state.refresh(changes)
        except Exhausted:
            rule = engine.strata.clauses[use[0]].rule
            raise engine.limits.exceeded(rule, "max_work") from None
        if state.changed and use[1] != INNER:
            changed.append((state, use))
    return changed


def derive_all(
    engine: Engine, component: Component, before: Mapping[str, Mapping[Row, int]]
) -> None:
    """Derive a component that holds nothing but assertions now, and held more `before`."""
    delta: Delta = {}
    insertion.fire(engine, insertion.from_nothing(engine, component), delta)
    if component.recursive:
        insertion.spread(engine, component, delta, before)


def _derive_anew(engine: Engine, component: Component, entered: Delta, net: Net) -> None:
    before: dict[str, Mapping[Row, int]] = {}
    for name in sorted(component.predicates):
        relation = engine.relation(name)
        before[name] = dict(relation.rows)
        engine.log.append((relation.replace, before[name]))
        relation.replace(dict.fromkeys(relation.asserted, 0))
        engine.limits.room[0] += len(before[name]) - len(relation.rows)
    derive_all(engine, component, before)
    for name, ranks in before.items():
        held = engine.relation(name).rows
        new = set(entered.get(name, ()))
        came = [row for row in held if row not in ranks or row in new]
        went = [row for row in ranks if row not in held]
        if came:
            net.added[name] = came
        if went:
            net.removed[name] = went
