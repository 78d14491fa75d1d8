"""A place in a list of tokens, and how a parser complains about it."""

from itertools import islice, pairwise

from rules.errors import Diagnostic, diagnose
from rules.source import Source, Span
from rules.syntax.foreign import DOTTED, FRACTION, QUOTE, WRITTEN_HERE, hidden_aggregate
from rules.syntax.lexer import Lexer, Token

_DIRECTIVES = ("decl", "include", "closed", "open")
_LACKING = "the statement before this line may lack its full stop"


class Abandoned(Exception):
    """A statement cannot be read any further; why is in the diagnostics."""


class Cursor:
    """Walks through the tokens of a source. Faults are added to `diagnostics`."""

    def __init__(self, source: Source) -> None:
        lexer = Lexer(source)
        self.source = source
        self.diagnostics: list[Diagnostic] = lexer.diagnostics
        self.index = 0
        self.started = 0
        """The index of the first token of the statement."""
        self._tokens = [*lexer.tokens, lexer.tokens[-1]]
        self.token: Token = self._tokens[0]
        """The token to read next; at the end of the text always the one of kind end."""

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[self.index + 1]

    def peek(self, distance: int) -> Token:
        """The token so much further; not for looking beyond the one after the end."""
        return self._tokens[self.index + distance]

    @property
    def last(self) -> Token:
        """The token read last."""
        return self._tokens[max(0, self.index - 1)]

    def advance(self) -> Token:
        token = self.token
        if token.kind != "end":
            self.index += 1
            self.token = self._tokens[self.index]
        return token

    def at(self, *marks: str) -> bool:
        token = self.token
        return token.kind == "mark" and token.text in marks

    def take(self, *marks: str) -> bool:
        if not self.at(*marks):
            return False
        self.advance()
        return True

    def at_stop(self) -> bool:
        """At a full stop which is not the dot of a directive, path or fraction."""
        if not self.at("."):
            return False
        following = self.following
        glued = following.start == self.token.end and following.kind in {"word", "integer"}
        return not glued

    def opens_arguments(self, distance: int = 0) -> bool:
        """A parenthesis on the line of the name before it; on a new line it begins a statement."""
        token = self.peek(distance)
        return token.kind == "mark" and token.text == "(" and not token.fresh

    def start_statement(self) -> None:
        self.started = self.index

    def variables(self) -> set[str]:
        """The names of the variables written from the start of the statement to here."""
        tokens = self._tokens[self.started : self.index]
        return {token.text for token in tokens if token.kind == "variable"}

    def span(self, start: int) -> Span:
        """From an offset to the end of the token read last."""
        return Span(self.source, start, max(start, self._tokens[self.index - 1].end))

    def span_of(self, token: Token) -> Span:
        return Span(self.source, token.start, token.end)

    def fail(self, span: Span, code: str, message: str, advice: str = "") -> Abandoned:
        """Report a fault; the exception is for the caller to raise."""
        advice = self._hidden_aggregate() or advice
        self.diagnostics.append(diagnose(span, code, message, advice))
        return Abandoned(message)

    def fail_at(self, token: Token, code: str, message: str, advice: str = "") -> Abandoned:
        return self.fail(self.span_of(token), code, message, advice)

    def unexpected(self, wanted: str, advice: str = "") -> Abandoned:
        """Report that the next token is not what was wanted."""
        token = self.token
        if token.kind == "bad":  # the lexer has reported it
            return Abandoned(wanted)
        found = ascii(self.source.text[token.start : token.end])
        if token.kind == "end":
            found = "the end of the text"
        message = f"expected {wanted}, found {found}"
        return self.fail_at(token, "syntax", message, advice or self._foreign())

    def _foreign(self) -> str:
        token, text = self.token, self.source.text
        if token.kind == "string" == self.last.kind and self.last.end == token.start:
            return QUOTE
        if token.kind not in {"mark", "word"}:
            return ""
        if self._at_inner_dot():
            return FRACTION if self.last.kind == self.following.kind == "integer" else DOTTED
        pair = text[token.start : token.start + 2]
        ending = text[max(0, token.start - 1) : token.end]
        if token.text == "=" and self.last.text == "=":
            pair = "=="
        written = (token.text, pair, ending)
        return next((WRITTEN_HERE[each] for each in written if each in WRITTEN_HERE), "")

    def _at_inner_dot(self) -> bool:
        """At the dot of `a.b` or `1.5`."""
        before, dot, after = self.last, self.token, self.following
        touching = before.end == dot.start and dot.end == after.start
        kinds = {"word", "variable", "integer"}
        return self.at(".") and touching and before.kind in kinds and after.kind in kinds

    def _hidden_aggregate(self) -> str:
        """What to write for `#count { ... }`, if the statement up to here holds such a comment."""
        text, tokens = self.source.text, self._tokens
        if text.find("#", tokens[self.started].start, self.token.start) >= 0:
            for before, after in pairwise(tokens[self.started : self.index + 1]):
                if advice := hidden_aggregate(text, before.end, after.start):
                    return advice
        return ""

    def expect(self, mark: str, wanted: str) -> None:
        if not self.take(mark):
            raise self.unexpected(wanted)

    def word(self, wanted: str) -> Token:
        if self.token.kind != "word" or self.token.text == "not":
            raise self.unexpected(wanted)
        return self.advance()

    def line_end(self, what: str) -> None:
        """Read what ends a statement which needs no full stop."""
        if self.at_stop():
            self.advance()
        elif self.token.kind != "end" and not self.token.fresh:
            raise self.unexpected(f"'.' or a new line after {what}")

    def full_stop(self, what: str) -> None:
        if self._at_inner_dot():
            note = f"no white space follows the '.' at the end of {what}"
            raise self.fail_at(self.token, "syntax", note, self._foreign())
        if self._at_directive():
            span = Span(self.source, self.token.start, self.following.end)
            note = f"expected '.' at the end of {what}, found '{span.text}'"
            raise self.fail(span, "syntax", note, _LACKING)
        if not self.take("."):
            raise self.no_full_stop(what)

    def no_full_stop(self, what: str, advice: str = "") -> Abandoned:
        advice = advice or self._foreign()
        if not advice and self.token.fresh and self.token.kind != "end":
            advice = _LACKING
        return self.unexpected(f"'.' at the end of {what}", advice)

    def _at_directive(self) -> bool:
        """At the dot of `.decl` on a new line."""
        named = self.following.start == self.token.end and self.following.text in _DIRECTIVES
        return self.at(".") and self.token.fresh and named

    def colon_follows(self) -> bool:
        """Further on in this line."""
        for token in islice(self._tokens, self.index, None):
            if token.fresh or token.kind == "end":
                return False
            if token.kind == "mark" and token.text == ":":
                return True
        return False

    def recover(self) -> None:
        """Go to where the next statement seems to begin, at least one token further."""
        if self.index == self.started:
            self.advance()
        while self.token.kind != "end" and not self._opens_statement():
            stop = self.at_stop()
            self.advance()
            if stop:
                return

    def _opens_statement(self) -> bool:
        """A token in the first column; not one which can only go on with the last line."""
        token = self.token
        first = token.start == 0 or self.source.text[token.start - 1] == "\n"
        return first and not self.at("->", ":-", "+", ",", ")", "}") and not self.at_stop()
