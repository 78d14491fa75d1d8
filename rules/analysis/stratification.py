"""Stratification: a predicate must not depend on itself through a negation or an aggregate."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from rules.analysis.bindings import aggregates_in, names_in
from rules.analysis.dependencies import Dependency, dependencies, trail
from rules.analysis.graph import components, shortest_path
from rules.analysis.places import fault
from rules.analysis.signatures import RANK, strongest_first
from rules.builtins import BUILTINS
from rules.errors import MAX_DIAGNOSTICS, Diagnostic
from rules.statements import Aggregate, Atom, Rule, atoms_of
from rules.terms import Expression, Variable


def generates(rules_of_component: Iterable[Rule]) -> bool:
    """Whether a recursive rule of the component concludes a value it has calculated.

    Then there may be no end to its conclusions. Only arithmetic, `count` and `sum` make values.
    """
    rules = list(rules_of_component)
    predicates = {rule.head.predicate for rule in rules}
    return any(
        _calculates(rule)
        for rule in rules
        if any(atom.predicate in predicates for atom in atoms_of(rule.body))
    )


def _calculates(rule: Rule) -> bool:
    made = _calculated_names(rule)
    for term in rule.head.args:
        names = set(names_in((term,)))
        if names and (isinstance(term, Expression) or names <= made):
            return True
    return False


def _calculated_names(rule: Rule) -> set[str]:
    """The variables that no condition on facts binds and whose value comes from arithmetic."""
    made: list[str] = []
    equal: dict[str, list[str]] = {}
    matched: set[str] = set()
    for literal in rule.body:
        if isinstance(literal, Aggregate):
            if _makes_values(literal):
                made += names_in((literal.result,))
        elif isinstance(literal, Atom):
            if literal.predicate == "=":
                _note_equation(literal, made, equal)
            elif literal.predicate not in BUILTINS:
                matched.update(t.name for t in literal.args if isinstance(t, Variable))
    return _reached(made, equal, matched)


def _note_equation(equation: Atom, made: list[str], equal: dict[str, list[str]]) -> None:
    for target, other in (equation.args, equation.args[::-1]):
        if isinstance(target, Variable) and isinstance(other, Variable):
            equal.setdefault(other.name, []).append(target.name)
        elif isinstance(target, Variable) and names_in((other,)):
            made.append(target.name)


def _reached(made: list[str], equal: Mapping[str, list[str]], except_for: set[str]) -> set[str]:
    found: set[str] = set()
    while made:
        name = made.pop()
        if name not in found and name not in except_for:
            found.add(name)
            made += equal.get(name, ())
    return found


def _makes_values(aggregate: Aggregate) -> bool:
    """`min` and `max` only choose, unless between the braces there is arithmetic."""
    if aggregate.function in {"count", "sum"} or isinstance(aggregate.term, Expression):
        return True
    return any(
        isinstance(term, Expression) for atom in atoms_of(aggregate.body) for term in atom.args
    ) or any(_makes_values(inner) for inner in aggregates_in(aggregate.body))


def unstratified(rules: Sequence[Rule]) -> Iterator[Diagnostic]:
    """Each negation or aggregate on a cycle, unless it stands on one that is already shown."""
    by_pair: dict[str, dict[str, Dependency]] = {}
    strict: list[Dependency] = []
    for dependency in dependencies(strongest_first(rules)):
        by_pair.setdefault(dependency.head, {}).setdefault(dependency.on, dependency)
        if dependency.via:
            strict.append(dependency)
    if not strict:
        return
    number = {
        predicate: at
        for at, component in enumerate(components(by_pair, by_pair))
        for predicate in component
    }
    shown: set[tuple[str, str, str]] = set()
    for step in strict:
        # a predicate that no rule concludes has no number
        if number[step.head] == number.get(step.on) and step[:3] not in shown:
            if len(shown) > MAX_DIAGNOSTICS:
                return
            cycle = _cycle(step, by_pair)
            shown.update(part[:3] for part in cycle if part.via)
            yield _cycle_fault(cycle)


def _cycle(step: Dependency, edges: Mapping[str, Mapping[str, Dependency]]) -> list[Dependency]:
    """The dependency and the shortest way from there back to its own predicate.

    It begins with the condition of the lowest tier, which is at fault: higher ones were there.
    """
    path = shortest_path(step.on, step.head, edges)
    cycle = [step, *(edges[head][on] for head, on in pairwise(path))]
    lowest = max(range(len(cycle)), key=lambda at: (RANK[cycle[at].rule.tier], -at))
    return cycle[lowest:] + cycle[:lowest]


def _cycle_fault(cycle: list[Dependency]) -> Diagnostic:
    step = cycle[0]
    via = next(part.via for part in cycle if part.via)
    how = "negation" if via == "not" else f"'{via}'"
    message = f"'{step.head}' depends on itself through {how}: {trail(cycle)}"
    advice = "conclude one of these without the others; a cycle may have no 'not' and no aggregate"
    return fault(step.literal.span or step.rule.span, "not-stratifiable", message, advice)
