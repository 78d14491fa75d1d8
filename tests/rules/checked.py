"""A database of random facts, and what must be true of it: by the oracle, and by a new one."""

import random
from collections.abc import Iterator, Sequence

from rules import Database, Fact, LimitError, Program
from rules.terms import Row
from tests.rules.naive import Proofs, derivable
from tests.rules.program_parts import Sample


def holding(database: Database) -> set[Fact]:
    """Everything that holds."""
    return {*database.facts(), *database.derived()}


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


def check_lookup(
    database: Database, name: str, arity: int, rows: Sequence[Row], chance: random.Random
) -> Row:
    """Whether one of the rows, which is returned, and those like it are found by some columns."""
    columns = tuple(at for at in range(arity) if chance.random() < 0.5)
    row = chance.choice(rows) if rows else (0,) * arity
    key = tuple(row[at] for at in columns)
    found = database.view.matching(name, columns, key)
    wanted = {other for other in rows if tuple(other[at] for at in columns) == key}
    assert len(found) == len(wanted), f"{name} at {columns}"
    assert set(found) == wanted, f"{name} at {columns}"
    return row


class Checked:
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
        for name, arity in self.sample.arities.items():
            rows = [fact.args for fact in self.truth.model if fact.predicate == name]
            row = check_lookup(self.database, name, arity, rows, self.chance)
            assert self.database.holds(name, *row) is bool(rows)
            assert dict(self.database.view.asserted(name)) == self.origins_of(name)

    def origins_of(self, name: str) -> dict[Row, tuple[str, str]]:
        held = self.asserted.items()
        return {fact.args: (origin, "kernel") for fact, origin in held if fact.predicate == name}

    def check_proofs(self) -> None:
        model = sorted(self.truth.model, key=fact_order)
        for fact in self.chance.sample(model, min(2, len(model))):
            self.truth.check(self.database.why(fact))


def fact_order(fact: Fact) -> tuple[object, ...]:
    return fact.predicate, [(isinstance(value, str), value) for value in fact.args]


def named(facts: Iterator[Fact] | set[Fact]) -> str:
    return ", ".join(sorted(map(str, facts))[:4]) or "nothing"
