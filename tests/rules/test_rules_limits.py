"""Bounds: what is refused, how soon, and that nothing of it stays. What is large and allowed."""

import tracemalloc

import pytest

from rules import Database, LimitError, Program

COUNTER = "start: from(?n) -> n(?n)\nnext: n(?n) -> n(?n + 1)\nodd: n(?n) + ?n % 2 = 1 -> odd(?n)"
CROSS = "few: p(?x) -> q(?x)\nall: p(?x) + s(?y) + ?x > (?y + 1000) -> r(?x, ?y)"


def state(database):
    """Everything that can be told from outside, ranks and origins included."""
    view = database.view
    return repr(
        (
            database.facts(),
            database.derived(),
            sorted(view.arities.items()),
            [(name, sorted(view.rows(name).items(), key=repr)) for name in sorted(view.arities)],
            [
                (name, sorted(view.asserted(name).items(), key=repr))
                for name in sorted(view.arities)
            ],
            [database.why(fact).text() for fact in database.derived()[:5]],
        )
    )


def assert_all(database, predicate, rows):
    with database.transaction():
        for row in rows:
            database.assert_fact(predicate, *row)


def refused(database, predicate, rows):
    """The error that stops these facts; no trace of them stays."""
    changes = []
    stop = database.on_change(changes.append)
    before = state(database)
    with pytest.raises(LimitError) as caught:
        assert_all(database, predicate, rows)
    assert state(database) == before
    assert changes == []
    stop()
    return caught.value


def test_a_rule_that_never_ends_meets_the_bound_of_rounds():
    database = Database(Program.parse(COUNTER, "count.dl"), max_rounds=50)
    database.assert_fact("n", "x")
    error = refused(database, "from", [(1,)])
    assert error.limit == "max_rounds"
    assert error.rule.name == "next"
    assert "'next' (count.dl:2) goes beyond max_rounds, 50 rounds" in str(error)
    assert database.assert_fact("other", 1)


def test_a_rule_that_never_ends_meets_the_bound_of_facts():
    database = Database(Program.parse(COUNTER, "count.dl"), max_derived=50)
    error = refused(database, "from", [(1,)])
    assert error.limit == "max_derived"
    assert "'next' (count.dl:2)" in str(error)


def test_a_recursion_that_makes_no_values_has_as_many_rounds_as_it_needs():
    database = Database(Program.parse("r(?x) + e(?x, ?y) -> r(?y)\ns(?x) -> r(?x)"), max_rounds=3)
    assert_all(database, "e", [(n, n + 1) for n in range(100)])
    database.assert_fact("s", 0)
    assert database.holds("r", 100)


def test_what_many_updates_made_can_be_taken_back_by_one():
    """More than a fifth of it falls, so that the rest is concluded anew, from its beginning."""
    text = "next: n(?x) + more(?x) -> n(?x + 1)"
    database = Database(Program.parse(text, "count.dl"), max_rounds=5)
    database.assert_fact("n", 0)
    for n in range(400):
        database.assert_fact("more", n)
    assert database.retract_fact("more", 250)
    assert len(database.derived("n")) == 250

    def exchange():
        with database.transaction():
            database.retract_fact("more", 100)
            assert_all(database, "n", [(1_000,)])
            assert_all(database, "more", ((n,) for n in range(1_000, 1_010)))

    with pytest.raises(LimitError, match="max_rounds"):
        exchange()
    assert len(database.derived("n")) == 250


def test_a_join_that_finds_nothing_is_stopped_by_the_bound_of_work():
    """10,000,000,000 pairs would be looked at, and none of them is of use."""
    database = Database(Program.parse(CROSS, "cross.dl"), max_work=1_000_000)
    assert_all(database, "p", ((n,) for n in range(100_000)))
    error = refused_unseen(database, "s", ((n,) for n in range(100_000, 200_000)))
    assert error.limit == "max_work"
    assert "'all' (cross.dl:2) goes beyond max_work, 1,000,000 rows" in str(error)
    assert database.facts("s") == []
    assert len(database.derived("q")) == 100_000


def refused_unseen(database, predicate, rows):
    with pytest.raises(LimitError) as caught:
        assert_all(database, predicate, rows)
    return caught.value


def test_a_join_that_makes_more_than_allowed_takes_little_memory():
    database = Database(Program.parse("p(?x) + s(?y) -> r(?x, ?y)"), max_derived=20_000)
    assert_all(database, "p", ((n,) for n in range(20_000)))
    tracemalloc.start()
    try:
        assert refused_unseen(database, "s", ((n,) for n in range(20_000))).limit == "max_derived"
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000
    assert database.derived() == []


AGGREGATED = "many: ?n = count : { e(?x, ?y), e(?y, ?z) } + ?n > 0 -> many(?n)"


def test_work_between_braces_counts_and_is_undone():
    database = Database(Program.parse(AGGREGATED, "sum.dl"), max_work=400)
    assert_all(database, "e", [(n, n + 1) for n in range(20)])
    error = refused(database, "e", [(n, 0) for n in range(100)] + [(0, n) for n in range(100)])
    assert error.limit == "max_work"
    assert "'many' (sum.dl:1)" in str(error)
    assert database.query("many(N)") == [(19,)]


def test_retracting_may_be_too_much_work_and_is_undone():
    text = "e(?x, ?y) -> p(?x, ?y)\np(?x, ?y) + e(?y, ?z) -> p(?x, ?z)"
    edges = [(n, (n + 1) % 30) for n in range(30)]
    database = Database(Program.parse(text, "far.dl"), max_work=5_000)
    assert_all(database, "e", edges)
    assert_all(database, "e", [(n, n) for n in range(30)])
    before = state(database)

    def exchange():
        with database.transaction():
            for edge in edges:
                database.retract_fact("e", *edge)
            assert_all(database, "e", [(n, n + 7) for n in range(300)])

    with pytest.raises(LimitError) as caught:
        exchange()
    assert caught.value.limit == "max_work"
    assert state(database) == before


def test_questions_are_no_work():
    database = Database(Program.parse("e(?x, ?y) + f(?y) -> q(?x)"), max_work=100)
    for n in range(20):
        database.assert_fact("e", 1, n)
        database.assert_fact("f", 100 + n)
    database.assert_fact("q", 1)
    for _ in range(50):
        assert database.derived() == []
    assert database.assert_fact("f", 3)
    assert len(database.derived()) == 1


def test_every_update_has_all_of_the_work_to_itself():
    database = Database(Program.parse("e(?x, ?y) + f(?y) -> q(?x)"), max_work=100)
    for n in range(200):
        database.assert_fact("e", n, n)
        database.assert_fact("f", n)
    assert len(database.derived()) == 200


def test_room_is_given_back_exactly():
    """However a fact goes, there is room for as many others as before, and no more."""
    database = Database(Program.parse("q('a'). q('b').\np(?x) -> q(?x)"), max_derived=4)
    saved = database.snapshot()
    for n in range(9):
        database.assert_fact("elsewhere", n)
    database.assert_fact("p", 1)
    database.rollback(saved)
    database.retract_fact("q", "a")
    assert_all(database, "p", [(1,), (2,), (3,)])
    refused(database, "p", [(4,)])
    database.retract_fact("p", 1)
    refused(database, "p", [(1,), (4,)])
    database.assert_fact("p", 4)
    refused(database, "p", [(5,)])


def test_a_name_in_a_batch_that_was_refused_is_not_known_afterwards():
    database = Database(Program.parse("p(?x) -> q(?x)"), max_derived=0)

    def batch():
        with database.transaction():
            database.assert_fact("fresh", 1)
            database.assert_fact("p", 1)

    with pytest.raises(LimitError):
        batch()
    assert database.assert_fact("fresh", 1, 2)


def test_a_program_beyond_the_limit_makes_no_database():
    with pytest.raises(LimitError):
        Database(Program.parse("p(1). p(2).\np(?x) + p(?y) -> r(?x, ?y)"), max_derived=3)


# what is large, and allowed


def test_a_body_of_thousands_of_conditions():
    conditions = ", ".join(f"e(X{n}, X{n + 1})" for n in range(2_000))
    text = f"far(X0, X2000) :- {conditions}, not e(X2000, X0)."
    database = Database(Program.parse(text))
    assert_all(database, "e", [(0, 1), (1, 0), (1, 2)])
    assert database.query("far(X, Y)") == [(0, 0), (0, 2), (1, 1)]
    database.retract_fact("e", 1, 2)
    assert database.query("far(X, Y)") == [(0, 0), (1, 1)]
    database.retract_fact("e", 1, 0)
    assert database.derived() == []


def test_braces_around_hundreds_of_conditions():
    conditions = ", ".join(f"e(X{n}, X{n + 1})" for n in range(200))
    database = Database(Program.parse(f"ways(N) :- N = count : {{ {conditions} }}."))
    assert database.query("ways(N)") == [(0,)]
    assert_all(database, "e", [(0, 1), (1, 0)])
    assert database.query("ways(N)") == [(2,)]
    database.assert_fact("e", 2, 0)
    assert database.query("ways(N)") == [(3,)]
    database.retract_fact("e", 0, 1)
    assert database.query("ways(N)") == [(0,)]


def test_ten_thousand_rules():
    texts = [
        f"p{n + 1}(X) :- p{n}(X), not stop('{n}').\nall('{n}') :- on('{n}')." for n in range(5_000)
    ]
    database = Database(Program.parse("\n".join(texts)))
    database.assert_fact("p0", "x")
    database.assert_fact("on", "77")
    assert database.holds("p5000", "x")
    assert database.query("all(N)") == [("77",)]
    database.assert_fact("stop", "10")
    assert database.holds("p10", "x")
    assert not database.holds("p11", "x")
    database.retract_fact("stop", "10")
    assert database.holds("p5000", "x")


DEEP = 100_000


def test_a_chain_of_a_hundred_thousand_steps():
    text = "start: s(?x) -> r(?x)\nstep: r(?x) + e(?x, ?y) -> r(?y)"
    database = Database(Program.parse(text))
    assert_all(database, "e", ((n, n + 1) for n in range(DEEP)))
    database.assert_fact("s", 0)
    assert database.holds("r", DEEP)
    middle = DEEP // 2
    database.retract_fact("e", middle, middle + 1)
    assert database.holds("r", middle)
    assert not database.holds("r", middle + 1)
    database.assert_fact("e", middle, middle + 1)
    assert database.holds("r", DEEP)
    database.retract_fact("s", 0)
    assert database.derived() == []
