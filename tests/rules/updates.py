"""Random updates of a database, each followed by all checks."""

from collections.abc import Callable

from rules import Fact, LimitError
from tests.rules.checked import Checked


class Deliberate(Exception):
    """What a transaction is broken off with."""


class Session(Checked):
    """Driven by one source of chance."""

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
