"""Random updates of a database, checked after each one against the oracle and a new database."""

import random
from collections.abc import Callable, Iterator

from rules import Database, Fact, LimitError, Program
from rules.terms import Row
from tests.rules.naive import Proofs, derivable
from tests.rules.program_parts import Sample


def holding(database: Database) -> set[Fact]:
    """Everything that holds."""
    return {*database.facts(), *database.derived()}


class Deliberate(Exception):
    """What a transaction is broken off with."""


def bounds(chance: random.Random) -> dict[str, int]:
    """Bounds for a database: often none, or one that is never met, and some that are."""
    kind = chance.random()
    if kind < 0.5:
        return {}
    if kind < 0.75:
        return {"max_work": 10**9}  # joins are metered
    if kind < 0.9:
        return {"max_derived": chance.randint(4, 60)}
    return {"max_work": chance.randint(20, 400)}


class Session:
    """A database and what must be true of it, driven by one source of chance."""

    def __init__(self, sample: Sample, chance: random.Random) -> None:
        self.program = Program.parse(sample.text, "random.dl")
        self.sample, self.chance = sample, chance
        self.bounds = bounds(chance)
        try:
            self.database = Database(self.program, **self.bounds)
        except LimitError:
            self.bounds = {}
            self.database = Database(self.program)
        self.asserted: dict[Fact, str] = {}
        self.log: list[str] = []
        self.saved: list[tuple[object, dict[Fact, str]]] = []
        self.dropped: list[Fact] = []
        self.heads = derivable(self.program)
        self.truth = Proofs(self.program, ())
        self.changes: list[object] = []
        self.database.on_change(self.changes.append)
        self.check_state()

    def script(self) -> str:
        """The program and all updates, to be read and to be run again."""
        return "\n".join([self.sample.text, f"{self.bounds or ''}", *self.log])

    # updates

    def run(self, steps: int) -> None:
        """Many facts at once, then so many updates, each followed by all checks."""
        self.update(Session.fill)
        self.check()
        for _ in range(steps):
            self.update(self.chance.choice(UPDATES))
            self.check()

    def update(self, change: "Callable[[Session], None]") -> None:
        """Make a change, which a bound may refuse."""
        before, held = dict(self.asserted), len(self.changes)
        try:
            change(self)
        except LimitError:
            assert self.bounds, "there is no such bound"
            self.log.append("refused")
            self.asserted = before
            assert len(self.changes) == held, "a change was announced"

    def fill(self) -> None:
        with self.database.transaction():
            for _ in range(self.chance.randint(8, 32)):
                self.put(self.new_fact())

    def new_fact(self) -> Fact:
        """Often one that was asserted before."""
        if self.dropped and self.chance.random() < 0.35:
            return self.chance.choice(self.dropped)
        return self.sample.fact()

    def put(self, fact: Fact) -> None:
        origin = f"update {len(self.log)}"
        self.log.append(f"assert {fact}")
        told = self.database.assert_fact(fact.predicate, *fact.args, origin=origin)
        assert told is (fact not in self.asserted), f"assert_fact told {told}"
        self.asserted.setdefault(fact, origin)

    def take(self) -> None:
        """Retract a fact that is there."""
        if not self.asserted:
            self.put(self.sample.fact())
            return
        self.drop(self.chance.choice(list(self.asserted)))

    def drop(self, fact: Fact) -> None:
        self.log.append(f"retract {fact}")
        told = self.database.retract_fact(fact.predicate, *fact.args)
        assert told, f"{fact} was not asserted"
        del self.asserted[fact]
        self.dropped.append(fact)

    def assert_one(self) -> None:
        self.put(self.new_fact())

    def flurry(self) -> None:
        """Many updates without a look between them, the most of them of few facts."""
        few = [self.new_fact() for _ in range(self.chance.randint(1, 3))]

        def toggle(session: Session) -> None:
            fact = session.chance.choice(few)
            (session.drop if fact in session.asserted else session.put)(fact)

        for _ in range(self.chance.randint(10, 40)):
            self.update(toggle if self.chance.random() < 0.8 else Session.take)

    def batch(self) -> None:
        self.log.append("begin")
        with self.database.transaction():
            self.edits()
        self.log.append("end")

    def edits(self) -> None:
        for _ in range(self.chance.randint(2, 6)):
            if self.chance.random() < 0.55:
                self.take()
            else:
                self.put(self.new_fact())

    def broken_batch(self) -> None:
        """A transaction that an exception breaks off."""
        before, held = dict(self.asserted), len(self.changes)
        self.log.append("begin")
        try:
            with self.database.transaction():
                self.edits()
                raise Deliberate
        except Deliberate:
            self.log.append("break off")
        self.asserted = before
        assert len(self.changes) == held, "a change was announced"

    def swap(self) -> None:
        """Take a fact away and put it back in one transaction, with something else."""
        self.log.append("begin")
        with self.database.transaction():
            self.take()
            if self.dropped:
                self.put(self.dropped[-1])
            self.edits()
        self.log.append("end")

    def prune(self) -> None:
        """Retract many facts of any kind at once."""
        self.log.append("begin")
        with self.database.transaction():
            for _ in range(len(self.asserted) // 2):
                self.take()
            self.put(self.new_fact())
        self.log.append("end")

    def excursion(self) -> None:
        """Updates, the way back, and some of the same again."""
        self.snapshot()
        before = set(self.asserted)
        for change in (Session.batch, self.chance.choice((Session.batch, Session.prune))):
            self.update(change)
        self.dropped += [fact for fact in self.asserted if fact not in before]
        self.rollback(len(self.saved) - 1)

    def clear(self) -> None:
        """Retract all facts of one predicate, at once or one after the other."""
        names = sorted({fact.predicate for fact in self.asserted})
        if not names:
            return
        name = self.chance.choice(names)
        self.log.append(f"clear {name}")
        with self.database.transaction():
            for fact in [fact for fact in self.asserted if fact.predicate == name]:
                assert self.database.retract_fact(fact.predicate, *fact.args)
                del self.asserted[fact]
                self.dropped.append(fact)

    def snapshot(self) -> None:
        self.log.append(f"snapshot {len(self.saved)}")
        self.saved.append((self.database.snapshot(), dict(self.asserted)))

    def rollback(self, at: int | None = None) -> None:
        """Back to one of the snapshots, which drops those after it."""
        if not self.saved:
            self.snapshot()
        if at is None:
            at = self.chance.randrange(len(self.saved))
        self.log.append(f"rollback {at}")
        snapshot, asserted = self.saved[at]
        del self.saved[at:]
        self.database.rollback(snapshot)
        self.asserted = asserted

    # checks

    def check(self) -> None:
        """All that must be true after an update."""
        before = self.truth.model
        self.truth = Proofs(self.program, self.asserted)
        self.check_change(before, self.truth.model)
        self.check_state()

    def check_state(self) -> None:
        self.check_model(self.database, "the database")
        self.check_model(self.from_scratch(), "a new database")
        self.check_ranks()
        self.check_lookups()
        self.check_proofs()

    def from_scratch(self) -> Database:
        database = Database(self.program)
        with database.transaction():
            for fact, origin in self.asserted.items():
                database.assert_fact(fact.predicate, *fact.args, origin=origin)
        return database

    def check_model(self, database: Database, which: str) -> None:
        held, model = set(database.facts()), self.truth.model
        assert held == set(self.asserted), f"{which} holds other facts"
        derived = database.derived()
        assert derived == sorted(set(derived), key=fact_order)
        found = held | set(derived)
        assert found == model, (
            f"{which} lacks {named(model - found)} and has {named(found - model)} too many"
        )

    def check_change(self, before: set[Fact], after: set[Fact]) -> None:
        """One announcement an update, of exactly what is different."""
        added, removed = set(), set()
        for change in self.changes:
            assert len(set(change.added)) == len(change.added)
            assert list(change.removed) == sorted(change.removed, key=fact_order)
            gone, come = set(change.removed), set(change.added)
            added, removed = (added - gone) | (come - removed), (removed - come) | (gone - added)
        self.changes.clear()
        assert added == self.concluded(after - before), "on_change, added"
        assert removed == self.concluded(before - after), "on_change, removed"

    def concluded(self, facts: set[Fact]) -> set[Fact]:
        return {fact for fact in facts if fact.predicate in self.heads}

    def check_ranks(self) -> None:
        """Each row that is not asserted rests on rows of smaller rank in its component."""
        view = self.database.view
        ranks = {Fact(n, row): rank for n in view.arities for row, rank in view.rows(n).items()}
        assert ranks.keys() == self.truth.model, ranks.keys() ^ self.truth.model
        supported = {
            fact
            for _, fact, premises in self.truth.steps
            if all(
                ranks[premise] < ranks[fact]
                for premise in premises
                if view.component(premise.predicate) == view.component(fact.predicate)
            )
        }
        idle = ranks.keys() - supported - self.asserted.keys()
        assert not idle, f"no derivation has smaller ranks than {named(idle)}"

    def check_lookups(self) -> None:
        view = self.database.view
        for name, arity in self.sample.arities.items():
            rows = [fact.args for fact in self.truth.model if fact.predicate == name]
            columns = tuple(at for at in range(arity) if self.chance.random() < 0.5)
            row = self.chance.choice(rows) if rows else (0,) * arity
            key = tuple(row[at] for at in columns)
            found = view.matching(name, columns, key)
            wanted = {r for r in rows if tuple(r[at] for at in columns) == key}
            assert len(found) == len(wanted), f"{name} at {columns}"
            assert set(found) == wanted, f"{name} at {columns}"
            assert self.database.holds(name, *row) is bool(rows)
            assert dict(view.asserted(name)) == self.origins_of(name)

    def origins_of(self, name: str) -> dict[Row, tuple[str, str]]:
        held = self.asserted.items()
        return {fact.args: (origin, "kernel") for fact, origin in held if fact.predicate == name}

    def check_proofs(self) -> None:
        model = sorted(self.truth.model, key=fact_order)
        for fact in self.chance.sample(model, min(2, len(model))):
            self.truth.check(self.database.why(fact))


UPDATES: list[Callable[[Session], None]] = [
    *[Session.take] * 8,
    *[Session.assert_one] * 5,
    *[Session.batch] * 4,
    *[Session.swap] * 2,
    *[Session.flurry] * 2,
    Session.broken_batch,
    Session.clear,
    Session.prune,
    *[Session.excursion] * 2,
    *[Session.snapshot] * 2,
    *[Session.rollback] * 2,
]


def fact_order(fact: Fact) -> tuple[object, ...]:
    return fact.predicate, [(isinstance(value, str), value) for value in fact.args]


def named(facts: Iterator[Fact] | set[Fact]) -> str:
    return ", ".join(sorted(map(str, facts))[:4]) or "nothing"
