"""Reading conditions: atoms, comparisons, negations and aggregates."""

from rules.source import Span
from rules.statements import Aggregate, Atom, Literal, Negation
from rules.syntax.aggregate_syntax import AggregateReader
from rules.syntax.cursor import Abandoned, Cursor
from rules.syntax.expressions import may_open_term
from rules.syntax.lexer import Token
from rules.syntax.sugar import Placeholder
from rules.terms import OPERATORS, Term

MAX_ARGUMENTS = 255

_NEGATIONS = ("not", "!", "\\+")


class ConditionReader(AggregateReader):
    """Reads conditions; `sums` tells whether `+` is arithmetic there, or joins them."""

    def conditions(self, sums: bool, *joiners: str) -> list[Literal]:
        """One condition or more, with one of the joiners between each two."""
        found: list[Literal] = []
        while True:
            condition = self.condition(sums)
            found += self.take_lifted()
            found.append(condition)
            if not self.cursor.take(*joiners):
                return found

    def condition(self, sums: bool) -> Literal:
        if self._at_negation():
            return self._negation(sums)
        if self._opens_atom():
            return self.atom()
        return self._equation(self._comparison(sums))

    def _at_negation(self) -> bool:
        token = self.cursor.token
        return token.text in _NEGATIONS and token.kind in {"word", "mark"}

    def _opens_atom(self) -> bool:
        token, following = self.cursor.token, self.cursor.following
        if token.kind != "word":
            return is_capital_predicate(self.cursor)
        compared = following.kind == "mark" and following.text in OPERATORS
        return not compared and not self.opens_aggregate()

    def atom(self) -> Atom:
        cursor = self.cursor
        if self._at_negation():
            raise cursor.unexpected("a predicate")
        name = cursor.advance()
        terms: list[Term] = []
        spans: list[Span] = []
        if cursor.opens_arguments():
            cursor.advance()
            if not cursor.take(")"):
                self._arguments(terms, spans)
        return Atom(name.text, tuple(terms), (cursor.span(name.start), *spans))

    def _arguments(self, terms: list[Term], spans: list[Span]) -> None:
        cursor = self.cursor
        while True:
            start = cursor.token.start
            terms.append(self.term())
            spans.append(cursor.span(start))
            if cursor.take(")"):
                return
            if not cursor.take(","):
                raise cursor.unexpected("',' or ')'")
            if len(terms) == MAX_ARGUMENTS:
                note = f"a predicate has at most {MAX_ARGUMENTS} arguments"
                raise cursor.fail_at(cursor.token, "syntax", note)

    def _comparison(self, sums: bool) -> Atom:
        start = self.cursor.token
        if start.kind != "word" and not may_open_term(start):
            raise self.cursor.unexpected("a condition")
        return self._compared(start, self.term(sums, spare=1), sums)

    def _compared(self, start: Token, left: Term, sums: bool) -> Atom:
        """Go on after the left side of a comparison."""
        cursor = self.cursor
        left_span = cursor.span(start.start)
        operator = cursor.token
        if not cursor.at(*OPERATORS):
            raise self._no_comparison(start)
        cursor.advance()
        right_start = cursor.token.start
        right = self.term(sums, spare=1)
        right_span = cursor.span(right_start)
        if cursor.at(*OPERATORS):
            advice = "compare two terms at a time and join the conditions by ','"
            raise cursor.unexpected("an end of the comparison", advice)
        spans = (cursor.span(start.start), left_span, right_span)
        return Atom(operator.text, (left, right), spans)

    def _no_comparison(self, start: Token) -> Abandoned:
        cursor, advice = self.cursor, ""
        lone = start is cursor.last and start.kind == "variable" and start.text[0].isupper()
        if lone and cursor.at(":-", "->", ",", ".", ")", "}"):
            advice = f"write {start.text}(): a capital without parentheses is a variable"
        before = cursor.source.text[max(0, start.start - 80) : start.start].rstrip()
        if cursor.at("+") or before.endswith("+"):
            advice = "'+' joins conditions before '->'; a sum stands in parentheses: (?x + 1)"
        return cursor.unexpected("a comparison such as '=' or '<'", advice)

    def _equation(self, atom: Atom) -> Literal:
        """`?n = count : {...}`, or the other way round, has no need of a placeholder."""
        if atom.predicate != "=":
            return atom
        for side, other in ((1, 0), (0, 1)):
            result = atom.args[side]
            for aggregate in self.lifted:
                if isinstance(result, Placeholder) and aggregate.result is result:
                    self.lifted.remove(aggregate)
                    del self.placeholders[result]
                    spans = (atom.spans[0], atom.spans[1 + other], aggregate.spans[2])
                    function, term = aggregate.function, aggregate.term
                    return Aggregate(function, atom.args[other], term, aggregate.body, spans)
        return atom

    def _negation(self, sums: bool) -> Negation:
        cursor = self.cursor
        sign = cursor.advance()
        if self._at_negation():
            note = "a negation cannot be negated"
            raise cursor.fail_at(cursor.token, "syntax", note, "leave both out")
        if cursor.at("("):
            atom = self._enclosed(sums)
        else:
            atom = self.atom() if self._opens_atom() else self._comparison(sums)
        return Negation(atom, cursor.span(sign.start))

    def _enclosed(self, sums: bool) -> Atom:
        """After `not`, a parenthesis may hold the condition or begin its left side."""
        cursor = self.cursor
        opening = cursor.advance()
        if self._opens_atom():
            return self._closed(self.atom())
        start = cursor.token
        left = self.term(spare=1)
        if cursor.at(*OPERATORS):
            return self._closed(self._compared(start, left, True))
        self.close_group()
        return self._compared(opening, self.climb(left, 0, sums), sums)

    def _closed(self, atom: Atom) -> Atom:
        advice = "'not' takes one condition; several are a rule of their own"
        if not self.cursor.take(")"):
            raise self.cursor.unexpected("')'", advice if self.cursor.at(",", "+") else "")
        return atom


def is_capital_predicate(cursor: Cursor) -> bool:
    """A name with a capital is a variable, except where arguments follow."""
    token = cursor.token
    capital = token.kind == "variable" and token.text[0].isupper() and token.bare
    return capital and cursor.opens_arguments(1)
