"""A first proof, found in bounded time: a derivation for each fact that it is asked for."""

from collections.abc import Iterator
from itertools import chain

from rules.answers.body import Body, apart
from rules.answers.derivations import Derivation, Derivations, instance
from rules.answers.frames import Budget, OutOfBudget
from rules.answers.solve import Search
from rules.statements import Rule
from rules.terms import Fact, Row, Value

_LEAST = 50
"""Rows looked at for a fact, however many were looked at for others."""

_FORWARD = 2_000_000
"""Rows looked at to list what rules conclude."""


class FirstProof:
    """Derivations whose premises held before their facts, so that they do not go in circles.

    Each is looked for backwards, from the fact to its premises. That is slow where the fact
    does not tell which premises (as in `n(?x) + ?y = ?x * 3 -> n(?y)`). When a budget is spent
    on it, all that the rules conclude is listed once, and the derivations are looked up.
    """

    def __init__(self, derivations: Derivations, budget: Budget) -> None:
        self._derivations = derivations
        self._budget = budget
        self._forward = Forward(derivations)
        self._found: dict[Fact, Derivation | None] = {}

    @property
    def complete(self) -> bool:
        """Whether something was found for all that was asked for."""
        return None not in self._found.values()

    def of(self, fact: Fact) -> Derivation | None:
        """None where none is found in time. Raises DoesNotHold."""
        if fact not in self._found:
            self._found[fact] = self._backwards(fact) or self._forward.of(fact)
        return self._found[fact]

    def _backwards(self, fact: Fact) -> Derivation | None:
        with self._budget.part(self._budget.left, _LEAST) as rows:
            try:
                return self._derivations.of(fact, rows)
            except OutOfBudget:
                return None


class Forward:
    """The first derivation of each fact, from a list of all that the rules conclude."""

    def __init__(self, derivations: Derivations, budget: int = _FORWARD) -> None:
        self._derivations = derivations
        self._budget = Budget(budget)
        self._listed: dict[str, dict[Row, _Instance]] = {}

    def of(self, fact: Fact) -> Derivation | None:
        """None where the list had to be broken off before the fact."""
        if fact.predicate not in self._listed:
            self._listed[fact.predicate] = {}
            self._list(fact.predicate)
        found = self._listed[fact.predicate].get(fact.args)
        if found is None:
            return None
        rule, body, values, rows = found
        return instance(rule, body, list(values), rows, fact)

    def _list(self, predicate: str) -> None:
        listed = self._listed[predicate]
        rules = self._derivations.rules(predicate)
        try:
            for row, found in chain.from_iterable(map(self._instances, rules)):
                if row not in listed and self._rests_on_older(Fact(predicate, row), found):
                    listed[row] = found
        except OutOfBudget:
            return

    def _instances(self, rule: Rule) -> "Iterator[tuple[Row, _Instance]]":
        body = Body(apart(rule.body), terms=rule.head.args)
        search = Search(body, self._derivations.view, budget=self._budget)
        for values in search.solutions(()):
            row = tuple([value for slot in body.terms if (value := values[slot]) is not None])
            yield row, (rule, body, tuple(values), search.rows())

    def _rests_on_older(self, fact: Fact, found: "_Instance") -> bool:
        _, body, _, rows = found
        allowed = self._derivations.older(fact)
        return allowed is None or all(allowed(m.atom, rows[m.at]) for m in body.matches)


_Instance = tuple[Rule, Body, tuple[Value | None, ...], dict[int, Row]]
