"""The values of the language: terms, atoms, rules and facts, and how they are printed."""

import os.path
from dataclasses import dataclass, field
from functools import cached_property

from rules.source import Span

Value = str | int
Row = tuple[Value, ...]

OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
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


Term = Variable | str | int


@dataclass(frozen=True, repr=False)
class Atom:
    """A condition or conclusion: a predicate, or a built-in such as `<`, and its arguments.

    `spans` tells where the atom and then each argument was written, where that is known.
    """

    predicate: str
    args: tuple[Term, ...] = ()
    spans: tuple[Span, ...] = field(default=(), compare=False)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Named variables, once for each occurrence."""
        return tuple(t for t in self.args if isinstance(t, Variable) and not t.anonymous)

    def __repr__(self) -> str:
        return f"<Atom {self}>"

    def __str__(self) -> str:
        return self.as_text(capitals=False)

    def as_text(self, capitals: bool) -> str:
        """`capitals` prints a variable `X` without its question mark."""
        words = [_term_text(term, capitals) for term in self.args]
        if self.predicate in OPERATORS:
            return f" {self.predicate} ".join(words)
        return _application(self.predicate, words)


@dataclass(frozen=True, repr=False)
class Rule:
    """`body` implies `head`. A fact stated in a file is a rule with an empty body.

    Rules are equal when they say the same under the same label, wherever they were written.
    """

    head: Atom
    body: tuple[Atom, ...] = ()
    label: str = ""
    tier: str = field(default="kernel", compare=False)
    span: Span | None = field(default=None, compare=False)

    @cached_property
    def name(self) -> str:
        """The label, or a name made of the place, such as `rule@team.dl:12`."""
        if self.label or self.span is None:
            return self.label or "rule"
        # a second rule on one line needs its column to have a name of its own
        column = "" if self.span.opens_line else f":{self.span.column}"
        return f"rule@{os.path.basename(self.source)}:{self.line}{column}"

    @property
    def source(self) -> str:
        return self.span.source.name if self.span else ""

    @property
    def line(self) -> int:
        return self.span.line if self.span else 0

    def __repr__(self) -> str:
        return f"<Rule {self}>"

    def __str__(self) -> str:
        return self.as_trace()

    def as_trace(self) -> str:
        """`name: p(?x) + q(?x) -> r(?x)`; a fact ends with a full stop."""
        if not self.body:
            return f"{self.head}."
        return f"{self._prefix}{' + '.join(map(str, self.body))} -> {self.head}"

    def as_clause(self) -> str:
        """`name: r(?x) :- p(?x), q(?x).`"""
        head, *body = (atom.as_text(capitals=True) for atom in (self.head, *self.body))
        return f"{self._prefix}{head} :- {', '.join(body)}." if body else f"{head}."

    @property
    def _prefix(self) -> str:
        return f"{self.label}: " if self.label else ""


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
        return _application(self.predicate, [quote(value) for value in self.args])

    def __repr__(self) -> str:
        return f"Fact({self.predicate!r}, {self.args!r})"


def _application(predicate: str, words: list[str]) -> str:
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


def _term_text(term: Term, capitals: bool) -> str:
    if not isinstance(term, Variable):
        return quote(term)
    return term.name if capitals and term.name[0].isupper() else str(term)
