"""What the conclusions that a `.closed` pattern keeps for its tier are concluded from."""

from collections import deque
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from rules.analysis.dependencies import Dependency, dependencies
from rules.analysis.matching import Patterns, signature
from rules.statements import Atom, Guard, Rule
from rules.terms import Variable

_MOST_CONDITIONS = 100
"""So many conditions on one predicate are told apart; after them all of its facts count."""


class Step(NamedTuple):
    """From a conclusion to one of the conditions that it follows from; `before` is the way to
    the conclusion, which begins with one that `guard` closes."""

    dependency: Dependency
    before: "Step | None"
    guard: Guard

    def path(self) -> list[Dependency]:
        """The steps from the closed conclusion to here."""
        path: list[Dependency] = []
        step: Step | None = self
        while step is not None:
            path.append(step.dependency)
            step = step.before
        return path[::-1]


def conditions_of_closed(
    starts: Iterable[Rule], rules: Sequence[Rule], closed: Patterns[Guard]
) -> Patterns[Step]:
    """The conditions, met or not by rules, from which a closed conclusion of a rule among the
    starts follows by the rules, without `not` and aggregates on the way."""
    search = _Search(rules)
    for rule in starts:
        for _, guard in closed.that_may_match(rule.head.predicate, rule.head.args):
            search.reach(rule, guard, None)
            break
    return Patterns(search.run())


class _Search:
    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self._waiting: deque[tuple[Rule, Guard, Step | None]] = deque()
        self._reached: set[int] = set()
        self._found: dict[tuple[object, ...], tuple[Atom, Step]] = {}
        self._counts: dict[str, int] = {}

    def reach(self, rule: Rule, guard: Guard, step: Step | None) -> None:
        if id(rule) not in self._reached:
            self._reached.add(id(rule))
            self._waiting.append((rule, guard, step))

    def run(self) -> Collection[tuple[Atom, Step]]:
        if self._waiting:
            heads = Patterns((rule.head, rule) for rule in self._rules)
            while self._waiting:
                for condition, step in self._conditions(*self._waiting.popleft()):
                    for _, rule in heads.that_may_match(condition.predicate, condition.args):
                        self.reach(rule, step.guard, step)
        return self._found.values()

    def _conditions(
        self, rule: Rule, guard: Guard, before: Step | None
    ) -> Iterator[tuple[Atom, Step]]:
        """Those of a rule that were not known."""
        for dependency in dependencies((rule,)):
            if isinstance(dependency.literal, Atom):
                condition = self._bounded(dependency.literal)
                mark = signature(condition)
                if mark not in self._found:
                    found = condition, Step(dependency, before, guard)
                    self._found[mark] = found
                    self._counts[dependency.on] = self._counts.get(dependency.on, 0) + 1
                    yield found

    def _bounded(self, condition: Atom) -> Atom:
        """The condition, or one that all facts of its predicate meet."""
        name = condition.predicate
        if self._counts.get(name, 0) < _MOST_CONDITIONS:
            return condition
        return Atom(name, (Variable("_"),) * len(condition.args))
