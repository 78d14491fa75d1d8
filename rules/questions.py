"""Questions put to a database: atoms with or without variables."""

from collections.abc import Iterable, Iterator, Mapping

from rules.checks import nearest
from rules.errors import RuleError, diagnose
from rules.filters import FILTERS
from rules.parser import parse_atom
from rules.program import ground
from rules.source import Span
from rules.terms import Atom, Fact, Row, Value, Variable, sorted_rows

_SHOWN = 3


def read_question(text: str, arities: Mapping[str, int]) -> Atom:
    """An atom of a predicate on facts. Raises RuleError, also for a wrong number of arguments."""
    atom = parse_atom(text)
    known = arities.get(atom.predicate, len(atom.args))
    if atom.predicate in FILTERS:
        raise _refusal(atom.spans[0], "syntax", "facts can be asked for, not built-in conditions")
    if known != len(atom.args):
        note = f"{atom.predicate!r} has {known} arguments, not {len(atom.args)}"
        raise _refusal(atom.spans[0], "arity-clash", note)
    return atom


def read_fact(text: str, arities: Mapping[str, int]) -> Fact:
    """A fact. Raises RuleError, also where the text has a variable."""
    atom = read_question(text, arities)
    for term, span in zip(atom.args, atom.spans[1:], strict=True):
        if isinstance(term, Variable):
            note, advice = f"{span.text!r} is a variable", "ask about one fact, with its values"
            raise _refusal(span, "unsafe-fact", note, advice)
    return ground(atom)


def _refusal(span: Span, code: str, message: str, advice: str = "") -> RuleError:
    return RuleError((diagnose(span, code, message, advice),))


def answers(question: Atom, rows: Iterable[Row]) -> list[Row]:
    """The rows that the question matches, sorted."""
    return sorted_rows(list(_matching(question, rows)))


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


def absence(fact: Fact, rows: Iterable[Row], arities: Mapping[str, int]) -> str:
    """A sentence on a fact that does not hold, with what comes near."""
    if fact.predicate not in arities:
        near = nearest(fact.predicate, sorted(arities))
        hint = f"; did you mean {near!r}?" if near else ""
        return f"{fact} does not hold: nothing is known of {fact.predicate!r}{hint}"
    others = [str(Fact(fact.predicate, row)) for row in _nearest_rows(fact, rows)]
    if not others:
        return f"{fact} does not hold, nor does any other fact of {fact.predicate!r}"
    return f"{fact} does not hold; what does: {', '.join(others)}"


def _nearest_rows(fact: Fact, rows: Iterable[Row]) -> list[Row]:
    """Rows with most values in common, of those first in order."""

    def differences(row: Row) -> int:
        pairs: Iterable[tuple[Value, Value]] = zip(row, fact.args, strict=False)
        return sum(left != right for left, right in pairs)

    return sorted(sorted_rows(list(rows)), key=differences)[:_SHOWN]
