"""The oracle itself: answers worked out by hand, and proofs that must not pass."""

from dataclasses import replace

import pytest

from rules import Database, Fact, Program
from tests.rules.naive import Proofs, check_proof, evaluate, smallest_heights, strata
from tests.rules.naive_values import calculate, chosen, globbed

EDGES = [("e", 1, 2), ("e", 2, 3), ("e", 3, 1), ("e", 3, 4)]


def facts_of(rows):
    return [Fact(name, tuple(args)) for name, *args in rows]


def rows(text, predicate, given=()):
    found = evaluate(Program.parse(text), facts_of(given))
    return sorted((fact.args for fact in found if fact.predicate == predicate), key=str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("p(X, Y) :- e(X, Y), e(Y, X).", []),
        ("p(Y) :- e(X, Y), not e(Y, _).", [(4,)]),
        ("p(X) :- e(X, _), not e(_, X).", []),
        ("p(X, N) :- e(X, _), N = count : { e(X, _) }.", [(1, 1), (2, 1), (3, 2)]),
        ("p(N) :- N = count : { e(_, _) }.", [(4,)]),
        ("p(N) :- N = count X : { e(X, _) }.", [(3,)]),
        ("p(N) :- N = sum X : { e(X, _) }.", [(9,)]),
        ("p(N) :- N = min X : { e(X, 9) }.", []),
        ("p(N) :- N = sum X : { e(X, 9) }.", [(0,)]),
        ("p(X, N) :- e(_, X), N = count : { e(Y, _), Y < X }.", [(1, 0), (2, 1), (3, 2), (4, 4)]),
        ("p(X) :- e(X, _), 2 = count : { e(X, _) }.", [(3,)]),
        ("p(A) :- A = 1 / 0.", []),
        ("p(X) :- e(X, _), not X < 1 / 0.", [(1,), (2,), (3,)]),
        ("p(X) :- e(X, X + 1).", [(1,), (2,), (3,)]),
        ("p(X - 5) :- e(X, _).", [(-2,), (-3,), (-4,)]),
        ("p(X) :- X = Y, Y = Z + 1, Z = 2.", [(3,)]),
    ],
)
def test_answers_by_hand(text, expected):
    assert rows(text, "p", EDGES) == expected


def test_recursion_goes_around_a_circle():
    text = "r(X, Y) :- e(X, Y).\nr(X, Z) :- r(X, Y), r(Y, Z).\nq(X) :- e(X, _), not r(X, X)."
    assert len(rows(text, "r", EDGES)) == 3 * 4
    assert rows(text, "q", EDGES) == []


def test_strata():
    text = "a(X) :- v(X), not b(X).\nb(X) :- c(X).\nc(X) :- b(X).\nc(X) :- v(X)."
    assert strata(Program.parse(text)) == [{"b", "c"}, {"a"}]


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        *[("/", -7, 2, -3), ("/", 7, -2, -3), ("/", -7, -2, 3), ("/", 1, 0, None)],
        *[("%", -7, 2, -1), ("%", 7, -2, 1), ("%", 0, 3, 0), ("%", 1, 0, None)],
        *[("*", 1 << 6500, 1 << 6499, 1 << 12999), ("*", 1 << 6500, 1 << 6500, None)],
        *[("+", 1, "1", None), ("-", None, 1, None)],
    ],
)
def test_arithmetic(operator, left, right, expected):
    assert calculate(operator, left, right) == expected


def test_aggregates_of_values():
    values = [3, "x", 3, None, -1]
    assert [chosen(name, values) for name in ("count", "sum", "min", "max")] == [3, 5, -1, "x"]
    assert [chosen(name, []) for name in ("count", "sum", "min", "max")] == [0, 0, None, None]


def test_globs():
    assert globbed("src/**/*.py", "src/a/b.py")
    assert globbed("src/**/*.py", "src/b.py")
    assert not globbed("*.py", "src/b.py")


# proofs

PATHS = """
edge: e(?x, ?y) -> r(?x, ?y)
step: e(?x, ?y) + r(?y, ?z) -> r(?x, ?z)
end:  r(?x, ?y) + not e(?y, _) -> last(?x, ?y)
"""


@pytest.fixture
def proven():
    """The proof of `last(1, 4)`, and what it is checked against."""
    program = Program.parse(PATHS)
    database = Database(program)
    for name, *args in EDGES:
        database.assert_fact(name, *args, origin="scan")
    origins = dict.fromkeys(facts_of(EDGES), "scan")
    return database.why("last(1, 4)"), Proofs(program, origins)


def test_a_sound_proof_passes(proven):
    proof, proofs = proven
    proofs.check(proof)
    assert proofs.heights[proof.fact] == 4


def test_smallest_heights_by_hand():
    a, b, c = (Fact(name, ()) for name in "abc")
    steps = [("r", b, (a,)), ("r", c, (b,)), ("s", c, (a,)), ("t", a, (c,))]
    assert smallest_heights([a], steps) == {a: 0, b: 1, c: 1}


def test_a_proof_of_the_wrong_fact_does_not_pass(proven):
    proof, proofs = proven
    with pytest.raises(AssertionError, match="no instance"):
        proofs.check(replace(proof, fact=Fact("last", (2, 4)), premises=proof.premises))


def test_a_leaf_that_nobody_asserted_does_not_pass(proven):
    proof, proofs = proven
    leaf = replace(proof, fact=Fact("e", (4, 4)), rule=None, premises=(), conditions=())
    with pytest.raises(AssertionError, match="not asserted"):
        proofs.check(leaf)


def test_a_leaf_with_another_origin_does_not_pass(proven):
    proof, proofs = proven
    leaf = replace(proof, fact=Fact("e", (1, 2)), rule=None, premises=(), conditions=(), origin="x")
    with pytest.raises(AssertionError):
        proofs.check(leaf)


def test_a_proof_without_its_negative_condition_does_not_pass(proven):
    proof, proofs = proven
    with pytest.raises(AssertionError, match="none of"):
        proofs.check(replace(proof, conditions=()))


def test_a_proof_that_takes_the_long_way_does_not_pass():
    program = Program.parse("a: s(?x) -> p(?x)\nb: p(?x) -> q(?x)\nc: s(?x) -> q(?x)")
    database = Database(program)
    database.assert_fact("s", 1)
    short, below = database.why("q(1)"), database.why("p(1)")
    check_proof(short, program, [Fact("s", (1,))])
    with pytest.raises(AssertionError, match="height"):
        check_proof(replace(short, rule="b", premises=(below,)), program, [Fact("s", (1,))])


def test_a_proof_that_rests_on_itself_does_not_pass(proven):
    proof, proofs = proven
    turn = replace(proof, premises=())
    object.__setattr__(turn, "premises", (turn,))
    with pytest.raises(AssertionError, match="rests on"):
        proofs.check(turn)
