"""Aggregates as Python functions.

fold_value   f(key): the value of an aggregate for one group, or None
fold_groups  f(delta, out): note in `out` the groups of an aggregate that rows of one of its
             steps may be in
"""

from __future__ import annotations

from collections.abc import Callable

from rules.builtins import BUILTINS, calculate
from rules.engine.body_code import BodyCode
from rules.engine.code_context import Context
from rules.engine.code_text import CodeText
from rules.engine.codegen import columns_of
from rules.engine.normal import Absent, Fold, Scan, variables
from rules.engine.ordering import bound_columns
from rules.terms import Value, Variable


def fold_value(fold: Fold, context: Context) -> Callable[..., Value | None]:
    if _counts_rows(fold):
        return _row_count(fold, context)
    code = _FoldValue(fold, context)
    code.open("(key,)", fold.group)
    code.run(fold.body)
    return code.function("key", code.answer)


def _counts_rows(fold: Fold) -> bool:
    """Whether it counts the rows of one scan, which an index knows."""
    step = fold.body[0]
    if fold.function != "count" or fold.term is not None or len(fold.body) > 1:
        return False
    if not isinstance(step, Scan):
        return False
    inner = [variable for variable in variables(step) if variable not in fold.group]
    return len(set(inner)) == len(inner)


def _row_count(fold: Fold, context: Context) -> Callable[..., Value | None]:
    scan = fold.body[0]
    if not isinstance(scan, Scan):
        raise TypeError(f"{scan} has no rows to count")
    code = CodeText()
    places = {variable: f"key[{at}]" for at, variable in enumerate(fold.group)}
    relation = context.relation_of(scan.predicate)
    columns = bound_columns(scan, set(fold.group))
    terms = [scan.args[column] for column in columns]
    values = [places[t] if isinstance(t, Variable) else code.name("c", t) for t in terms]
    row = "".join(f"{value}, " for value in values)
    if len(columns) == len(scan.args):
        return code.function("key", f"return int(({row}) in {code.name('r', relation.rows)})")
    if not columns:
        return code.function("key", f"return len({code.name('r', relation.rows)})")
    key = values[0] if len(values) == 1 else f"({row})"
    index = code.name("i", relation.index(columns))
    return code.function("key", f"return len({index}.get({key}, ()))")


def finds_groups(fold: Fold, place: int) -> bool:
    """Whether the scans between the braces give values to all variables of the group."""
    if isinstance(fold.body[place], Fold):
        return False
    bound: set[Variable] = set()
    for step in fold.body:
        if isinstance(step, Scan) or (fold.body[place] is step and isinstance(step, Absent)):
            bound.update(term for term in step.args if isinstance(term, Variable))
    return bound.issuperset(fold.group)


def fold_groups(fold: Fold, place: int, context: Context) -> Callable[..., None]:
    code = _FoldGroups(fold, context)
    code.open("delta", columns_of(fold.body[place]))
    others = [step for at, step in enumerate(fold.body) if at != place]
    code.run([step for step in others if not isinstance(step, Absent | Fold)])
    return code.function("delta, out")


class _FoldValue(BodyCode):
    """Goes through the combinations of one group; `answer` is the last line of the function."""

    counts_existence = True

    def __init__(self, fold: Fold, context: Context) -> None:
        super().__init__(context)
        self._fold = fold
        self._distinct = fold.function == "count" and fold.term is not None
        start = {"count": "0", "sum": "0"}.get(fold.function, "None")
        self.prologue.append(f"  total = {'set()' if self._distinct else start}")

    @property
    def answer(self) -> str:
        if self._fold.function == "sum":  # which has no value beyond the size of integers
            plus, zero = self.name("c", "+"), self.name("c", 0)
            return f"return {self.name('f', calculate)}({plus}, total, {zero})"
        return "return len(total)" if self._distinct else "return total"

    def conclude(self) -> None:
        fold = self._fold
        if fold.term is None:
            self.line("total += 1")
            return
        value = self.term(fold.term)
        self.refuse_none(fold.term, value)
        if self._distinct:
            self.line(f"total.add({value})")
        elif fold.function == "sum":
            self.line(f"if {value}.__class__ is int: total += {value}")
        else:
            better = self.name("f", BUILTINS["<" if fold.function == "min" else ">"])
            self.line(f"if total is None or {better}({value}, total): total = {value}")


class _FoldGroups(BodyCode):
    def __init__(self, fold: Fold, context: Context) -> None:
        super().__init__(context)
        self._group = fold.group

    def needed_last(self) -> set[Variable]:
        return set(self._group)

    def conclude(self) -> None:
        self.line(f"out[{self.row(self._group)}] = None")
