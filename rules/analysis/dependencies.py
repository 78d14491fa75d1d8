"""Which predicate depends on which, by which rule, and how."""

from collections.abc import Iterable, Iterator, Sequence
from os.path import basename
from typing import NamedTuple

from rules.builtins import BUILTINS
from rules.statements import Aggregate, Atom, Literal, Negation, Rule


class Dependency(NamedTuple):
    """`head` depends on the predicate `on` in one condition of a rule.

    `via` is `not`, the function of an aggregate, or empty for a positive condition; what stands
    within an aggregate depends through its function, negated or not.
    """

    head: str
    on: str
    via: str
    rule: Rule
    literal: Literal


def dependencies(rules: Iterable[Rule]) -> Iterator[Dependency]:
    """One for every condition on facts, in the order of rules and conditions."""
    for rule in rules:
        head = rule.head.predicate
        for literal in rule.body:
            if isinstance(literal, Atom):
                if literal.predicate not in BUILTINS:
                    yield Dependency(head, literal.predicate, "", rule, literal)
            elif isinstance(literal, Negation):
                if literal.atom.predicate not in BUILTINS:
                    yield Dependency(head, literal.atom.predicate, "not", rule, literal)
            else:
                for predicate in predicates_within(literal):
                    yield Dependency(head, predicate, literal.function, rule, literal)


def predicates_within(aggregate: Aggregate) -> Iterator[str]:
    """The predicates of the conditions on facts between the braces."""
    for literal in aggregate.body:
        if isinstance(literal, Aggregate):
            yield from predicates_within(literal)
        else:
            atom = literal.atom if isinstance(literal, Negation) else literal
            if atom.predicate not in BUILTINS:
                yield atom.predicate


def trail(steps: Sequence[Dependency]) -> str:
    """`a -[not]-> b (team.dl:4) -> a (team.dl:7)`, with the line of each rule."""
    words = [steps[0].head]
    for step in steps:
        arrow = f"-[{step.via}]->" if step.via else "->"
        place = f" ({basename(step.rule.source)}:{step.rule.line})" if step.rule.span else ""
        words.append(f"{arrow} {step.on}{place}")
    return " ".join(words)
