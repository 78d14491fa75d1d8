"""By which rules, from which facts: derivations."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from rules.answers.body import Body, is_match
from rules.answers.frames import Budget, OutOfBudget
from rules.answers.instance import put_in
from rules.answers.solve import Allowed, Search, group_solutions
from rules.answers.view import View
from rules.errors import DoesNotHold, visible
from rules.statements import Aggregate, Atom, Literal, Rule
from rules.terms import Fact, Row, Value, row_order

_EVIDENCE = 5

_LEAST = 100
"""Rows looked at for the evidence of an aggregate, whatever was looked at for others."""


@dataclass(frozen=True)
class Derivation:
    """One application of a rule: `body` is the rule's body with the values put in."""

    rule: Rule
    fact: Fact
    body: tuple[Literal, ...]

    @cached_property
    def premises(self) -> tuple[Fact, ...]:
        """The facts that were used, in the order of the body."""
        return tuple(_fact(part) for part in self.body if is_match(part))

    @property
    def conditions(self) -> tuple[str, ...]:
        """What else was met, such as `'a.py' != 'b.py'`, `not skipped('t.py')` or
        `3 = count : { issue('a.py', _) }`."""
        return tuple(str(part) for part in self.body if not is_match(part))

    def __str__(self) -> str:
        """The trace notation: `name: premise + premise -> fact`."""
        return visible(f"{self.rule.name}: {' + '.join(map(str, self.body))} -> {self.fact}")


@dataclass(frozen=True)
class Evidence:
    """The first of the `total` facts to which an aggregate, as in `conditions`, owes its value.

    `complete` is False when they were too many to be looked through: there may be more, and
    the value was not worked out again.
    """

    condition: str
    total: int
    facts: tuple[Fact, ...]
    complete: bool = True


class Derivations:
    """Finds derivations of facts; keeps the rules of the view's program made ready for that."""

    def __init__(self, view: View) -> None:
        self.view = view
        self._rules: dict[str, list[Rule]] = {}
        for rule in view.program.rules:
            self._rules.setdefault(rule.head.predicate, []).append(rule)
        self._bodies: dict[int, Body] = {}

    def of(self, fact: Fact, budget: Budget | None = None) -> Derivation:
        """By the first rule, in its first instance whose premises held before the fact did.

        What is asserted as well may rest on any premises. Raises DoesNotHold; with a budget
        OutOfBudget too, and then aggregates that take too long are taken to have their value.
        """
        allowed = self.older(fact)
        for rule in self.rules(fact.predicate):
            body = self.body(rule)
            search = Search(body, self.view, allowed, budget, trusting=True)
            for values in search.solutions(zip(body.terms, fact.args, strict=True)):
                return instance(rule, body, values, search.rows(), fact)
        raise DoesNotHold(f"{fact} is not derived by any rule")

    def rules(self, predicate: str) -> list[Rule]:
        """The rules that conclude facts of a predicate, in order."""
        return self._rules.get(predicate, [])

    def body(self, rule: Rule) -> Body:
        """What the conclusion needs has the slots `terms`."""
        found = self._bodies.get(id(rule))
        if found is None:
            found = self._bodies[id(rule)] = Body(rule.body, wanted=(), terms=rule.head.args)
        return found

    def evidence(self, derivation: Derivation, budget: Budget) -> tuple[Evidence, ...]:
        """The facts behind the aggregates of a derivation."""
        parts = (part for part in derivation.body if isinstance(part, Aggregate))
        return tuple(evidence(part, self.view, budget) for part in parts)

    def older(self, fact: Fact) -> Allowed | None:
        """A test for premises that held before the fact; None if no rule needs it."""
        view, predicate = self.view, fact.predicate
        if fact.args in view.asserted(predicate):
            return None
        rank = view.rows(predicate).get(fact.args)
        if rank is None:
            return lambda atom, row: False
        own = view.component(predicate)

        def allowed(atom: Atom, row: Row) -> bool:
            name = atom.predicate
            return view.component(name) != own or view.rows(name)[row] < rank

        return allowed


def instance(
    rule: Rule, body: Body, values: list[Value | None], rows: dict[int, Row], fact: Fact
) -> Derivation:
    """A derivation from the slots of a search and the rows that it used."""
    pairs = ((variable, values[slot]) for variable, slot in body.named())
    binding = {variable: value for variable, value in pairs if value is not None}
    literals = tuple(
        Atom(literal.predicate, rows[at])
        if at in rows and isinstance(literal, Atom)
        else put_in(literal, binding)
        for at, literal in enumerate(rule.body)
    )
    return Derivation(rule, fact, literals)


def evidence(part: Aggregate, view: View, budget: Budget) -> Evidence:
    """The facts behind an aggregate into which the values have been put.

    For `min` and `max` those that have the value, for others all between the braces.
    """
    group = Body((part,)).groups[0]
    extreme, complete = part.function in {"min", "max"}, True
    facts: dict[Fact, None] = {}
    with budget.part(budget.left, _LEAST) as rows:
        try:
            for values, search in group_solutions(group, (), view, rows):
                if extreme and group.term is not None and values[group.term] != part.result:
                    continue
                facts.update(dict.fromkeys(_used(group.body, search)))
        except OutOfBudget:
            complete = False
    first = sorted(facts, key=lambda fact: (fact.predicate, row_order(fact.args)))[:_EVIDENCE]
    return Evidence(str(part), len(facts), tuple(first), complete)


def _used(body: Body, search: Search) -> Iterator[Fact]:
    for at, row in sorted(search.rows().items()):
        literal = body.literals[at]
        if isinstance(literal, Atom):
            yield Fact(literal.predicate, row)


def _fact(part: Literal) -> Fact:
    if not isinstance(part, Atom):
        raise TypeError(f"not a condition on facts: {part}")
    return Fact(part.predicate, tuple(t for t in part.args if isinstance(t, str | int)))
