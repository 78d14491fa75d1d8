"""Why facts do not hold."""

import itertools
import json
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Atom, Database, Fact, Program, Variable
from rules.answers.absence import can_conclude, explain_absence
from rules.answers.derivations import Derivations
from rules.answers.order import in_order
from rules.builtins import BUILTINS
from rules.terms import Expression, named_variables
from tests.rules.model_view import ModelView, view_of
from tests.rules.naive import TooMuch, by_predicate
from tests.rules.naive_bodies import direct, solutions
from tests.rules.random_bodies import CONCLUDED, Generator

RULES = """
.decl config(path)
tests: modified(?f) + covers(?t, ?f) + not skipped(?t) -> gate('run_tests')
big: modified(?f) + lines(?f, ?n) + ?n > 100 -> gate('review')
many: modified(?f) + ?n = count : { issue(?f, _) } + ?n > 1 -> gate('lint')
settings: config(_) -> gate('all')
next(N + 1) :- lines(_, N).
"""
FACTS = "modified('src/auth.py'). lines('src/auth.py', 80). issue('src/auth.py', 1)."


def why_not(fact, view):
    return explain_absence(fact, Derivations(view))


def said(goal, facts="", rules=RULES):
    """The one attempt at a fact."""
    (attempt,) = why_not(goal, view_of(rules, FACTS + facts)).attempts
    return attempt


def test_the_first_condition_that_fails_is_named_with_the_nearest_facts():
    more = "covers('t1', 'src/author.py'). covers('t2', 'db.py'). covers('t3', 'src/oauth.py')."
    attempt = said(Fact("gate", ("run_tests",)), more + "covers('t4', 'x').")
    assert attempt.rule == "tests"
    assert attempt.condition == "covers(?t, 'src/auth.py')"
    assert attempt.reason == "no such fact holds"
    assert attempt.met == ("modified('src/auth.py')",)
    assert {str(fact) for fact in attempt.near} == {
        "covers('t1', 'src/author.py')",
        "covers('t3', 'src/oauth.py')",
        "covers('t2', 'db.py')",
    }


def test_a_fact_that_stands_against_a_negation_is_named():
    attempt = said(Fact("gate", ("run_tests",)), "covers('t', 'src/auth.py'). skipped('t').")
    assert (attempt.condition, attempt.reason) == ("not skipped('t')", "skipped('t') holds")
    assert attempt.met == ("modified('src/auth.py')", "covers('t', 'src/auth.py')")


def test_a_comparison_shows_its_values():
    attempt = said(Fact("gate", ("review",)))
    assert (attempt.condition, attempt.reason) == ("80 > 100", "is false")


def test_an_aggregate_shows_its_value():
    attempt = said(Fact("gate", ("lint",)))
    assert (attempt.condition, attempt.reason) == ("1 > 1", "is false")
    assert attempt.met[1] == "1 = count : { issue('src/auth.py', _) }"
    rules = "n: modified(?f) + ?n = count : { issue(?f, _) } -> issues(?f, ?n)"
    attempt = said(Fact("issues", ("src/auth.py", 5)), rules=rules)
    assert attempt.reason == "the value is 1"
    rules = "n(M) :- modified(_), M = max N : { issue('none', N) }."
    assert said(Fact("n", (5,)), rules=rules).reason == "has no value: nothing matches"


def test_arithmetic_in_the_conclusion_tells_what_is_wanted():
    attempt = said(Fact("next", (7,)))
    assert attempt.met == ("7 = (6 + 1)",)
    assert (attempt.condition, attempt.reason) == ("lines(_, 6)", "no such fact holds")
    assert str(attempt.near[0]) == "lines('src/auth.py', 80)"


def test_arithmetic_that_cannot_be_undone_is_a_last_condition():
    attempt = said(Fact("twice", (7,)), rules="twice(N * 2) :- lines(_, N).")
    assert (attempt.condition, attempt.reason) == ("7 = (80 * 2)", "is false")


def test_a_counter_that_came_to_its_end_says_so():
    counter = "n(Y) :- n(X), X < 20, Y = X + 1. n(0)."
    (attempt,) = why_not(Fact("n", (21,)), view_of(counter)).attempts
    assert (attempt.condition, attempt.reason) == ("20 < 20", "is false")
    assert attempt.met == ("21 = (20 + 1)", "n(20)")
    (attempt,) = why_not(Fact("n", (30,)), view_of(counter)).attempts
    assert (attempt.condition, attempt.near[0]) == ("n(29)", Fact("n", (20,)))


def test_a_predicate_without_facts_is_named():
    assert said(Fact("gate", ("all",))).reason == "no fact of 'config' holds"
    misspelt = "late: modifed(?f) -> late(?f)"
    reason = said(Fact("late", ("a",)), rules=misspelt).reason
    assert reason == "no fact of 'modifed' holds; did you mean 'modified'?"


def test_rules_with_other_conclusions_are_listed():
    absence = why_not(Fact("gate", ("none",)), view_of(RULES, FACTS))
    assert absence.attempts == ()
    assert absence.others == (
        "tests: gate('run_tests')",
        "big: gate('review')",
        "many: gate('lint')",
        "settings: gate('all')",
    )


def test_near_facts_and_near_names():
    view = view_of(RULES, FACTS)
    near = why_not(Fact("lines", ("src/auth.py", 81)), view)
    assert near.text() == (
        "lines('src/auth.py', 81) does not hold; what does: lines('src/auth.py', 80)"
    )
    unknown = why_not(Fact("modifed", ("a",)), view)
    assert unknown.text() == (
        "modifed('a') does not hold: nothing is known of 'modifed'; did you mean 'modified'?"
    )


def test_an_absence_as_text_and_json():
    absence = why_not(Fact("gate", ("review",)), view_of(RULES, FACTS + "modified('b')."))
    assert absence.text().splitlines()[:3] == [
        "gate('review') does not hold, nor does any other fact of 'gate'",
        "  big fails at 80 > 100: is false",
        "    met: modified('src/auth.py'), lines('src/auth.py', 80)",
    ]
    step = json.loads(json.dumps(absence.to_json()))["attempts"][0]
    assert (step["rule"], step["place"], step["condition"]) == ("big", "team.dl:4:1", "80 > 100")


def test_several_ways_are_counted():
    text = why_not(Fact("gate", ("run_tests",)), view_of(RULES, FACTS + "modified('b').")).text()
    assert "met (the first of 2 ways): modified(" in text


def test_a_fact_that_holds_is_refused():
    with pytest.raises(ValueError, match="holds: ask why"):
        why_not(Fact("modified", ("src/auth.py",)), view_of(RULES, FACTS))


def test_a_huge_join_is_broken_off():
    rules = "p: a(?x) + a(?y) + a(?z) + b(?x, ?y) + b(?y, ?z) + ?x < ?z + ?z < ?x + c(?x) -> p"
    database = Database(Program.parse(rules))
    with database.transaction():
        for number in range(60):
            database.assert_fact("a", number)
            for other in range(60):
                database.assert_fact("b", number, other)
    (attempt,) = database.why_not("p").attempts
    assert not attempt.complete
    assert "broken off" in database.why_not("p").text()


def test_a_body_of_thousands_of_conditions():
    body = " + ".join(f"p({number % 7}, ?x)" for number in range(3_000))
    attempt = said(Fact("q", ("a",)), "p(0, 'a'). p(1, 'a').", f"all: {body} -> q(?x)")
    assert attempt.condition == "p(2, 'a')"


@given(st.integers(0, 1_000_000))
@settings(max_examples=80, deadline=None)
def test_no_more_conditions_can_be_met_than_are_shown(seed):
    generator = Generator(seed)
    program = generator.program()
    try:
        view = ModelView(program, generator.facts(), most=100)
    except TooMuch:
        return
    held = by_predicate(view.facts)
    goals = {generator.fact(name) for name in [*CONCLUDED, *CONCLUDED]} - view.facts
    for goal in sorted(goals, key=str):
        rules = [r for r in program.rules if r.head.predicate == goal.predicate]
        rules = [rule for rule in rules if can_conclude(rule, goal)]
        absence = why_not(goal, view)
        assert absence.text()
        for rule, attempt in zip(rules, absence.attempts, strict=True):
            order, known = conditions(rule, goal)
            if all_in_turn(order, set(known)):
                assert len(attempt.met) == most_met(order, known, held)


def conditions(rule, goal):
    """In the order in which they are tried, and the values that the goal gives."""
    pairs = list(zip(rule.head.args, goal.args, strict=True))
    known = {term: value for term, value in pairs if isinstance(term, Variable)}
    results = [Atom("=", (v, term)) for term, v in pairs if isinstance(term, Expression)]
    return in_order((*rule.body, *results), set(known)), known


def most_met(order, known, held):
    outside = direct(order) | set(known)
    numbers = {**held, "number": {(n,) for n in range(-200, 200)}}

    def can_be_met(count):
        sources = numbered(order[:count], set(known))
        return bool(solutions([*order[:count], *sources], numbers, known, outside))

    assert not solutions(order, held, known, outside)
    return max(filter(can_be_met, range(len(order))))


def numbered(order, known):
    """For what gets its value out of a sum or a difference, a condition that tries numbers."""
    for part in order:
        if isinstance(part, Atom) and part.predicate == "=":
            yield from (Atom("number", (v,)) for v in in_arithmetic(part) if v not in known)
        known |= direct([part])


def all_in_turn(order, known):
    """Whether no condition on facts has arithmetic on values that only come later."""
    for part in order:
        if isinstance(part, Atom) and part.predicate not in BUILTINS:
            known |= {term for term in part.args if isinstance(term, Variable)}
            if not known.issuperset(in_arithmetic(part)):
                return False
        known |= direct([part])
    return True


def in_arithmetic(atom):
    return [v for t in atom.args if isinstance(t, Expression) for v in named_variables(t)]


def test_many_rules_are_looked_at_once_each():
    """A call of a function is a step."""
    steps = []
    for size in (50, 400):
        rules = "\n".join(f"g(a, X) :- p(X, {n}).\ng(b, X) :- p(X, {n})." for n in range(size))
        database = Database(Program.parse(rules))
        before, calls = sys.getprofile(), itertools.count()
        sys.setprofile(lambda *_, calls=calls: next(calls))
        try:
            absence = database.why_not("g(a, 1)")
        finally:
            sys.setprofile(before)
        assert len(absence.attempts) == len(absence.others) == size
        steps.append(next(calls))
    few, many = steps
    assert many < 10 * few
