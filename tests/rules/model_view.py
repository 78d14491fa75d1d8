"""A View of what the oracle says holds, with ranks that are valid and not the smallest."""

from collections.abc import Iterable, Mapping
from random import Random

from rules import Fact, Program
from rules.terms import Row
from tests.rules.naive import Proofs, edges, evaluate


class ModelView:
    def __init__(
        self,
        program: Program,
        asserted: Mapping[Fact, tuple[str, str]] | Iterable[Fact],
        seed: int = 0,
        most: int = 5_000,
    ) -> None:
        """Raises TooMuch when more than `most` facts hold."""
        given = (
            asserted if isinstance(asserted, Mapping) else dict.fromkeys(asserted, ("", "kernel"))
        )
        stated = {
            fact: (f"{axiom.source}:{axiom.line}", axiom.tier)
            for fact, axiom in zip(program.facts, program.axioms, strict=False)
        }
        self.program = program
        self.assertions = {**stated, **given}
        evaluate(program, self.assertions, most)
        self.proofs = Proofs(program, self.assertions)
        self.facts = set(self.proofs.model)
        self.arities = dict(program.arities)
        self.arities.update({fact.predicate: len(fact.args) for fact in self.facts})
        self.ranks = self._ranks(Random(seed))
        self.reached = reachability(program)

    def _ranks(self, random: Random) -> dict[str, dict[Row, int]]:
        """Facts in the order in which rules, taken at random, conclude them one by one."""
        steps = sorted(self.proofs.steps, key=str)
        random.shuffle(steps)
        held = dict.fromkeys(self.assertions, 0)
        size = -1
        while size < len(held):
            size = len(held)
            for _, fact, premises in steps:
                if fact not in held and all(premise in held for premise in premises):
                    held[fact] = len(held) + 1
        ranks: dict[str, dict[Row, int]] = {}
        for fact, rank in held.items():
            ranks.setdefault(fact.predicate, {})[fact.args] = rank
        return ranks

    def rows(self, predicate: str) -> Mapping[Row, int]:
        return self.ranks.get(predicate, {})

    def matching(self, predicate: str, columns: tuple[int, ...], values: Row) -> list[Row]:
        return [row for row in self.rows(predicate) if tuple(row[c] for c in columns) == values]

    def asserted(self, predicate: str) -> Mapping[Row, tuple[str, str]]:
        return {f.args: by for f, by in self.assertions.items() if f.predicate == predicate}

    def component(self, predicate: str) -> int:
        names = sorted(self.reached)
        mutual = [
            name
            for name in names
            if predicate in self.reached[name] and name in self.reached.get(predicate, ())
        ]
        return names.index(mutual[0]) if mutual else -1 - sorted(self.arities).index(predicate)


def reachability(program: Program) -> dict[str, set[str]]:
    """The predicates on which each concluded one depends."""
    reached: dict[str, set[str]] = {}
    for head, read, _ in edges(program):
        reached.setdefault(head, set()).add(read)
    for middle in list(reached):
        for found in reached.values():
            if middle in found:
                found |= reached[middle]
    return reached


def view_of(text: str, facts: str = "", source: str = "team.dl") -> ModelView:
    """A view of a program text, with further facts asserted."""
    program = Program.parse(text, source=source)
    return ModelView(program, dict.fromkeys(facts_of(facts), ("scan", "kernel")))


def facts_of(text: str) -> list[Fact]:
    return [Fact(f.predicate, f.args) for f in Program.parse(text).facts]
