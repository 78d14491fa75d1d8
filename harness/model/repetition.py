"""Noticing that a text repeats itself without end, at a cost in proportion to its length.

A text is looked at every 1024 characters, wherever the pieces it came in ended: so the same text
is always cut at the same place. It repeats itself when its end is one unit over and over: the
same bytes, many times, for long. Rows of a table differ in a number and are no repetition.
"""

_STEP = 1024
_WINDOW = 16_384
_PROBE = 48
"""Characters of the end whose earlier places are the candidates for where the unit began."""
_CANDIDATES = 8
_FEWEST = 8
"""Times a unit must occur, however long it is."""

IN_TEXT = 6000
IN_REASONING = 3000
IN_ARGUMENTS = 6000
"""Characters that must be one repetition. Files may hold long runs, and a call that writes one may
stand in the text; thoughts have no reason to."""


class Gathered:
    """A text that comes in pieces and ends where it begins to repeat itself without end."""

    def __init__(self, longest: int) -> None:
        """`longest` is how many characters a repetition may have; a third of it when it is of a
        single character."""
        self.repeats = False
        self._longest = longest
        self._parts: list[str] = []
        self._length = 0
        self._next = _STEP
        self._recent = ""
        self._seen = 0

    def __bool__(self) -> bool:
        return bool(self._length)

    def __str__(self) -> str:
        return "".join(self._parts)

    def add(self, piece: str) -> str:
        """The part of `piece` that belongs to the text."""
        if self.repeats:
            return ""
        self._parts.append(piece)
        self._length += len(piece)
        return piece if self._length < self._next else self._look(piece)

    def _look(self, piece: str) -> str:
        self._recent += "".join(self._parts[self._seen :])
        while self._next <= self._length:
            over = self._length - self._next
            end = len(self._recent) - over
            if repeats(self._recent[max(0, end - _WINDOW) : end], self._longest):
                self.repeats = True
                kept = piece[: len(piece) - over] if over else piece
                self._parts[-1] = kept
                return kept
            self._next += _STEP
        self._recent = self._recent[-_WINDOW:]
        self._seen = len(self._parts)
        return piece


def repeats(text: str, longest: int) -> bool:
    """Whether `text` ends with one unit, over and over, for more than `longest` characters."""
    if len(text) < longest // 3:
        return False
    # searched backwards: the smallest unit is found first
    mirrored = text[::-1]
    probe = mirrored[:_PROBE]
    at = 0
    for _ in range(_CANDIDATES):
        at = mirrored.find(probe, at + 1)
        if at < 0:
            return False
        enough = longest // 3 if at == 1 else max(longest, _FEWEST * at)
        if len(text) >= enough and mirrored[at:enough] == mirrored[: enough - at]:
            return True
    return False
