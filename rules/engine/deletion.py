"""Delete and derive again, with ranks to stop a row from proving itself.

A row is doubted when something it may have been concluded from is gone. It stays when it has
another derivation from rows that hold, those of its own component with smaller ranks; so two
rows cannot support each other in a circle, and most doubts end at once. (The idea of a check
before deletion is that of Motik et al., "Incremental update of datalog materialisation: the
backward/forward algorithm", AAAI 2015.)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from operator import itemgetter

from rules.engine import codegen
from rules.engine.code_context import Exhausted
from rules.engine.insertion import MANY, Firing
from rules.engine.net import Net
from rules.engine.normal import Absent
from rules.engine.relation import DEAD
from rules.engine.state import ChangedFold, Delta, Engine
from rules.engine.strata import Component, Use
from rules.terms import Row, Variable

Ranks = dict[str, dict[Row, int]]
"""The ranks that rows had, by predicate."""

Doubts = dict[str, dict[Row, None]]

Ranked = tuple[Row, int]

Lead = tuple[tuple[Use, ...], Collection[Ranked]]
"""Steps that lead, and rows for them with their ranks (-1 from below)."""

_FEW = 100
_SHARE = 5


def doubts_from_below(
    engine: Engine, component: Component, net: Net, folds: list[ChangedFold]
) -> Doubts:
    """What may have been concluded from what changed below the component."""
    gone: dict[str, Collection[Row]] = {}
    leads: list[Lead] = []
    for name, uses in component.scanned.items():
        rows = net.removed.get(name)
        if rows:
            gone[name] = rows
            leads += [(some, [(row, -1) for row in part]) for some, part in uses.of(rows)]
    for name, uses in component.negated.items():
        rows = net.added.get(name)
        if rows:
            leads += _refuted(engine, uses.of(rows), net.removed.get(name, ()))
    for state, use in folds:
        old = [((*key, was), -1) for key, (was, _) in state.changed.items() if was is not None]
        leads.append(((use,), old))
    doubts: Doubts = {}
    if gone and _meet(leads):
        _doubt_with_ghosts(engine, leads, gone, doubts)
    elif leads:
        _doubt(engine, leads, doubts)
    return doubts


def _meet(leads: list[Lead]) -> bool:
    """Whether a clause is led by two steps."""
    numbers = [use[0] for uses, _ in leads for use in uses]
    return len(set(numbers)) < len(numbers)


def _refuted(engine: Engine, firings: Iterable[Firing], gone: Collection[Row]) -> list[Lead]:
    """Negations that hold no longer: not those that something else stood against before."""
    clauses = engine.strata.clauses
    leads: list[Lead] = []
    for uses, rows in firings:
        alone = {
            use: _alone(engine, step, rows)
            for use in uses
            if not gone and isinstance(step := clauses[use[0]].body[use[1]], Absent)
        }
        if all(len(some) == len(rows) for some in alone.values()):
            leads.append((uses, [(row, -1) for row in rows]))
        else:
            leads += [((use,), [(row, -1) for row in some]) for use, some in alone.items() if some]
    return leads


def _alone(engine: Engine, step: Absent, rows: Collection[Row]) -> Collection[Row]:
    """The new rows which together are all that match their instance of the negation."""
    columns = tuple(
        at
        for at, term in enumerate(step.args)
        if not (isinstance(term, Variable) and term.anonymous)
    )
    relation = engine.relation(step.predicate)
    if len(columns) == len(step.args):
        return rows
    if not columns:
        return rows if len(relation.rows) == len(rows) else ()
    key, index = itemgetter(*columns), relation.index(columns)
    came = Counter(map(key, rows))
    return [row for row in rows if len(index[key(row)]) == came[key(row)]]


def _doubt_with_ghosts(
    engine: Engine, leads: list[Lead], gone: dict[str, Collection[Row]], doubts: Doubts
) -> None:
    """An instance may have lost two of its premises: each has to find the other."""
    ghosts = [(engine.relation(name), rows) for name, rows in gone.items()]
    for relation, rows in ghosts:
        relation.insert(dict.fromkeys(rows, 0))
    try:
        _doubt(engine, leads, doubts)
    finally:
        for relation, rows in ghosts:
            relation.remove(rows)


def _doubt(engine: Engine, leads: Iterable[Lead], doubts: Doubts) -> None:
    for uses, rows in leads:
        if len(uses) >= MANY and len(rows) == 1:
            bundle = engine.plans.bundle(uses, codegen.candidates)
            if bundle is not None:
                for function, members in bundle.parts:
                    _run(engine, function, members[0], rows, doubts)
                uses = bundle.alone
        for use in uses:
            _run(engine, engine.plans.candidates(use), use, rows, doubts)


def _run(
    engine: Engine, plan: Callable[..., None], use: Use, rows: Collection[Ranked], doubts: Doubts
) -> None:
    clause = engine.strata.clauses[use[0]]
    try:
        engine.limits.look_at(len(rows))
        plan(rows, doubts.setdefault(clause.predicate, {}))
    except Exhausted:
        raise engine.limits.exceeded(clause.rule, "max_work") from None


def bury(engine: Engine, component: Component, doubts: Doubts) -> Ranks | None:
    """Take out what has no derivation from smaller ranks; the ranks it had.

    None, with the rows only marked, when it is so much that deriving anew is likely faster.
    """
    dead: Ranks = {}
    while any(doubts.values()):
        fallen = _fallen(engine, component, doubts)
        doubts = {}
        for name, ranks in fallen.items():
            dead.setdefault(name, {}).update(ranks)
        if component.recursive:
            if _too_many(engine, component, sum(map(len, dead.values()))):
                return None
            leads: list[Lead] = [
                (uses, [(row, ranks[row]) for row in rows])
                for name, ranks in fallen.items()
                if name in component.scanned
                for uses, rows in component.scanned[name].of(ranks)
            ]
            _doubt(engine, leads, doubts)
    for name, ranks in dead.items():
        relation = engine.relation(name)
        relation.remove(ranks)
        engine.log.append((relation.insert, ranks))
        engine.limits.room[0] += len(ranks)
    return dead


def _too_many(engine: Engine, component: Component, dead: int) -> bool:
    if dead <= _FEW:
        return False
    return dead > sum(len(engine.relation(name).rows) for name in component.predicates) // _SHARE


def _fallen(engine: Engine, component: Component, doubts: Doubts) -> Ranks:
    """Mark the doubted rows that nothing supports; their ranks.

    Rows of smaller ranks are settled first, since others may rest on them; no two of one rank
    rest on each other.
    """
    fallen: Ranks = {}
    for name, rows in doubts.items():
        relation = engine.relation(name)
        held, asserted = relation.rows, relation.asserted
        marked: dict[Row, int] = {}
        engine.log.append((held.update, marked))
        for rank, group in _by_rank(rows, held):
            limit = rank if component.recursive else DEAD
            pending = [(row, limit) for row in group if row not in asserted]
            found = supported(engine, component, name, pending)
            for row, _ in pending:
                if row not in found:
                    marked[row] = rank
                    held[row] = DEAD
        if marked:
            fallen[name] = marked
    return fallen


def _by_rank(rows: Iterable[Row], ranks: Mapping[Row, int]) -> list[tuple[int, list[Row]]]:
    groups: dict[int, list[Row]] = {}
    for row in rows:
        groups.setdefault(ranks[row], []).append(row)
    groups.pop(DEAD, None)
    return sorted(groups.items())


def supported(
    engine: Engine, component: Component, name: str, pending: list[tuple[Row, int]]
) -> set[Row]:
    """Those rows that some clause concludes, from ranks below the limit that comes with each."""
    found: set[Row] = set()
    limits = dict(pending)
    for uses, rows in component.concluded[name].of(limits):
        for use in uses:
            asked = [(row, limits[row]) for row in rows if row not in found]
            if not asked:
                break
            try:
                engine.limits.look_at(len(asked))
                engine.plans.derivation(use)(asked, found)
            except Exhausted:
                rule = engine.strata.clauses[use[0]].rule
                raise engine.limits.exceeded(rule, "max_work") from None
    return found


def revive(engine: Engine, component: Component, dead: Ranks) -> Delta:
    """Let rows of a recursive component hold again that can still be concluded."""
    delta: Delta = {}
    for name, ranks in dead.items():
        found = supported(engine, component, name, [(row, DEAD) for row in ranks])
        alive = [row for row in ranks if row in found]
        if alive:
            relation = engine.relation(name)
            relation.insert(dict.fromkeys(alive, engine.tick()))
            engine.log.append((relation.remove, alive[:]))
            engine.limits.room[0] -= len(alive)
            delta[name] = alive
    return delta
