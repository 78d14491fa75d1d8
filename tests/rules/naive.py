"""The oracle: Datalog by its definition, without indexes, deltas or plans.

Also a checker of proofs, which knows nothing of how they were found.
"""

from collections.abc import Iterable, Iterator

from rules import Atom, Fact, Program, Rule, Value, Variable
from rules.provenance import Proof

Binding = dict[Variable, Value]


def order(value: Value) -> tuple[int, Value]:
    return (0, value) if isinstance(value, int) else (1, value)


def strings(test):
    return lambda a, b: isinstance(a, str) and isinstance(b, str) and test(a, b)


TESTS = {
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: order(a) < order(b),
    "<=": lambda a, b: order(a) <= order(b),
    ">": lambda a, b: order(a) > order(b),
    ">=": lambda a, b: order(a) >= order(b),
    "starts_with": strings(lambda text, part: text[: len(part)] == part),
    "ends_with": strings(lambda text, part: part == "" or text[-len(part) :] == part),
    "contains": strings(lambda text, part: text.find(part) >= 0),
    "path_in": strings(
        lambda folder, path: (
            folder in ("", ".") or (path + "/").startswith(folder.rstrip("/") + "/")
        )
    ),
}


def value_of(term: Variable | Value, binding: Binding) -> Value | None:
    return binding.get(term) if isinstance(term, Variable) else term


def unify(atom: Atom, fact: Fact, binding: Binding) -> Binding | None:
    """The binding that makes the atom the fact, or None."""
    if atom.predicate != fact.predicate or len(atom.args) != len(fact.args):
        return None
    extended = dict(binding)
    for term, value in zip(atom.args, fact.args, strict=True):
        if not isinstance(term, Variable):
            if term != value or type(term) is not type(value):
                return None
        elif term.name != "_" and extended.setdefault(term, value) != value:
            return None
    return extended


def equate(tests: list[Atom], binding: Binding) -> Binding:
    """Follow `=` from known values to unknown variables until nothing changes."""
    extended = dict(binding)
    for _ in tests:
        for test in tests:
            if test.predicate == "=":
                left, right = test.args
                for known, other in ((left, right), (right, left)):
                    value = value_of(known, extended)
                    if value is not None and isinstance(other, Variable):
                        extended.setdefault(other, value)
    return extended


def satisfied(tests: list[Atom], binding: Binding) -> bool:
    return all(
        TESTS[t.predicate](value_of(t.args[0], binding), value_of(t.args[1], binding))
        for t in tests
    )


def instances(rule: Rule, facts: Iterable[Fact]) -> Iterator[Binding]:
    tests = [atom for atom in rule.body if atom.predicate in TESTS]
    bindings: list[Binding] = [{}]
    for atom in rule.body:
        if atom.predicate not in TESTS:
            found = [unify(atom, fact, binding) for binding in bindings for fact in facts]
            bindings = [binding for binding in found if binding is not None]
    for binding in bindings:
        whole = equate(tests, binding)
        if satisfied(tests, whole):
            yield whole


def conclusion(rule: Rule, binding: Binding) -> Fact:
    values = tuple(value_of(term, binding) for term in rule.head.args)
    return Fact(rule.head.predicate, values)


def consequences(program: Program, facts: Iterable[Fact]) -> set[Fact]:
    """What the rules conclude in one step."""
    facts = list(facts)
    return {
        conclusion(rule, binding) for rule in program.rules for binding in instances(rule, facts)
    }


def model(program: Program, asserted: Iterable[Fact]) -> set[Fact]:
    """Everything that holds."""
    facts = set(asserted)
    while True:
        more = consequences(program, facts) - facts
        if not more:
            return facts
        facts |= more


def check_proof(proof: Proof, program: Program, asserted: Iterable[Fact]) -> None:
    """Raise AssertionError unless this is a finite, acyclic proof from asserted facts."""
    asserted = set(asserted)
    by_name = {rule.name: rule for rule in program.rules}
    open_goals: list[Fact] = []
    done: set[Fact] = set()

    def check(node: Proof) -> None:
        assert node.fact not in open_goals, f"{node.fact} rests on itself"
        if node.fact in done:
            return
        if node.rule is None:
            assert node.fact in asserted, f"the leaf {node.fact} is not asserted"
        else:
            open_goals.append(node.fact)
            check_step(node, by_name[node.rule])
            for premise in node.premises:
                check(premise)
            open_goals.pop()
        done.add(node.fact)

    check(proof)


def check_step(node: Proof, rule: Rule) -> None:
    atoms = [atom for atom in rule.body if atom.predicate not in TESTS]
    tests = [atom for atom in rule.body if atom.predicate in TESTS]
    assert len(atoms) == len(node.premises)
    binding: Binding | None = {}
    for atom, premise in zip(atoms, node.premises, strict=True):
        binding = unify(atom, premise.fact, binding)
        assert binding is not None, f"{premise.fact} is no instance of {atom}"
    binding = equate(tests, binding)
    assert satisfied(tests, binding)
    assert conclusion(rule, binding) == node.fact
    assert len(node.conditions) == len(tests)
