"""A place in a list of tokens, and how a parser complains about it."""

from rules.errors import Diagnostic, diagnose
from rules.lexer import Lexer, Token
from rules.source import Source, Span

LATER = "is not supported yet"


class Abandoned(Exception):
    """A statement cannot be read any further; why is in the diagnostics."""


class Cursor:
    """Walks through the tokens of a source. Faults are added to `diagnostics`."""

    def __init__(self, source: Source) -> None:
        lexer = Lexer(source)
        self.source = source
        self.diagnostics: list[Diagnostic] = lexer.diagnostics
        self.index = 0
        self._tokens = lexer.tokens

    @property
    def token(self) -> Token:
        """The token to read next; at the end of the text always the one of kind end."""
        return self._tokens[self.index]

    @property
    def following(self) -> Token:
        """The token after the next one."""
        return self._tokens[min(self.index + 1, len(self._tokens) - 1)]

    def advance(self) -> Token:
        token = self._tokens[self.index]
        if token.kind != "end":
            self.index += 1
        return token

    def at(self, *marks: str) -> bool:
        token = self._tokens[self.index]
        return token.kind == "mark" and token.text in marks

    def take(self, *marks: str) -> bool:
        if not self.at(*marks):
            return False
        self.index += 1
        return True

    def at_stop(self) -> bool:
        """At a full stop which is not the dot of a directive, path or fraction."""
        if not self.at("."):
            return False
        following = self.following
        glued = following.start == self.token.end and following.kind in {"word", "integer"}
        return not glued

    def span(self, start: int) -> Span:
        """From an offset to the end of the token read last."""
        return Span(self.source, start, max(start, self._tokens[self.index - 1].end))

    def fail(self, span: Span, code: str, message: str, advice: str = "") -> Abandoned:
        """Report a fault; the exception is for the caller to raise."""
        self.diagnostics.append(diagnose(span, code, message, advice))
        return Abandoned(message)

    def fail_at(self, token: Token, code: str, message: str, advice: str = "") -> Abandoned:
        return self.fail(Span(self.source, token.start, token.end), code, message, advice)

    def unexpected(self, wanted: str, advice: str = "") -> Abandoned:
        """Report that the next token is not what was wanted."""
        token = self.token
        if token.kind == "bad":  # the lexer has reported it
            return Abandoned(wanted)
        found = ascii(self.source.text[token.start : token.end])
        if token.kind == "end":
            found = "the end of the text"
        return self.fail_at(token, "syntax", f"expected {wanted}, found {found}", advice)

    def word(self, wanted: str) -> Token:
        if self.token.kind != "word" or self.token.text == "not":
            raise self.unexpected(wanted)
        return self.advance()

    def recover(self, started: int) -> None:
        """Go to where the next statement seems to begin, at least one token further."""
        if self.index == started:
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
        return first and not self.at("->", ":-", "+", ",", ")") and not self.at_stop()
