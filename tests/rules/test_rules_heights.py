"""Choosing the steps of a proof of smallest height."""

from rules import Fact, Rule
from rules.answers.heights import Step, cheapest
from rules.statements import Atom


def goal(name):
    return Fact(name, ())


def step(name, *premises):
    return Step(goal(name), tuple(map(goal, premises)), Rule(Atom(name)))


def test_of_steps_of_the_same_height_the_first_is_chosen():
    """Also where the other one can be taken earlier."""
    first, other = step("g", "late"), step("g", "early")
    steps = [first, other, step("early", "fact"), step("late", "fact")]
    chosen, heights = cheapest(steps, lambda one: one == goal("fact"))
    assert heights == {goal("early"): 1, goal("late"): 1, goal("g"): 2}
    assert chosen[goal("g")] is first


def test_a_step_without_a_rule_costs_nothing():
    steps = [Step(goal("any"), (goal("p"),)), step("p", "fact"), step("top", "any")]
    _, heights = cheapest(steps, lambda one: one == goal("fact"))
    assert heights == {goal("p"): 1, goal("any"): 1, goal("top"): 2}


def test_what_only_supports_itself_is_not_reached():
    _, heights = cheapest([step("p", "q"), step("q", "p")], lambda one: False)
    assert heights == {}
