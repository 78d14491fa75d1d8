"""Reading aggregates: with braces as a term anywhere, and as calls in a conclusion."""

from abc import abstractmethod

from rules.source import Span
from rules.statements import AGGREGATES, Aggregate, Literal
from rules.syntax.cursor import Abandoned
from rules.syntax.expressions import TermReader, may_open_term
from rules.syntax.lexer import Token
from rules.syntax.sugar import AggregateCall, Placeholder
from rules.terms import Term, Variable

MAX_BRACES = 10
"""Aggregates within each other."""


class AggregateReader(TermReader):
    """Reads aggregates, each as a placeholder for its result.

    `lifted` holds those with braces that must stand before the condition being read; `calls`
    those written `count(?x)`, which only a conclusion may have. `placeholders` are all that a
    statement needs a name for, in the order of writing.
    """

    def start_statement(self) -> None:
        super().start_statement()
        self.lifted: list[Aggregate] = []
        self.calls: list[AggregateCall] = []
        self.placeholders: dict[Placeholder, None] = {}
        self._braces = 0
        self._function = ""

    @abstractmethod
    def conditions(self, sums: bool, *joiners: str) -> list[Literal]:
        """Read conditions with joiners between them."""

    def take_lifted(self) -> list[Aggregate]:
        lifted, self.lifted = self.lifted, []
        return lifted

    def refuse_calls(self) -> None:
        """For where no conclusion is read."""
        for call in self.calls:
            function = call.placeholder.name
            note = f"'{function}(...)' stands in the conclusion of a rule only"
            advice = f"in a condition write ?n = {example(function)}"
            raise self.cursor.fail(call.spans[0], "syntax", note, advice)

    def opens_aggregate(self) -> bool:
        """At the name of an aggregate with braces."""
        token, following = self.cursor.token, self.cursor.following
        if token.kind != "word" or token.text not in AGGREGATES:
            return False
        if following.kind != "mark" or following.text == "-":
            # on a new line it begins a statement
            return may_open_term(following) and not following.fresh
        if following.text == "(":
            return not following.fresh and self._brace_follows()
        return following.text == "{" or (
            following.text == ":" and self.cursor.peek(2).text in {"{", ":"}
        )

    def _brace_follows(self) -> bool:
        """After the parenthesis that follows, as in `sum (?x + 1) : { p(?x) }`."""
        distance, depth = 1, 0
        while True:
            token = self.cursor.peek(distance)
            distance += 1
            if token.kind == "end":
                return False
            if token.kind == "mark":
                depth += (token.text == "(") - (token.text == ")")
                if depth == 0:
                    following = self.cursor.peek(distance)
                    return following.kind == "mark" and following.text in {":", "{"}

    def aggregate(self) -> Variable:
        cursor = self.cursor
        name = cursor.advance()
        placeholder = self._placeholder(name)
        term, of_term = None, None
        if not cursor.at("{", ":"):
            term, of_term = self._own_term(name)
        elif name.text != "count":
            advice = f"write {example(name.text)}"
            raise cursor.unexpected(f"the term of {name.text!r}", advice)
        cursor.take(":")
        cursor.expect("{", "'{' and conditions")
        body = self._between_braces(name)
        whole = cursor.span(name.start)
        spans = (whole, whole, of_term)
        self.lifted.append(Aggregate(name.text, placeholder, term, tuple(body), spans))
        return placeholder

    def _placeholder(self, name: Token) -> Placeholder:
        if self._function:
            note = f"the term of {self._function!r} holds another aggregate"
            advice = "give the inner one a name by '=' in a condition of its own"
            raise self.cursor.fail_at(name, "syntax", note, advice)
        placeholder = Placeholder(name.text, name.start)
        self.placeholders[placeholder] = None
        return placeholder

    def _own_term(self, name: Token) -> tuple[Term, Span]:
        """The term that an aggregate is of; there are no aggregates in it."""
        start = self.cursor.token.start
        self._function = name.text
        term = self.term(spare=1)
        self._function = ""
        return term, self.cursor.span(start)

    def _between_braces(self, name: Token) -> list[Literal]:
        cursor = self.cursor
        self._braces += 1
        if self._braces > MAX_BRACES:
            note = f"aggregates nest at most {MAX_BRACES} deep"
            raise cursor.fail_at(name, "syntax", note)
        lifted, calls, self.lifted, self.calls = self.lifted, self.calls, [], []
        body = self.conditions(True, ",")
        self.refuse_calls()
        self.lifted, self.calls = lifted, calls
        if not cursor.take("}"):
            joined = "conditions between braces are joined by ','"
            raise cursor.unexpected("',' or '}'", joined if cursor.at("+") else "")
        self._braces -= 1
        return body

    def compound(self, word: Token) -> Term:
        """`count(?x)`, before the opening parenthesis."""
        if word.text not in AGGREGATES:
            raise self._nested_arguments(word)
        placeholder = self._placeholder(word)
        self.cursor.advance()
        term, of_term = None, None
        if word.text != "count" or not self.cursor.at(")"):
            term, of_term = self._own_term(word)
        self.cursor.expect(")", "')'")
        spans = (self.cursor.span(word.start), of_term)
        self.calls.append(AggregateCall(placeholder, term, spans))
        return placeholder

    def _nested_arguments(self, word: Token) -> Abandoned:
        note = f"an argument cannot have arguments of its own, as {word.text!a} has"
        advice = "an argument is a variable, a string, an integer, a symbol or arithmetic on them"
        return self.cursor.fail_at(word, "syntax", note, advice)


def example(function: str) -> str:
    return f"{function}{'' if function == 'count' else ' ?x'} : {{ ... }}"
