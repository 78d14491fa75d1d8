"""Reading terms: values, variables, and arithmetic on them."""

from abc import ABC, abstractmethod

from rules.syntax.cursor import Cursor
from rules.syntax.lexer import Token
from rules.terms import MAX_INTEGER_BITS, PRECEDENCE, Expression, Term, Variable

MAX_NESTING = 50
"""Parentheses within each other, and operators in one expression."""

_SIMPLE = ("variable", "word", "integer", "string")


class TermReader(ABC):
    """Reads terms at a cursor; `sums` tells whether `+` is arithmetic here or joins conditions."""

    def __init__(self, cursor: Cursor) -> None:
        self.cursor = cursor
        self.start_statement()

    def start_statement(self) -> None:
        """Forget what a statement before, perhaps a broken one, has left open."""
        self._outermost: Token | None = None
        self._nesting = self._open = self._operators = 0

    @abstractmethod
    def aggregate(self) -> Variable:
        """Read an aggregate; the variable stands for its result."""

    @abstractmethod
    def compound(self, word: Token) -> Term:
        """Read the arguments of a word in the place of a term."""

    @abstractmethod
    def opens_aggregate(self) -> bool:
        """At the name of an aggregate which is used as one."""

    def term(self, sums: bool = True, spare: int = 0) -> Term:
        """`spare` more parentheses are allowed where printing may add them."""
        token, following = self.cursor.token, self.cursor.following
        # by far most terms are an argument without any arithmetic
        if following.kind == "mark" and following.text in ",)" and token.kind in _SIMPLE:
            return self._simple()
        before = self._nesting, self._operators
        self._nesting, self._operators, self._outermost = -spare, 0, None
        term = self.climb(self._operand(), 0, sums)
        self._nesting, self._operators = before
        return term

    def climb(self, left: Term, least: int, sums: bool) -> Term:
        """Go on after an operand, with operators that bind more tightly than `least`."""
        cursor = self.cursor
        while True:
            token = cursor.token
            rank = PRECEDENCE.get(token.text, 0) if token.kind == "mark" else 0
            if rank <= least or (token.text == "+" and not sums):
                return left
            self._operator(cursor.advance())
            left = Expression(token.text, left, self.climb(self._operand(), rank, sums))

    def _operator(self, token: Token) -> None:
        self._operators += 1
        if self._operators > MAX_NESTING:
            note = f"an expression has at most {MAX_NESTING} operators"
            advice = "compute a part of it with '=' in a condition of its own"
            raise self.cursor.fail_at(token, "syntax", note, advice)

    def _operand(self) -> Term:
        cursor = self.cursor
        if cursor.at("-"):
            return self._negative()
        if cursor.at("("):
            return self._group()
        if self.opens_aggregate():
            return self.aggregate()
        if cursor.token.kind not in _SIMPLE:
            raise cursor.unexpected("a variable, string, integer or symbol")
        return self._simple()

    def _simple(self) -> Term:
        cursor = self.cursor
        token = cursor.advance()
        if token.kind == "variable":
            if cursor.opens_arguments():
                note = "a variable cannot stand for a predicate"
                raise cursor.fail_at(token, "syntax", note)
            return Variable(token.text)
        if token.kind == "integer":
            return self._integer(token)
        if token.kind == "word" and cursor.opens_arguments():
            return self.compound(token)
        return token.text

    def _integer(self, token: Token) -> int:
        try:
            value = int(token.text)
        except ValueError:  # more digits than Python reads
            value = 1 << MAX_INTEGER_BITS
        if value.bit_length() > MAX_INTEGER_BITS:
            limit = f"an integer has at most {MAX_INTEGER_BITS} bits"
            raise self.cursor.fail_at(token, "syntax", limit)
        return value

    def _negative(self) -> Term:
        minus = self.cursor.advance()
        if self.cursor.token.kind != "integer":
            self._operator(minus)
        self._enter(minus)
        operand = self._operand()
        self._leave()
        return -operand if isinstance(operand, int) else Expression("-", 0, operand)

    def _group(self) -> Term:
        self._enter(self.cursor.advance())
        term = self.climb(self._operand(), 0, True)
        self.close_group()
        self._leave()
        return term

    def close_group(self) -> None:
        advice = "conditions do not stand in parentheses, except after 'not'"
        if not self.cursor.take(")"):
            compared = self.cursor.at("=", "!=", "<", "<=", ">", ">=")
            raise self.cursor.unexpected("an operator or ')'", advice if compared else "")

    def _enter(self, token: Token) -> None:
        self._nesting += 1
        self._open += 1
        self._outermost = self._outermost or token
        # expressions within aggregates within expressions nest as well
        if self._nesting > MAX_NESTING or self._open > 2 * MAX_NESTING:
            note = f"parentheses and signs nest at most {MAX_NESTING} deep"
            raise self.cursor.fail_at(self._outermost, "syntax", note)

    def _leave(self) -> None:
        self._nesting -= 1
        self._open -= 1


def may_open_term(token: Token) -> bool:
    """Whether a term can begin so; a bare word is left out, which may be anything."""
    if token.kind == "mark":
        return token.text in {"-", "("}
    return token.kind in {"variable", "integer", "string"}
