"""Many rules on one predicate, which run as one function once that has come often enough."""

import random
from itertools import product

import pytest

from rules import Database, Program
from tests.rules.naive import evaluate

COLUMNS = "ABC"


def rules():
    """Joins with every choice of columns left open, repeated or constant; tests; negations."""
    found = []
    for number, kinds in enumerate(product("v_rc", repeat=3)):
        terms = [
            {"v": name, "_": "_", "r": "A", "c": "1"}[kind]
            for kind, name in zip(kinds, COLUMNS, strict=True)
        ]
        asked = ", ".join(terms)
        known = [name for name in COLUMNS if name in terms]
        safe = f", not odd({known[-1]})" if known and number % 3 == 0 else ""
        found.append(f"hit({number}, I) :- ask({asked}), held({asked}, I){safe}.")
        if known and number % 4 == 0:
            found.append(f"seen({number}) :- ask({asked}), {known[0]} < 2.")
            found.append(
                f"free({number}, {known[0]}) :- held({asked}, I), not ask({asked}), I > 0."
            )
    return "\n".join(found)


@pytest.mark.parametrize("metered", [False, True])
@pytest.mark.parametrize("seed", [1, 2])
def test_rules_that_run_together_conclude_what_they_do_alone(seed, metered):
    program = Program.parse(rules())
    database = Database(program, max_work=10**9 if metered else None)
    chance = random.Random(seed)
    for turn in range(360):
        name, arity = chance.choice([("ask", 3), ("held", 4), ("odd", 1)])
        row = tuple(chance.randrange(3) for _ in range(arity))
        if not database.retract_fact(name, *row):
            database.assert_fact(name, *row)
        if turn > 300 and turn % 2:
            assert database.derived() == alone(program, database.facts())
    assert database._store.engine.plans._bundles
    assert {*database.facts(), *database.derived()} == evaluate(program, set(database.facts()))


def test_what_runs_together_is_kept_once_however_often_it_runs():
    negated = "\n".join(f"free({n}, X) :- held(X), not off(X, _)." for n in range(20))
    asked = "\n".join(f"hit({n}, X) :- ask('it', X)." for n in range(20))
    database = Database(Program.parse(f"{negated}\n{asked}\nother(X) :- ask('no', X)."))
    database.assert_fact("held", 1)
    kept = []
    for turn in range(80):
        with database.transaction():
            for kind in ("it", "no"):
                database.assert_fact("ask", kind, turn)
        database.assert_fact("off", 1, 0)
        assert database.assert_fact("off", 1, 1)
        database.retract_fact("off", 1, 1)
        database.retract_fact("off", 1, 0)
        kept.append(len(database._store.engine.plans._heat))
    assert kept[-1] == kept[20]


def alone(program, facts):
    """What is derived in one batch, in which nothing runs together."""
    database = Database(program)
    with database.transaction():
        for fact in facts:
            database.assert_fact(fact.predicate, *fact.args)
    return database.derived()
