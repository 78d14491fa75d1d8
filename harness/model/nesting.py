"""Where JSON closes, and which closers it still lacks."""

import re

_MARK = re.compile(r'["{}\[\]]')
_IN_STRING = re.compile(r'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_CLOSERS = {"{": "}", "[": "]"}


class Nesting:
    """Follows the brackets of one JSON text, piece by piece; nothing is looked at twice."""

    def __init__(self) -> None:
        self._due: list[str] = []
        self._closed = False
        self._broken = False
        self._string = False
        self._escaped = False

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text):
            if self._string:
                at = self._through_string(text, at)
                continue
            mark = _MARK.search(text, at)
            between = text[at : mark.start() if mark else len(text)]
            self._broken |= self._closed and (mark is not None or bool(between.strip()))
            if mark is None:
                return
            at = mark.end()
            self._take(mark[0])

    @property
    def whole(self) -> bool:
        """Whether the text so far is one object or list, closed, and nothing else."""
        return self._closed and not self._broken

    @property
    def missing(self) -> str | None:
        """What would close the text; None when it ends inside a string or is no nesting at all."""
        if self._broken or self._string:
            return None
        return "".join(reversed(self._due))

    def _take(self, mark: str) -> None:
        if mark == '"':
            self._string = True
        elif mark in _CLOSERS:
            self._due.append(_CLOSERS[mark])
        elif self._due and self._due[-1] == mark:
            self._due.pop()
            self._closed = not self._due
        else:
            self._broken = True

    def _through_string(self, text: str, at: int) -> int:
        """Behind the string that is open at `at`, or the end of the text."""
        found = _IN_STRING.match(text, at + self._escaped)
        end = found.end() if found else len(text)
        self._escaped = False
        if end < len(text) and text[end] == '"':
            self._string = False
            return end + 1
        self._escaped = end < len(text)
        return len(text)


def missing_closers(text: str) -> str | None:
    """What would close a JSON text, or None when closing it would be a guess."""
    nesting = Nesting()
    nesting.feed(text)
    return nesting.missing
