"""Aggregates while what they look at comes and goes."""

import pytest

from rules import Database, Fact, Program
from tests.rules.checked import holding
from tests.rules.naive import evaluate


def database(text, *facts):
    made = Database(Program.parse(text))
    for fact in facts:
        made.assert_fact(*fact)
    return made


def step(made, sign, *fact):
    """One edit, after which everything is as the definition says."""
    edit = made.assert_fact if sign == "+" else made.retract_fact
    assert edit(*fact)
    assert holding(made) == evaluate(made.program, made.facts())


COUNTS = "n(X, N) :- v(X), N = count : { e(X, Y), not f(Y) }."


def test_a_group_follows_each_of_its_conditions():
    made = database(COUNTS, ("v", 1), ("v", 2))
    assert made.query("n(X, N)") == [(1, 0), (2, 0)]
    step(made, "+", "e", 1, 5)
    assert made.query("n(1, N)") == [(1, 1)]
    step(made, "+", "f", 5)
    assert made.query("n(1, N)") == [(1, 0)]
    step(made, "+", "e", 1, 6)
    step(made, "-", "f", 5)
    assert made.query("n(1, N)") == [(1, 2)]
    step(made, "-", "v", 1)
    step(made, "-", "e", 1, 6)
    step(made, "+", "v", 1)
    assert made.query("n(1, N)") == [(1, 1)]


def test_a_group_that_nobody_asks_for_any_more_may_be_asked_for_again():
    made = database(COUNTS, ("v", 1), ("e", 1, 5))
    for _ in range(3):
        step(made, "-", "v", 1)
        step(made, "+", "e", 1, 6)
        step(made, "+", "v", 1)
        assert made.query("n(X, N)") == [(1, 2)]
        step(made, "-", "e", 1, 6)


def test_changes_of_several_conditions_at_once():
    text = "n(X, N) :- v(X), N = sum W : { a(X, Y), b(Y, W), not c(W) }."
    made = database(text, ("v", 1), ("a", 1, 2), ("b", 2, 7), ("c", 9))
    assert made.query("n(X, N)") == [(1, 7)]
    with made.transaction():
        made.retract_fact("a", 1, 2)
        made.retract_fact("b", 2, 7)
    assert made.query("n(X, N)") == [(1, 0)]
    with made.transaction():
        made.assert_fact("a", 1, 3)
        made.assert_fact("b", 3, 9)
        made.retract_fact("c", 9)
    assert made.query("n(X, N)") == [(1, 9)]
    with made.transaction():
        made.assert_fact("c", 9)
        made.retract_fact("a", 1, 3)
        made.assert_fact("a", 1, 4)
        made.assert_fact("b", 4, 1)
    assert made.query("n(X, N)") == [(1, 1)]


def test_two_links_of_a_chain_that_go_at_once():
    """Neither finds the group by what is left of the other."""
    text = "n(X, N) :- v(X), N = count : { a(X, Y), b(Y, Z), c(Z) }."
    made = database(text, ("v", 1), ("a", 1, 2), ("b", 2, 3), ("c", 3))
    assert made.query("n(X, N)") == [(1, 1)]
    with made.transaction():
        made.retract_fact("b", 2, 3)
        made.retract_fact("c", 3)
    assert made.query("n(X, N)") == [(1, 0)]


def test_every_combination_of_many_conditions_counts():
    conditions = ", ".join(["e(X, _)"] * 6 + ["e(_, X)"] * 4 + ["e(X, Y)", "f(_)"] * 2)
    made = database(f"n(X, N) :- v(X), N = count : {{ {conditions} }}.", ("v", 1))
    for fact in [("e", 1, 2), ("e", 1, 3), ("e", 2, 1), ("f", 1), ("e", 3, 1)]:
        made.assert_fact(*fact)
    assert made.query("n(X, N)") == [(1, 2**6 * 2**4 * 2)]
    step(made, "+", "f", 2)
    assert made.query("n(X, N)") == [(1, 2**6 * 2**4 * 2 * 4)]
    step(made, "-", "e", 3, 1)
    assert made.query("n(X, N)") == [(1, 2**6 * 2 * 4)]


def test_an_aggregate_over_conclusions_of_a_recursion():
    text = """
    p(X, Y) :- e(X, Y).
    p(X, Z) :- p(X, Y), e(Y, Z).
    n(X, N) :- e(X, _), N = count : { p(X, _) }.
    top(X) :- n(X, N), N = max M : { n(_, M) }.
    """
    made = database(text)
    for edge in [(1, 2), (2, 3), (3, 1), (3, 4), (5, 1), (4, 4)]:
        step(made, "+", "e", *edge)
    assert made.query("top(X)") == [(1,), (2,), (3,), (5,)]
    step(made, "-", "e", 3, 1)
    assert made.query("top(X)") == [(5,)]
    step(made, "+", "e", 4, 5)
    step(made, "-", "e", 2, 3)


def test_a_rollback_takes_groups_back():
    made = database(COUNTS, ("v", 1))
    saved = made.snapshot()
    for number in range(3):
        made.assert_fact("e", 1, number)
    made.assert_fact("v", 2)
    made.rollback(saved)
    assert made.query("n(X, N)") == [(1, 0)]
    step(made, "+", "e", 2, 1)
    step(made, "+", "v", 2)
    assert made.query("n(X, N)") == [(1, 0), (2, 1)]


@pytest.mark.parametrize(
    ("aggregate", "result"),
    [
        ("count : { e(X, Y) }", 4),
        ("count : { e(_, _) }", 4),
        ("count : { e(_, _), e(_, _) }", 16),
        ("count : { e(X, _), e(_, X) }", 3),
        ("count X : { e(X, _) }", 3),
        ("count 1 : { e(_, _) }", 1),
        ("count (X % 2) : { e(X, _) }", 2),
        ("sum X : { e(X, _) }", 7),
        ("sum 1 : { e(_, _) }", 4),
        ("sum (X * Y) : { e(X, Y) }", 12),
        ("min Y : { e(_, Y) }", 1),
        ("max Y : { e(_, Y) }", "a"),
        ("max (Y + 0) : { e(_, Y) }", 4),
        ("count : { e(X, X) }", 0),
        ("max M : { e(X, _), M = count : { e(X, _) } }", 2),
        ("sum M : { e(X, _), M = count : { e(X, _) } }", 6),
        ("count M : { e(X, _), M = count : { e(X, _) } }", 2),
        ("sum M : { e(X, Y), M = sum K : { e(_, Z), K = count : { e(Z, Y) } } }", 3),
    ],
)
def test_values_by_hand(aggregate, result):
    rules = Program.parse(f"n(N) :- N = {aggregate}.")
    facts = [Fact("e", row) for row in ((1, 4), (1, "a"), (2, 1), (3, 2))]
    made = Database(rules)
    for fact in facts:
        step(made, "+", "e", *fact.args)
    assert made.query("n(N)") == [(result,)]
    for fact in facts[::-1]:
        step(made, "-", "e", *fact.args)


def test_short_forms_in_conclusions():
    text = "n(F, count(), count(L), max(L)) :- issue(F, L), open(F).\nall(sum(L)) :- issue(_, L)."
    made = database(text)
    for fact in [("issue", "a", 3), ("open", "a"), ("issue", "a", 5), ("issue", "b", 7)]:
        step(made, "+", *fact)
    assert made.query("n(F, A, B, C)") == [("a", 2, 2, 5)]
    assert made.query("all(N)") == [(15,)]
    step(made, "+", "open", "b")
    step(made, "-", "issue", "a", 5)
    assert made.query("n(F, A, B, C)") == [("a", 1, 1, 3), ("b", 1, 1, 7)]
    step(made, "-", "open", "a")
    assert made.query("n(F, A, B, C)") == [("b", 1, 1, 7)]


def test_aggregates_within_aggregates_follow():
    text = "most(N) :- N = max M : { v(X), M = count : { e(X, Y), 0 < count { f(Y, _) } } }."
    made = database(text)
    for fact in [("v", 1), ("e", 1, 5), ("f", 5, 0), ("e", 1, 6), ("v", 2), ("f", 6, 1)]:
        step(made, "+", *fact)
    assert made.query("most(N)") == [(2,)]
    step(made, "-", "f", 5, 0)
    assert made.query("most(N)") == [(1,)]
    step(made, "-", "v", 1)
    assert made.query("most(N)") == [(0,)]
    step(made, "-", "v", 2)
    assert made.query("most(N)") == []


def test_a_result_that_is_compared_and_not_given():
    text = """
    even(X) :- v(X, N), N = count : { e(X, _) }.
    next(X) :- v(X, N), N + 1 = max Y : { e(X, Y) }.
    """
    made = database(text, ("v", 1, 1), ("v", 2, 0))
    for fact in [("e", 1, 2), ("e", 1, 3), ("e", 2, 1)]:
        step(made, "+", *fact)
    assert made.derived() == [Fact("next", (2,))]
    step(made, "-", "e", 1, 3)
    assert made.derived() == [Fact("even", (1,)), Fact("next", (1,)), Fact("next", (2,))]


def test_a_sum_may_be_beyond_all_integers_for_a_while():
    most = (1 << 13_000) - 1
    made = database("s(N) :- N = sum X : { v(X) }.", ("v", most))
    assert made.query("s(N)") == [(most,)]
    made.assert_fact("v", 1)
    assert made.query("s(N)") == []
    made.assert_fact("v", -5)
    assert made.query("s(N)") == [(most - 4,)]


def test_many_groups_and_one_fact():
    text = "n(X, N) :- v(X), N = count : { e(X, Y), w(Y) }.\nnone(X) :- n(X, 0)."
    made = Database(Program.parse(text))
    with made.transaction():
        for number in range(300):
            made.assert_fact("v", number)
            made.assert_fact("e", number, number // 2)
    assert len(made.query("none(X)")) == 300
    made.assert_fact("w", 7)
    assert made.query("n(X, 1)") == [(14, 1), (15, 1)]
    made.assert_fact("e", 0, 7)
    made.retract_fact("e", 14, 7)
    assert made.query("n(X, 1)") == [(0, 1), (15, 1)]
    made.retract_fact("w", 7)
    assert len(made.query("none(X)")) == 300


def test_groups_that_nothing_asks_for_any_more_are_forgotten_and_no_others():
    program = Program.parse("n(X, N) :- q(X), N = count : { e(X, Y), e(Y, _) }.")
    db = Database(program)
    for number in range(5):
        db.assert_fact("e", number, number + 1)
        db.assert_fact("q", number)
    saved, before = db.snapshot(), db.derived()
    for number in range(100, 300):
        db.assert_fact("q", number)
        db.retract_fact("q", number)
    assert db.derived() == before
    db.assert_fact("e", 1, 3)
    db.retract_fact("e", 2, 3)
    db.assert_fact("q", 250)
    assert db.query("n(X, N)") == [(0, 2), (1, 1), (2, 0), (3, 1), (4, 0), (250, 0)]
    db.rollback(saved)
    assert db.derived() == before
    db.retract_fact("e", 1, 2)
    db.assert_fact("e", 250, 3)
    db.assert_fact("q", 250)
    assert db.query("n(X, N)") == [(0, 0), (1, 0), (2, 1), (3, 1), (4, 0), (250, 1)]
