"""Proofs: from asserted facts, rule by rule, to a fact."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from rules.answers.derivations import Derivation, Evidence
from rules.errors import visible
from rules.terms import Fact

__all__ = ["Derivation", "Evidence", "Proof", "build"]

DEFAULT_TIER = "kernel"

_DEEPEST = 30


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """Why a fact holds. A leaf was asserted and has an `origin`; else `rule` names the rule.

    `tier` is that of the assertion or of the rule, `place` where the rule is written. A premise
    used several times is one object, so a proof is as large as its facts are many. `height` is
    0 for a leaf, otherwise one more than that of the highest premise; `smallest` tells whether
    no proof of the fact has a smaller one. What is not `explained` is a conclusion for which no
    derivation was found in the time that a question may take; nothing is known below it.
    """

    fact: Fact
    rule: str | None
    origin: str
    premises: "tuple[Proof, ...]" = ()
    conditions: tuple[str, ...] = ()
    tier: str = DEFAULT_TIER
    place: str = ""
    evidence: tuple[Evidence, ...] = ()
    height: int = 0
    smallest: bool = True
    explained: bool = True

    def text(self) -> str:
        """An indented tree; what was shown before is not unfolded again."""
        note = () if self.smallest else ("(a shorter proof may exist)",)
        return "\n".join((*_lines(self), *note))

    def to_json(self) -> dict[str, object]:
        """`{"fact", "height", "smallest", "steps": [{"fact", "rule", "tier", "place", "origin",
        "premises", "conditions", "evidence": [{"condition", "total", "facts", "complete"}],
        "explained"}]}`

        Facts are texts. Each is the subject of one step, a conclusion before its premises; the
        list is flat because proofs may be deeper than JSON writers allow.
        """
        return {
            "fact": str(self.fact),
            "height": self.height,
            "smallest": self.smallest,
            "steps": [node._step() for node in self.walk()],
        }

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
            "tier": self.tier,
            "place": self.place,
            "origin": self.origin,
            "premises": [str(premise.fact) for premise in self.premises],
            "conditions": list(self.conditions),
            "evidence": [_evidence_record(one) for one in self.evidence],
            "explained": self.explained,
        }

    def __repr__(self) -> str:
        return f"<Proof of {self.fact}>"


def _evidence_record(one: Evidence) -> dict[str, object]:
    facts = list(map(str, one.facts))
    return {
        "condition": one.condition,
        "total": one.total,
        "facts": facts,
        "complete": one.complete,
    }


def build(
    fact: Fact,
    assertion_of: Callable[[Fact], tuple[str, str] | None],
    derivation_of: Callable[[Fact], Derivation | None],
    evidence_of: Callable[[Derivation], tuple[Evidence, ...]],
    smallest: bool = True,
) -> Proof:
    """The proof of a fact out of derivations that do not go in circles.

    `assertion_of` gives origin and tier, or None for what is not asserted; `derivation_of`
    gives None for what cannot be explained.
    """
    done: dict[Fact, Proof] = {}
    used: dict[Fact, Derivation] = {}
    waiting = [fact]
    while waiting:
        goal = waiting[-1]
        assertion = None if goal in used else assertion_of(goal)
        if goal in done:
            waiting.pop()
        elif assertion is not None:
            done[goal] = Proof(goal, None, assertion[0], tier=assertion[1], smallest=smallest)
        elif goal not in used:
            derivation = derivation_of(goal)
            if derivation is None:
                done[goal] = Proof(goal, None, "", smallest=False, explained=False)
                continue
            used[goal] = derivation
            waiting.extend(reversed(derivation.premises))
        else:
            done[goal] = _conclusion(used[goal], done, evidence_of(used[goal]), smallest)
    return done[fact]


def _conclusion(
    derivation: Derivation, done: dict[Fact, Proof], found: tuple[Evidence, ...], smallest: bool
) -> Proof:
    rule = derivation.rule
    premises = tuple(done[premise] for premise in derivation.premises)
    return Proof(
        derivation.fact,
        rule.name,
        "",
        premises,
        derivation.conditions,
        rule.tier,
        str(rule.span or ""),
        found,
        1 + max((premise.height for premise in premises), default=0),
        smallest,
    )


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
            below: list[tuple[int, Proof | str]] = [(depth + 1, one) for one in node.premises]
            below += ((depth + 1 + level, line) for level, line in _condition_lines(node))
            waiting.extend(reversed(below))


def _condition_lines(node: Proof) -> Iterator[tuple[int, str]]:
    """Each condition, and one level deeper what an aggregate found."""
    found = {one.condition: one for one in node.evidence}
    for condition in node.conditions:
        yield 0, condition
        one = found.get(condition)
        if one is not None:
            yield from ((1, str(fact)) for fact in one.facts)
            if not one.complete:
                yield 1, f"... at least {one.total} facts, too many to be looked through"
            elif one.total > len(one.facts):
                yield 1, f"... {one.total} facts in all"


def _indent(depth: int) -> str:
    """Two spaces a level; far from the root the level is a number, for lines to stay short."""
    return "  " * depth if depth <= _DEEPEST else f"{'  ' * _DEEPEST}({depth}) "


def _reason(node: Proof) -> str:
    """The rule or assertion, with a tier that is not the usual one."""
    if not node.explained:
        return "by a rule, but the search for how was broken off"
    tier = "" if node.tier == DEFAULT_TIER else f", {visible(node.tier)}"
    if node.rule is not None:
        return f"{visible(node.rule)}{tier}"
    return f"asserted: {visible(node.origin)}{tier}" if node.origin else f"asserted{tier}"
