"""The rules of a program made ready to run: who reads which predicate, and a plan for each use."""

from collections.abc import Sequence

from rules.filters import FILTERS
from rules.plan import START, Plan
from rules.relation import Support
from rules.terms import Rule

Condition = tuple[int | None, str]
"""Place in the body and predicate of a condition on facts."""


class Engine:
    """Keeps no facts; plans are made on first use."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = tuple(rules)
        self.conditions = tuple(_conditions(rule) for rule in self._rules)
        self.readers: dict[str, list[int]] = {}
        for number, conditions in enumerate(self.conditions):
            for predicate in dict.fromkeys(predicate for _, predicate in conditions):
                self.readers.setdefault(predicate, []).append(number)
        self._plans: list[Plan] = []
        self._plan_numbers: dict[tuple[int, int | None], int] = {}

    def plan(self, rule_number: int, lead: int | None) -> Plan:
        """The plan that evaluates a rule for new rows of one of its conditions."""
        number = self._plan_numbers.get((rule_number, lead))
        if number is None:
            number = self._plan_numbers[rule_number, lead] = len(self._plans)
            self._plans.append(Plan(number, self._rules[rule_number], lead))
        return self._plans[number]

    def plan_of(self, support: Support) -> Plan:
        """The plan that made a support."""
        return self._plans[int(support[0])]


def _conditions(rule: Rule) -> tuple[Condition, ...]:
    """A rule that asks for no facts reads START, which holds once and for all."""
    found = [(at, atom.predicate) for at, atom in enumerate(rule.body)]
    return tuple(pair for pair in found if pair[1] not in FILTERS) or ((None, START),)
