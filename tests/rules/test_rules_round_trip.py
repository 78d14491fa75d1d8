"""Whatever is printed reads as what it was."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Atom, Database, Fact, Program, Rule, Variable, parse_atom

characters = st.characters()  # surrogates, controls and all
values = st.one_of(st.integers(), st.integers(-(10**60), 10**60), st.text(characters))
lower = st.sampled_from(["p", "has_tests", "größe", "x1", "class", "文件", "sum", "decl"])
capital = st.sampled_from(["Edge", "Über"])
variables = st.sampled_from(["x", "X", "file", "_y", "Größe", "not", "_"]).map(Variable)
named = variables.filter(lambda variable: not variable.anonymous)


@st.composite
def rules(draw):
    terms = st.one_of(variables, values)
    body = draw(
        st.lists(
            st.builds(Atom, st.one_of(lower, capital), st.lists(terms, max_size=3).map(tuple)),
            min_size=1,
            max_size=4,
        )
    )
    bound = [variable for atom in body for variable in atom.variables]
    usable = st.one_of(st.sampled_from(bound), values) if bound else values
    tests = st.builds(
        Atom,
        st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "starts_with", "path_in"]),
        st.tuples(usable, usable),
    )
    body += draw(st.lists(tests, max_size=3))
    label = draw(st.sampled_from(["", "tdd_gate", "p"]))
    head = Atom(draw(st.one_of(lower, capital)), draw(st.lists(usable, max_size=3).map(tuple)))
    return Rule(head, tuple(draw(st.permutations(body))), label)


def one_rule(text):
    # the arity of a predicate may differ between the atoms of a random rule
    from rules.parser import Parser
    from rules.source import Source

    parser = Parser(Source("<text>", text), "kernel")
    assert not parser.diagnostics
    (rule,) = parser.statements
    return rule


@settings(max_examples=150, deadline=None)
@given(rules())
def test_rules_in_both_notations(rule):
    assert one_rule(rule.as_trace()) == rule
    assert one_rule(rule.as_clause()) == rule
    assert one_rule(str(rule)).as_trace() == rule.as_trace()


@settings(max_examples=150, deadline=None)
@given(st.one_of(lower, capital), st.lists(values, max_size=4).map(tuple))
def test_facts(predicate, args):
    fact = Fact(predicate, args)
    assert Program.parse(f"{fact}.").facts == (fact,)
    assert parse_atom(str(fact)) == Atom(predicate, args)


@settings(max_examples=200, deadline=None)
@given(st.text(characters))
def test_a_printed_value_has_one_line_of_visible_characters(value):
    assert str(Fact("p", (value,))).isprintable()


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(values, values), min_size=1, max_size=4, unique=True))
def test_an_applied_rule_reads_as_a_rule_without_variables(rows):
    database = Database(Program.parse("join: p(?x, ?y) + ?x != ?y -> q(?y)"))
    for row in rows:
        database.assert_fact("p", *row)
    for fact in database.derived():
        rule = one_rule(str(database.derivation(fact)))
        assert rule.name == "join"
        assert str(rule.head) == str(fact)
        assert not any(atom.variables for atom in rule.body)


def test_text_of_the_trace_notation():
    text = "tdd_gate: file_modified(?file) + test_covers(?test, ?file) -> verify_gate('run_tests')"
    assert str(one_rule(text)) == text
    assert one_rule(text).as_clause() == (
        "tdd_gate: verify_gate('run_tests') :- file_modified(?file), test_covers(?test, ?file)."
    )
    assert one_rule("q(X) :- p(X, 'it\\'s').").as_clause() == "q(X) :- p(X, 'it\\'s')."
