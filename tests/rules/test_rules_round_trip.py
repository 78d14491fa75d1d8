"""Whatever is printed reads as what it was."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Atom, Database, Fact, Program, Rule, Variable, parse_atom
from rules.source import Source
from rules.statements import AGGREGATES, Aggregate, Declaration, Guard, Negation, Query
from rules.syntax.parser import Parser, parse_query
from rules.terms import OPERATORS, PRECEDENCE, TIERS, Expression

characters = st.characters()  # surrogates, controls and all
values = st.one_of(st.integers(), st.integers(-(10**60), 10**60), st.text(characters))
lower = st.sampled_from(
    ["p", "has_tests", "größe", "x1", "class", "文件", "sum", "count", "decl", "kernel", "name"]
)
capital = st.sampled_from(["Edge", "Über"])
predicates = st.one_of(lower, capital)
names = st.sampled_from(["x", "X", "file", "_y", "Größe", "not", "count_1", "Sum"])
variables = st.one_of(names, st.just("_")).map(Variable)
simple = st.one_of(variables, values)
terms = st.recursive(
    simple,
    lambda inner: st.builds(Expression, st.sampled_from(sorted(PRECEDENCE)), inner, inner),
    max_leaves=6,
)
atoms = st.builds(Atom, predicates, st.lists(terms, max_size=3).map(tuple))
tests = st.builds(
    Atom,
    st.sampled_from([*OPERATORS, "starts_with", "ends_with", "contains", "path_in", "matches"]),
    st.tuples(terms, terms),
)
plain = st.one_of(atoms, tests, st.builds(Negation, st.one_of(atoms, tests)))


def aggregates(inner):
    bodies = st.lists(inner, min_size=1, max_size=3).map(tuple)
    of_term = st.builds(Aggregate, st.sampled_from(AGGREGATES), terms, terms, bodies)
    return st.one_of(of_term, st.builds(Aggregate, st.just("count"), terms, st.none(), bodies))


literals = st.recursive(plain, lambda inner: st.one_of(plain, aggregates(inner)), max_leaves=5)
bodies = st.lists(literals, min_size=1, max_size=4).map(tuple)
labels = st.one_of(
    st.sampled_from(["", "tdd_gate", "p", "not", "Tdd", "count", "kernel", "two words", "it's"]),
    st.text(characters),
)
tiers = st.sampled_from(TIERS)
rules = st.builds(Rule, atoms, bodies, labels, tiers)
facts = st.builds(
    Rule, st.builds(Atom, predicates, st.lists(values, max_size=3).map(tuple)), tier=tiers
)
typed = st.tuples(names, st.sampled_from(["", "string", "int"]))
declarations = st.builds(
    lambda predicate, arguments, tier: Declaration(
        predicate, tuple(name for name, _ in arguments), tuple(kind for _, kind in arguments), tier
    ),
    predicates,
    st.lists(typed, max_size=3),
    tiers,
)
patterns = st.builds(Atom, predicates, st.lists(simple, max_size=3).map(tuple))
guards = st.builds(Guard, st.sampled_from(["closed", "open"]), patterns, tiers)
queries = st.builds(Query, bodies)


def items(text):
    # what is read, before the checks: random conditions seldom make a sound program
    parser = Parser(Source("<text>", text), "kernel")
    assert not parser.diagnostics, [str(fault) for fault in parser.diagnostics]
    return parser.items


def one_rule(text):
    (rule,) = items(text)
    return rule


@settings(max_examples=250, deadline=None)
@given(rules)
def test_rules_in_both_notations(rule):
    assert one_rule(rule.as_trace()) == rule
    assert one_rule(rule.as_clause()) == rule
    assert one_rule(str(rule)).as_trace() == rule.as_trace()


@settings(max_examples=150, deadline=None)
@given(st.lists(st.one_of(rules, facts, declarations, guards, queries), max_size=6), st.booleans())
def test_everything_that_may_stand_in_a_file(parts, clauses):
    lines = [p.as_clause() if clauses and isinstance(p, Rule) else str(p) for p in parts]
    assert items("\n".join(lines)) == parts


@settings(max_examples=150, deadline=None)
@given(queries)
def test_queries_by_themselves(query):
    assert parse_query(str(query)) == query
    assert parse_query(str(query).removeprefix("?- ").removesuffix(".")) == query


@settings(max_examples=150, deadline=None)
@given(predicates, st.lists(values, max_size=4).map(tuple))
def test_facts(predicate, args):
    fact = Fact(predicate, args)
    assert Program.parse(f"{fact}.").facts == (fact,)
    assert parse_atom(str(fact)) == Atom(predicate, args)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.one_of(facts, declarations), tiers), max_size=6), st.booleans())
def test_programs_with_their_tiers(parts, clauses):
    # a predicate of its own for each, so that they never contradict
    statements, declared = [], []
    for number, (part, tier) in enumerate(parts):
        if isinstance(part, Declaration):
            types = part.names, part.types
            declared.append(Declaration(f"d{number}", *types, tier))
        else:
            predicate = f"f{number}"
            statements.append(Rule(Atom(predicate, part.head.args), tier=tier))
            condition = Atom(predicate, (Variable("_"),) * len(part.head.args))
            statements.append(Rule(Atom(f"r{number}"), (condition,), tier=tier))
    program = Program(statements, declared)
    again = Program.parse(program.as_text(clauses))
    assert again == program
    assert [each.tier for each in again.statements] == [each.tier for each in statements]
    assert [each.tier for each in again.declarations] == [each.tier for each in declared]


WHOLE = """
.decl pay(name: string, amount: int)
.closed waived(_)
.open exempt('a', ?x)
base: pay(?n, ?a) + ?b = (?a + 2 * ?a) -> raise_of(?n, ?b % 10)
@name("the poor") poor(N) :- pay(N, A), A < 100, not exempt(N, _), not (A = 3 - 2).
@workspace
total(count(), sum(A)) :- pay(_, A).
pay(N, A) + count { pay(_, A) } > 1 -> shared(A)
exempt('a', 'b').
@learned
much: pay(?n, _) + ?m = max ?a : { pay(_, ?a) } + pay(?n, ?m) -> richest(?n)
@kernel
richest(N) -> known(N)
?- richest(N), pay(N, A), A / 2 > 3.
"""


@pytest.mark.parametrize("clauses", [False, True])
def test_a_whole_program(clauses):
    program = Program.parse(WHOLE)
    text = program.as_text(clauses)
    again = Program.parse(text)
    assert again == program
    assert again.as_text(clauses) == text
    assert [rule.tier for rule in again.rules] == [rule.tier for rule in program.rules]
    assert str(program) == program.as_text()


def test_what_is_written_short_is_printed_in_full():
    program = Program.parse(WHOLE)
    assert program.as_text(clauses=True) == (
        ".decl pay(name: string, amount: int)\n"
        ".closed waived(_)\n"
        ".open exempt('a', ?x)\n"
        "base: raise_of(?n, ?b % 10) :- pay(?n, ?a), ?b = ?a + 2 * ?a.\n"
        "@name('the poor') poor(N) :- pay(N, A), A < 100, not exempt(N, _), not (A = 3 - 2).\n"
        "@workspace\n"
        "total(?count_1, ?sum_1) :- pay(_, A), ?count_1 = count : { pay(_, A_1) }, "
        "?sum_1 = sum A_1 : { pay(_, A_1) }.\n"
        "shared(A) :- pay(N, A), ?count_1 = count : { pay(_, A) }, ?count_1 > 1.\n"
        "exempt('a', 'b').\n"
        "@learned\n"
        "much: richest(?n) :- pay(?n, _), ?m = max ?a : { pay(_, ?a) }, pay(?n, ?m).\n"
        "@kernel\n"
        "known(N) :- richest(N).\n"
        "?- richest(N), pay(N, A), A / 2 > 3.\n"
    )


@settings(max_examples=200, deadline=None)
@given(st.text(characters))
def test_a_printed_value_has_one_line_of_visible_characters(value):
    assert str(Fact("p", (value,))).isprintable()


@settings(max_examples=100, deadline=None)
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


@pytest.mark.parametrize(
    ("written", "printed"),
    [
        ("Y = 1 + X * 2", "?y = (1 + ?x * 2)"),
        ("Y = (1 + X) * 2", "?y = ((1 + ?x) * 2)"),
        ("Y = 1 - (X - 2)", "?y = (1 - (?x - 2))"),
        ("Y = 1 - X - 2", "?y = (1 - ?x - 2)"),
        ("Y = (((X)))", "?y = ?x"),
        ("Y = -X", "?y = (0 - ?x)"),
        ("Y = - 3", "?y = -3"),
        ("Y = 3 - -3", "?y = (3 - -3)"),
        ("Y = X /(2 %3)", "?y = (?x / (2 % 3))"),
        ("not X + 1 < Y", "not ((?x + 1) < ?y)"),
    ],
)
def test_expressions_have_no_more_parentheses_than_they_need(written, printed):
    rule = one_rule(f"q :- {written.replace('X', '?x').replace('Y', '?y')}.")
    assert str(rule.body[0]) == printed
