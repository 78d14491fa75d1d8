"""From text to tokens."""

import re

from rules.errors import MAX_DIAGNOSTICS, Diagnostic, diagnose
from rules.source import Source, Span

_GRAMMAR = r"""
  (?P<skip>     [ \t\r\n\f\v]+ | \#[^\n]* | //[^\n]* )
| (?P<variable> \?[^\W\d]\w* )
| (?P<word>     [^\W\d]\w* )
| (?P<integer>  [0-9]+ )
| (?P<string>   '[^'\\\n]*(?:\\.[^'\\\n]*)*' | "[^"\\\n]*(?:\\.[^"\\\n]*)*" )
| (?P<mark>     :- | -> | \?- | != | <= | >= | == | [][(){}.,:;=<>+*/%!@?|\\-] )
"""
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


class Lexer:
    """Cuts a source into `tokens`, the last of them of kind end, and collects `diagnostics`."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.tokens: list[Token] = []
        self.diagnostics: list[Diagnostic] = []
        self._fresh = True
        self._scan()

    def _scan(self) -> None:
        match_token = re.compile(_GRAMMAR, re.VERBOSE).match
        text, at = self.source.text, 0
        while at < len(text) and len(self.diagnostics) < MAX_DIAGNOSTICS:
            match = match_token(text, at)
            if match is None:
                at = self._unreadable(at)
                continue
            if match.lastgroup == "skip":
                self._fresh = self._fresh or "\n" in match[0]
            else:
                self._add(match.lastgroup or "", match[0], at)
            at = match.end()
        self._push("end", "", at, at)

    def _add(self, kind: str, text: str, start: int) -> None:
        end = start + len(text)
        if kind == "string":
            text = self._decoded(text, start)
        elif kind == "variable":
            text = text[1:]
        elif kind == "word" and (text[0] == "_" or text[0].isupper()):
            kind = "variable"
        self._push(kind, text, start, end)

    def _push(self, kind: str, text: str, start: int, end: int) -> None:
        self.tokens.append(Token(kind, text, start, end, self._fresh))
        self._fresh = False

    def _unreadable(self, start: int) -> int:
        """Report what no token begins with; the offset after it."""
        text = self.source.text
        if text[start] in "'\"":
            line_end = text.find("\n", start)
            end = line_end if line_end >= 0 else len(text)
            note = f"the string has no closing {text[start]} on its line"
            self._report(start, end, "unterminated-string", note, "a line break is written \\n")
        else:
            end = start + 1
            self._report(start, end, "odd-character", f"unexpected character {text[start]!a}")
        self._push("bad", "", start, end)
        return end

    def _decoded(self, literal: str, start: int) -> str:
        odd = re.search(_ODD, literal)
        if odd:
            at = start + odd.start()
            note = f"unexpected character {odd[0]!a} in a string"
            self._report(at, at + 1, "odd-character", note, f"write \\u{ord(odd[0]):04x}")
        body = literal[1:-1]
        if "\\" not in body:
            return body
        return re.sub(_ESCAPE, lambda match: self._unescaped(match, start + 1), body)

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
        self.diagnostics.append(diagnose(Span(self.source, start, end), code, message, advice))


def is_name(text: str) -> bool:
    """Whether the text can be the name of a predicate."""
    return re.fullmatch(r"[^\W\d_]\w*", text) is not None and text != "not"
