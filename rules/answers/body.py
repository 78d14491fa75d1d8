"""A body made ready for searches: what to match, what to test, and who waits for which slot."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from rules.analysis.equations import solved
from rules.answers.slots import OPEN, Code, Slots, Values, slots_of, value_of
from rules.answers.view import View
from rules.builtins import BUILTINS, Builtin
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.terms import Term, Value, Variable, named_variables


@dataclass(frozen=True, slots=True)
class Match:
    """A positive condition on facts; `at` is its place in the body."""

    at: int
    atom: Atom
    slots: tuple[int, ...]
    open: bool


@dataclass(frozen=True, slots=True)
class Comparison:
    """A built-in condition, or its negation."""

    function: Builtin
    left: Code
    right: Code
    negated: bool

    def holds(self, values: Values, view: View) -> bool:
        left, right = value_of(self.left, values), value_of(self.right, values)
        if left is None or right is None:
            return self.negated
        return self.function(left, right) != self.negated

    @property
    def slots(self) -> set[int]:
        return slots_of(self.left) | slots_of(self.right)


@dataclass(frozen=True, slots=True)
class Equation(Comparison):
    """`=`, which may also give its value to a variable; `sides` are the terms in the `table`.

    `inverses` holds what has the value of a slot that stands in arithmetic, once asked for.
    """

    sides: tuple[Term, Term]
    table: Slots
    inverses: dict[int, Code | None] = field(default_factory=dict)

    def solved(self, values: Values) -> tuple[int, Value | None] | None:
        """The one slot that is not filled yet, with its value, where it can be told."""
        for alone, other in ((self.left, self.right), (self.right, self.left)):
            slot = alone[0]
            if len(alone) == 1 and isinstance(slot, int) and values[slot] is None:
                return None if slot in other else (slot, value_of(other, values))
        for part in (*self.left, *self.right):
            if isinstance(part, int) and values[part] is None:
                inverse = self._inverse(part)
                return None if inverse is None else (part, value_of(inverse, values))
        return None

    def _inverse(self, slot: int) -> Code | None:
        if slot not in self.inverses:
            named = (v for side in self.sides for v in named_variables(side))
            found = solved(*self.sides, {v for v in named if self.table.of(v) != slot})
            self.inverses[slot] = None if found is None else self.table.code(found[1])
        return self.inverses[slot]


@dataclass(frozen=True, slots=True)
class Absent:
    """A negated condition on facts."""

    predicate: str
    codes: tuple[Code, ...]

    def holds(self, values: Values, view: View) -> bool:
        wanted = [
            (column, value_of(code, values))
            for column, code in enumerate(self.codes)
            if code != (OPEN,)
        ]
        row = tuple(value for _, value in wanted if value is not None)
        if len(row) < len(wanted):
            return True
        if len(row) == len(self.codes):
            return row not in view.rows(self.predicate)
        return not view.matching(self.predicate, tuple(column for column, _ in wanted), row)

    @property
    def slots(self) -> set[int]:
        return {slot for code in self.codes for slot in slots_of(code)} - {OPEN}


@dataclass(frozen=True, slots=True)
class Group:
    """An aggregate: `given` pairs the slots of its group, out here and within the braces."""

    function: str
    body: "Body"
    term: int | None
    given: tuple[tuple[int, int], ...]
    result: int
    at: int

    @property
    def slots(self) -> set[int]:
        return {outer for outer, _ in self.given}


Test = Comparison | Absent


class Body:
    """The conditions of a rule or query, or what stands within the braces of an aggregate.

    `given` are the variables that may get values from outside, and `terms` further terms whose
    values are asked for, in the slots `terms`. With `wanted` the values of no other variables
    than these are asked for; one which then serves nothing is as good as `_`.
    """

    def __init__(
        self,
        literals: Sequence[Literal],
        given: Iterable[Variable] = (),
        wanted: Collection[Variable] | None = None,
        terms: Sequence[Term] = (),
    ) -> None:
        self.table = Slots()
        self.literals = tuple(literals)
        self.matches: list[Match] = []
        self.tests: list[Test] = []
        self.groups: list[Group] = []
        asked = (*given, *(v for term in terms for v in named_variables(term)))
        self.outer = dict.fromkeys((*asked, *outer_variables(literals)))
        self._idle = set() if wanted is None else _idle(literals, {*asked, *wanted})
        for variable in asked:
            self.table.of(variable)
        self.terms = tuple(map(self._equate, terms))
        for at, literal in enumerate(literals):
            self._add(at, literal)
        self.initial = self.table.initial
        self.counts = [sum(self.initial[slot] is None for slot in t.slots) for t in self.tests]
        self.uses = self._uses()

    def named(self) -> list[tuple[Variable, int]]:
        """The variables outside of braces that have a slot, in order of first use."""
        known = self.table.known
        return [(variable, known[variable]) for variable in self.outer if variable in known]

    def _equate(self, term: Term) -> int:
        """A slot for the value of a term."""
        if not isinstance(term, Variable | str | int):
            variable = Variable(f" {len(self.tests)}")
            self.tests.append(self._comparison(Atom("=", (variable, term)), False))
            return self.table.of(variable)
        return OPEN if term in self._idle else self.table.of(term)

    def _add(self, at: int, literal: Literal) -> None:
        if isinstance(literal, Aggregate):
            self.groups.append(self._group(at, literal))
        elif isinstance(literal, Negation):
            self.tests.append(self._negation(literal.atom))
        elif literal.predicate in BUILTINS:
            self.tests.append(self._comparison(literal, False))
        else:
            slots = tuple(self._equate(term) for term in literal.args)
            self.matches.append(Match(at, literal, slots, OPEN in slots))

    def _negation(self, atom: Atom) -> Test:
        if atom.predicate in BUILTINS:
            return self._comparison(atom, True)
        return Absent(atom.predicate, tuple(map(self.table.code, atom.args)))

    def _comparison(self, atom: Atom, negated: bool) -> Comparison:
        left, right = atom.args
        codes = self.table.code(left), self.table.code(right)
        function = BUILTINS[atom.predicate]
        if atom.predicate == "=" and not negated:
            return Equation(function, *codes, False, (left, right), self.table)
        return Comparison(function, *codes, negated)

    def _group(self, at: int, aggregate: Aggregate) -> Group:
        inner = [v for v in dict.fromkeys(aggregate.inner_variables) if v in self.outer]
        terms = () if aggregate.term is None else (aggregate.term,)
        # what of the term is not given is bound between the braces
        body = Body(apart(aggregate.body), inner, terms=terms)
        given = tuple((self.table.of(v), body.table.of(v)) for v in inner)
        term = body.terms[0] if terms else None
        return Group(aggregate.function, body, term, given, self._equate(aggregate.result), at)

    def _uses(self) -> list[tuple[int, ...]]:
        """For each slot the tests that have it."""
        found: list[list[int]] = [[] for _ in self.initial]
        for number, test in enumerate(self.tests):
            for slot in test.slots:
                found[slot].append(number)
        return [tuple(numbers) for numbers in found]


def is_match(literal: Literal) -> bool:
    """Whether it is a positive condition on facts."""
    return isinstance(literal, Atom) and literal.predicate not in BUILTINS


def outer_variables(literals: Iterable[Literal]) -> Iterator[Variable]:
    """Named variables outside of braces, once for each occurrence."""
    for literal in literals:
        if isinstance(literal, Aggregate):
            yield from named_variables(literal.result)
        else:
            yield from literal.variables


def apart(literals: Iterable[Literal]) -> tuple[Literal, ...]:
    """With a variable of its own for each `_` of a positive condition: all its values count."""
    names = map("_ {}".format, count())
    return tuple(
        Atom(
            literal.predicate,
            tuple(Variable(next(names)) if t == Variable("_") else t for t in literal.args),
        )
        if isinstance(literal, Atom) and literal.predicate not in BUILTINS
        else literal
        for literal in literals
    )


def _idle(literals: Iterable[Literal], needed: set[Variable]) -> set[Variable]:
    """Variables that occur once, plainly, in a positive condition, and are not needed."""
    uses = Counter(variable for literal in literals for variable in literal.variables)
    return {
        term
        for literal in literals
        if isinstance(literal, Atom) and literal.predicate not in BUILTINS
        for term in literal.args
        if isinstance(term, Variable) and uses[term] == 1 and term not in needed
    }
