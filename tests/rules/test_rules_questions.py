"""Queries, and the search that answers them."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Atom, Database, LimitError, Program, RuleError, Variable
from rules.answers import questions
from rules.answers.questions import answers, answers_from, read_question
from rules.answers.solve import solve
from tests.rules.model_view import ModelView, view_of
from tests.rules.naive import TooMuch, by_predicate
from tests.rules.naive_bodies import direct, solutions
from tests.rules.random_bodies import VARIABLES, Generator

FACTS = """
test_covers('t1', 'auth.py'). test_covers('t2', 'auth.py'). test_covers('t3', 'db.py').
skipped('t2'). lines('auth.py', 120). lines('db.py', 7).
"""


@pytest.fixture
def view():
    return view_of(".decl waived(path)", FACTS)


def ask(question, view, most=100):
    return questions.ask(question, view, most)


def rows(question, view):
    return ask(question, view).rows


def test_a_query_of_several_conditions(view):
    found = ask('?- test_covers(T, "auth.py"), not skipped(T).', view)
    assert (found.variables, found.rows) == (("T",), [("t1",)])


def test_a_query_may_compare_calculate_and_count(view):
    assert rows("?- lines(F, N), N > 10, M = N * 2.", view) == [("auth.py", 120, 240)]
    assert rows("?- lines(F, _), N = count : { test_covers(_, F) }.", view) == [
        ("auth.py", 2),
        ("db.py", 1),
    ]
    assert rows("?- N = sum L : { lines(_, L) }.", view) == [(127,)]
    assert rows("?- N = min L : { lines('none', L) }.", view) == []


def test_answers_are_different_and_sorted(view):
    assert rows("?- test_covers(_, F).", view) == [("auth.py",), ("db.py",)]
    assert rows("?- test_covers(T, F), not waived(F).", view) == [
        ("t1", "auth.py"),
        ("t2", "auth.py"),
        ("t3", "db.py"),
    ]


def test_answers_as_a_table_and_as_json(view):
    found = ask("?- lines(File, N).", view)
    assert found.text() == "?File      ?N\n'auth.py'  120\n'db.py'    7"
    assert json.loads(json.dumps(found.to_json())) == {
        "variables": ["File", "N"],
        "rows": [["auth.py", 120], ["db.py", 7]],
    }
    assert ask("?- lines(F, 8).", view).text() == "no answers"


def test_a_query_without_variables_is_answered_by_yes_or_no(view):
    assert ask("?- lines('db.py', _).", view).text() == "yes"
    assert ask("?- lines('db.py', 8).", view).text() == "no"


def test_the_result_of_an_aggregate_without_a_name_is_no_answer(view):
    assert ask("?- count { lines(_, _) } > 1.", view).text() == "yes"
    assert ask("?- count { lines(_, _) } > 2.", view).text() == "no"
    found = ask("?- lines(F, _), count { test_covers(_, F) } > 1.", view)
    assert found.text() == "?F\n'auth.py'"
    named = ask("?- N = count : { lines(_, _) }, ?count_1 = N + 1.", view)
    assert (named.variables, named.rows) == (("N", "count_1"), [(2, 3)])


def test_a_query_with_too_many_answers_meets_a_limit(view):
    assert len(ask("?- lines(A, _), lines(B, _).", view, most=4).rows) == 4
    with pytest.raises(LimitError, match="more than 3 answers: add conditions") as caught:
        ask("?- lines(A, _), lines(B, _).", view, most=3)
    assert caught.value.limit == "max_answers"
    wide = Database(Program.parse("".join(f"a({n})." for n in range(60))))
    with pytest.raises(LimitError, match="has more than 100,000 answers"):
        wide.solve("?- a(A), a(B), a(C).")
    with pytest.raises(LimitError, match="looks at more than 2,000 rows") as caught:
        wide.solve("?- a(A), a(B), a(C), A + B + C < 0.", most=10)
    assert caught.value.limit == "max_work"
    assert wide.solve("?- a(_), a(_), 1 < 2.", most=1).text() == "yes"


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("?- line(F, N).", "did you mean 'lines'"),
        ("?- lines(F).", "'lines' has 2 arguments, not 1"),
        ("?- not skipped(T).", "unsafe-variable"),
        ("?- lines(F, N), N < M.", "unsafe-variable"),
        ("?- lines(F,", "error"),
        ("?- N = count : { skiped(_) }.", "did you mean 'skipped'"),
    ],
)
def test_a_faulty_query_is_refused_with_its_place(view, question, says):
    with pytest.raises(RuleError, match=says) as caught:
        ask(question, view)
    assert caught.value.diagnostics[0].line == 1


@pytest.mark.parametrize("text", ["lines(F, N)", "lines('db.py', _)", "same(X, X)", "none(1)"])
def test_an_atom_is_answered_by_whole_facts_with_or_without_an_index(text):
    view = view_of("", FACTS + "same(1, 1). same(1, 2). same('a', 'a').")
    atom = read_question(text, view.arities)
    found = answers_from(atom, view)
    assert found == answers(atom, view.rows(atom.predicate))
    assert len(found) == {"lines(F, N)": 2, "lines('db.py', _)": 1, "same(X, X)": 2}.get(text, 0)


def test_a_database_answers_queries():
    database = Database(Program.parse("cov: test_covers(?t, ?f) -> covered(?f)"))
    database.assert_fact("test_covers", "t1", "auth.py")
    assert database.solve("?- covered(F), test_covers(T, F).").rows == [("auth.py", "t1")]


def test_a_body_of_thousands_of_conditions_is_searched_without_recursion(view):
    body = [Atom("lines", (Variable("F"), Variable("N")))] * 5_000
    body += [Atom("=", (Variable(f"V{n}"), Variable(f"V{n + 1}"))) for n in range(5_000)]
    body += [Atom("=", (Variable("V5000"), Variable("N")))]
    found = list(solve(body, view, {}))
    assert [binding[Variable("V0")] for binding in found] == [120, 7]


def test_a_search_joins_from_its_most_selective_condition():
    facts = "".join(f"edge({n}, {n + 1}). far(0, {n})." for n in range(300))
    view = view_of("", facts)
    looked_at = []
    body = [Atom("far", (0, Variable("Y"))), Atom("edge", (Variable("Y"), 200))]

    def allowed(atom, row):
        looked_at.append(row)
        return True

    assert list(solve(body, view, {}, allowed)) == [{Variable("Y"): 199}]
    assert looked_at == [(199, 200), (0, 199)]


def test_the_caller_may_refuse_rows(view):
    body = [Atom("lines", (Variable("F"), Variable("_")))]
    found = list(solve(body, view, {}, lambda atom, row: row[1] < 100))
    assert found == [{Variable("F"): "db.py"}]


@given(st.integers(0, 1_000_000))
@settings(max_examples=150, deadline=None)
def test_a_search_finds_what_the_definition_says(seed):
    generator = Generator(seed)
    program = generator.program()
    try:
        view = ModelView(program, generator.facts(), most=100)
    except TooMuch:
        return
    held = by_predicate(view.facts)
    for rule in program.rules:
        names = generator.random.sample(VARIABLES, generator.random.randint(0, 2))
        given_values = {name: generator.value() for name in names}
        named = direct(rule.body) | set(given_values)
        wanted = [
            {name: value for name, value in binding.items() if name in named}
            for binding in solutions(rule.body, held, given_values, names)
        ]
        found = list(solve(rule.body, view, given_values))
        assert as_set(found) == as_set(wanted)
        assert len(found) == len(as_set(found))
        assert list(solve(rule.body, view, given_values)) == found


def as_set(bindings):
    return {frozenset(binding.items()) for binding in bindings}
