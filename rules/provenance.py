"""Why facts hold: derivations and proofs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from rules.filters import FILTERS
from rules.terms import Atom, Fact, Rule, Value, Variable

_DEEPEST = 30


@dataclass(frozen=True)
class Derivation:
    """One application of a rule: `body` is the rule's body with the values put in."""

    rule: Rule
    fact: Fact
    body: tuple[Atom, ...]

    @cached_property
    def premises(self) -> tuple[Fact, ...]:
        """The facts that were used, in the order of the body."""
        return tuple(_fact(atom) for atom in self.body if atom.predicate not in FILTERS)

    @property
    def conditions(self) -> tuple[str, ...]:
        """The comparisons and filters that were met, such as `'a.py' != 'b.py'`."""
        return tuple(str(atom) for atom in self.body if atom.predicate in FILTERS)

    def __str__(self) -> str:
        """The trace notation: `name: premise + premise -> fact`."""
        return f"{self.rule.name}: {' + '.join(map(str, self.body))} -> {self.fact}"


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Why a fact holds. A leaf was asserted and has an `origin`; else `rule` names the rule.

    A premise used several times is one object, so a proof is as large as its facts are many.
    """

    fact: Fact
    rule: str | None
    origin: str
    premises: "tuple[Proof, ...]" = ()
    conditions: tuple[str, ...] = ()

    def text(self) -> str:
        """An indented tree; what was shown before is not unfolded again."""
        return "\n".join(_lines(self))

    def to_json(self) -> dict[str, object]:
        """`{"fact": ..., "steps": [{"fact", "rule", "origin", "premises", "conditions"}]}`

        Facts are texts. Each is the subject of one step, a conclusion before its premises; the
        list is flat because proofs may be deeper than JSON writers allow.
        """
        return {"fact": str(self.fact), "steps": [node._step() for node in self.walk()]}

    def walk(self) -> "Iterator[Proof]":
        """The proof of each fact once, this one first."""
        seen: set[Fact] = set()
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.fact not in seen:
                seen.add(node.fact)
                yield node
                waiting.extend(reversed(node.premises))

    def _step(self) -> dict[str, object]:
        return {
            "fact": str(self.fact),
            "rule": self.rule,
            "origin": self.origin,
            "premises": [str(premise.fact) for premise in self.premises],
            "conditions": list(self.conditions),
        }

    def __repr__(self) -> str:
        return f"<Proof of {self.fact}>"


def prove(
    fact: Fact,
    origin_of: Callable[[Fact], str | None],
    derivation_of: Callable[[Fact], Derivation],
) -> Proof:
    """Build the proof of a fact that holds. `origin_of` gives None for what is not asserted."""
    done: dict[Fact, Proof] = {}
    used: dict[Fact, Derivation] = {}
    waiting = [fact]
    while waiting:
        goal = waiting[-1]
        origin = None if goal in used else origin_of(goal)
        if goal in done:
            waiting.pop()
        elif origin is not None:
            done[goal] = Proof(goal, None, origin)
        elif goal not in used:
            used[goal] = derivation_of(goal)
            waiting.extend(reversed(used[goal].premises))
        else:
            done[goal] = _conclude(used[goal], done)
    return done[fact]


def _conclude(derivation: Derivation, done: dict[Fact, Proof]) -> Proof:
    premises = tuple(done[premise] for premise in derivation.premises)
    return Proof(derivation.fact, derivation.rule.name, "", premises, derivation.conditions)


def _fact(atom: Atom) -> Fact:
    values: list[Value] = [term for term in atom.args if not isinstance(term, Variable)]
    return Fact(atom.predicate, tuple(values))


def _lines(proof: Proof) -> Iterator[str]:
    shown: set[Fact] = set()
    waiting: list[tuple[int, Proof | str]] = [(0, proof)]
    while waiting:
        depth, node = waiting.pop()
        if isinstance(node, str):
            yield f"{_indent(depth)}{node}"
            continue
        again = bool(node.premises) and node.fact in shown
        yield f"{_indent(depth)}{node.fact}  [{'shown above' if again else _reason(node)}]"
        shown.add(node.fact)
        if not again:
            below: tuple[Proof | str, ...] = (*node.premises, *node.conditions)
            waiting.extend((depth + 1, child) for child in reversed(below))


def _indent(depth: int) -> str:
    """Two spaces a level; far from the root the level is a number, for lines to stay short."""
    return "  " * depth if depth <= _DEEPEST else f"{'  ' * _DEEPEST}({depth}) "


def _reason(node: Proof) -> str:
    if node.rule is not None:
        return node.rule
    return f"asserted: {node.origin}" if node.origin else "asserted"
