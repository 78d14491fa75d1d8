"""Reading conditions: atoms, comparisons and their terms."""

from rules.cursor import LATER, Cursor
from rules.lexer import Token
from rules.source import Span
from rules.terms import MAX_INTEGER_BITS, OPERATORS, Atom, Term, Variable

_AGGREGATES = ("count", "sum", "min", "max")
_ARITHMETIC = ("+", "-", "*", "/", "%")
_TERMS = ("variable", "word", "integer", "string")


def read_conditions(cursor: Cursor, *joiners: str) -> list[Atom]:
    """One condition or more, with one of the joiners between each two."""
    conditions = [read_condition(cursor)]
    while cursor.take(*joiners):
        conditions.append(read_condition(cursor))
    return conditions


def read_condition(cursor: Cursor) -> Atom:
    token, following = cursor.token, cursor.following
    if token.text in {"not", "!", "\\"} and token.kind in {"word", "mark"}:
        raise cursor.fail_at(token, "not-supported", f"negation {LATER}")
    compared = following.kind == "mark" and following.text in OPERATORS
    if (token.kind == "word" and not compared) or is_capital_predicate(cursor):
        return _read_atom(cursor)
    if token.kind in _TERMS or cursor.at("-"):
        return _read_comparison(cursor)
    raise cursor.unexpected("a condition")


def is_capital_predicate(cursor: Cursor) -> bool:
    """A name with a capital is a variable, except where arguments follow."""
    token, following = cursor.token, cursor.following
    calls = following.kind == "mark" and following.text == "("
    return calls and token.kind == "variable" and token.text[0].isupper() and token.bare


def _read_atom(cursor: Cursor) -> Atom:
    name = cursor.advance()
    terms = _Terms(cursor)
    if name.text in _AGGREGATES and cursor.at("{"):
        raise _aggregate(cursor, name)
    if cursor.take("(") and not cursor.take(")"):
        terms.read()
        while not cursor.take(")"):
            _refuse_arithmetic(cursor)
            if not cursor.take(","):
                raise cursor.unexpected("',' or ')'")
            terms.read()
    return terms.atom(name.text, name.start)


def _read_comparison(cursor: Cursor) -> Atom:
    start = cursor.token
    terms = _Terms(cursor)
    terms.read()
    operator = cursor.token
    if not cursor.at(*OPERATORS):
        if start.kind == "variable" and cursor.at("("):
            raise cursor.fail_at(start, "syntax", "a variable cannot stand for a predicate")
        _refuse_arithmetic(cursor)
        raise cursor.unexpected("a comparison such as '=' or '<'")
    cursor.advance()
    terms.read()
    if not cursor.at("+"):  # which may join the next condition
        _refuse_arithmetic(cursor)
    return terms.atom(operator.text, start.start)


class _Terms:
    """The arguments of one atom as they are read, with their places."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._terms: list[Term] = []
        self._spans: list[Span] = []

    def read(self) -> None:
        start = self._cursor.token.start
        self._terms.append(_read_term(self._cursor))
        self._spans.append(self._cursor.span(start))

    def atom(self, predicate: str, start: int) -> Atom:
        return Atom(predicate, tuple(self._terms), (self._cursor.span(start), *self._spans))


def _read_term(cursor: Cursor) -> Term:
    token, following = cursor.token, cursor.following
    if token.kind not in _TERMS:
        negative = cursor.at("-") and following.kind == "integer" and following.start == token.end
        if not negative:
            raise cursor.unexpected("a variable, string, integer or symbol")
        cursor.advance()
        return -_read_integer(cursor)
    if token.kind == "integer":
        return _read_integer(cursor)
    cursor.advance()
    if token.kind == "variable":
        return Variable(token.text)
    if token.kind == "word":
        _refuse_compound(cursor, token)
    return token.text


def _read_integer(cursor: Cursor) -> int:
    token = cursor.advance()
    try:
        value = int(token.text)
    except ValueError:  # more digits than Python reads
        value = 1 << MAX_INTEGER_BITS
    if value.bit_length() > MAX_INTEGER_BITS:
        limit = f"an integer has at most {MAX_INTEGER_BITS} bits"
        raise cursor.fail_at(token, "syntax", limit)
    return value


def _refuse_compound(cursor: Cursor, word: Token) -> None:
    if word.text in _AGGREGATES and (cursor.at("(", "{", ":") or cursor.token.kind == "variable"):
        raise _aggregate(cursor, word)
    if cursor.at("("):
        note = f"an argument cannot have arguments of its own, as {word.text!a} has"
        advice = "an argument is a variable, a string, an integer or a symbol"
        raise cursor.fail_at(word, "syntax", note, advice)


def _aggregate(cursor: Cursor, word: Token) -> Exception:
    return cursor.fail_at(word, "not-supported", f"the aggregate {word.text!a} {LATER}")


def _refuse_arithmetic(cursor: Cursor) -> None:
    if cursor.at(*_ARITHMETIC):
        raise cursor.fail_at(cursor.token, "not-supported", f"arithmetic {LATER}")
