"""Clauses as Python functions: one for each use of a clause.

insertion    f(delta, rank, out): for each row of the lead in `delta` conclude what follows, let
             it hold with the rank, and append it to `out`
candidates   f(delta, out): for each `(row, rank)` of the lead note in `out` what holds with a
             higher rank and may have been concluded from it, whether or not negations hold
derivation   f(delta, out): for each `(row, limit)` add the row to `out` if the clause concludes
             it from rows that hold, those of its own component with ranks below the limit
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence

from rules.engine.body_code import BodyCode
from rules.engine.code_context import Context, exhausted
from rules.engine.code_text import CodeText
from rules.engine.normal import Absent, Clause, Fold, Scan, Step
from rules.engine.relation import DEAD
from rules.terms import Term, Variable

ONCE = ((),)
"""The delta that runs a clause without scans."""


Led = tuple[Clause, int]
"""A clause and the place of the step that leads: a scan, an absent or a fold; -1 for ONCE."""


def insertion(led: Sequence[Led], context: Context) -> Callable[..., None]:
    """Several clauses of one head have one function for a row that all their leads match, and
    take a rank each, from `rank` on."""
    if len(led) > 1:
        return _bundle(led, context, _Insertion, "delta, rank, out")
    ((clause, lead),) = led
    code = _Insertion(clause, context)
    code.open("delta", None if lead < 0 else columns_of(clause.body[lead]))
    code.run(_others(clause, lead))
    return code.function("delta, rank, out")


def candidates(led: Sequence[Led], context: Context) -> Callable[..., None]:
    """Several clauses of one head have one function, as for insertion."""
    if len(led) > 1:
        return _bundle(led, context, _Candidates, "delta, out")
    ((clause, lead),) = led
    code = _Candidates(clause, context)
    code.open("delta", columns_of(clause.body[lead]), code.lead_rank)
    code.run(code.steps(_others(clause, lead)))
    return code.function("delta, out")


def _bundle(
    led: Sequence[Led],
    context: Context,
    kind: type[_Insertion] | type[_Candidates],
    arguments: str,
) -> Callable[..., None]:
    text = CodeText()
    clause, lead = led[0]
    columns = [text.local() for _ in columns_of(clause.body[lead])]
    row = "".join(f"{column}, " for column in columns) or "()"
    text.loop(f"({row}), {kind.lead_rank}" if kind.lead_rank else row, "delta")
    for clause, lead in led:
        code = kind(clause, context, text)
        code.open_part(columns_of(clause.body[lead]), columns)
        code.run(code.steps(_others(clause, lead)))
        code.close_part()
    return text.function(arguments)


def derivation(clause: Clause, context: Context) -> Callable[..., None]:
    code = _Derivation(clause, context)
    code.open("delta", clause.args, "limit")
    code.run(clause.body)
    return code.function("delta, out")


def columns_of(lead: Step) -> tuple[Term, ...]:
    """The arguments of rows that lead."""
    if isinstance(lead, Fold):
        return (*lead.group, lead.result)
    if isinstance(lead, Scan | Absent):
        return lead.args
    raise TypeError(f"no rows belong to {lead}")


def _others(clause: Clause, lead: int) -> list[Step]:
    """The steps that are left to do; a negation in the lead may still be false."""
    return [
        step for place, step in enumerate(clause.body) if place != lead or isinstance(step, Absent)
    ]


class _ForHead(BodyCode):
    """Functions that find heads. A head that needs no proof is left as soon as it is known."""

    lead_rank = ""
    """The name for the rank that comes with each row of the lead, if one does."""

    def __init__(self, clause: Clause, context: Context, beside: CodeText | None = None) -> None:
        super().__init__(context, beside)
        self.clause = clause
        self.rows = self.name("r", context.relation_of(clause.predicate).rows)
        self._known_at: int | None = None
        self._base = 0

    def open_part(self, args: Sequence[Term], columns: Sequence[str]) -> None:
        """Be one of several in a function, for a row of the lead whose columns have these names."""
        self.depth = 1
        self.loop("_", self.name("o", ONCE))
        self._base = self.depth
        self.bind(args, columns)

    def close_part(self) -> None:
        self.depth = 1

    def steps(self, others: list[Step]) -> list[Step]:
        """Those of the remaining steps that matter."""
        return others

    def needed_last(self) -> set[Variable]:
        return {term for term in self.clause.args if isinstance(term, Variable)}

    def take_head(self) -> None:
        """If it is known by now: is there anything to find out about it?"""
        if self._known_at is None and self.needed_last() <= self.place.keys():
            self._known_at = self.depth
            self.line(f"head = {self.row(self.clause.args)}")
            self.dismiss("continue" if self.depth else "return")

    @abstractmethod
    def dismiss(self, give_up: str) -> None:
        """Give up a head that there is nothing to find out about."""

    @abstractmethod
    def keep(self) -> None:
        """The head is proved."""

    def before_loop(self) -> None:
        self.take_head()

    def conclude(self) -> None:
        self.take_head()
        self.keep()
        if self._known_at == 0:
            self.line("return")
        elif self._known_at is not None:
            self.leave(self._known_at)

    @property
    def _known_early(self) -> bool:
        """Before any row of the lead."""
        return self._known_at == self._base


class _Insertion(_ForHead):
    def __init__(self, clause: Clause, context: Context, beside: CodeText | None = None) -> None:
        super().__init__(clause, context, beside)
        if beside is None or not beside.prologue:
            self.prologue.append("  add = out.append")

    def close_part(self) -> None:
        super().close_part()
        self.line("rank += 1")

    def dismiss(self, give_up: str) -> None:
        self.line(f"if head in {self.rows}: {give_up}")

    def keep(self) -> None:
        self.line(f"{self.rows}[head] = rank")
        self.line("add(head)")

    def snapshot(self, scan: Scan) -> bool:
        return scan.predicate == self.clause.predicate

    def before_loop(self) -> None:
        super().before_loop()
        if self.depth > self._base + 1:  # fewer loops are bounded by those who call
            room = self.name("m", self.context.room)
            self.line(f"if len(out) > {room}[0]: {self.name('f', exhausted)}()")


class _Candidates(_ForHead):
    lead_rank = "above"

    def steps(self, others: list[Step]) -> list[Step]:
        return [step for step in others if not isinstance(step, Absent)]

    def stepped(self) -> None:
        self.take_head()  # few heads hold: that is the cheapest test

    def dismiss(self, give_up: str) -> None:
        self.line(f"held = {self.rows}.get(head)")
        dead = self.name("c", DEAD)
        low = "" if self._known_early else " or held <= above"
        self.line(f"if held is None or held == {dead}{low} or head in out: {give_up}")

    def keep(self) -> None:
        if self._known_early:
            self.skip("held <= above")
        self.line("out[head] = None")

    def fold(self, step: Fold) -> None:
        value, former = self.local(), self.name("g", self.context.fold_of(step).former)
        self.loop(value, f"{former}({self.row(step.group)})")
        self.settle(step, value)


class _Derivation(BodyCode):
    def __init__(self, clause: Clause, context: Context) -> None:
        super().__init__(context)
        self._head = clause.args
        self.prologue.append("  add = out.add")

    def rank_limit(self, scan: Scan) -> str:
        return "limit" if scan.predicate in self.context.component else ""

    def conclude(self) -> None:
        self.line(f"add({self.row(self._head)})")
        self.leave(1)
