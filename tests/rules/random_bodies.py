"""Small random programs with all that the language has, and facts to feed them."""

from random import Random

from rules import Atom, Fact, Program, Rule, RuleError, Variable
from rules.statements import Aggregate, Negation
from rules.terms import Expression, Term, Value

STATED = {"a": 1, "b": 2, "c": 2}
CONCLUDED = {"p": 1, "q": 2, "r": 1, "s": 0}
ARITIES = {**STATED, **CONCLUDED}
VARIABLES = [Variable(name) for name in "XYZ"]
OPEN = Variable("_")


class Generator:
    """Everything it makes depends on its seed alone."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)

    def program(self) -> Program:
        """Rules that pass the checks when they are put together one after the other."""
        kept: list[Rule] = []
        for at in range(self.random.randint(3, 10)):
            rule = self.rule(f"r{at}")
            try:
                Program([*kept, rule])
            except RuleError:
                continue
            kept.append(rule)
        return Program(kept)

    def facts(self, most: int = 15) -> list[Fact]:
        names = [*sorted(STATED) * 3, *sorted(CONCLUDED)]
        return [self.fact(self.random.choice(names)) for _ in range(self.random.randint(0, most))]

    def fact(self, name: str) -> Fact:
        return Fact(name, tuple(self.value() for _ in range(ARITIES[name])))

    def value(self) -> Value:
        return self.random.choice([0, 1, 2, 3, 1, 2, "x"])

    def rule(self, name: str) -> Rule:
        body = self.body()
        known = sorted({v for part in body for v in part.variables}, key=str)
        head = self.random.choice(sorted(CONCLUDED))
        return Rule(self.atom(head, known, sums=0.1), body, name)

    def body(self) -> tuple[Atom | Negation | Aggregate, ...]:
        parts = [self.match() for _ in range(self.random.randint(1, 3))]
        known = sorted({v for atom in parts for v in atom.variables}, key=str)
        parts += [self.extra(known) for _ in range(self.random.choice([0, 0, 1, 1, 2]))]
        self.random.shuffle(parts)
        return tuple(parts)

    def match(self) -> Atom:
        names = [*sorted(STATED), *sorted(ARITIES)]
        return self.atom(self.random.choice(names), VARIABLES, sums=0.05, wild=0.15)

    def atom(self, name: str, known: list[Variable], sums: float, wild: float = 0) -> Atom:
        args = [self.term(known, sums, wild) for _ in range(ARITIES[name])]
        return Atom(name, tuple(args))

    def term(self, known: list[Variable], sums: float = 0.2, wild: float = 0) -> Term:
        chance = self.random.random()
        if chance < wild:
            return OPEN
        if chance < wild + sums and known:
            left, right = self.term(known, 0), self.term(known, 0)
            return Expression(self.random.choice("+-*/%"), left, right)
        if chance < 0.85 and known:
            return self.random.choice(known)
        return self.value()

    def extra(self, known: list[Variable]) -> Atom | Negation | Aggregate:
        kind = self.random.choice(["test", "not", "not", "equation", "aggregate", "aggregate"])
        if kind == "aggregate":
            return self.aggregate(known)
        if kind == "equation":
            return Atom("=", (self.random.choice(VARIABLES), self.term(known)))
        if kind == "test" or self.random.random() < 0.2:
            name = self.random.choice(["=", "!=", "<", ">=", "<="])
            test = Atom(name, (self.term(known), self.term(known)))
            return test if kind == "test" else Negation(test)
        name = self.random.choice(sorted(ARITIES))
        return Negation(self.atom(name, known, sums=0.1, wild=0.3))

    def aggregate(self, known: list[Variable]) -> Aggregate:
        body = [self.match()]
        if self.random.random() < 0.5:
            inner = sorted({*known, *body[0].variables}, key=str)
            body.append(self.match() if self.random.random() < 0.5 else self.extra(inner))
        function = self.random.choice(["count", "count", "sum", "min", "max"])
        term = None if function == "count" and self.random.random() < 0.5 else self.term(VARIABLES)
        result = Variable("N") if self.random.random() < 0.5 else self.term([*known, *VARIABLES])
        return Aggregate(function, result, term, tuple(body))
