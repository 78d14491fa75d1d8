"""Equations and arithmetic against the definition, where the engine solves them backwards too."""

import pytest
from hypothesis import assume, given, note, settings
from hypothesis import strategies as st

from rules import Database, Fact, Program
from rules.terms import MAX_INTEGER_BITS, quote
from tests.rules.checked import holding
from tests.rules.naive import evaluate
from tests.rules.program_parts import well_typed

MOST = (1 << MAX_INTEGER_BITS) - 1
SMALL = [-3, -1, 0, 1, 2, 3, 5]
ODD = ["a", "1", "", MOST, -MOST, MOST - 1, 1 - MOST, 1 << 6_500, 1 << 12_999]
chances = st.randoms(use_true_random=False)


def side(chance, depth, variables):
    """A term of variables, numbers and a few other values."""
    kind = chance.random()
    if depth == 0 or kind < 0.3:
        return chance.choice(variables)
    if kind < 0.4:
        return quote(chance.choice(SMALL if chance.random() < 0.8 else ODD[:4]))
    left, right = (side(chance, depth - 1, variables) for _ in "lr")
    return f"({left} {chance.choice('++++----*/%')} {right})"


def equation(chance):
    left, right = (side(chance, chance.randint(0, 3), ("X", "Y")) for _ in "lr")
    return f"{left} = {right}"


def program(chance):
    """Rules with one and the same equation at different places."""
    found, more = equation(chance), equation(chance)
    rules = [
        f"both(X, Y) :- v(X), v(Y), {found}.",
        f"never(X, Y) :- v(X), v(Y), not {found}.",
        f"two(X, Y) :- v(X), v(Y), {found}, {more}.",
        f"given(X, Y) :- pair(X, Y), {found}.",
        f"ways(X, N) :- v(X), N = count : {{ v(Y), {found} }}.",
        f"least(X, N) :- v(X), N = min Y : {{ pair(X, Y), {found} }}.",
        f"some(X) :- v(X), v(Y), {found}.",
        f"reach(Y) :- reach(X), v(Y), {found}.\nreach(X) :- first(X).",
    ]
    return "\n".join(chance.sample(rules, 3))


def values(chance):
    few = [*chance.sample(SMALL, 4), *chance.sample(ODD, chance.randint(0, 4))]
    return [Fact("v", (value,)) for value in few]


@settings(max_examples=150, deadline=None)
@given(chances)
def test_equations_hold_as_they_are_defined(chance):
    text = program(chance)
    note(text)
    assume(well_typed(text))
    rules, facts = Program.parse(text), values(chance)
    known = [fact.args[0] for fact in facts]
    facts += [Fact("pair", (chance.choice(known), chance.choice(known))) for _ in range(5)]
    facts.append(Fact("first", (chance.choice(known),)))
    note(f"{[str(fact)[:50] for fact in facts]}")
    database, held = Database(rules), set()
    for fact in chance.sample(facts, len(facts)):
        database.assert_fact(fact.predicate, *fact.args)
        held.add(fact)
    assert holding(database) == evaluate(rules, held)
    for fact in chance.sample(sorted(held, key=str), 3):
        database.retract_fact(fact.predicate, *fact.args)
        held.remove(fact)
        assert holding(database) == evaluate(rules, held)


@pytest.mark.parametrize(
    ("equation", "pairs"),
    [
        ("X + 1 = Y", [(1, 2), (2, 3)]),
        ("Y = 1 + X", [(1, 2), (2, 3)]),
        ("3 - X = Y", [(1, 2), (2, 1)]),
        ("Y = X - 1", [(2, 1), (3, 2)]),
        ("(X - 1) + (3 - Y) = 2", [(1, 1), (2, 2), (3, 3)]),
        ("2 - (3 - X) = Y", [(2, 1), (3, 2)]),
        ("X + Y = Y + X", [(a, b) for a in (1, 2, 3) for b in (1, 2, 3)]),
        ("X + X = Y + 1", [(1, 1), (2, 3)]),
        ("X * 2 = Y + 1", [(1, 1), (2, 3)]),
        ("X - X = 0", [(a, b) for a in (1, 2, 3) for b in (1, 2, 3, "a")]),
        ("X * X = X + Y", [(2, 2)]),
        (f"X - 1 = Y + {MOST}", []),
        (f"X + {MOST} = {MOST} + X", []),
        (f"X - {MOST} = Y - {MOST}", [(1, 1), (2, 2), (3, 3)]),
        (f"({MOST} + X) - {MOST} = Y", []),
    ],
)
def test_equations_by_hand(equation, pairs):
    """Also where one of the variables has its value from the equation alone."""
    rules = Program.parse(f"p(X, Y) :- v(X), v(Y), {equation}.")
    database = Database(rules)
    for value in (1, 2, 3, "a"):
        database.assert_fact("v", value)
    assert database.query("p(X, Y)") == pairs
    for value in (2, "a"):
        database.retract_fact("v", value)
    left = [pair for pair in pairs if not {2, "a"} & {*pair}]
    assert database.query("p(X, Y)") == left


def test_a_value_that_an_equation_gives_need_not_be_a_fact():
    rules = "p(X, Y) :- v(X), Y = 10 - X, not v(Y).\nq(Y) :- p(_, T), Y = T - 1, p(_, Y + 1)."
    database = Database(Program.parse(rules))
    database.assert_fact("v", 4)
    database.assert_fact("v", "x")
    assert database.derived() == [Fact("p", (4, 6)), Fact("q", (5,))]
    database.assert_fact("v", 6)
    assert database.derived() == []
