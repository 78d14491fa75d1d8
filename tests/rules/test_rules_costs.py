"""What an update looks at: as much as its consequences need, whatever else is there.

The meter behind `max_work` counts the rows that joins look at, so that these tests need no clock.
"""

import pytest

from rules import Database, Fact, LimitError, Program

ENOUGH = 1 << 40

CASES = {
    "nothing follows": (
        "p(X) :- a(X), b(X).",
        lambda n: [("b", i) for i in range(n)],
        ("a", -1),
    ),
    "a second reason against a negation of everything": (
        "h(X) :- a(X), not b(_).",
        lambda n: [("b", 0), *(("a", i) for i in range(n))],
        ("b", 1),
    ),
    "a second reason against a negation of a group": (
        "h(X, Y) :- a(X, Y), not b(X, _).",
        lambda n: [("b", 0, 0), *(("a", 0, i) for i in range(n))],
        ("b", 0, 1),
    ),
    "an aggregate whose other condition does not name the group": (
        "n(F, N) :- f(F), N = count : { issue(F, L), severe(L) }.",
        lambda n: [(p, *row) for i in range(n) for p, row in (("f", (i,)), ("issue", (i, i)))],
        ("severe", 3),
    ),
    "an aggregate with a negation that does not name the group": (
        "n(F, N) :- f(F), N = count : { issue(F, L), not fine(L) }.",
        lambda n: [(p, *row) for i in range(n) for p, row in (("f", (i,)), ("issue", (i, i)))],
        ("fine", 3),
    ),
    "a count of one relation": (
        "n(N) :- N = count : { f(_) }.",
        lambda n: [("f", i) for i in range(n)],
        ("f", -1),
    ),
    "one of many rules": (
        "\n".join(f"p({i}, X) :- a(X, {i}), b(X)." for i in range(60)),
        lambda n: [(p, *row) for i in range(n) for p, row in (("a", (i, i % 50)), ("b", (i,)))],
        ("a", 1, 55),
    ),
}


def work(database, change):
    database._store.engine.limits.max_work = ENOUGH
    change()
    return ENOUGH - database._store.engine.limits.meter[0]


@pytest.mark.parametrize("case", CASES)
def test_one_fact_costs_the_same_among_few_and_many(case):
    text, load, (predicate, *args) = CASES[case]
    costs = []
    for size in (100, 3_000):
        database = Database(Program.parse(text), max_work=ENOUGH)
        with database.transaction():
            for name, *row in load(size):
                database.assert_fact(name, *row)
        database.assert_fact(predicate, *args)  # plans and indexes are made
        database.retract_fact(predicate, *args)
        came = work(database, lambda: database.assert_fact(predicate, *args))  # noqa: B023
        went = work(database, lambda: database.retract_fact(predicate, *args))  # noqa: B023
        costs.append((came, went))
    few, many = costs
    assert max(many) <= max(few) + 20
    assert max(many) <= 60


def test_a_batch_gives_each_rule_the_rows_it_may_match():
    rules = "\n".join(f"p({i}, X) :- a(X, {i}), b(X)." for i in range(200))
    database = Database(Program.parse(rules), max_work=ENOUGH)

    def load():
        with database.transaction():
            for i in range(2_000):
                database.assert_fact("a", i, i % 200)
                database.assert_fact("b", i)

    assert work(database, load) <= 10_000
    assert len(database.derived()) == 2_000


def test_an_aggregate_is_planned_again_when_relations_grow():
    database = Database(
        Program.parse("n(F, N) :- f(F), N = count : { severe(L), issue(F, L) }."), max_work=ENOUGH
    )
    database.assert_fact("f", 0)
    with database.transaction():
        for i in range(1_000):
            database.assert_fact("severe", i)
            database.assert_fact("issue", i % 500, i)
    assert work(database, lambda: database.assert_fact("f", 7)) <= 100
    assert database.holds("n", 7, 2)


def test_groups_that_were_asked_for_once_cost_nothing_later():
    text = "n(X, N) :- q(X), N = count : { e(X, Y), e(Y, _) }."
    database = Database(Program.parse(text), max_work=ENOUGH)
    for number in range(1_000):
        database.assert_fact("e", number, number + 1)
        database.assert_fact("q", number)
        database.retract_fact("q", number)
    assert work(database, lambda: database.assert_fact("e", 2, 4)) <= 300


HARD = "(a|b)*a(a|b){900}c"
NUMBERS = "".join(f"a({i}). " for i in range(300))
LARGE = "".join(f"b({(1 << 6000) + i}). " for i in range(90))
TEXT = f"t('{'ab' * 9_000}'). "


@pytest.mark.parametrize(
    "text",
    [
        TEXT + f"s: x :- t(T), matches('{HARD}', T).",
        TEXT + f"m('{HARD}'). s: x :- t(T), m(M), matches(M, T).",
        LARGE + "s: x :- b(X), b(Y), Z = X * Y / X * Y / X, Z = 7.",
        NUMBERS + "s: x :- a(X), a(Y), a(Z), X * Y * Z = -1.",
        NUMBERS + "s: x :- 5 = count : { a(X), a(Y), a(Z) }.",
        NUMBERS + "".join(f"p{i} :- a(X), X < {-i}. " for i in range(400)) + "s: x :- p1.",
    ],
    ids=["a pattern", "a pattern in a fact", "large integers", "a join", "an aggregate", "rules"],
)
def test_work_without_conclusions_is_stopped(text):
    with pytest.raises(LimitError, match="max_work") as caught:
        Database(Program.parse(text), max_work=100_000)
    assert caught.value.rule.name == "s" or "p1" in text


def test_endless_recursion_is_the_fault_of_the_rule_that_calculates():
    program = Program.parse("start: f(X) -> n(0)\nnext: n(X) -> n(X + 1)", "team.dl")
    database = Database(program, max_rounds=50)
    with pytest.raises(LimitError, match=r"rule 'next' \(team\.dl:2\).*max_rounds") as caught:
        database.assert_fact("f", "a")
    assert caught.value.limit == "max_rounds"
    assert database.facts() == database.derived() == []


def test_conditions_beyond_python_s_nesting_are_cut_also_in_braces():
    scans = ", ".join(f"q(X{n}, _)" for n in range(25))
    text = f"p(N) :- N = count : {{ {scans} }}.\nr(X0, count()) :- {scans}, s(X0)."
    database = Database(Program.parse(text))
    database.assert_fact("q", 1, 1)
    database.assert_fact("s", 1)
    assert database.derived() == [Fact("p", (1,)), Fact("r", (1, 1))]


def test_a_long_body_is_cut_where_it_hangs_together():
    calculated = ", ".join("p((Y % 7) % 5)" for _ in range(14))
    text = f"r(Y) :- {calculated}, q(Y, _), s(Y)."
    database = Database(Program.parse(text), max_work=20_000)
    with database.transaction():
        for i in range(30):
            database.assert_fact("p", i)
            database.assert_fact("q", i, i)
            database.assert_fact("s", i)
    assert len(database.derived()) == 30
