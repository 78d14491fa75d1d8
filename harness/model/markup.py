"""Finding where in a message a tool call may start, also while the message still arrives.

Code is left alone: nothing inside a fence or an inline code span is a call, except a fence whose
own content is one. The walk decides by what stands in a bounded window behind a place, so it
comes to the same result however the message was split.

Every text here starts with a newline in front of the message, so that "at the start of a line"
has one meaning.
"""

import re
from collections.abc import Iterable
from dataclasses import replace
from typing import NamedTuple

from harness.model.families.form import Block, Family, failed
from harness.model.fences import after_code_span, fence_line, out_of_fence, ticks
from harness.model.offer import Offer
from harness.model.thoughts import THINK_END

_FOLLOWING = 80
"""Characters behind an opener within a line that tell whether it is a call."""
_MOST_MISSES = 200
"""Objects and fences in one message that look like a call and are none."""
_INDENT = re.compile(r"\n[ \t]{0,60}\Z")


class Place(NamedTuple):
    """How far the walk has come: `at` in the text, and the marker of the fence it is in or ''."""

    at: int = 0
    fence: str = ""


class Stop(NamedTuple):
    """Something that may be a call of one of these families starts at `at`; without a family, a
    thought ends there."""

    at: int
    families: tuple[Family, ...]


class Grammar:
    """The places where the calls of these families may start."""

    def __init__(self, families: Iterable[Family]) -> None:
        self._families = tuple(families)
        self._line = _openers(self._families)
        self._inline = _openers(family for family in self._families if family.inline is not None)
        self._within = (*self._inline, THINK_END)
        self._longest = max(map(len, (*self._line, *self._within)))
        firsts = re.escape("".join(sorted({*"`~", *(opener[0] for opener in self._line)})))
        literals = _alternatives(self._within)
        self._tag = re.compile(literals)
        # repetitions are bounded, or endless white space would be read again at every delta
        self._token = re.compile(rf"\n[ \t]{{0,60}}(?=[{firsts}])|``{{0,79}}|{literals}")
        starts = re.escape("".join({opener[0] for opener in self._within}))
        self._start = re.compile(f"[{starts}]")
        self._parts_within = _beginnings(self._within)
        self._parts_of_line = _beginnings(self._line)
        self.mark = re.compile(rf"[\n`{starts}]").search
        """Finds what may begin or end anything; a text without it is plain."""

    def walk(self, text: str, place: Place, final: bool) -> tuple[Place, Stop | None]:
        """Go on to the next place where a call may start.

        All before the returned place is plain. Without a stop the text ended there, or (unless
        `final`) what follows there can only be judged when more of it has come.
        """
        while True:
            if place.fence:
                place = Place(*out_of_fence(text, place.at, place.fence, final))
                if place.fence:
                    return place, None
            found = self._token.search(text, place.at)
            if found is None:
                return Place(self._end(text, place.at, final)), None
            next_place = self._judge(text, found, final)
            if next_place is None:
                return Place(found.start()), None
            if isinstance(next_place, Stop):
                return Place(next_place.at), next_place
            place = next_place

    def blocks(self, text: str, offer: Offer) -> list[Block]:
        """The blocks of a whole message in order."""
        blocks: list[Block] = []
        misses = 0
        _, stop = self.walk(text, Place(), final=True)
        while stop is not None:
            block = read(text, stop, offer, misses)
            if block.tagged or block.loose or block.is_call:
                blocks.append(block)
            else:
                misses += 1
                if text[stop.at] not in "`~" and self.has_tag(text, block.start, block.end):
                    blocks.append(replace(block, loose=True, text=" "))
            _, stop = self.walk(text, Place(max(block.end, stop.at + 1)), final=True)
        return blocks

    def without_beginning(self, text: str) -> str:
        """The text without the first characters of a tag at its end."""
        tail = re.search(r"[<\[][^<\[\s]*\Z", text[-self._longest :])
        cut = tail is not None and len(tail[0]) > 1 and tail[0] in self._parts_within
        return text[: -len(tail[0])].rstrip() if tail and cut else text

    def has_tag(self, text: str, start: int, end: int) -> bool:
        """Whether there is a tag between two places."""
        return self._tag.search(text, start, end) is not None

    def _judge(self, text: str, found: re.Match[str], final: bool) -> Place | Stop | None:
        """What a token means: where to go on, a stop, or None when more must come first."""
        if found[0][0] == "`":
            return _place(after_code_span(text, found, final))
        if found[0][0] != "\n":
            return self._judge_inline(text, found.start(), final)
        at = found.end()
        stop = self._line_start(text, at, final)
        if isinstance(stop, Place) and text[at] in "`~":
            return _fence(text, at, final)
        return stop

    def _line_start(self, text: str, at: int, final: bool) -> Place | Stop | None:
        """The families of which a call may start here; None when it may with more text."""
        open_end = not final and text[at : at + self._longest] in self._parts_of_line
        families: list[Family] = []
        if text.startswith(self._line, at):
            for family in self._families:
                if text.startswith(family.openers, at):
                    verdict = family.begins is None or family.begins(text, at, final)
                    open_end = open_end or verdict is None
                    families.extend([family] if verdict else [])
        if families:
            return Stop(at, tuple(families))
        return None if open_end else Place(at)

    def _judge_inline(self, text: str, at: int, final: bool) -> Place | Stop | None:
        if text.startswith(THINK_END, at):
            return Stop(at, ())
        families: list[Family] = []
        open_end = False
        for family in self._families:
            opener = next((o for o in family.openers if text.startswith(o, at)), None)
            if family.inline is None or opener is None:
                continue
            following = text[at + len(opener) : at + len(opener) + _FOLLOWING]
            if re.match(family.inline, following):
                families.append(family)
            open_end = open_end or (not final and len(following) < _FOLLOWING)
        if families:
            return Stop(at, tuple(families))
        return None if open_end else Place(at + 1)

    def _end(self, text: str, start: int, final: bool) -> int:
        """Where the part ends of which more text cannot make anything else."""
        if final:
            return len(text)
        indent = _INDENT.search(text, max(start, len(text) - 61))
        end = indent.start() if indent else len(text)
        for found in self._start.finditer(text, max(start, len(text) - self._longest), end):
            if text[found.start() :] in self._parts_within:
                return found.start()
        return end


def _openers(families: Iterable[Family]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(opener for family in families for opener in family.openers))


def _beginnings(literals: Iterable[str]) -> frozenset[str]:
    """All that one of these may be cut to."""
    return frozenset(literal[:end] for literal in literals for end in range(1, len(literal)))


def _alternatives(literals: Iterable[str]) -> str:
    """A pattern for these literals. Each alternative starts with a character of its own, which
    lets the search skip all others at once."""
    rests: dict[str, list[str]] = {}
    for literal in literals:
        rests.setdefault(literal[0], []).append(re.escape(literal[1:]))
    return "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in rests.items())


def _place(at: int | None) -> Place | None:
    return None if at is None else Place(at)


def _fence(text: str, at: int, final: bool) -> Place | None:
    """A line that may open a fence, or a code span at the start of a line."""
    line = fence_line(text, at)
    if line:
        return Place(line.end(), line[1])
    window = text[at : at + 400]
    if not final and "\n" not in window and len(window) < 400:
        return None
    mark = ticks(text, at)
    return _place(after_code_span(text, mark, final)) if mark else Place(at + 1)


def read(text: str, stop: Stop, offer: Offer, misses: int) -> Block:
    """What stands at a stop: the first reader that knows it tells. After many `misses` before it,
    what is common in prose is not read any more: each costs time in proportion to the text."""
    if not stop.families:
        return Block(stop.at, stop.at + len(THINK_END), tagged=True, text="\n")
    if misses > _MOST_MISSES and all(family.begins for family in stop.families):
        return Block(stop.at, stop.at + 1)
    for family in stop.families:
        block = family.read(text, stop.at, offer)
        if block is not None:
            return block
    if all(family.begins for family in stop.families):
        return Block(stop.at, stop.at + 1)
    return failed(stop.at, len(text))
