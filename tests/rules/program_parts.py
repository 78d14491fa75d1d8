"""What random programs are made of: predicates in layers, random facts and conditions."""

import random
from dataclasses import dataclass, field

from rules import Fact, Program, RuleError

INTEGERS = (0, 1, 2, 3)
STRINGS = ("a", "b", "a/b")
VARIABLES = ("X", "Y", "Z")
INNER = (("U", "V"), ("S", "T"), ("O", "P"))
"""Names for what is local to an aggregate, by its depth within others."""
FACTS = {"e": 8, "f": 3, "g": 4, "flag": 1, "t": 4}
GIVEN = {"e": 2, "f": 1, "g": 2, "flag": 0, "t": 3}
COMPARISONS = ("=", "!=", "<", "<=", ">", ">=")
OF_STRINGS = ("starts_with", "ends_with", "contains", "path_in", "matches", "glob")
PATTERNS = {
    "matches": ("'a'", "'^a$'", "'a*'", "'.'", "'a/[ab]'", "'a(/b)?'"),
    "glob": ("'a'", "'a*'", "'**'", "'?'", "'a/*'", "'**/b'"),
}


@dataclass
class Sample:
    """A program under construction: its predicates with their arities and layers, its rules."""

    chance: random.Random
    arities: dict[str, int] = field(default_factory=lambda: dict(GIVEN))
    layers: dict[str, int] = field(default_factory=lambda: dict.fromkeys(GIVEN, 0))
    rules: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.rules)

    def maybe(self, probability: float) -> bool:
        return self.chance.random() < probability

    def predicates(self, below: int, arity: int | None = None) -> list[str]:
        """Those in layers below the given one, of one arity or of any."""
        return [
            name
            for name, layer in self.layers.items()
            if layer < below and arity in (None, self.arities[name])
        ]

    def value(self) -> int | str:
        return self.chance.choice(STRINGS if self.maybe(0.12) else INTEGERS)

    def constant(self) -> str:
        return written(self.value())

    def reader(self, names: list[str]) -> str:
        """One of the predicates to read; those of many arguments, which hold for few, rarely."""
        return self.chance.choice([name for name in names for _ in range(4 - self.arities[name])])

    def fact(self, concluded: float = 0.2) -> Fact:
        """A random fact; now and then of a predicate that rules conclude."""
        given = not self.maybe(concluded)
        names = [name for name, layer in self.layers.items() if (layer == 0) is given]
        weights = [FACTS.get(name, 1 + self.arities[name]) for name in names]
        (name,) = self.chance.choices(names, weights)
        if name == "e" or self.maybe(0.7):
            return Fact(
                name, tuple(self.chance.choice(INTEGERS) for _ in range(self.arities[name]))
            )
        return Fact(name, tuple(self.value() for _ in range(self.arities[name])))

    def add(self, head: str, body: list[str]) -> None:
        """Write a rule down, its conditions in any order, in either notation."""
        self.chance.shuffle(body)
        trace = self.maybe(0.3)
        rule = f"{' + '.join(body)} -> {head}" if trace else f"{head} :- {', '.join(body)}."
        if well_typed(rule):
            self.rules.append(rule)


def well_typed(rule: str) -> bool:
    """Whether no value has to be both an integer and a string and no pattern is broken, which is
    refused."""
    try:
        Program.parse(rule)
    except RuleError as error:
        if {fault.code for fault in error.diagnostics} <= {"type-clash", "bad-pattern"}:
            return False
        raise
    return True


def written(value: int | str) -> str:
    return str(value) if isinstance(value, int) else f"'{value}'"


def atom(name: str, args: list[str]) -> str:
    return f"{name}({', '.join(args)})" if args else name


# conditions


def positive(sample: Sample, below: int, bound: list[str], special: float) -> str:
    """A condition on facts; its variables are bound by it."""
    name = sample.reader(sample.predicates(below))
    args: list[str] = []
    for _ in range(sample.arities[name]):
        if sample.maybe(special):
            args.append(sample.chance.choice(("_", sample.constant())))
        else:
            args.append(sample.chance.choice(VARIABLES))
    bound += [v for v in args if v in VARIABLES and v not in bound]
    if bound and args and sample.maybe(special / 2):
        args[0] = expression(sample, bound, recursive=True) if args[0] not in VARIABLES else args[0]
    return atom(name, args)


def usable(sample: Sample, bound: list[str]) -> str:
    return sample.chance.choice(bound) if bound and sample.maybe(0.75) else sample.constant()


def expression(sample: Sample, bound: list[str], recursive: bool) -> str:
    """Arithmetic; where it may feed itself it has few values."""
    operator = sample.chance.choice("++-**/%")
    left, right = (
        sample.chance.choice(bound) if bound and sample.maybe(0.6) else sample.chance.choice("123")
        for _ in "lr"
    )
    text = f"({left} {operator} {right})"
    return f"({text} % 5)" if recursive or sample.maybe(0.3) else text


def assigned(sample: Sample, _layer: int, bound: list[str], recursive: bool) -> list[str]:
    term = usable(sample, bound)
    if sample.maybe(0.7):
        term = expression(sample, bound, recursive)
    name = f"E{len(bound)}"
    bound.append(name)
    return [f"{name} = {term}" if sample.maybe(0.7) else f"{term} = {name}"]


def compared(sample: Sample, _layer: int, bound: list[str], recursive: bool) -> list[str]:
    sign = "not " if sample.maybe(0.15) else ""
    left = sample.chance.choice(bound) if bound else sample.constant()
    right = usable(sample, bound)
    if sample.maybe(0.2):
        right = expression(sample, bound, recursive)
    return [f"{sign}{left} {sample.chance.choice(COMPARISONS)} {right}"]


def inverted(sample: Sample, _layer: int, bound: list[str], _recursive: bool) -> list[str]:
    """An equation whose unknown, which facts give a value as well, is not alone on its side.

    Most have a solution among the usual values.
    """
    side, value = usable(sample, bound), sample.chance.choice(INTEGERS)
    for _ in range(sample.chance.choice((1, 1, 2, 3))):
        number, minus = sample.chance.choice(INTEGERS), sample.maybe(0.6)
        if sample.maybe(0.5):
            side, value = f"({side} {'+-'[minus]} {number})", value + (-number if minus else number)
        else:
            side, value = f"({number} {'+-'[minus]} {side})", number + (-value if minus else value)
    other = str(value) if sample.maybe(0.7) else usable(sample, bound)
    return [" = ".join(sample.chance.sample((side, other), 2))]


def of_strings(sample: Sample, _layer: int, bound: list[str], _recursive: bool) -> list[str]:
    name = sample.chance.choice(OF_STRINGS)
    first, second = (
        sample.chance.choice(bound)
        if bound and sample.maybe(0.6)
        else written(sample.chance.choice(STRINGS))
        for _ in "fs"
    )
    if name in PATTERNS:
        first = sample.chance.choice(PATTERNS[name])
    sign = "not " if sample.maybe(0.3) else ""
    return [f"{sign}{name}({first}, {second})"]


def denied(sample: Sample, layer: int, bound: list[str], _recursive: bool) -> list[str]:
    return [negation(sample, layer, bound) for _ in range(1 + sample.maybe(0.2))]


def negation(sample: Sample, layer: int, bound: list[str]) -> str:
    """`not` before something from below, with bound variables, values and `_`."""
    name = sample.reader(sample.predicates(layer))
    args = [
        "_" if sample.maybe(0.3) else usable(sample, bound) for _ in range(sample.arities[name])
    ]
    if args and bound and sample.maybe(0.07):
        args[0] = expression(sample, bound, recursive=False)
    return f"not {atom(name, args)}"


# aggregates


def summed(sample: Sample, layer: int, bound: list[str], _recursive: bool) -> list[str]:
    return aggregate(sample, layer, bound, bound)


def aggregate(
    sample: Sample, layer: int, bound: list[str], results: list[str], depth: int = 0
) -> list[str]:
    """An aggregate over what is below, and now and then a condition on its result."""
    inner: list[str] = []
    if sample.maybe(0.08):
        name, twice = sample.chance.choice(sample.predicates(layer, 2)), INNER[depth][0]
        text = f"count : {{ {name}({twice}, {twice}) }}"
        return result(sample, text, bound, results, "NMK"[depth])
    if sample.maybe(0.2):
        body = chain(sample, layer, bound, inner, depth)
    else:
        body = [within(sample, layer, bound, inner, depth) for _ in range(1 + sample.maybe(0.35))]
    if depth + 1 < len(INNER) and sample.maybe(0.16):
        body += aggregate(sample, layer, [*inner, *bound], inner, depth + 1)
    scope = [*inner, *bound]
    if sample.maybe(0.3):
        body.append(
            f"{usable(sample, inner)} {sample.chance.choice(COMPARISONS)} {usable(sample, scope)}"
        )
    if sample.maybe(0.2):
        body.append(negation(sample, layer, scope))
    sample.chance.shuffle(body)
    function = sample.chance.choice(("count", "count", "sum", "min", "max"))
    head = f"{function}{aggregate_term(sample, function, inner, scope)}"
    return result(sample, f"{head} : {{ {', '.join(body)} }}", bound, results, "NMK"[depth])


def chain(sample: Sample, layer: int, bound: list[str], inner: list[str], depth: int) -> list[str]:
    """Conditions only the first of which knows the group."""
    one, two = INNER[depth]
    inner += [one, two]
    pairs, singles = (sample.predicates(layer, arity) for arity in (2, 1))
    first, second = sample.chance.choice(pairs), sample.chance.choice(pairs)
    return [
        f"{first}({usable(sample, bound)}, {one})",
        f"{second}({one}, {two})",
        f"{sample.chance.choice(singles)}({two})",
    ]


def within(sample: Sample, layer: int, bound: list[str], inner: list[str], depth: int) -> str:
    """A condition between the braces, on inner variables, outer ones, values and `_`."""
    name = sample.reader([n for n in sample.predicates(layer) if sample.arities[n]])
    args: list[str] = []
    for _ in range(sample.arities[name]):
        if sample.maybe(0.55):
            args.append(sample.chance.choice(INNER[depth]))
        else:
            args.append("_" if sample.maybe(0.4) else usable(sample, bound))
    inner += [v for v in args if v in INNER[depth] and v not in inner]
    return atom(name, args)


def aggregate_term(sample: Sample, function: str, inner: list[str], scope: list[str]) -> str:
    if function == "count" and sample.maybe(0.6):
        return ""
    if sample.maybe(0.2):
        return f" {expression(sample, scope, recursive=False)}"
    return f" {sample.chance.choice(inner) if inner else sample.constant()}"


def result(
    sample: Sample, text: str, bound: list[str], results: list[str], letter: str
) -> list[str]:
    kind = sample.chance.random()
    if kind < 0.15 and bound:
        return [f"{sample.chance.choice(bound)} = {text}"]
    if kind < 0.3:
        return [f"{sample.chance.choice((0, 1, 1, 2, 3))} = {text}"]
    if kind < 0.36 and bound:
        return [f"{expression(sample, bound, recursive=False)} = {text}"]
    name = f"{letter}{len(results)}"
    results.append(name)
    limit = [f"{name} {sample.chance.choice(COMPARISONS)} {sample.chance.choice((0, 1, 2))}"]
    return [f"{name} = {text}", *(limit if sample.maybe(0.4) else [])]
