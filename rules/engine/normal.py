"""Rules in the form in which the engine runs them.

Arguments of scans, heads and aggregate results are plain variables and constants; arithmetic
stands in equations, and long bodies are cut in pieces.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Sequence, Set
from typing import NamedTuple

from rules.analysis import equations
from rules.builtins import BUILTINS
from rules.statements import Aggregate, Atom, Literal, Negation, Rule
from rules.terms import Expression, Term, Variable, named_variables

_NEAR = 80

MAX_SCANS = 12
"""Joins nest one loop for each scan, and Python allows 20 nested blocks."""


class Scan(NamedTuple):
    """Facts that match; an argument is a variable (`_` for any value) or a constant."""

    predicate: str
    args: tuple[Term, ...]


class Absent(NamedTuple):
    """No fact matches. An argument may be arithmetic."""

    predicate: str
    args: tuple[Term, ...]


class Equation(NamedTuple):
    """Both sides have one value; gives an unknown variable the value of the other side."""

    left: Term
    right: Term


class Test(NamedTuple):
    """A built-in condition on two known values."""

    name: str
    left: Term
    right: Term
    negated: bool


class Fold(NamedTuple):
    """An aggregate: `result` is a variable, `group` the variables given from outside."""

    function: str
    result: Variable
    term: Term | None
    body: "tuple[Step, ...]"
    group: tuple[Variable, ...]


Step = Scan | Absent | Equation | Test | Fold


class Clause(NamedTuple):
    """A rule to run. `rule` is the written one; its head is not ours in a piece of a long body."""

    rule: Rule
    predicate: str
    args: tuple[Term, ...]
    body: tuple[Step, ...]


def variables(step: Step) -> Iterator[Variable]:
    """Named variables a step shares with the rest of its body, with repetitions."""
    if isinstance(step, Fold):
        yield from step.group
        yield step.result
        return
    terms = step.args if isinstance(step, Scan | Absent) else (step.left, step.right)
    for term in terms:
        yield from named_variables(term)


def predicates(steps: Iterable[Step]) -> Iterator[tuple[str, bool]]:
    """The predicates that steps read; True for those read through a negation or aggregate."""
    for step in steps:
        if isinstance(step, Scan):
            yield step.predicate, False
        elif isinstance(step, Absent):
            yield step.predicate, True
        elif isinstance(step, Fold):
            yield from ((name, True) for name, _ in predicates(step.body))


def clauses(rule: Rule, number: int) -> list[Clause]:
    """One rule as clauses, the pieces of a long body before what needs them."""
    normalizer = _Normalizer(rule, number)
    clause = normalizer.clause()
    return [*normalizer.pieces, *_cut(clause, number)]


class _Normalizer:
    """`pieces` conclude what stands first between braces with many conditions."""

    def __init__(self, rule: Rule, number: int) -> None:
        self.pieces: list[Clause] = []
        self._rule = rule
        self._number = number
        self._fresh = 0

    def clause(self) -> Clause:
        rule = self._rule
        steps = list(self._steps(rule.body, self._outer(rule.body, rule.head.variables)))
        args = tuple([self._plain(term, steps) for term in rule.head.args])
        return Clause(rule, rule.head.predicate, args, tuple(steps))

    def _outer(self, body: Sequence[Literal], known: Iterable[Variable]) -> list[set[Variable]]:
        """For each literal the variables that occur outside of it, if it is an aggregate.

        What stands only between the braces of other aggregates is local to those.
        """
        outside = set(known)
        results: dict[Variable, int] = {}
        for literal in body:
            if isinstance(literal, Aggregate):
                for variable in set(named_variables(literal.result)):
                    results[variable] = results.get(variable, 0) + 1
            else:
                outside.update(literal.variables)
        return [outside | set(results) if isinstance(part, Aggregate) else set() for part in body]

    def _steps(self, body: Sequence[Literal], outer: list[set[Variable]]) -> Iterator[Step]:
        for literal, outside in zip(body, outer, strict=True):
            if isinstance(literal, Aggregate):
                yield from self._fold(literal, outside)
            elif isinstance(literal, Negation):
                yield self._negation(literal.atom)
            else:
                yield from self._atom(literal)

    def _atom(self, atom: Atom) -> Iterator[Step]:
        if atom.predicate == "=":
            yield Equation(*atom.args)
        elif atom.predicate in BUILTINS:
            yield _test(atom, negated=False)
        else:
            steps: list[Step] = []
            args = tuple(self._plain(term, steps) for term in atom.args)
            yield Scan(atom.predicate, args)
            yield from steps

    def _negation(self, atom: Atom) -> Step:
        if atom.predicate in BUILTINS:
            return _test(atom, negated=True)
        return Absent(atom.predicate, atom.args)

    def _fold(self, literal: Aggregate, outside: set[Variable]) -> Iterator[Step]:
        equations: list[Step] = []
        result = literal.result
        if not isinstance(result, Variable) or result.anonymous:
            variable = self._variable()
            if not isinstance(result, Variable):
                equations.append(Equation(variable, result))
            result = variable
        inner = list(dict.fromkeys(literal.inner_variables))
        group = tuple(variable for variable in inner if variable in outside)
        known = (*group, *(() if literal.term is None else named_variables(literal.term)))
        body = tuple(self._steps(literal.body, self._outer(literal.body, known)))
        yield Fold(literal.function, result, literal.term, self._cut_braces(body), group)
        yield from equations

    def _cut_braces(self, body: tuple[Step, ...]) -> tuple[Step, ...]:
        """With at most MAX_SCANS loops. A piece keeps every value, since combinations count."""
        while _loops(body) > MAX_SCANS:
            first, rest = _split([self._named(step) for step in body])
            if len(first) < 2:
                break
            args = tuple(dict.fromkeys(variable for step in first for variable in variables(step)))
            name = f" {self._number}.{len(self.pieces)} in braces"
            self.pieces.append(Clause(self._rule, name, args, first))
            body = (Scan(name, args), *rest)
        return body

    def _named(self, step: Step) -> Step:
        """The step with a variable of its own for each `_`, if it is a scan."""
        if not isinstance(step, Scan):
            return step
        args = [
            self._variable() if isinstance(term, Variable) and term.anonymous else term
            for term in step.args
        ]
        return Scan(step.predicate, tuple(args))

    def _plain(self, term: Term, steps: list[Step]) -> Term:
        if not isinstance(term, Expression):
            return term
        variable = self._variable()
        steps.append(Equation(variable, term))
        return variable

    def _variable(self) -> Variable:
        self._fresh += 1
        return Variable(f" {self._fresh}")


def _test(atom: Atom, negated: bool) -> Test:
    left, right = atom.args
    return Test(atom.predicate, left, right, negated)


def _cut(clause: Clause, number: int) -> list[Clause]:
    """Pieces of at most MAX_SCANS loops; each but the last concludes what the next reads."""
    found: list[Clause] = []
    while _loops(clause.body) > MAX_SCANS:
        first, rest = _split(clause.body)
        if len(first) < 2:
            break
        needed = {variable for step in rest for variable in variables(step)}
        needed.update(term for term in clause.args if isinstance(term, Variable))
        had = dict.fromkeys(variable for step in first for variable in variables(step))
        args = tuple(variable for variable in had if variable in needed)
        name = f" {number}.{len(found)}"
        found.append(Clause(clause.rule, name, args, first))
        clause = Clause(clause.rule, clause.predicate, clause.args, (Scan(name, args), *rest))
    return [*found, clause]


def _loops(body: Sequence[Step]) -> int:
    return sum(isinstance(step, Scan | Fold) for step in body)


def _split(body: Sequence[Step]) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Scans that hang together, with the conditions that need no others, and the rest.

    They are looked for among the first steps, lest a very long body takes very long.
    """
    taken: set[int] = set()
    bound: set[Variable] = set()
    near = body[:_NEAR]
    loops = _close(near, taken, bound, 0)
    scans = [step for step in near if isinstance(step, Scan)]
    while scans and loops < MAX_SCANS:
        best = min(scans, key=_openness(near, bound))
        scans = [scan for scan in scans if scan is not best]
        taken.add(id(best))
        bound.update(variables(best))
        loops = _close(near, taken, bound, loops + 1)
    first = tuple(step for step in body if id(step) in taken)
    return first, tuple(step for step in body if id(step) not in taken)


def _close(body: Sequence[Step], taken: set[int], bound: set[Variable], loops: int) -> int:
    """Take what needs nothing but what is bound; the number of loops then."""
    before = -1
    while before != len(taken):
        before = len(taken)
        for step in body:
            if id(step) in taken or isinstance(step, Scan):
                continue
            gives = given(step, bound)
            if gives is None or (isinstance(step, Fold) and loops == MAX_SCANS):
                continue
            loops += isinstance(step, Fold)
            taken.add(id(step))
            bound |= gives
    return loops


def _openness(
    body: Sequence[Step], bound: Set[Variable]
) -> Callable[[Scan], tuple[bool, bool, int]]:
    """How much a scan would multiply, without knowing sizes: smaller is better."""
    worked_out = {
        side
        for step in body
        if isinstance(step, Equation)
        for side, other in ((step.left, step.right), (step.right, step.left))
        if isinstance(side, Variable) and isinstance(other, Expression) and side not in bound
    }

    def measure(scan: Scan) -> tuple[bool, bool, int]:
        known = sum(not isinstance(term, Variable) or term in bound for term in scan.args)
        early = not worked_out.isdisjoint(variables(scan))
        return early, known == 0 and bool(scan.args), len(scan.args) - known

    return measure


def solved(step: Equation, bound: Container[Variable]) -> tuple[Variable, Term] | None:
    """The variable that an equation gives a value to, and what has that value."""
    return equations.solved(step.left, step.right, bound)


def given(step: Step, bound: set[Variable]) -> set[Variable] | None:
    """The variables to which a step gives values once those of `bound` have some.

    None where it has to wait for others; scans never wait.
    """
    if isinstance(step, Scan):
        return set(variables(step))
    if isinstance(step, Fold):
        return {step.result} if bound.issuperset(step.group) else None
    if isinstance(step, Equation):
        found = solved(step, bound)
        if found is not None:
            return {found[0]}
    return set() if bound.issuperset(variables(step)) else None
