"""Questions put to a database: atoms with or without variables, and queries of conditions."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from rules.analysis.advice import nearest
from rules.answers.frames import Budget, OutOfBudget
from rules.answers.solve import solve
from rules.answers.view import View
from rules.builtins import BUILTINS
from rules.errors import Diagnostic, LimitError, RuleError, diagnose
from rules.program import Program, ground
from rules.source import Span
from rules.statements import Atom, Query, atoms_of
from rules.syntax.parser import parse_atom, parse_query
from rules.terms import Fact, Row, Variable, quote, sorted_rows

_PATIENCE = 200
"""Rows looked at for each answer that there may be."""


@dataclass(frozen=True)
class Answers:
    """For which values of its variables, in `rows`, the conditions of a query hold.

    The rows are sorted and different. A query without variables has the one empty row if it
    holds, and none otherwise. `variables` are names without `?`.
    """

    variables: tuple[str, ...]
    rows: list[Row]

    def text(self) -> str:
        """A table with a line for each row; `yes` or `no` where there are no variables."""
        if not self.variables:
            return "yes" if self.rows else "no"
        if not self.rows:
            return "no answers"
        lines = [[f"?{name}" for name in self.variables]]
        lines += [[quote(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)

    def to_json(self) -> dict[str, object]:
        """`{"variables": [name], "rows": [[value]]}`"""
        return {"variables": list(self.variables), "rows": [list(row) for row in self.rows]}


def ask(question: str | Query, view: View, most: int) -> Answers:
    """The answers to a query such as `?- test_covers(T, "auth.py"), not skipped(T).`

    Raises RuleError: for a text that is no query, a variable without a value, a predicate with
    another number of arguments than it has or of which nothing is known. Raises LimitError for
    more than `most` answers, and when so many rows were looked at that they are not worth it.
    """
    query = parse_query(question) if isinstance(question, str) else question
    faults = tuple(_faults(query, view.arities))
    if faults:
        raise RuleError(faults)
    Program(queries=(query,))
    names = tuple(variable.name for variable in query.variables)
    return Answers(names, sorted_rows(_rows(query, view, most)))


def _rows(query: Query, view: View, most: int) -> list[Row]:
    found: dict[Row, None] = {}
    try:
        for binding in solve(query.body, view, {}, budget=Budget(most * _PATIENCE)):
            found[tuple(binding[variable] for variable in query.variables)] = None
            if not query.variables:
                break
            if len(found) > most:
                raise _too_much("max_answers", f"has more than {most:,} answers")
    except OutOfBudget:
        raise _too_much("max_work", f"looks at more than {most * _PATIENCE:,} rows") from None
    return list(found)


def _too_much(limit: str, what: str) -> LimitError:
    return LimitError(limit, f"the query {what}: add conditions, or raise the limit")


def _faults(query: Query, arities: Mapping[str, int]) -> Iterator[Diagnostic]:
    for atom in atoms_of(query.body):
        if atom.predicate in BUILTINS:
            continue
        known = arities.get(atom.predicate)
        if known is None:
            near = nearest(atom.predicate, sorted(arities))
            note = f"nothing is known of {atom.predicate!r}"
            advice = f"did you mean {near!r}?" if near else ""
            yield _fault(atom, "unknown-predicate", note, advice)
        elif known != len(atom.args):
            yield _fault(atom, "arity-clash", _other_arity(atom, known))


def _fault(atom: Atom, code: str, note: str, advice: str = "") -> Diagnostic:
    if atom.span is None:  # a query that was not read from a text
        return Diagnostic(code, "<query>", 1, 1, note, str(atom), advice, len(str(atom)))
    return diagnose(atom.span, code, note, advice)


def _other_arity(atom: Atom, known: int) -> str:
    count = "1 argument" if known == 1 else f"{known} arguments"
    return f"{atom.predicate!r} has {count}, not {len(atom.args)}"


# single atoms


def read_question(text: str, arities: Mapping[str, int]) -> Atom:
    """An atom of a predicate on facts. Raises RuleError, also for a wrong number of arguments."""
    atom = parse_atom(text)
    known = arities.get(atom.predicate, len(atom.args))
    if atom.predicate in BUILTINS:
        raise _refusal(atom.spans[0], "syntax", "facts can be asked for, not built-in conditions")
    if known != len(atom.args):
        raise _refusal(atom.spans[0], "arity-clash", _other_arity(atom, known))
    return atom


def read_fact(text: str, arities: Mapping[str, int]) -> Fact:
    """A fact. Raises RuleError, also where the text has a variable."""
    atom = read_question(text, arities)
    for term, span in zip(atom.args, atom.spans[1:], strict=True):
        if not isinstance(term, str | int):
            note, advice = f"{span.text!r} is no value", "ask about one fact, with its values"
            raise _refusal(span, "unsafe-fact", note, advice)
    return ground(atom)


def _refusal(span: Span, code: str, message: str, advice: str = "") -> RuleError:
    return RuleError((diagnose(span, code, message, advice),))


def answers(question: Atom, rows: Iterable[Row]) -> list[Row]:
    """The rows that the question matches, sorted."""
    return sorted_rows(list(_matching(question, rows)))


def answers_from(question: Atom, view: View) -> list[Row]:
    """As `answers`, by way of an index."""
    wanted = {c: t for c, t in enumerate(question.args) if isinstance(t, str | int)}
    rows = view.matching(question.predicate, tuple(wanted), tuple(wanted.values()))
    return answers(question, rows)


def _matching(question: Atom, rows: Iterable[Row]) -> Iterator[Row]:
    wanted = [(at, t) for at, t in enumerate(question.args) if not isinstance(t, Variable)]
    first: dict[Variable, int] = {}
    equal: list[tuple[int, int]] = []
    for at, term in enumerate(question.args):
        if isinstance(term, Variable) and not term.anonymous:
            equal.append((first.setdefault(term, at), at))
    for row in rows:
        if all(row[at] == value for at, value in wanted) and all(
            row[a] == row[b] for a, b in equal
        ):
            yield row
