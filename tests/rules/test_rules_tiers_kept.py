"""Whatever lower tiers say that is accepted, now or later: what a higher tier concludes, holds."""

from random import Random

from hypothesis import given, note, settings
from hypothesis import strategies as st

from rules import Atom, Database, Fact, Program, RuleError, kernel
from rules.terms import TIERS
from tests.rules.checked import holding
from tests.rules.naive import TooMuch, evaluate
from tests.rules.program_parts import Sample, atom
from tests.rules.programs import any_rule, random_program

chances = st.randoms(use_true_random=False)
LOWER = TIERS[1:]


def lower_rule(chance: Random, arities: dict[str, int]) -> str:
    """A rule with any conclusion, which may read everything."""
    own = {**arities, "own": 1, "other": 2}
    head = chance.choice(sorted(own))
    part = Sample(chance, own, {name: int(name == head) for name in own})
    any_rule(part, head)
    return part.text


def accepted(chance: Random, program: Program, texts: list[str]) -> Program:
    """The program with as many of the texts as are not refused."""
    for number, text in enumerate(texts):
        try:
            more = Program.parse(text, f"{number}.dl", chance.choice(LOWER))
            program = program.extend(more)
        except RuleError:
            continue
    return program


class Pair:
    """The higher tier by itself, and among others; both get the same facts, the second more."""

    def __init__(self, above: Program, whole: Program, chance: Random) -> None:
        self.alone, self.among = Database(above), Database(whole)
        self.chance = chance
        self.shared: list[Fact] = []
        self.more: list[Fact] = []

    def share(self, fact: Fact) -> None:
        for database in (self.alone, self.among):
            database.retract_fact(fact.predicate, *fact.args)
            database.assert_fact(fact.predicate, *fact.args)
        self.more = [each for each in self.more if each != fact]
        self.shared.append(fact)

    def add(self, fact: Fact) -> None:
        """Of a lower tier, if it may."""
        try:
            if self.among.assert_fact(fact.predicate, *fact.args, tier=self.chance.choice(LOWER)):
                self.more.append(fact)
        except ValueError:
            pass

    def drop(self) -> None:
        held = self.chance.choice((self.shared, self.more))
        if held:
            fact = held.pop(self.chance.randrange(len(held)))
            if held is self.shared:
                self.alone.retract_fact(fact.predicate, *fact.args)
            self.among.retract_fact(fact.predicate, *fact.args)

    def update(self, fact: Fact) -> None:
        kind = self.chance.random()
        if kind < 0.45 and fact not in self.shared:
            self.share(fact)
        elif kind < 0.7:
            self.add(fact)
        else:
            self.drop()
        missing = holding(self.alone) - holding(self.among)
        assert not missing, f"lost: {sorted(map(str, missing))[:4]}"


def guards(chance: Random, sample: Sample) -> str:
    """Patterns that lower tiers may not conclude."""
    lines = []
    for _ in range(chance.randint(0, 2)):
        name = chance.choice(sorted(sample.arities))
        args = [chance.choice(("_", "_", "1", "'a'")) for _ in range(sample.arities[name])]
        lines.append(f".closed {atom(name, args)}\n")
    return "".join(lines)


@settings(max_examples=50, deadline=None)
@given(chances)
def test_random_kernels_lose_nothing(chance):
    sample = random_program(chance)
    above = Program.parse(f"{sample.text}\n{guards(chance, sample)}", "kernel.dl")
    texts = [lower_rule(chance, sample.arities) for _ in range(chance.randint(1, 8))]
    whole = accepted(chance, above, texts)
    note(str(whole))
    pair = Pair(above, whole, chance)
    for _ in range(chance.randint(1, 25)):
        pair.update(sample.fact())
        closed(pair, above)


def closed(pair: Pair, above: Program) -> None:
    """Lower tiers add nothing to what matches a closed pattern, nor do they by way of others."""
    for guard in above.guards:
        if guard.kind == "closed":
            one, two = matching(pair.alone, guard.atom), matching(pair.among, guard.atom)
            assert one == two, f"{guard}: {two - one}"


def matching(database: Database, pattern: Atom) -> set[tuple[int | str, ...]]:
    return {
        row
        for row in database.view.rows(pattern.predicate)
        if all(
            term == value
            for term, value in zip(pattern.args, row, strict=True)
            if isinstance(term, str | int)
        )
    }


def test_many_of_the_random_rules_are_accepted_and_many_are_refused():
    """Else the test above would say little."""
    chance, kept, tried, lost = Random(1), 0, 0, 0
    for _ in range(150):
        sample = random_program(chance)
        above = Program.parse(sample.text, "kernel.dl")
        texts = [lower_rule(chance, sample.arities) for _ in range(6)]
        tried += sum(bool(text) for text in texts)
        whole = accepted(chance, above, texts)
        kept += len(whole.rules) - len(above.rules)
        lost += takes_away(chance, sample, texts)
    assert tried * 0.2 < kept < tried * 0.8
    assert lost, "without tiers something would be lost"


def takes_away(chance: Random, sample: Sample, texts: list[str]) -> bool:
    """Whether something would not hold any more if the rules were not judged by their tier."""
    facts = {sample.fact() for _ in range(12)}
    above = Program.parse(sample.text)
    whole = above
    for text in texts:
        try:
            whole = whole.extend(Program.parse(text))
        except RuleError:
            continue
    try:
        return not evaluate(above, facts) <= evaluate(whole, facts)
    except TooMuch:
        return False


# the shipped rules

FILES = ("a.py", "b.py", "test_a.py", "test_b.py", "README.md")
ASSERTED = {
    "file": 2, "is_test": 1, "imports": 2, "test_covers": 2, "has_tests": 0, "file_modified": 1,
    "file_created": 1, "file_deleted": 1, "verify_config_changed": 1, "expectation_changed": 1,
    "test_removed": 1, "test_switched_off": 1, "test_setup_changed": 1, "tool_requested": 3,
    "tool_writes": 1, "command_requested": 2,
}  # fmt: skip
CONCLUDED = {"verify_gate": 1, "gate_target": 2, "integrity": 3, "permission": 3, "waived": 2}
DUTIES = ("verify_gate", "gate_target", "integrity", "permission")
WORDS = (*FILES, "python", "run_tests", "lint", "deny", "allow", "write_file")


def shipped_fact(chance: Random) -> Fact:
    names = ASSERTED if chance.random() < 0.9 else CONCLUDED
    name = chance.choice(sorted(names))
    if name == "file":
        return Fact(name, (chance.choice(FILES), chance.choice(("python", "markdown"))))
    row = tuple(
        chance.choice(FILES if name in ASSERTED and names[name] < 3 else WORDS)
        for _ in range(names[name])
    )
    return Fact(name, row)


def shipped_rule(chance: Random) -> str:
    """A rule over the predicates of the kernel, with negations and aggregates."""
    arities = {**ASSERTED, **CONCLUDED, "own": 1}

    def literal(variables: str) -> str:
        name = chance.choice(sorted(arities))
        args = [
            f"'{chance.choice(WORDS)}'" if chance.random() < 0.3 else chance.choice(variables)
            for _ in range(arities[name])
        ]
        return atom(name, args)

    body = [f"file(X, _), {literal('XY')}", f"test_covers(X, Y), {literal('XY')}"]
    kind = chance.random()
    more = ""
    if kind < 0.35:
        more = f", not {literal('X')}"
    elif kind < 0.6:
        more = f", N = count : {{ {literal('XYZ')} }}, N {chance.choice(('=', '>'))} 0"
    return f"{literal('X')} :- {chance.choice(body)}{more}."


@settings(max_examples=40, deadline=None)
@given(chances)
def test_the_shipped_duties_stay_through_all_updates(chance):
    whole = accepted(chance, kernel(), [shipped_rule(chance) for _ in range(8)])
    note(str(whole.rules[len(kernel().rules) :]))
    pair = Pair(kernel(), whole, chance)
    for _ in range(40):
        pair.update(shipped_fact(chance))
        for name in DUTIES:
            assert set(pair.alone.derived(name)) <= set(pair.among.derived(name))
    allowed = [fact for fact in pair.among.derived("permission") if fact.args[1] == "allow"]
    assert allowed == []
    assert pair.among.derived("waived") == []
    closed(pair, kernel())
