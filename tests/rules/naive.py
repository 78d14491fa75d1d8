"""The oracle: Datalog by its definition, without indexes, deltas, plans or ranks.

It shares the syntax trees with the library and nothing else. Also a checker of proofs, which
knows nothing of how they are found.
"""

from collections.abc import Iterable, Iterator, Mapping

from rules import Fact, Program
from rules.answers.provenance import Proof
from rules.statements import Aggregate, Negation, Rule
from tests.rules.naive_bodies import (
    Binding,
    Rows,
    flattened,
    is_premise,
    put_in,
    solutions,
    values_of,
)
from tests.rules.naive_values import BUILTINS


class TooMuch(Exception):
    """The program concludes more than a test can afford."""


def instances(rule: Rule, rows: Rows) -> Iterator[tuple[Fact, tuple[Fact, ...]]]:
    """What the rule concludes, with the facts that its positive conditions rest on."""
    return ((fact, premises) for _, fact, premises in bound_instances(rule, rows))


def bound_instances(rule: Rule, rows: Rows) -> Iterator[tuple[Binding, Fact, tuple[Fact, ...]]]:
    """The same with the values of the variables."""
    atoms = [part for part in flattened(rule.body) if is_premise(part)]
    for binding in solutions(rule.body, rows, {}, rule.head.variables):
        row = values_of(rule.head, binding)
        if row is not None:
            premises = tuple(Fact(a.predicate, values_of(a, binding)) for a in atoms)
            yield binding, Fact(rule.head.predicate, row), premises


def edges(program: Program) -> Iterator[tuple[str, str, bool]]:
    """Head, predicate it reads, and whether negatively or through an aggregate."""
    for rule in program.rules:
        waiting = [(part, False) for part in rule.body]
        while waiting:
            part, strict = waiting.pop()
            if isinstance(part, Aggregate):
                waiting += [(inner, True) for inner in part.body]
            else:
                atom = part.atom if isinstance(part, Negation) else part
                if atom.predicate not in BUILTINS:
                    strict = strict or isinstance(part, Negation)
                    yield rule.head.predicate, atom.predicate, strict


def strata(program: Program) -> list[set[str]] | None:
    """The concluded predicates, lowest stratum first; None when there are no strata."""
    height = {rule.head.predicate: 0 for rule in program.rules}
    links = set(edges(program))
    for _ in range(len(height) + 1):
        before = dict(height)
        for head, read, strict in links:
            height[head] = max(height[head], height.get(read, 0) + strict)
        if height == before:
            levels = sorted(set(height.values()))
            return [{name for name in height if height[name] == level} for level in levels]
    return None


def evaluate(program: Program, facts: Iterable[Fact], most: int = 5_000) -> set[Fact]:
    """Everything that holds when the facts do. Facts stated in the program are not added."""
    rows = by_predicate(facts)
    levels = strata(program)
    assert levels is not None, "the program has no strata"
    for level in levels:
        rules = [rule for rule in program.rules if rule.head.predicate in level]
        while add(rows, [fact for rule in rules for fact, _ in instances(rule, rows)]):
            if sum(map(len, rows.values())) > most:
                raise TooMuch(f"more than {most} facts")
    return {Fact(name, row) for name, held in rows.items() for row in held}


def by_predicate(facts: Iterable[Fact]) -> Rows:
    rows: Rows = {}
    add(rows, facts)
    return rows


def add(rows: Rows, facts: Iterable[Fact]) -> bool:
    """Whether any fact was new."""
    new = False
    for fact in facts:
        held = rows.setdefault(fact.predicate, set())
        new = new or fact.args not in held
        held.add(fact.args)
    return new


def consequences(program: Program, facts: Iterable[Fact]) -> set[Fact]:
    """What the rules conclude in one step from facts which all hold."""
    rows = by_predicate(facts)
    return {fact for rule in program.rules for fact, _ in instances(rule, rows)}


def derivable(program: Program) -> set[str]:
    """The predicates that rules conclude."""
    return {rule.head.predicate for rule in program.rules}


# proofs


class Proofs:
    """All derivations from some asserted facts, against which proofs are checked."""

    def __init__(self, program: Program, asserted: Iterable[Fact]) -> None:
        """`asserted` may map facts to their origins, or to origin and tier; then the origin that
        a leaf shows is checked too."""
        self.asserted = set(asserted)
        given = asserted.items() if isinstance(asserted, Mapping) else ()
        self.origins = {fact: by if isinstance(by, str) else by[0] for fact, by in given}
        self.model = evaluate(program, self.asserted)
        self.rules = {rule.name: rule for rule in program.rules}
        self.rows = by_predicate(self.model)
        self.steps = {
            (name, fact, premises)
            for name, rule in self.rules.items()
            for fact, premises in instances(rule, self.rows)
        }
        self.heights = smallest_heights(self.asserted, self.steps)

    def check(self, proof: Proof) -> None:
        """Raise AssertionError unless the proof is sound, finite and as flat as can be."""
        heights: dict[Fact, int] = {}
        opened: set[Fact] = set()
        waiting = [proof]
        while waiting:
            node = waiting[-1]
            if node.fact in heights:
                waiting.pop()
            elif node.fact not in opened:
                opened.add(node.fact)
                below = [one for one in node.premises if one.fact not in heights]
                circle = [str(one.fact) for one in below if one.fact in opened]
                assert not circle, f"{node.fact} rests on {circle}, which rests on it"
                waiting += below
            else:
                self.check_node(node)
                heights[node.fact] = height(node, heights)
        best = self.heights[proof.fact]  # of a part that is not the deepest it does not matter
        assert heights[proof.fact] == best, f"{proof.fact}: height is not {best}"

    def conditions(self, node: Proof) -> list[tuple[str, ...]]:
        """What the other conditions say in each instance of the rule that has these premises."""
        rule = self.rules[node.rule]
        step = node.fact, tuple(premise.fact for premise in node.premises)
        others = [part for part in rule.body if not is_premise(part)]
        return [
            tuple(str(put_in(part, binding)) for part in others)
            for binding, *found in bound_instances(rule, self.rows)
            if tuple(found) == step
        ]

    def check_node(self, node: Proof) -> None:
        """One step of a proof: an asserted fact, or an instance of a rule."""
        if node.rule is None:
            assert node.fact in self.asserted, f"the leaf {node.fact} is not asserted"
            assert not node.premises
            assert not node.conditions
            assert node.origin == self.origins.get(node.fact, node.origin)
            return
        assert node.fact not in self.asserted, f"{node.fact} is asserted, and no leaf"
        possible = self.conditions(node)
        assert possible, f"{node.premises} and {node.fact} are no instance of {node.rule}"
        assert tuple(node.conditions) in possible, f"{node.conditions} are none of {possible}"


def height(node: Proof, heights: Mapping[Fact, int]) -> int:
    return 0 if node.rule is None else 1 + max((heights[p.fact] for p in node.premises), default=0)


def smallest_heights(
    asserted: Iterable[Fact], steps: Iterable[tuple[str, Fact, tuple[Fact, ...]]]
) -> dict[Fact, int]:
    """The height of the flattest proof of each fact; asserted facts have height 0."""
    heights = dict.fromkeys(asserted, 0)
    size = -1
    while size < len(heights):  # in round n exactly what has height n is found
        size, level = len(heights), max(heights.values(), default=0) + 1
        found = {fact for _, fact, below in steps if all(one in heights for one in below)}
        heights.update(dict.fromkeys(found - heights.keys(), level))
    return heights


def check_proof(proof: Proof, program: Program, asserted: Iterable[Fact]) -> None:
    """Raise AssertionError unless this is a sound and flattest proof from asserted facts."""
    Proofs(program, asserted).check(proof)
