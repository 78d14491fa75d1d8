"""The steps of a clause as text of a function."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from rules.builtins import calculate
from rules.engine.code_context import Context, exhausted
from rules.engine.code_text import CodeText
from rules.engine.condition_code import condition
from rules.engine.folds import MISSING
from rules.engine.normal import Absent, Equation, Fold, Scan, Step, Test, solved, variables
from rules.engine.ordering import bound_columns, ordered
from rules.engine.relation import DEAD
from rules.terms import MAX_INTEGER_BITS, Expression, Term, Variable, named_variables

_BOUND = 1 << MAX_INTEGER_BITS


class BodyCode(CodeText, ABC):
    """Writes steps in a good order; the kinds of functions fill in what differs between them.

    Everything is inside at least one loop, so that `continue` gives up a combination.
    """

    counts_existence = False
    """Whether every matching row matters, not only that there is one."""

    def __init__(self, context: Context, beside: CodeText | None = None) -> None:
        super().__init__(beside)
        self.context = context
        self.place: dict[Variable, str] = {}

    # what differs

    @abstractmethod
    def conclude(self) -> None:
        """All steps hold."""

    def stepped(self) -> None:
        """More variables have values."""

    def rank_limit(self, scan: Scan) -> str:
        """What ranks of the scan's rows have to be below, if that matters."""
        return ""

    def needed_last(self) -> set[Variable]:
        """The variables that `conclude` uses."""
        return set()

    def snapshot(self, scan: Scan) -> bool:
        """Whether the scanned relation may grow while the function runs."""
        return False

    def before_loop(self) -> None:
        """A loop over rows is about to be opened."""

    # the whole body

    def open(self, source: str, args: Sequence[Term] | None, rank: str = "") -> None:
        """The loop over rows of the lead, whose columns these are; None for a row of nothing.

        With a name for it, a rank comes with each row.
        """
        self.before_loop()
        if args is None:
            self.loop("_", source)
            return
        targets, checks = self._targets(args, ())
        self.loop(f"({targets}), {rank}" if rank else targets, source)
        self._check(checks)

    def run(self, steps: Iterable[Step]) -> None:
        self.stepped()
        order = ordered(steps, set(self.place), self.context.relation_of)
        for step, later in zip(order, self._needed_after(order), strict=True):
            self._step(step, later)
            self.stepped()
        self.conclude()

    def _needed_after(self, order: list[Step]) -> list[set[Variable]]:
        needed = self.needed_last()
        found = []
        for step in reversed(order):
            found.append(set(needed))
            needed.update(variables(step))
        return found[::-1]

    def _step(self, step: Step, later: set[Variable]) -> None:
        if isinstance(step, Scan):
            self._scan(step, later)
        elif isinstance(step, Absent):
            self._absent(step)
        elif isinstance(step, Equation):
            self._equation(step)
        elif isinstance(step, Test):
            self._test(step)
        else:
            self.fold(step)

    # terms

    def term(self, term: Term) -> str:
        """Code for the value of a term; arithmetic may have None for its value."""
        if isinstance(term, Variable):
            return self.place[term]
        if not isinstance(term, Expression):
            return self.name("c", term)
        left, right = self.term(term.left), self.term(term.right)
        result = self.local("t")
        if term.operator in {"+", "-"}:
            ints = f"{left}.__class__ is {right}.__class__ is int"
            bound = self.name("c", _BOUND)
            self.line(f"{result} = {left} {term.operator} {right} if {ints} else None")
            self.line(f"if {ints} and not -{bound} < {result} < {bound}: {result} = None")
            return result
        metered = self.context.meter is not None
        function = self.name("f", self.context.calculate if metered else calculate)
        whole = f"{function}({self.name('c', term.operator)}, {left}, {right})"
        parts = ((term.left, left), (term.right, right))
        nothing = [f"{code} is None" for part, code in parts if isinstance(part, Expression)]
        guard = f"None if {' or '.join(nothing)} else " if nothing else ""
        self.line(f"{result} = {guard}{whole}")
        return result

    def row(self, terms: Iterable[Term]) -> str:
        return "(" + "".join(f"{self.term(term)}, " for term in terms) + ")"

    def _key(self, args: Sequence[Term], columns: Sequence[int]) -> str:
        terms = [args[column] for column in columns]
        return self.term(terms[0]) if len(terms) == 1 else self.row(terms)

    def refuse_none(self, term: Term, code: str) -> None:
        if isinstance(term, Expression):
            self.skip(f"{code} is None")

    def _targets(
        self, args: Sequence[Term], known: Sequence[int]
    ) -> tuple[str, list[tuple[str, Term]]]:
        """Names for the columns of a row, and what has to be compared with terms."""
        names: list[str] = []
        checks: list[tuple[str, Term]] = []
        fresh: dict[Variable, str] = {}
        for column, term in enumerate(args):
            if column in known or (isinstance(term, Variable) and term.anonymous):
                names.append("_")
                continue
            names.append(self.local())
            if isinstance(term, Variable) and term not in self.place and term not in fresh:
                fresh[term] = names[-1]
            else:
                checks.append((names[-1], term))
        self.place.update(fresh)
        return "".join(f"{name}, " for name in names) or "()", checks

    def bind(self, args: Sequence[Term], columns: Sequence[str]) -> None:
        """Let the arguments of a row stand for columns that have names already."""
        checks: list[tuple[str, Term]] = []
        for term, column in zip(args, columns, strict=True):
            if isinstance(term, Variable) and term.anonymous:
                continue
            if isinstance(term, Variable) and term not in self.place:
                self.place[term] = column
            else:
                checks.append((column, term))
        self._check(checks)

    def _check(self, checks: list[tuple[str, Term]]) -> None:
        for name, term in checks:
            # an absent lead may have arithmetic on what is not known yet: its own test comes later
            if all(variable in self.place for variable in named_variables(term)):
                self.skip(f"{name} != {self.term(term)}")

    # steps

    def _scan(self, scan: Scan, later: set[Variable]) -> None:
        relation = self.context.relation_of(scan.predicate)
        columns = bound_columns(scan, set(self.place))
        rows = self.name("r", relation.rows)
        if len(columns) == len(scan.args):
            self._membership(scan, rows)
            return
        exists = self._asks_existence(scan, later)
        if columns:
            index, key = self.name("i", relation.index(columns)), self._key(scan.args, columns)
            missing, source = f"{key} not in {index}", f"{index}.get({key}, ())"
        elif self.snapshot(scan):
            missing, source = "", self.local("s")
            self.prologue.append(f"  {source} = tuple({rows})")
        else:
            missing, source = f"not {rows}", rows
        if exists and missing and not self.rank_limit(scan):
            self.skip(missing)
        else:
            self._go_through(scan, columns, self._metered(source), exists)

    def _asks_existence(self, scan: Scan, later: set[Variable]) -> bool:
        """Whether none of the values that the scan finds is used."""
        new = [
            term
            for term in scan.args
            if isinstance(term, Variable) and not term.anonymous and term not in self.place
        ]
        return not self.counts_existence and len(set(new)) == len(new) and later.isdisjoint(new)

    def _membership(self, scan: Scan, rows: str) -> None:
        row, limit = self.row(scan.args), self.rank_limit(scan)
        if not limit and self.snapshot(scan):
            limit = "rank"
        if limit:
            self.skip(f"{rows}.get({row}, {self.name('c', DEAD)}) >= {limit}")
        else:
            self.skip(f"{row} not in {rows}")

    def _go_through(self, scan: Scan, columns: Sequence[int], source: str, exists: bool) -> None:
        self.before_loop()
        limit = self.rank_limit(scan)
        if not limit:
            targets, checks = self._targets(scan.args, columns)
            self.loop(targets, source)
            self._check(checks)
            return
        rows = self.name("r", self.context.relation_of(scan.predicate).rows)
        row = self.local("row")
        self.loop(row, source)
        if exists:
            self.line(f"if {rows}[{row}] < {limit}: break")
            self.depth -= 1
            self.line("else: continue")
            return
        self.skip(f"{rows}[{row}] >= {limit}")
        targets, checks = self._targets(scan.args, columns)
        self.line(f"{targets} = {row}")
        self._check(checks)

    def _metered(self, source: str) -> str:
        """Count the rows that a join looks at, where joins are metered."""
        if self.context.meter is None:
            return source
        meter, bucket = self.name("m", self.context.meter), self.local("b")
        self.line(f"{bucket} = {source}")
        self.line(f"{meter}[0] -= len({bucket})")
        self.line(f"if {meter}[0] < 0: {self.name('f', exhausted)}()")
        return bucket

    def _absent(self, step: Absent) -> None:
        relation = self.context.relation_of(step.predicate)
        wild = [isinstance(term, Variable) and term.anonymous for term in step.args]
        columns = tuple(column for column in range(len(step.args)) if not wild[column])
        rows = self.name("r", relation.rows)
        if not any(wild):
            self.skip(f"{self.row(step.args)} in {rows}")
        elif columns:
            index = self.name("i", relation.index(columns))
            self.skip(f"{self._key(step.args, columns)} in {index}")
        else:
            self.skip(rows)

    def _equation(self, step: Equation) -> None:
        found = solved(step, self.place)
        if found is not None:
            value = self.term(found[1])
            self.refuse_none(found[1], value)
            self.place[found[0]] = value
            return
        left, right = self.term(step.left), self.term(step.right)
        self.refuse_none(step.left, left)
        self.refuse_none(step.right, right)
        self.skip(f"{left} != {right}")

    def _test(self, step: Test) -> None:
        left, right = self.term(step.left), self.term(step.right)
        holds = condition(self, step.name, (step.left, step.right), (left, right), self.context)
        sides = ((step.left, left), (step.right, right))
        some = [f"{code} is not None" for term, code in sides if isinstance(term, Expression)]
        whole = " and ".join([*some, holds])
        self.skip(whole if step.negated else f"not ({whole})")

    def fold(self, step: Fold) -> None:
        """Find the present value of an aggregate's group."""
        state, value = self.context.fold_of(step), self.local()
        key, missing = self.row(step.group), self.name("c", MISSING)
        self.line(f"{value} = {self.name('d', state.memo)}.get({key}, {missing})")
        compute = self.name("g", state.compute)
        self.line(f"if {value} is {missing}: {value} = {compute}({key})")
        self.skip(f"{value} is None")
        self.settle(step, value)

    def settle(self, step: Fold, value: str) -> None:
        """Give an aggregate's result its value, or compare."""
        if step.result in self.place:
            self.skip(f"{value} != {self.place[step.result]}")
        else:
            self.place[step.result] = value
