"""Changes that are broken off in the middle: all of them is done, or nothing."""

import sys
from contextlib import suppress

import pytest

from rules import Database, LimitError, Program
from tests.rules.checked import holding
from tests.rules.test_rules_snapshots import TEXT, Interrupted


class BreakOff:
    """Raises at a certain line of the engine, or call within the database."""

    def __init__(self, after: int) -> None:
        self.left = after

    def __call__(self, frame, event, arg):
        name = frame.f_code.co_filename
        at_line = event == "line" and ("rules/engine/" in name or name == "<rules>")
        if at_line or (event == "call" and name == DATABASE):
            self.left -= 1
            if self.left == 0:
                raise Interrupted
        return self


DATABASE = Database.assert_fact.__code__.co_filename


def broken_off(change, after):
    """Whether the change came to its end before it could be broken off."""
    return run(change, BreakOff(after)).left > 0


def run(change, tracer):
    before = sys.gettrace()
    sys.settrace(tracer)
    with suppress(Interrupted):
        try:
            change()
        finally:
            sys.settrace(before)
    return tracer


def exchange(db):
    with db.transaction():
        for number in range(1, 4):
            db.assert_fact("e", number, number + 1)
        db.assert_fact("p", 9, 0)
        db.retract_fact("e", 0, 1)


CHANGES = {
    "assert": lambda db: db.assert_fact("e", 1, 2),
    "retract": lambda db: db.retract_fact("e", 5, 6),
    "transaction": exchange,
}


def fresh():
    db = Database(Program.parse(TEXT))
    for edge in ((0, 1), (5, 6), (6, 7)):
        db.assert_fact("e", *edge)
    return db


def state_after(*changes):
    db = fresh()
    for change in changes:
        change(db)
    return db.facts(), db.derived()


def again(db):
    db.assert_fact("e", 2, 0)


@pytest.mark.parametrize("kind", CHANGES)
def test_a_change_may_be_broken_off_anywhere(kind):
    """As by Ctrl-C, which may come at any time."""
    change = CHANGES[kind]
    allowed = {repr(state_after()): [again], repr(state_after(change)): [change, again]}
    after, done = 1, False
    while not done:
        db = fresh()
        saved = db.snapshot()
        done = broken_off(lambda db=db: change(db), after)
        now = repr((db.facts(), db.derived()))
        assert now in allowed, f"broken off after {after} steps"
        again(db)
        found = db.facts(), db.derived()
        assert found == state_after(*allowed[now]), f"broken off after {after} steps"
        db.rollback(saved)
        assert (db.facts(), db.derived()) == state_after(), f"broken off after {after} steps"
        after += 1 + after // 30


def test_what_was_broken_off_at_its_very_end_is_told_as_it_is_on_the_way_back():
    db = fresh()
    steps = -run(lambda: exchange(db), BreakOff(0)).left
    for after in range(steps - 40, steps + 1):
        db = fresh()
        saved, told = db.snapshot(), []
        broken_off(lambda db=db: exchange(db), after)
        before = holding(db)
        db.on_change(told.append)
        db.rollback(saved)
        gone = {fact for change in told for fact in change.removed}
        assert gone == {fact for fact in before - holding(db) if fact.predicate != "e"}, after


def counted():
    """A recursion that each update takes one round further."""
    db = Database(Program.parse("step: n(?x) + more(?x) -> n(?x + 1)"), max_rounds=3)
    db.assert_fact("n", 0)
    for number in range(8):
        db.assert_fact("more", number)
    return db


def crowded():
    """With more facts in a predicate that rules conclude than they might conclude."""
    db = Database(Program.parse("p(?x) -> q(?x)"), max_derived=3)
    for number in range(3):
        db.assert_fact("p", number)
    for number in range(5, 8):
        db.assert_fact("q", number)
    return db


@pytest.mark.parametrize("made", [counted, crowded])
def test_what_many_updates_came_to_is_put_back_though_one_could_not_conclude_it(made):
    for after in (10, 25, 40):
        db = made()
        saved, before = db.snapshot(), (db.facts(), db.derived())
        assert not broken_off(lambda db=db: db.assert_fact("more", 8), after)
        assert (db.facts(), db.derived()) == before
        assert db.assert_fact("more", 8)
        assert db.holds("n", 9) is (made is counted)
        db.rollback(saved)
        assert (db.facts(), db.derived()) == before
        with pytest.raises(LimitError):  # the bounds are in force again
            batch(db)
        assert (db.facts(), db.derived()) == before


def batch(db):
    with db.transaction():
        for number in range(9, 20):
            db.assert_fact("p", number)
            db.assert_fact("more", number)
        db.assert_fact("n", 9)


def test_a_rollback_may_be_broken_off_anywhere():
    after, done = 1, False
    while not done:
        db = fresh()
        saved = db.snapshot()
        exchange(db)
        done = broken_off(lambda db=db, saved=saved: db.rollback(saved), after)
        found = db.facts(), db.derived()
        assert found in (state_after(), state_after(exchange)), f"broken off after {after} steps"
        again(db)
        db.rollback(saved)
        assert (db.facts(), db.derived()) == state_after(), f"broken off after {after} steps"
        again(db)
        assert (db.facts(), db.derived()) == state_after(again), f"broken off after {after} steps"
        after += 1 + after // 30
