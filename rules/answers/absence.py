"""Why a fact does not hold: for each rule that might conclude it, the condition that fails."""

from collections.abc import Iterator
from dataclasses import dataclass

from rules.analysis.advice import nearest
from rules.answers.attempts import Attempt, attempt
from rules.answers.derivations import Derivations
from rules.answers.nearness import nearest_rows
from rules.answers.view import View
from rules.errors import visible
from rules.statements import Rule
from rules.terms import Fact, Variable

BUDGET = 100_000
"""Rows looked at for each rule."""


@dataclass(frozen=True)
class Absence:
    """What stands in the way of a fact.

    `others` names the rules that conclude other facts of the predicate, as `name: conclusion`;
    `near` are facts that hold. If nothing is known of the predicate, `similar` may be one of
    nearly this name.
    """

    fact: Fact
    attempts: tuple[Attempt, ...]
    others: tuple[str, ...] = ()
    near: tuple[Fact, ...] = ()
    known: bool = True
    similar: str = ""

    def text(self) -> str:
        """A sentence, and lines for each rule."""
        return "\n".join(self._lines())

    def to_json(self) -> dict[str, object]:
        """`{"fact", "attempts": [{"rule", "tier", "place", "condition", "reason", "met", "near",
        "ways", "complete"}], "others", "near", "known", "similar"}`, with facts as texts."""
        return {
            "fact": str(self.fact),
            "attempts": [one.to_json() for one in self.attempts],
            "others": list(self.others),
            "near": list(map(str, self.near)),
            "known": self.known,
            "similar": self.similar,
        }

    def _lines(self) -> Iterator[str]:
        yield self.sentence
        for one in self.attempts:
            yield from (f"  {line}" for line in one.lines())
        for other in self.others:
            yield f"  {visible(other)}: not this fact"

    @property
    def sentence(self) -> str:
        return visible(self._sentence())

    def _sentence(self) -> str:
        name = self.fact.predicate
        if not self.known:
            hint = f"; did you mean {self.similar!r}?" if self.similar else ""
            return f"{self.fact} does not hold: nothing is known of {name!r}{hint}"
        if self.near:
            return f"{self.fact} does not hold; what does: {', '.join(map(str, self.near))}"
        return f"{self.fact} does not hold, nor does any other fact of {name!r}"


def explain_absence(fact: Fact, derivations: Derivations, budget: int = BUDGET) -> Absence:
    """For each rule whose conclusion can be the fact, how far it comes.

    That is its longest sequence of conditions that hold together, in the order of the body, and
    the first that then fails. Raises ValueError for a fact that holds.
    """
    view = derivations.view
    if fact.args in view.rows(fact.predicate):
        raise ValueError(f"{fact} holds: ask why instead")
    rules = derivations.rules(fact.predicate)
    attempts: list[Attempt] = []
    others: list[str] = []
    for rule in rules:
        if can_conclude(rule, fact):
            attempts.append(attempt(rule, fact, derivations, budget))
        else:
            others.append(f"{rule.name}: {rule.head}")
    return _absence(fact, view, tuple(attempts), tuple(others))


def not_held(fact: Fact, view: View) -> str:
    """A sentence on a fact that does not hold, with what comes near."""
    return _absence(fact, view).sentence


def _absence(
    fact: Fact, view: View, attempts: tuple[Attempt, ...] = (), others: tuple[str, ...] = ()
) -> Absence:
    known = fact.predicate in view.arities
    similar = "" if known else nearest(fact.predicate, sorted(view.arities))
    return Absence(fact, attempts, others, near_facts(fact, view), known, similar)


def near_facts(fact: Fact, view: View) -> tuple[Fact, ...]:
    """Facts of the predicate that hold, the nearest first."""
    if view.arities.get(fact.predicate, len(fact.args)) != len(fact.args):
        return ()
    rows = nearest_rows(view, fact.predicate, dict(enumerate(fact.args)))
    return tuple(Fact(fact.predicate, row) for row in rows)


def can_conclude(rule: Rule, fact: Fact) -> bool:
    """Whether the values of the fact go with the constants and variables of the conclusion."""
    values: dict[Variable, object] = {}
    if len(rule.head.args) != len(fact.args):
        return False
    for term, value in zip(rule.head.args, fact.args, strict=True):
        if isinstance(term, Variable):
            if values.setdefault(term, value) != value:
                return False
        elif isinstance(term, str | int) and term != value:
            return False
    return True
