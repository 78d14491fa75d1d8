"""Going back to former states, and what listeners are told and may do."""

import gc

import pytest

from rules import Database, Fact, LimitError, Program
from tests.rules.test_rules_limits import state

TEXT = """
e(?x, ?y) -> p(?x, ?y)
p(?x, ?y) + e(?y, ?z) -> p(?x, ?z)
?n = count : { p(?x, _) } + e(?x, _) + ?n > 1 -> many(?x, ?n)
"""


def database(text=TEXT, **bounds):
    made = Database(Program.parse(text, "team.dl"), **bounds)
    made.assert_fact("e", 0, 1)
    return made


def told(db):
    """What listeners hear, as pairs of texts."""
    heard = []
    db.on_change(lambda change: heard.append((texts(change.added), texts(change.removed))))
    return heard


def texts(facts):
    return sorted(map(str, facts))


def test_a_rollback_is_a_change_in_the_other_direction():
    db = database()
    heard = told(db)
    saved, before = db.snapshot(), state(db)
    db.assert_fact("e", 1, 2)
    db.retract_fact("e", 0, 1)
    db.assert_fact("e", 0, 5)
    db.rollback(saved)
    assert state(db) == before
    assert heard == [
        (["many(0, 2)", "p(0, 2)", "p(1, 2)"], []),
        ([], ["many(0, 2)", "p(0, 1)", "p(0, 2)"]),
        (["p(0, 5)"], []),
        (["p(0, 1)"], ["p(0, 5)", "p(1, 2)"]),
    ]


def test_a_rollback_over_changes_that_cancel_is_no_news():
    db = database()
    heard = told(db)
    saved = db.snapshot()
    db.assert_fact("e", 1, 2)
    db.retract_fact("e", 1, 2)
    heard.clear()
    db.rollback(saved)
    assert heard == []


def test_what_depends_on_others_comes_after_them_also_on_the_way_back():
    db = Database(Program.parse("b(?x) -> p(?x)\np(?x) -> q(?x)\nc(?x) -> q(?x)"))
    db.assert_fact("b", 1)
    db.assert_fact("c", 1)
    saved, heard = db.snapshot(), []
    db.on_change(heard.append)
    db.retract_fact("b", 1)
    db.retract_fact("c", 1)
    db.rollback(saved)
    assert [str(fact) for fact in heard[-1].added] == ["p(1)", "q(1)"]


def test_a_snapshot_stays_good():
    db = database()
    saved, before = db.snapshot(), state(db)
    for number in (5, 6, 7):
        db.assert_fact("e", 1, number)
        db.rollback(saved)
        assert state(db) == before
    db.rollback(saved)
    assert state(db) == before


def test_snapshots_within_snapshots():
    db = database()
    states, saved = [], []
    for number in range(1, 6):
        saved.append(db.snapshot())
        states.append(state(db))
        db.assert_fact("e", number, number + 1)
    for at in (3, 1):
        db.rollback(saved[at])
        assert state(db) == states[at]
    for later in saved[2:]:
        with pytest.raises(ValueError, match="not on the way back"):
            db.rollback(later)
    db.assert_fact("e", 7, 8)
    db.rollback(saved[0])
    assert state(db) == states[0]


def test_two_snapshots_of_one_state():
    db = database()
    one, two, before = db.snapshot(), db.snapshot(), state(db)
    for saved in (one, two, one):
        db.assert_fact("e", 1, 2)
        db.rollback(saved)
        assert state(db) == before


def test_a_snapshot_of_another_database_is_refused():
    saved = database().snapshot()
    with pytest.raises(ValueError, match="not on the way back"):
        database().rollback(saved)


def test_what_nobody_can_go_back_to_is_not_kept():
    """Rollback tells nothing about what it costs to keep its notes; the collector does."""
    db = database()

    def alive():
        gc.collect()
        return sum(type(each).__name__ == "Net" for each in gc.get_objects())

    least = alive()
    for number in range(50):
        saved = db.snapshot()
        db.assert_fact("e", 1, number)
    assert alive() <= least + 2
    first = saved
    for number in range(50):
        db.retract_fact("e", 1, number)
    assert alive() >= least + 50
    db.rollback(first)
    assert db.holds("e", 1, 48)
    del first, saved
    db.assert_fact("e", 1, 99)
    assert alive() <= least + 2


def test_inside_of_a_transaction_there_is_no_state_to_keep():
    db = database()
    saved = db.snapshot()
    with db.transaction():
        db.assert_fact("e", 1, 2)
        for refused in (db.snapshot, lambda: db.rollback(saved)):
            with pytest.raises(RuntimeError, match="between transactions"):
                refused()
    assert db.holds("p", 0, 2)
    db.rollback(saved)
    assert not db.holds("p", 0, 2)


def test_back_over_a_change_that_was_refused():
    db = database(max_derived=6)
    saved, before = db.snapshot(), state(db)
    db.assert_fact("e", 1, 2)
    with pytest.raises(LimitError):
        db.assert_fact("e", 2, 3)
    assert texts(db.derived()) == ["many(0, 2)", "p(0, 1)", "p(0, 2)", "p(1, 2)"]
    db.rollback(saved)
    assert state(db) == before
    db.assert_fact("e", 1, 2)
    assert db.holds("many", 0, 2)


def test_back_to_what_a_question_has_looked_into_since():
    """A question between two updates works out a group of which the rollback changes the value."""
    db = Database(Program.parse("q(?x) + ?n = count : { e(?x, _) } -> n(?x, ?n)"))
    db.assert_fact("n", 1, 0)
    saved = db.snapshot()
    db.assert_fact("e", 1, 5)
    assert db.derived("n") == []
    db.rollback(saved)
    db.assert_fact("q", 1)
    assert db.derived("n") == [Fact("n", (1, 0))]


# listeners


class Interrupted(BaseException):
    """Like KeyboardInterrupt: no Exception."""


def test_what_a_listener_raises_reaches_who_made_the_change_which_stays():
    db = database()
    heard = told(db)

    def stop(change):
        raise Interrupted

    cancel = db.on_change(stop)
    for change in (lambda: db.assert_fact("e", 1, 2), lambda: batch(db)):
        with pytest.raises(Interrupted):
            change()
    assert [added for added, _ in heard] == [["many(0, 2)", "p(0, 2)", "p(1, 2)"], ["p(4, 5)"]]
    assert db.holds("p", 0, 2)
    assert db.holds("p", 4, 5)
    cancel()
    assert db.assert_fact("e", 5, 6)
    saved = db.snapshot()
    db.retract_fact("e", 5, 6)
    cancel = db.on_change(stop)
    with pytest.raises(Interrupted):
        db.rollback(saved)
    assert db.holds("p", 5, 6)


def batch(db):
    with db.transaction():
        db.assert_fact("e", 4, 5)


def test_whatever_a_listener_tries_to_change_is_refused():
    db = database()
    saved = db.snapshot()
    refused = []

    def meddle(change):
        for edit in (
            lambda: db.assert_fact("e", 7, 7),
            lambda: db.retract_fact("e", 0, 1),
            lambda: db.rollback(saved),
            lambda: batch(db),
        ):
            with pytest.raises(RuntimeError, match="on_change callback"):
                edit()
            refused.append(edit)

    db.on_change(meddle)
    db.assert_fact("e", 1, 2)
    assert len(refused) == 4
    assert texts(db.facts()) == ["e(0, 1)", "e(1, 2)"]
    assert texts(db.derived("p")) == ["p(0, 1)", "p(0, 2)", "p(1, 2)"]


def test_a_listener_sees_the_state_after_the_change():
    db = database()
    seen = []
    db.on_change(
        lambda change: seen.extend((str(f), db.holds(*f[:1], *f[1])) for f in change.added)
    )
    db.on_change(lambda change: seen.append(db.query("many(X, N)")))
    db.assert_fact("e", 1, 2)
    assert ("many(0, 2)", True) in seen
    assert seen[-1] == [(0, 2)]


def test_a_listener_may_stop_itself_and_others():
    db = database()
    heard = []

    def once(change):
        heard.append(change)
        for stop in stops:
            stop()

    stops = [db.on_change(once), db.on_change(heard.append)]
    db.assert_fact("e", 1, 2)
    db.assert_fact("e", 2, 3)
    assert len(heard) == 2
