"""Changes that are broken off in the middle: all of them is done, or nothing."""

import sys

import pytest

from rules import Database, Program
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
    tracer, before = BreakOff(after), sys.gettrace()
    sys.settrace(tracer)
    try:
        change()
    except Interrupted:
        return False
    finally:
        sys.settrace(before)
    return True


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
