"""Tiers: a lower one may add to what a higher one concludes, and never take away from it.

A lower tier is refused what a `.closed` pattern of a higher one keeps for itself. Unless that
tier, or one above it, has said `.open`, it is also refused what such conclusions of the higher one
follow from, and what any conclusion of the higher one depends on through a negation or an
aggregate. Only conclusions and facts matter; what is read is free.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from sys import maxsize
from typing import NamedTuple

from rules.analysis.closed_search import Step, conditions_of_closed
from rules.analysis.dependencies import Dependency, dependencies, trail
from rules.analysis.matching import Patterns, TooManyComparisons
from rules.analysis.places import place_of, predicate_fault
from rules.analysis.signatures import RANK
from rules.analysis.unification import covers
from rules.errors import MAX_DIAGNOSTICS, Diagnostic
from rules.statements import Atom, Guard, Rule
from rules.terms import TIERS, Expression, Fact, Variable, term_text

_COMPARED = 100_000
_FOR_EACH = 10
"""Comparisons with the patterns of guards, and how many more for each statement."""

State = tuple[str, bool]
"""A predicate, and whether the way to it went through a negation or an aggregate."""
Search = dict[State, "tuple[Dependency, State] | None"]
"""How each state was reached first; None for those where the search began."""


class Refusal(NamedTuple):
    """Why, in words that follow the predicate, and what to do."""

    note: str
    advice: str


class Governance:
    """What the rules and guards of a program let each tier conclude, state and assert."""

    def __init__(self, rules: Iterable[Rule], guards: Iterable[Guard], most: int = maxsize) -> None:
        """With more than `most` comparisons, `judge` raises TooManyComparisons."""
        self._most = most
        self._rules = tuple(rule for rule in rules if rule.body)
        guards = tuple(guards)
        self._closing = [(guard.atom, guard) for guard in guards if guard.kind == "closed"]
        self._closed = Patterns(self._closing, most)
        opening = [(guard.atom, guard) for guard in guards if guard.kind == "open"]
        self._opened = Patterns(opening, most)

    def refusal(self, atom: Atom | Fact, tier: str) -> str | None:
        """Why a tier may not conclude, state or assert this, with the other place; None if it may.

        Raises KeyError for a tier that does not exist.
        """
        if tier == "kernel":
            return None
        found = self.judge(atom, tier)
        return f"'{atom.predicate}' {found.note}" if found else None

    def judge(self, atom: Atom | Fact, tier: str) -> Refusal | None:
        """Like `refusal`, with what to do about it."""
        rank = RANK[tier]
        for _, guard in self._closed.that_may_match(atom.predicate, atom.args):
            if RANK[guard.tier] < rank:
                return _closed(guard, atom, tier)
        for above in range(rank):
            found = self._fed(atom, tier, above)
            if found and not self._is_open(atom, above):
                return found
        return None

    def _fed(self, atom: Atom | Fact, tier: str, above: int) -> Refusal | None:
        state = (atom.predicate, True)
        if state in self._reaching[above]:
            return _negated(_path(state, self._reaching[above]), tier, TIERS[above])
        steps = self._concluding_closed[above].that_may_match(atom.predicate, atom.args)
        for _, step in steps:
            return _concluded(step, tier, TIERS[above])
        return None

    def _is_open(self, atom: Atom | Fact, above: int) -> bool:
        return any(
            RANK[guard.tier] <= above and covers(pattern, atom.args)
            for pattern, guard in self._opened.that_may_match(atom.predicate, atom.args)
        )

    @cached_property
    def _concluding_closed(self) -> list[Patterns[Step]]:
        """For each tier but the lowest the conditions of its closed conclusions."""
        found: list[Patterns[Step]] = []
        for above, tier in enumerate(TIERS[:-1]):
            rules = [rule for rule in self._rules if RANK[rule.tier] <= above]
            starts = [rule for rule in rules if rule.tier == tier]
            closing = [each for each in self._closing if RANK[each[1].tier] <= above]
            closed = Patterns(closing, self._most)
            found.append(conditions_of_closed(starts, rules, closed))
        return found

    @cached_property
    def _reaching(self) -> list[Search]:
        """For each tier but the lowest a search from its conclusions, through rules of that tier
        or higher."""
        edges = [(RANK[found.rule.tier], found) for found in dependencies(self._rules)]
        searches = []
        for above in range(len(TIERS) - 1):
            starts = [rule.head.predicate for rule in self._rules if RANK[rule.tier] == above]
            below: dict[str, list[Dependency]] = {}
            for rank, dependency in edges if starts else ():
                if rank <= above:
                    below.setdefault(dependency.head, []).append(dependency)
            searches.append(_search(starts, below))
        return searches


def _search(starts: Iterable[str], below: Mapping[str, list[Dependency]]) -> Search:
    """All that the starts depend on, breadth first, each with the step to it."""
    came: Search = {(predicate, False): None for predicate in starts}
    waiting = deque(came)
    while waiting:
        state = waiting.popleft()
        for dependency in below.get(state[0], ()):
            following = dependency.on, state[1] or bool(dependency.via)
            if following not in came:
                came[following] = dependency, state
                waiting.append(following)
    return came


def _path(state: State, search: Search) -> list[Dependency]:
    """The steps from a conclusion to the predicate of the state."""
    path: list[Dependency] = []
    step = search[state]
    while step is not None:
        path.append(step[0])
        step = search[step[1]]
    return path[::-1]


def _closed(guard: Guard, atom: Atom | Fact, tier: str) -> Refusal:
    note = f"is closed to the tier {tier!r} by '{guard}' of {guard.tier!r}{place_of(guard.span)}"
    for wanted, term in zip(guard.atom.args, atom.args, strict=True):
        if isinstance(term, Variable | Expression) and not isinstance(wanted, Variable):
            advice = f"write a value other than {term_text(wanted, True)} in place of {term}"
            return Refusal(note, advice)
    return Refusal(note, "a lower tier may add duties and take none away: conclude something else")


def _negated(path: list[Dependency], tier: str, above: str) -> Refusal:
    strict = next(step for step in path if step.via)
    how = "a negation" if strict.via == "not" else f"'{strict.via}'"
    note = (
        f"may not come from the tier {tier!r}: through {how} the rule {path[0].rule.name!r} of "
        f"{above!r}{place_of(path[0].rule.span)} depends on it: {trail(path)}"
    )
    return Refusal(note, _opening(path, above))


def _concluded(step: Step, tier: str, above: str) -> Refusal:
    path, guard = step.path(), step.guard
    note = (
        f"may not come from the tier {tier!r}: the rule {path[0].rule.name!r} of {above!r}"
        f"{place_of(path[0].rule.span)} concludes from it what '{guard}' of {guard.tier!r}"
        f"{place_of(guard.span)} closes: {trail(path)}"
    )
    return Refusal(note, _opening(path, above))


def _opening(path: list[Dependency], above: str) -> str:
    name = path[-1].on
    return f"conclude something else, or have the tier {above!r} say '.open' for {name!r}"


def tier_violations(statements: Sequence[Rule], guards: Iterable[Guard]) -> Iterator[Diagnostic]:
    """Rules and stated facts of lower tiers which a higher tier does not let them have."""
    lower = [statement for statement in statements if statement.tier != "kernel"]
    if not lower:
        return
    governance = Governance(statements, guards, _COMPARED + _FOR_EACH * len(statements))
    for head, found in islice(_refused(governance, lower), MAX_DIAGNOSTICS):
        yield predicate_fault(head, "tier-violation", found.note, found.advice)


def _refused(governance: Governance, lower: Iterable[Rule]) -> Iterator[tuple[Atom, Refusal]]:
    """Up to the one with which there is no end: guards by the thousand may resemble each other."""
    for rule in lower:
        try:
            found = governance.judge(rule.head, rule.tier)
        except TooManyComparisons:
            note = "cannot be judged: there are too many patterns of '.closed' and '.open'"
            advice = "have fewer of them, or fewer that values do not tell apart"
            yield rule.head, Refusal(note, advice)
            return
        if found:
            yield rule.head, found
