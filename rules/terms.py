"""Values, terms and facts, and how they are printed."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

Value = str | int
Row = tuple[Value, ...]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
PRECEDENCE = {"+": 1, "-": 1, "*": 2, "/": 2, "%": 2}
"""Of the operators of expressions; what is higher binds more tightly."""
TIERS = ("kernel", "global", "workspace", "learned")

MAX_INTEGER_BITS = 13_000
"""Python refuses to print or read longer integers (4,300 digits)."""


@dataclass(frozen=True, repr=False)
class Variable:
    """A variable by its name without `?`; `_` stands for a value nobody asks for."""

    name: str

    @property
    def anonymous(self) -> bool:
        return self.name == "_"

    def __repr__(self) -> str:
        return f"<Variable {self.name}>"

    def __str__(self) -> str:
        return "_" if self.anonymous else f"?{self.name}"


@dataclass(frozen=True, repr=False)
class Expression:
    """Arithmetic on two terms: `operator` is `+`, `-`, `*`, `/` or `%`.

    `/` cuts towards zero and `%` has the sign of the dividend. It has no value where an operand
    is not an integer, for a division by zero, and beyond MAX_INTEGER_BITS.
    """

    operator: str
    left: "Term"
    right: "Term"

    def __repr__(self) -> str:
        return f"<Expression {self}>"

    def __str__(self) -> str:
        return term_text(self, capitals=False)


Term = Variable | str | int | Expression


def named_variables(term: Term) -> Iterator[Variable]:
    """The variables of a term except `_`, from left to right, once for each occurrence."""
    waiting = [term]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Expression):
            waiting += (term.right, term.left)
        elif isinstance(term, Variable) and not term.anonymous:
            yield term


class Fact(tuple[str, Row]):
    """A predicate and its values, such as `test_covers('test_auth.py', 'auth.py')`.

    Facts sort by predicate and then by values as `row_order` does.
    """

    __slots__ = ()

    def __new__(cls, predicate: str, args: Row = ()) -> "Fact":
        return super().__new__(cls, (predicate, args))

    def __getnewargs__(self) -> tuple[str, Row]:
        return self.predicate, self.args

    @property
    def predicate(self) -> str:
        return self[0]

    @property
    def args(self) -> Row:
        return self[1]

    def __str__(self) -> str:
        return application(self.predicate, [quote(value) for value in self.args])

    def __repr__(self) -> str:
        return f"Fact({self.predicate!r}, {self.args!r})"


def application(predicate: str, words: list[str]) -> str:
    """Without parentheses where there is nothing in them, unless a capital would mislead."""
    if not words and not predicate[:1].isupper():
        return predicate
    return f"{predicate}({', '.join(words)})"


def row_order(row: Row) -> tuple[tuple[bool, Value], ...]:
    """A sort key: integers before strings, strings by code point."""
    return tuple((isinstance(value, str), value) for value in row)


def sorted_rows(rows: "list[Row]") -> list[Row]:
    """In the order of `row_order`, which plain comparison has wherever it is defined."""
    try:
        return sorted(rows)
    except TypeError:
        return sorted(rows, key=row_order)


def quote(value: Value) -> str:
    """A value as it is written in a rule file: `3`, or a string in single quotes."""
    if isinstance(value, int):
        return str(value)
    if value.isprintable() and "'" not in value and "\\" not in value:
        return f"'{value}'"
    return "'" + "".join(map(_escaped, value)) + "'"


def _escaped(character: str) -> str:
    if character in "'\\":
        return "\\" + character
    if character.isprintable():
        return character
    short = {"\n": "\\n", "\t": "\\t"}.get(character)
    code = ord(character)
    return short or (f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}")


def term_text(term: Term, capitals: bool) -> str:
    """A term as it is written, with no more parentheses than it needs.

    `capitals` prints a variable `X` without its question mark.
    """
    if isinstance(term, Expression):
        rank = PRECEDENCE[term.operator]
        left, right = _operand(term.left, rank, capitals), _operand(term.right, rank + 1, capitals)
        return f"{left} {term.operator} {right}"
    if not isinstance(term, Variable):
        return quote(term)
    return term.name if capitals and term.name[0].isupper() else str(term)


def _operand(term: Term, least: int, capitals: bool) -> str:
    """In parentheses unless it binds as tightly as `least`; operators group from the left."""
    text = term_text(term, capitals)
    loose = isinstance(term, Expression) and PRECEDENCE[term.operator] < least
    return f"({text})" if loose else text


def enclosed_text(term: Term, capitals: bool) -> str:
    """A term as it is written where arithmetic stands in parentheses."""
    text = term_text(term, capitals)
    return f"({text})" if isinstance(term, Expression) else text


def is_name(text: str) -> bool:
    """Whether the text can be the name of a predicate."""
    return re.fullmatch(r"[^\W\d_]\w*", text) is not None and text != "not"


def is_label(text: str) -> bool:
    """Whether a rule can be named so with a colon; other names need `@name('...')`."""
    return is_name(text) and not text[0].isupper()
