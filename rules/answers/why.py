"""The proof of smallest height.

The order in which facts came to hold gives a first proof at once. Whether there is a smaller one
is asked backwards from the goal: all derivations are collected, one level of premises after the
other, and heights are worked out among them. A proof of height h uses only facts within h levels
of the goal, so that it is found when h levels are collected.
"""

from collections.abc import Iterable, Iterator
from functools import partial

from rules.answers.body import Match
from rules.answers.derivations import Derivation, Derivations, instance
from rules.answers.first import FirstProof
from rules.answers.frames import Budget, OutOfBudget
from rules.answers.heights import Choice, Goal, Step, cheapest
from rules.answers.provenance import Proof, build
from rules.answers.solve import Allowed, Search
from rules.errors import DoesNotHold
from rules.statements import Atom
from rules.terms import Fact, Row, Value

BUDGET = 500_000
"""Rows looked at before a proof is taken that may not be the smallest."""

EVIDENCE = 200_000
"""Rows looked at for the facts behind all aggregates of a proof."""

_GROWTH = 1.25
"""Heights are worked out anew when so many times more derivations are known."""


def explain(fact: Fact, derivations: Derivations, budget: int = BUDGET) -> Proof:
    """A proof of smallest height. A fact that is asserted is a leaf.

    When more than `budget` rows would have to be looked at, the proof is the best one known by
    then, and says so. Raises DoesNotHold.
    """
    view = derivations.view
    if fact.args not in view.rows(fact.predicate):
        from rules.answers.absence import not_held

        raise DoesNotHold(not_held(fact, view))

    def assertion(goal: Fact) -> tuple[str, str] | None:
        return view.asserted(goal.predicate).get(goal.args)

    looked_at = Budget(budget)
    first = FirstProof(derivations, looked_at)
    evidence = partial(derivations.evidence, budget=Budget(EVIDENCE))
    proof = build(fact, assertion, first.of, evidence)
    below = _Below(fact, derivations, looked_at)
    steps, complete = below.smaller(proof.height) if first.complete else ({}, False)
    if not steps and complete:
        return proof

    def derivation(goal: Fact) -> Derivation | None:
        return below.derivation(steps[goal], steps) if steps else first.of(goal)

    evidence = partial(derivations.evidence, budget=Budget(EVIDENCE))
    return build(fact, assertion, derivation, evidence, complete)


class _Below:
    """Derivations of a goal, of their premises, and so on."""

    def __init__(self, goal: Fact, derivations: Derivations, budget: Budget) -> None:
        self._goal = goal
        self._derivations = derivations
        self._view = derivations.view
        self._budget = budget
        self._steps: list[Step] = []
        self._seen: set[Goal] = set()
        self._premises: dict[Choice, Goal] = {}

    def smaller(self, height: int) -> tuple[dict[Goal, Step], bool]:
        """The steps of a proof of less than this height, none if there is no such proof.

        False when the budget has run out: then a still smaller one may exist.
        """
        best: dict[Goal, Step] = {}
        frontier, levels, counted = [self._goal], 0, 0
        while frontier and levels < height - 1:
            levels += 1
            try:
                frontier = self._collect(frontier, levels == height - 1)
                complete = True
            except OutOfBudget:
                complete = False
            done = not complete or not frontier or levels == height - 1
            if done or len(self._steps) >= counted * _GROWTH:
                counted = len(self._steps)
                steps, heights = cheapest(self._steps, self._is_leaf)
                if heights.get(self._goal, height) < height:
                    best, height = steps, heights[self._goal]
            if not complete:
                return best, False
        return best, True

    def derivation(self, step: Step, steps: dict[Goal, Step]) -> Derivation:
        """The derivation that a step stands for, with the facts chosen for its choices."""
        rule, goal = step.rule, step.goal
        if rule is None or not isinstance(goal, Fact):
            raise TypeError(f"no derivation: {step}")
        body = self._derivations.body(rule)
        rows = {
            match.at: _fact(premise, steps).args
            for match, premise in zip(body.matches, step.premises, strict=True)
        }
        return instance(rule, body, list(step.values), rows, goal)

    def _collect(self, goals: list[Fact], last: bool) -> list[Fact]:
        """Add the derivations of the goals; the facts among their premises that are new.

        On the last level only derivations from asserted facts are of use.
        """
        allowed = self._is_asserted if last else None
        below: dict[Fact, None] = {}
        for goal in goals:
            for step in self._steps_to(goal, allowed):
                self._steps.append(step)
                below.update(dict.fromkeys(self._opened(step.premises)))
        return list(below)

    def _opened(self, premises: Iterable[Goal]) -> Iterator[Fact]:
        """The facts that have to be derived for these premises, where not asked for before."""
        for premise in premises:
            if premise in self._seen or self._is_leaf(premise):
                continue
            self._seen.add(premise)
            if isinstance(premise, Fact):
                yield premise
            else:
                yield from self._alternatives(premise)

    def _alternatives(self, choice: Choice) -> Iterator[Fact]:
        for row in self._view.matching(choice.predicate, choice.columns, choice.values):
            self._budget.spend()
            fact = Fact(choice.predicate, row)
            self._steps.append(Step(choice, (fact,)))
            if fact not in self._seen:
                self._seen.add(fact)
                yield fact

    def _steps_to(self, fact: Fact, allowed: Allowed | None) -> Iterator[Step]:
        self._seen.add(fact)
        for rule in self._derivations.rules(fact.predicate):
            body = self._derivations.body(rule)
            search = Search(body, self._view, allowed, self._budget)
            for values in search.solutions(zip(body.terms, fact.args, strict=True)):
                premises = tuple(self._premise(match, values) for match in body.matches)
                yield Step(fact, premises, rule, tuple(values))

    def _premise(self, match: Match, values: list[Value | None]) -> Goal:
        """The fact that a condition asks for, or where any of several will do, the choice.

        An asserted one among them is chosen at once.
        """
        known = [(c, v) for c, slot in enumerate(match.slots) if (v := values[slot]) is not None]
        row, predicate = tuple(value for _, value in known), match.atom.predicate
        if len(row) == len(match.slots):
            return Fact(predicate, row)
        choice = Choice(predicate, tuple(column for column, _ in known), row)
        if choice not in self._premises:
            self._premises[choice] = self._asserted_of(choice) or choice
        return self._premises[choice]

    def _asserted_of(self, choice: Choice) -> Fact | None:
        asserted = self._view.asserted(choice.predicate)
        rows = self._view.matching(choice.predicate, choice.columns, choice.values)
        found = next((row for row in rows if row in asserted), None) if asserted else None
        return None if found is None else Fact(choice.predicate, found)

    def _is_asserted(self, atom: Atom, row: Row) -> bool:
        return row in self._view.asserted(atom.predicate)

    def _is_leaf(self, goal: Goal) -> bool:
        return isinstance(goal, Fact) and goal.args in self._view.asserted(goal.predicate)


def _fact(goal: Goal, steps: dict[Goal, Step]) -> Fact:
    """The fact chosen for a goal."""
    while not isinstance(goal, Fact):
        goal = steps[goal].premises[0]
    return goal
