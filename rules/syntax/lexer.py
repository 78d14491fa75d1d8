"""From text to tokens."""

import re

from rules.errors import MAX_DIAGNOSTICS, Diagnostic, diagnose
from rules.source import Source, Span
from rules.syntax.foreign import WRITTEN_HERE

# Every place of a text matches one of these, so that a scan never looks at a character twice.
_GRAMMAR = r"""
[ \t]*(?:
  (?P<variable> \?[^\W\d]\w* )
| (?P<word>     [^\W\d]\w* )
| (?P<blank>    [\r\n\f\v][ \t\r\n\f\v]* | \#[^\n]* | //[^\n]* )
| (?P<mark>     :- | -> | \?- | != | <= | >= | == | \\\+ | [][(){}.,:;=<>+*/%!@?|\\-] )
| (?P<string>   '[^'\\\n]*(?:\\.[^'\\\n]*)*' | "[^"\\\n]*(?:\\.[^"\\\n]*)*" )
| (?P<integer>  [0-9]+ )
| (?P<open>     ['"][^\n]* )
| (?P<end>      \Z )
| (?P<odd>      . )
)"""
_ESCAPE = r"\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))"
_ODD = "[\0\ud800-\udfff]"
_SHORT = {"n": "\n", "t": "\t", "'": "'", '"': '"', "\\": "\\"}


class Token:
    """`kind` is word, variable, integer, string, mark, bad or end.

    `text` is the value of a string and the name of a variable without `?`, else as written;
    `fresh` means that a line ended before it. What is wrong with a bad token is reported.
    """

    __slots__ = ("end", "fresh", "kind", "start", "text")

    def __init__(self, kind: str, text: str, start: int, end: int, fresh: bool) -> None:
        self.kind = kind
        self.text = text
        self.start = start
        self.end = end
        self.fresh = fresh

    @property
    def bare(self) -> bool:
        """Written just as `text` says."""
        return self.end - self.start == len(self.text)


class _TooManyFaults(Exception):
    """The text is read no further."""


class Lexer:
    """Cuts a source into `tokens`, the last of them of kind end, and collects `diagnostics`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.diagnostics: list[Diagnostic] = []
        self._odd = re.search(_ODD, source.text) is not None
        self._scan()

    def _scan(self) -> None:
        fresh = True
        for match in re.compile(_GRAMMAR, re.VERBOSE).finditer(self.source.text):
            kind = match.lastgroup or ""
            text = match[kind]
            if kind == "blank":
                fresh = fresh or "\n" in text
                continue
            start = match.start(kind)
            if len(self.diagnostics) >= MAX_DIAGNOSTICS:
                kind, text = "end", ""
            self.tokens.append(self._token(kind, text, start, fresh))
            if kind == "end":
                return
            fresh = False

    def _token(self, kind: str, text: str, start: int, fresh: bool) -> Token:
        end = start + len(text)
        if kind == "string":
            text = self._decoded(text, start)
        elif kind == "variable":
            text = text[1:]
        elif kind == "word" and (text[0] == "_" or text[0].isupper()):
            kind = "variable"
        elif kind in {"odd", "open"}:
            self._unreadable(kind, text, start, end)
            kind, text = "bad", ""
        return Token(kind, text, start, end, fresh)

    def _unreadable(self, kind: str, text: str, start: int, end: int) -> None:
        if kind == "odd":
            note = f"unexpected character {text!a}"
            self._report(start, end, "odd-character", note, WRITTEN_HERE.get(text, ""))
        else:
            note = f"the string has no closing {text[0]} on its line"
            self._report(start, end, "unterminated-string", note, "a line break is written \\n")

    def _decoded(self, literal: str, start: int) -> str:
        odd = re.search(_ODD, literal) if self._odd else None
        if odd:
            at = start + odd.start()
            note = f"unexpected character {odd[0]!a} in a string"
            self._report(at, at + 1, "odd-character", note, f"write \\u{ord(odd[0]):04x}")
        body = literal[1:-1]
        if "\\" not in body:
            return body
        try:
            return re.sub(_ESCAPE, lambda match: self._unescaped(match, start + 1), body)
        except _TooManyFaults:
            return ""

    def _unescaped(self, match: re.Match[str], base: int) -> str:
        code = int(match[1] or match[2] or "0", 16)
        if match[3] in _SHORT:
            return _SHORT[match[3]]
        if match[3] is None and code < 0x110000:
            return chr(code)
        start, end = base + match.start(), base + match.end()
        known = "the escapes are \\' \\\" \\\\ \\n \\t \\uXXXX \\UXXXXXXXX"
        self._report(start, end, "syntax", f"unknown escape {match[0]!a}", known)
        return ""

    def _report(self, start: int, end: int, code: str, message: str, advice: str = "") -> None:
        if len(self.diagnostics) >= MAX_DIAGNOSTICS:
            raise _TooManyFaults
        self.diagnostics.append(diagnose(Span(self.source, start, end), code, message, advice))
