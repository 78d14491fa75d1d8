"""Incremental maintenance against the definition, on random programs and updates."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Fact, LimitError, Program
from tests.rules.naive import check_proof, consequences, model

ARITIES = {"p": 1, "q": 1, "e": 2, "r": 2, "s": 0}
VALUES = [0, 1, 2, "a", "b", "a/b"]
VARIABLES = ["?x", "?y", "?z"]

values = st.sampled_from(VALUES)
facts = st.sampled_from(sorted(ARITIES)).flatmap(
    lambda name: st.tuples(*[values] * ARITIES[name]).map(lambda args: Fact(name, args))
)


def written(value):
    return str(value) if isinstance(value, int) else f"'{value}'"


@st.composite
def atoms(draw, terms):
    name = draw(st.sampled_from(sorted(ARITIES)))
    args = [draw(terms) for _ in range(ARITIES[name])]
    return f"{name}({', '.join(args)})" if args else name


@st.composite
def rules(draw):
    constants = values.map(written)
    anything = st.one_of(st.sampled_from([*VARIABLES, *VARIABLES, "_"]), constants)
    body = draw(st.lists(atoms(anything), min_size=0, max_size=3))
    bound = [name for name in VARIABLES if any(name in atom for atom in body)]
    for name in VARIABLES:
        if name not in bound and draw(st.integers(0, 3)) == 0:
            body.append(f"{name} = {draw(st.sampled_from(bound) if bound else constants)}")
            bound.append(name)
    usable = st.one_of(st.sampled_from(bound), constants) if bound else constants
    operators = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
    if not body or draw(st.integers(0, 2)) == 0:
        body.append(f"{draw(usable)} {draw(operators)} {draw(usable)}")
    if draw(st.integers(0, 3)) == 0:
        name = draw(st.sampled_from(["starts_with", "ends_with", "contains", "path_in"]))
        body.append(f"{name}({draw(usable)}, {draw(usable)})")
    return f"{' + '.join(draw(st.permutations(body)))} -> {draw(atoms(usable))}"


programs = st.lists(rules(), min_size=1, max_size=6).map("\n".join)
edits = st.lists(st.tuples(st.booleans(), facts, st.integers(0, 99)), max_size=6)
batches = st.lists(edits, max_size=8)


def apply(database, asserted, batch):
    """Apply edits to the database and to a set; retractions are of facts that exist."""
    for adding, fact, pick in batch:
        if adding or not asserted:
            assert database.assert_fact(fact.predicate, *fact.args) is (fact not in asserted)
            asserted.add(fact)
        else:
            fact = sorted(asserted, key=str)[pick % len(asserted)]
            assert database.retract_fact(fact.predicate, *fact.args)
            asserted.discard(fact)


def holding(database):
    return {*database.facts(), *database.derived()}


@settings(max_examples=200, deadline=None)
@given(text=programs, updates=batches, single=st.booleans())
def test_after_every_batch_the_facts_are_those_of_the_definition(text, updates, single):
    program = Program.parse(text)
    database = Database(program)
    mirror = set(database.derived())
    asserted = set()

    def follow(change):
        assert not set(change.added) & mirror
        assert set(change.removed) <= mirror
        mirror.update(change.added)
        mirror.difference_update(change.removed)

    database.on_change(follow)
    for batch in updates:
        if single:
            apply(database, asserted, batch)
        else:
            with database.transaction():
                apply(database, asserted, batch)
        expected = model(program, asserted)
        assert set(database.facts()) == asserted
        assert holding(database) == expected
        assert set(database.derived()) == consequences(program, expected) == mirror
        for fact in expected:
            assert database.holds(fact.predicate, *fact.args)
            check_proof(database.why(fact), program, asserted)


@settings(max_examples=60, deadline=None)
@given(text=programs, chosen=st.lists(facts, max_size=12))
def test_one_by_one_in_a_batch_and_stated_in_the_file_come_to_the_same(text, chosen):
    program = Program.parse(text)
    one_by_one, in_a_batch = Database(program), Database(program)
    for fact in chosen:
        one_by_one.assert_fact(fact.predicate, *fact.args)
    with in_a_batch.transaction():
        for fact in chosen:
            in_a_batch.assert_fact(fact.predicate, *fact.args)
    stated = Program.parse(text + "\n" + "\n".join(f"{fact}." for fact in chosen))
    assert holding(one_by_one) == holding(in_a_batch) == holding(Database(stated))


@settings(max_examples=60, deadline=None)
@given(text=programs, chosen=st.lists(facts, max_size=12, unique=True), more=facts)
def test_asserting_and_retracting_again_leaves_everything_as_it_was(text, chosen, more):
    database = Database(Program.parse(text))
    for fact in chosen:
        database.assert_fact(fact.predicate, *fact.args)
    before = database.facts(), database.derived()
    if database.assert_fact(more.predicate, *more.args):
        database.retract_fact(more.predicate, *more.args)
    assert (database.facts(), database.derived()) == before


RECURSIVE = """
e(?x, ?y) -> r(?x, ?y)
e(?x, ?y) + r(?y, ?z) -> r(?x, ?z)
"""


def derivable(program, asserted):
    return len(consequences(program, model(program, asserted)))


def assert_within(database, batch):
    """Whether the limit allows a batch of facts."""
    try:
        with database.transaction():
            for fact in batch:
                database.assert_fact(fact.predicate, *fact.args)
    except LimitError:
        return False
    return True


def check_limit(program, groups, limit):
    """Assert groups of facts; those that fit the limit stay, the others leave no trace."""
    database = Database(program, max_derived=limit)
    asserted = set()
    for group in groups:
        proofs = [str(database.derivation(fact)) for fact in database.derived()]
        fits = derivable(program, asserted | set(group)) <= limit
        assert assert_within(database, group) is fits
        if fits:
            asserted |= set(group)
        else:
            assert [str(database.derivation(fact)) for fact in database.derived()] == proofs
        assert set(database.facts()) == asserted
        assert holding(database) == model(program, asserted)
    for fact in sorted(asserted, key=str):
        database.retract_fact(fact.predicate, *fact.args)
    assert holding(database) == model(program, [])


@settings(max_examples=100, deadline=None)
@given(text=programs, groups=st.lists(st.lists(facts, max_size=4), max_size=6), data=st.data())
def test_a_batch_beyond_the_limit_leaves_no_trace(text, groups, data):
    program = Program.parse(text)
    most = derivable(program, {fact for group in groups for fact in group})
    check_limit(program, groups, data.draw(st.integers(derivable(program, []), most)))


pairs = st.tuples(st.integers(0, 3), st.integers(0, 3))
edges = st.builds(Fact, st.sampled_from(["e", "e", "r"]), pairs)


@settings(max_examples=150, deadline=None)
@given(groups=st.lists(st.lists(edges, min_size=1, max_size=3), max_size=10), data=st.data())
def test_a_recursion_beyond_the_limit_leaves_no_trace(groups, data):
    check_limit(Program.parse(RECURSIVE), groups, data.draw(st.integers(0, 16)))
