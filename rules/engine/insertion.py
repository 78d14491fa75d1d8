"""Deriving: what is new in one round drives the next, until nothing is new (semi-naive)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from itertools import islice

from rules.engine import codegen
from rules.engine.code_context import Exhausted
from rules.engine.codegen import ONCE
from rules.engine.net import Net
from rules.engine.normal import Clause, Equation, Scan
from rules.engine.ordering import expected_work
from rules.engine.relation import Relation
from rules.engine.state import ChangedFold, Delta, Engine
from rules.engine.strata import Component, Use
from rules.statements import Rule
from rules.terms import Expression, Row

Firing = tuple[tuple[Use, ...], Collection[Row]]
"""Steps that lead (place -1: none), and rows for them."""

_Lead = tuple[Use, Collection[Row]]

MANY = 16
"""Where so many uses run for one row, it is worth to run them by one function."""

_LEAST_CHUNK = 16


def fire(engine: Engine, firings: Iterable[Firing], delta: Delta) -> None:
    """Run clauses and add what they newly conclude to the delta. Raises LimitError."""
    for uses, rows in firings:
        if len(uses) >= MANY and len(rows) == 1:
            bundle = engine.plans.bundle(uses, codegen.insertion)
            if bundle is not None:
                for function, members in bundle.parts:
                    _add(delta, *_run(engine, function, members, rows))
                uses = bundle.alone
        for use in uses:
            plan = engine.plans.insertion(use)
            if plan is not None:
                run = _run if len(rows) <= _LEAST_CHUNK else _run_in_parts
                _add(delta, *run(engine, plan, (use,), rows))


def _add(delta: Delta, predicate: str, rows: list[Row]) -> None:
    if rows:
        known = delta.get(predicate)
        if known is None:
            delta[predicate] = rows
        else:
            known += rows


def _run(
    engine: Engine, plan: Callable[..., None], uses: Sequence[Use], rows: Collection[Row]
) -> tuple[str, list[Row]]:
    """What a function concludes, and of which predicate; each use has a rank of its own."""
    relation = engine.relation(engine.strata.clauses[uses[0][0]].predicate)
    first = engine.clock + 1
    engine.clock += len(uses)
    out: list[Row] = []
    try:
        engine.limits.look_at(len(rows) * len(uses))
        plan(rows, first, out)
    except Exhausted:
        _note(engine, relation, [row for row, rank in relation.rows.items() if rank >= first])
        raise _exceeded(engine, relation, uses, first) from None
    if out:
        _note(engine, relation, out)
        if engine.limits.room[0] < 0:
            raise _exceeded(engine, relation, uses, first)
    return relation.predicate, out


def _note(engine: Engine, relation: Relation, rows: list[Row]) -> None:
    """Rows hold now: finish their entry."""
    relation.enter(rows)
    engine.log.append((relation.remove, rows[:]))
    engine.limits.room[0] -= len(rows)


def _exceeded(engine: Engine, relation: Relation, uses: Sequence[Use], first: int) -> Exception:
    """Of several uses the one that concluded last is to blame."""
    meter = engine.limits.meter
    limit = "max_work" if meter is not None and meter[0] < 0 else "max_derived"
    last = max(relation.rows.values(), default=first)
    number, _ = uses[max(0, last - first)]
    return engine.limits.exceeded(engine.strata.clauses[number].rule, limit)


def _run_in_parts(
    engine: Engine, plan: Callable[..., None], uses: Sequence[Use], rows: Collection[Row]
) -> tuple[str, list[Row]]:
    """In parts which cannot go far beyond the limit before it is looked at."""
    number, place = uses[0]
    clause = engine.strata.clauses[number]
    widest = 1
    for at, step in enumerate(clause.body):
        if isinstance(step, Scan) and at != place:
            widest = max(widest, len(engine.relation(step.predicate).rows))
    size = max(_LEAST_CHUNK, engine.limits.room[0] // widest)
    if len(rows) <= size:
        return _run(engine, plan, uses, rows)
    source, concluded = iter(tuple(rows)), list[Row]()
    while part := tuple(islice(source, size)):
        concluded += _run(engine, plan, uses, part)[1]
    return clause.predicate, concluded


def spread(
    engine: Engine, component: Component, delta: Delta, before: Mapping[str, Container[Row]]
) -> Delta:
    """All that follows within a recursive component from its new rows, these included.

    Rounds that conclude no more than held `before` do not count.
    """
    whole = {name: list(rows) for name, rows in delta.items()}
    rounds = 0
    while delta:
        fresh: Delta = {}
        fire(engine, _uses(component, delta), fresh)
        if component.generates and _beyond(fresh, before):
            rounds += 1
            if rounds > engine.limits.rounds:
                raise engine.limits.exceeded(_deepest(engine, component, fresh), "max_rounds")
        for name, rows in fresh.items():
            whole.setdefault(name, []).extend(rows)
        delta = fresh
    return whole


def _beyond(fresh: Delta, before: Mapping[str, Container[Row]]) -> bool:
    return any(row not in before.get(name, ()) for name, rows in fresh.items() for row in rows)


def _deepest(engine: Engine, component: Component, fresh: Delta) -> Rule:
    """A rule that concluded in the last round, rather one that calculates."""
    clauses = engine.strata.clauses
    found = [clauses[at] for at in component.numbers if clauses[at].predicate in fresh]
    found = [each for each in found if _recurs(each, component)] or found
    return min(found, key=lambda clause: not _calculates(clause)).rule


def _recurs(clause: Clause, component: Component) -> bool:
    return any(
        isinstance(step, Scan) and step.predicate in component.predicates for step in clause.body
    )


def _calculates(clause: Clause) -> bool:
    return any(
        isinstance(side, Expression)
        for step in clause.body
        if isinstance(step, Equation)
        for side in (step.left, step.right)
    )


def _uses(component: Component, delta: Delta) -> Iterable[Firing]:
    for name, rows in delta.items():
        if name in component.scanned:
            yield from component.scanned[name].of(rows)


def from_below(
    engine: Engine, component: Component, net: Net, folds: list[ChangedFold]
) -> list[Firing]:
    """What may conclude something new after changes below.

    Where all rows of a scan are new it covers every instance of its clause, and one such scan,
    of which the cheapest, will do.
    """
    scanned: list[Firing] = []
    whole: list[Firing] = []
    others: list[Firing] = []
    for name, uses in component.scanned.items():
        rows = net.added.get(name)
        if rows:
            firings = uses.of(rows)
            scanned += firings
            if len(rows) == len(engine.relation(name).rows):
                whole += firings
    for name, uses in component.negated.items():
        rows = net.removed.get(name)
        if rows:
            others += uses.of(rows)
    for state, use in folds:
        values = [(*key, now) for key, (_, now) in state.changed.items() if now is not None]
        others.append(((use,), values))
    if len(scanned) + len(others) < 2:
        return scanned + others
    return _without_repetition(engine, scanned + others, whole)


def _without_repetition(engine: Engine, firings: list[Firing], whole: list[Firing]) -> list[Firing]:
    covering: dict[int, list[_Lead]] = {}
    for uses, rows in whole:
        for use in uses:
            covering.setdefault(use[0], []).append((use, rows))
    leads = [_cheapest(engine, choice) for choice in covering.values()]
    for uses, rows in firings:
        leads += [(use, rows) for use in uses if use[0] not in covering]
    return [((use,), rows) for use, rows in sorted(leads, key=lambda lead: lead[0])]


def _cheapest(engine: Engine, leads: list[_Lead]) -> _Lead:
    """The one of several leads of a clause, each of which covers all, that joins least."""
    if len(leads) == 1 or min(len(rows) for _, rows in leads) < _LEAST_CHUNK:
        return min(leads, key=lambda lead: len(lead[1]))

    def work(lead: _Lead) -> float:
        (number, place), rows = lead
        body = engine.strata.clauses[number].body
        return expected_work(body, place, len(rows), engine.relation)

    return min(leads, key=work)


def from_nothing(engine: Engine, component: Component) -> Iterable[Firing]:
    """What to run to derive a whole component whose relations hold asserted rows alone."""
    for number in component.numbers:
        scans: list[_Lead] = [
            ((number, place), engine.relation(step.predicate).rows)
            for place, step in enumerate(engine.strata.clauses[number].body)
            if isinstance(step, Scan)
        ]
        if not scans:
            yield ((number, -1),), ONCE
        elif all(rows for _, rows in scans):
            use, rows = _cheapest(engine, scans)
            yield (use,), tuple(rows)
