"""Incremental maintenance against the definition, on random programs and updates."""

import os
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, note, settings
from hypothesis import strategies as st

from rules import Database, LimitError, Program, Rule
from rules.engine.strata import Strata, hidden
from rules.statements import Aggregate
from tests.rules.checked import holding
from tests.rules.naive import TooMuch, consequences, evaluate
from tests.rules.programs import random_program
from tests.rules.stress import failures
from tests.rules.updates import Session

MORE = int(os.environ.get("RULES_EXAMPLES", "1"))
"""Multiplies the examples of the longest tests; `python -m tests.rules.stress` does still more."""

chances = st.randoms(use_true_random=False)
slowly = settings(deadline=None, suppress_health_check=list(HealthCheck))


@settings(slowly, max_examples=40 * MORE)
@given(chances)
def test_after_every_update_the_facts_are_those_of_the_definition(chance):
    session = None
    try:
        session = Session(random_program(chance), chance)
        session.run(chance.randint(1, 8))
    except TooMuch:
        assume(False)
    finally:
        note(session.script() if session else "the program itself")


@pytest.mark.parametrize("seed", [1, 1001])
def test_seeds_of_longer_sequences(seed):
    assert not list(failures(15 * MORE, seed, steps=10))


def built(program, facts):
    """A database of the facts, one after the other."""
    database = Database(program)
    for fact in facts:
        database.assert_fact(fact.predicate, *fact.args)
    return database


def some(sample, most):
    """Different facts."""
    return list(dict.fromkeys(sample.fact() for _ in range(sample.chance.randint(0, most))))


@settings(slowly, max_examples=25 * MORE)
@given(chances)
def test_one_by_one_in_any_order_in_a_batch_and_stated_in_the_file_come_to_the_same(chance):
    sample = random_program(chance)
    facts = some(sample, 12)
    program = Program.parse(sample.text)
    note(sample.text)
    batch = Database(program)
    with batch.transaction():
        for fact in facts:
            batch.assert_fact(fact.predicate, *fact.args)
    stated = Program.parse(sample.text + "\n" + "\n".join(f"{fact}." for fact in facts))
    expected = holding(batch)
    assert holding(built(program, facts)) == expected
    assert holding(built(program, chance.sample(facts, len(facts)))) == expected
    assert holding(Database(stated)) == expected


@settings(slowly, max_examples=25 * MORE)
@given(chances)
def test_asserting_and_retracting_again_leaves_everything_as_it_was(chance):
    sample = random_program(chance)
    note(sample.text)
    database = built(Program.parse(sample.text), some(sample, 12))
    before = database.facts(), database.derived()
    more = [fact for fact in some(sample, 4) if fact not in before[0]]
    for fact in more:
        assert database.assert_fact(fact.predicate, *fact.args)
    for fact in more:
        assert database.retract_fact(fact.predicate, *fact.args)
    assert (database.facts(), database.derived()) == before


@settings(slowly, max_examples=25 * MORE)
@given(chances)
def test_the_order_of_rules_and_the_names_of_variables_change_nothing(chance):
    sample = random_program(chance)
    facts = some(sample, 12)
    rules = sample.text.splitlines()
    other = "\n".join(chance.sample(rules, len(rules)))
    for old, new in (("X", "Z9"), ("Y", "X"), ("Z9", "Y")):
        other = other.replace(old, new)
    note(f"{sample.text}\n\n{other}")
    one, two = (built(Program.parse(text), facts) for text in (sample.text, other))
    assert holding(one) == holding(two)


def shuffled(chance, body):
    """The conditions, and those between braces, in another order."""
    parts = [
        replace(part, body=shuffled(chance, part.body)) if isinstance(part, Aggregate) else part
        for part in body
    ]
    return tuple(chance.sample(parts, len(parts)))


@settings(slowly, max_examples=25 * MORE)
@given(chances)
def test_the_order_of_conditions_changes_nothing(chance):
    sample = random_program(chance)
    facts = some(sample, 12)
    program = Program.parse(sample.text)
    other = Program(Rule(rule.head, shuffled(chance, rule.body)) for rule in program.statements)
    note(f"{program}\n{other}")
    assert holding(built(program, facts)) == holding(built(other, facts))


@settings(slowly, max_examples=25 * MORE)
@given(chances)
def test_counting_the_work_changes_nothing(chance):
    """What holds, what is told, in which order, and the ranks are the same."""
    sample = random_program(chance)
    note(sample.text)
    program = Program.parse(sample.text)
    pair = Database(program), Database(program, max_work=10**9)
    told = [], []
    for database, changes in zip(pair, told, strict=True):
        database.on_change(changes.append)
    for _ in range(30):
        fact = sample.fact()
        for database in pair:
            held = fact in database.facts(fact.predicate)
            (database.retract_fact if held else database.assert_fact)(fact.predicate, *fact.args)
    assert told[0] == told[1]
    assert holding(pair[0]) == holding(pair[1])
    views = [database.view for database in pair]
    for name in sample.arities:
        assert views[0].rows(name) == views[1].rows(name)


def concluded(program, asserted):
    """How many facts rules conclude in the end."""
    return len(consequences(program, evaluate(program, asserted)) - set(asserted))


def fits(database, batch):
    """Whether the limit allows a batch of facts."""
    try:
        with database.transaction():
            for fact in batch:
                database.assert_fact(fact.predicate, *fact.args)
    except LimitError:
        return False
    return True


def check_limit(program, groups, limit):
    """Assert groups of facts; those that do not fit the limit leave no trace."""
    database = Database(program, max_derived=limit)
    asserted = set()
    for group in groups:
        before = database.facts(), database.derived()
        if fits(database, group):
            asserted |= set(group)
            assert concluded(program, asserted) <= limit
        else:
            assert (database.facts(), database.derived()) == before
        assert holding(database) == evaluate(program, asserted)
    for fact in sorted(asserted, key=str):
        try:
            database.retract_fact(fact.predicate, *fact.args)
        except LimitError:  # more may follow where a negation holds again
            continue
        asserted.remove(fact)
    assert holding(database) == evaluate(program, asserted)


@settings(slowly, max_examples=30 * MORE)
@given(chances)
def test_a_batch_beyond_the_limit_leaves_no_trace(chance):
    sample = random_program(chance)
    note(sample.text)
    groups = [some(sample, 4) for _ in range(chance.randint(1, 6))]
    program = Program.parse(sample.text)
    assume(not any(map(hidden, Strata(program.rules).home)))  # pieces of long rules count, too
    try:
        least = concluded(program, [])
        most = concluded(program, {fact for group in groups for fact in group})
    except TooMuch:
        assume(False)
    check_limit(program, groups, chance.randint(least, max(least, most)))
