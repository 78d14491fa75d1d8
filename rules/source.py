"""Texts and places in them."""

from functools import cached_property


class Source:
    """A rule text under the name that diagnostics show; a byte order mark is dropped."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.text = text.removeprefix("\ufeff")
        self._lines: dict[int, str] = {}

    @cached_property
    def _line_starts(self) -> list[int]:
        starts, at = [0], self.text.find("\n")
        while at >= 0:
            starts.append(at + 1)
            at = self.text.find("\n", at + 1)
        return starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1; columns count characters."""
        from bisect import bisect_right  # loading it is for those who ask

        line = bisect_right(self._line_starts, offset)
        return line, offset - self._line_starts[line - 1] + 1

    def line(self, number: int) -> str:
        """The text of a line (from 1) without its end."""
        if number not in self._lines:
            start = self._line_starts[number - 1]
            end = self.text.find("\n", start)
            line = self.text[start : end if end >= 0 else None]
            self._lines[number] = line.removesuffix("\r")
        return self._lines[number]


class Span:
    """A stretch of a source, as offsets of characters."""

    __slots__ = ("end", "source", "start")

    def __init__(self, source: Source, start: int, end: int) -> None:
        self.source = source
        self.start = start
        self.end = end

    @property
    def line(self) -> int:
        return self.source.position(self.start)[0]

    @property
    def column(self) -> int:
        return self.source.position(self.start)[1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]

    @property
    def opens_line(self) -> bool:
        """Only white space stands before it on its line."""
        text, at = self.source.text, self.start
        while at and text[at - 1] in " \t\r\f\v":
            at -= 1
        return at == 0 or text[at - 1] == "\n"

    def __str__(self) -> str:
        line, column = self.source.position(self.start)
        return f"{self.source.name}:{line}:{column}"
