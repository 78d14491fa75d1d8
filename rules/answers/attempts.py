"""How far a rule comes towards a fact that it does not conclude."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from rules.analysis.advice import nearest
from rules.answers.body import Body
from rules.answers.derivations import Derivations
from rules.answers.frames import Budget, OutOfBudget
from rules.answers.instance import put_in, put_into, worked_out
from rules.answers.nearness import nearest_rows
from rules.answers.order import in_order
from rules.answers.solve import Search, aggregate_value
from rules.answers.view import View
from rules.builtins import BUILTINS, evaluate
from rules.errors import visible
from rules.statements import Aggregate, Atom, Literal, Negation, Rule
from rules.terms import Expression, Fact, Row, Value, Variable, quote

_WAYS = 100
"""Ways of meeting the first conditions are counted up to this number."""


@dataclass(frozen=True)
class Attempt:
    """The best attempt of a rule.

    `met` are the conditions that hold together, with values; `condition` is the first that
    then fails, with the values known by then, `reason` says how, and `near` are facts that come
    near to it. There are `ways` ways (at most 100 are counted) to meet those conditions, and
    this is the first. `complete` is False when the search was too long to be finished: then
    the condition is the first that could not be met.
    """

    rule: str
    tier: str
    place: str
    condition: str
    reason: str
    met: tuple[str, ...] = ()
    near: tuple[Fact, ...] = ()
    ways: int = 1
    complete: bool = True

    def lines(self) -> Iterator[str]:
        """What fails; indented below, what comes near and what was met."""
        yield f"{visible(self.rule)} fails at {self.condition}: {self.reason}"
        if not self.complete:
            yield "  (the search was broken off: this may be met in another way)"
        if self.near:
            yield f"  nearest: {', '.join(map(str, self.near))}"
        if self.met:
            count = f" (the first of {self.ways}{'+' * (self.ways == _WAYS)} ways)"
            yield f"  met{count if self.ways > 1 else ''}: {', '.join(self.met)}"

    def to_json(self) -> dict[str, object]:
        """The fields, with facts as texts."""
        return {
            "rule": self.rule,
            "tier": self.tier,
            "place": self.place,
            "condition": self.condition,
            "reason": self.reason,
            "met": list(self.met),
            "near": list(map(str, self.near)),
            "ways": self.ways,
            "complete": self.complete,
        }


@dataclass(frozen=True)
class _Reached:
    """The first conditions of a rule, met together."""

    binding: dict[Variable, Value]
    met: tuple[str, ...]
    ways: int


def attempt(rule: Rule, fact: Fact, derivations: Derivations, budget: int) -> Attempt:
    """How far a rule whose conclusion can be the fact comes."""
    given, results = _head(rule, fact)
    order = in_order((*rule.body, *results), set(given))
    best, complete = _farthest(order, given, derivations.view, budget)
    failing = order[len(best.met)]
    reason, near = _failure(failing, best.binding, derivations)
    return Attempt(
        rule.name,
        rule.tier,
        str(rule.span or ""),
        str(put_in(failing, best.binding)),
        reason,
        best.met,
        near,
        best.ways,
        complete,
    )


def _head(rule: Rule, fact: Fact) -> tuple[dict[Variable, Value], list[Atom]]:
    """The values that the fact gives, and equations for arithmetic in the conclusion."""
    given: dict[Variable, Value] = {}
    results: list[Atom] = []
    for term, value in zip(rule.head.args, fact.args, strict=True):
        if isinstance(term, Variable):
            given[term] = value
        elif isinstance(term, Expression):
            results.append(Atom("=", (value, term)))
    return given, results


def _farthest(
    order: Sequence[Literal], given: dict[Variable, Value], view: View, budget: int
) -> tuple[_Reached, bool]:
    """By bisection: the longest beginning that can be met, and whether that is certain."""
    best, complete = _Reached(given, (), 1), True
    low, high = 0, len(order)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            found = _reach(order, middle, given, view, Budget(budget))
        except OutOfBudget:
            found, complete = None, False
        if found is None:
            high = middle
        else:
            best, low = found, middle
    return best, complete


def _reach(
    order: Sequence[Literal],
    count: int,
    given: dict[Variable, Value],
    view: View,
    budget: Budget,
) -> _Reached | None:
    """The first `count` conditions met together, so that the next can be shown with values."""
    failing = order[count]
    body = Body(order[:count], given, wanted=tuple(failing.variables))
    search = Search(body, view, budget=budget)
    solutions = search.solutions([(body.table.of(v), value) for v, value in given.items()])
    values = next(solutions, None)
    if values is None:
        return None
    pairs = ((variable, values[slot]) for variable, slot in body.named())
    binding = {variable: value for variable, value in pairs if value is not None}
    met = tuple(_met(order[:count], binding, search.rows()))
    try:
        ways = 1 + sum(1 for _ in islice(solutions, _WAYS - 1))
    except OutOfBudget:
        ways = _WAYS
    return _Reached(binding, met, ways)


def _met(
    literals: Sequence[Literal], binding: dict[Variable, Value], rows: dict[int, Row]
) -> Iterator[str]:
    for at, literal in enumerate(literals):
        if at in rows and isinstance(literal, Atom):
            yield str(Fact(literal.predicate, rows[at]))
        else:
            yield str(put_in(literal, binding))


# how a condition fails


def _failure(
    literal: Literal, binding: dict[Variable, Value], derivations: Derivations
) -> tuple[str, tuple[Fact, ...]]:
    """What is wrong with a condition, and the facts that come near to it."""
    view = derivations.view
    if isinstance(literal, Aggregate):
        return _wrong_value(literal, binding, view), ()
    if isinstance(literal, Negation):
        return _standing_against(literal.atom, binding, view), ()
    if literal.predicate in BUILTINS:
        lost = any(evaluate(term, binding) is None for term in literal.args)
        return ("has no value" if lost else "is false"), ()
    return _nothing_matches(literal, binding, derivations)


def _nothing_matches(
    atom: Atom, binding: dict[Variable, Value], derivations: Derivations
) -> tuple[str, tuple[Fact, ...]]:
    name, view = atom.predicate, derivations.view
    if not view.rows(name):
        similar = _similar(name, derivations)
        hint = f"; did you mean {similar!r}?" if similar else ""
        return f"no fact of {name!r} holds{hint}", ()
    terms = (worked_out(term, binding) for term in atom.args)
    wanted = {c: term for c, term in enumerate(terms) if isinstance(term, str | int)}
    rows = nearest_rows(view, name, wanted)
    return "no such fact holds", tuple(Fact(name, row) for row in rows)


def _similar(name: str, derivations: Derivations) -> str:
    """The name of a predicate with facts, if this one can only be misspelt."""
    view = derivations.view
    declared = (each.predicate for each in view.program.declarations)
    if derivations.rules(name) or name in declared:
        return ""
    return nearest(name, sorted(other for other in view.arities if view.rows(other)))


def _standing_against(atom: Atom, binding: dict[Variable, Value], view: View) -> str:
    if atom.predicate in BUILTINS:
        return f"{put_in(atom, binding)} is true"
    found = next(Search(Body((put_in(atom, binding),)), view).solutions(()), None)
    if found is None:
        return "does not hold"
    terms = [put_into(term, binding) for term in atom.args]
    known = {c: term for c, term in enumerate(terms) if isinstance(term, str | int)}
    rows = view.matching(atom.predicate, tuple(known), tuple(known.values()))
    return f"{Fact(atom.predicate, next(iter(rows)))} holds"


def _wrong_value(part: Aggregate, binding: dict[Variable, Value], view: View) -> str:
    """The value that the aggregate has instead."""
    group = Body((put_in(part, binding),)).groups[0]
    try:
        value = aggregate_value(group, (), view, Budget(_WAYS * 1000))
    except OutOfBudget:
        return "has another value"
    return "has no value: nothing matches" if value is None else f"the value is {quote(value)}"
