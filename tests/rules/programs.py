"""Random programs with strata.

All choices are taken from one `random.Random`, so that a seed stands for a program; hypothesis
gives one of its own, which it can shrink. Predicates lie in layers: a rule reads what is below
its head or beside it, and reads through `not` and aggregates only what is below. Values are few,
so that facts have several derivations, and graphs have circles.
"""

import random

from tests.rules.program_parts import (
    Sample,
    aggregate,
    assigned,
    atom,
    compared,
    denied,
    expression,
    inverted,
    negation,
    of_strings,
    positive,
    summed,
)


def random_program(chance: random.Random) -> Sample:
    sample = Sample(chance)
    for layer in range(1, chance.randint(2, 4)):
        names = [f"p{layer}{letter}" for letter in "abc"[: chance.randint(1, 3)]]
        for name in names:
            sample.arities[name] = chance.choice((0, 1, 1, 1, 2, 2, 2, 2, 3))
            sample.layers[name] = layer
        for name in names:
            if sample.maybe(0.6):
                recursion(sample, name)
            for _ in range(chance.randint(0, 2)):
                any_rule(sample, name)
            if sample.maybe(0.06):
                long_rule(sample, name)
        if not any(f"{name}" in rule for name in names for rule in sample.rules):
            any_rule(sample, names[0])
    return sample


# recursions


def recursion(sample: Sample, name: str) -> None:
    """Rules by which facts of a predicate support each other."""
    shapes = {0: (switch,), 1: (reached, counted), 2: (closure, mutual, generation, distance)}
    shape = sample.chance.choice(shapes.get(sample.arities[name], (any_rule,)))
    shape(sample, name)


def binary(sample: Sample, name: str) -> str:
    """A relation of pairs from below."""
    names = sample.predicates(sample.layers[name], 2)
    return sample.chance.choice([*names, "e", "e", "e"])


def brake(sample: Sample, layer: int, variable: str) -> list[str]:
    """At times a condition that may stop a recursion."""
    if sample.maybe(0.35):
        return [negation(sample, layer, [variable])]
    if sample.maybe(0.25):
        return aggregate(sample, layer, [variable], [variable])
    return []


def closure(sample: Sample, name: str) -> None:
    edge, layer = binary(sample, name), sample.layers[name]
    sample.add(f"{name}(X, Y)", [f"{edge}(X, Y)", *brake(sample, layer, "Y")])
    steps = [
        [f"{name}(X, Y)", f"{edge}(Y, Z)"],
        [f"{edge}(X, Y)", f"{name}(Y, Z)"],
        [f"{name}(X, Y)", f"{name}(Y, Z)"],
        [f"{name}(Z, Y)", f"{name}(Y, X)", f"{edge}(_, X)"],
    ]
    for step in sample.chance.sample(steps, sample.chance.randint(1, 2)):
        sample.add(f"{name}(X, Z)", [*step, *brake(sample, layer, "Z")])
    if sample.maybe(0.2):
        sample.add(f"{name}(X, Y)", [f"{name}(Y, X)"])


def mutual(sample: Sample, name: str) -> None:
    edge, layer = binary(sample, name), sample.layers[name]
    beside = [n for n, at in sample.layers.items() if at == layer and sample.arities[n] == 2]
    other = sample.chance.choice(beside)
    sample.add(f"{name}(X, Y)", [f"{edge}(X, Y)", *brake(sample, layer, "X")])
    sample.add(f"{other}(X, Z)", [f"{name}(X, Y)", f"{edge}(Y, Z)", *brake(sample, layer, "Z")])
    sample.add(f"{name}(X, Z)", [f"{other}(X, Y)", f"{edge}(Y, Z)"])


def generation(sample: Sample, name: str) -> None:
    edge = binary(sample, name)
    sample.add(f"{name}(X, Y)", [f"{edge}(P, X)", f"{edge}(P, Y)"])
    sample.add(f"{name}(X, Y)", [f"{edge}(P, X)", f"{name}(P, Q)", f"{edge}(Q, Y)"])


def distance(sample: Sample, name: str) -> None:
    edge, layer = binary(sample, name), sample.layers[name]
    sample.add(f"{name}(X, 0)", ["f(X)"])
    step = [f"{name}(X, N)", f"{edge}(X, Y)", "N < 4", *brake(sample, layer, "Y")]
    if sample.maybe(0.5):
        sample.add(f"{name}(Y, (N + 1))", step)
    else:
        sample.add(f"{name}(Y, M)", [*step, "M = (N + 1)"])


def reached(sample: Sample, name: str) -> None:
    edge, layer = binary(sample, name), sample.layers[name]
    start = sample.chance.choice(sample.predicates(layer, 1))
    sample.add(f"{name}(X)", [f"{start}(X)"])
    ends = ("X", "Y") if sample.maybe(0.7) else ("Y", "X")
    sample.add(f"{name}(Y)", [f"{name}(X)", atom(edge, list(ends)), *brake(sample, layer, "Y")])
    if sample.maybe(0.3):  # both ends, as gates with two inputs
        sample.add(f"{name}(Z)", [f"{name}(X)", f"{name}(Y)", "t(X, Y, Z)"])


def counted(sample: Sample, name: str) -> None:
    start = sample.chance.choice(sample.predicates(sample.layers[name], 1))
    sample.add(f"{name}(X)", [f"{start}(X)"])
    if sample.maybe(0.5):
        sample.add(f"{name}((X + 1))", [f"{name}(X)", "X < 5", *maybe_edge(sample)])
    else:
        sample.add(f"{name}(Y)", [f"{name}(X)", "Y = ((X * 2) % 5)", *maybe_edge(sample)])


def maybe_edge(sample: Sample) -> list[str]:
    return ["e(X, _)"] if sample.maybe(0.5) else []


def switch(sample: Sample, name: str) -> None:
    layer = sample.layers[name]
    sample.add(name, [positive(sample, layer, [], 0.0)])
    beside = [n for n, at in sample.layers.items() if at == layer]
    other = sample.chance.choice(beside)
    sample.add(name, [atom(other, ["_"] * sample.arities[other]), *brake_nullary(sample, layer)])


def brake_nullary(sample: Sample, layer: int) -> list[str]:
    return [negation(sample, layer, [])] if sample.maybe(0.5) else []


# rules of any shape


def any_rule(sample: Sample, name: str) -> None:
    layer = sample.layers[name]
    bound: list[str] = []
    recursive = sample.maybe(0.3)
    size = sample.chance.choice((0, 1, 1, 1, 2, 2, 2, 3))
    body = [positive(sample, layer + recursive, bound, 0.15) for _ in range(size)]
    long = size > 1 and sample.maybe(0.1)
    if long:
        body += lengthened(sample, body)
    if sample.maybe(0.06):  # of two aggregates both may change at once
        body += summed(sample, layer, bound, recursive) + summed(sample, layer, bound, recursive)
    extras = (assigned, compared, inverted, inverted, denied, summed, summed, of_strings)
    for extra in sample.chance.sample(extras, sample.chance.choice((0, 0, 1, 1, 1, 2))):
        body += extra(sample, layer, bound, recursive)
    if not body:
        body = denied(sample, layer, bound, recursive)
    short = 0.0 if recursive else 0.3 if long else 0.05
    sample.add(atom(name, head_terms(sample, sample.arities[name], bound, recursive, short)), body)


def long_rule(sample: Sample, name: str) -> None:
    """A body of several joins in this order; a value of the first one returns in the last."""
    layer = sample.layers[name]
    first, last = binary(sample, name), binary(sample, name)
    single = sample.chance.choice(sample.predicates(layer, 1))
    middle = [f"{single}(Y)"] * sample.chance.randint(12, 26)
    middle[sample.chance.randrange(10)] = f"{last}(_, Y)"
    body = ", ".join((f"{first}(X, Y)", *middle, f"{last}(X, Z)"))
    bound = ["Y", "Z"]
    if sample.maybe(0.5):
        kind = sample.chance.choice(("count", "sum X", "sum Z", "count Z"))
        body, bound = f"{single}(Y), N = {kind} : {{ {body} }}", ["Y", "N"]
    args = [sample.chance.choice(bound) for _ in range(sample.arities[name])]
    sample.rules.append(f"{atom(name, args)} :- {body}.")


def lengthened(sample: Sample, body: list[str]) -> list[str]:
    """More conditions than one join has loops for, all of which follow from the others."""
    # the definition, by which this is checked, goes through all values of every `_`
    plain = [part for part in body if "_" not in part]
    if sample.maybe(0.5):
        plain = plain[:1]
    more = [sample.chance.choice(plain) for _ in range(sample.chance.randint(11, 16)) if plain]
    name, opened, args = (more or [""])[0].partition("(")
    if opened:
        more[0] = f"{name}({', '.join('_' for _ in args.split(', '))})"
    return more


def head_terms(
    sample: Sample, count: int, bound: list[str], recursive: bool, short: float
) -> list[str]:
    """`short` is the probability of an aggregate in its short form."""
    terms: list[str] = []
    for _ in range(count):
        if not bound or sample.maybe(0.1):
            terms.append(sample.constant())
        elif sample.maybe(0.12):
            terms.append(expression(sample, bound, recursive))
        elif not terms and sample.maybe(short):
            function = sample.chance.choice(("count", "sum", "min", "max"))
            term = "" if function == "count" and sample.maybe(0.7) else sample.chance.choice(bound)
            terms.append(f"{function}({term})")
        else:
            terms.append(sample.chance.choice(bound))
    return terms
