"""What a family of call formats is, and the pieces that its readers give."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from harness.model.offer import Offer

Begins = Callable[[str, int, bool], bool | None]

CUT = "Your tool call was cut off or not closed, so it was not run. Send the whole call again."
LOST = (
    "Your reply holds the end of a tool call without its beginning, so nothing was run. Send the "
    "whole call again."
)
UNREADABLE = "Your tool call could not be read, so it was not run. Send it as a native tool call."
NOT_LAST = (
    "Your tool call was followed by more text, so it was not run. Send it again as the last thing "
    "in your reply, and wait for its result."
)


@dataclass(frozen=True)
class Written:
    """One call as written: a name that is offered, and its arguments as sent: an object, a text
    that should be one, or None."""

    name: str
    arguments: Any


@dataclass(frozen=True)
class Problem:
    """What was meant to be a call and is none: an error class, and a sentence for the model."""

    error: str
    sentence: str


@dataclass(frozen=True)
class Block:
    """A piece of a message that is no prose, from `start` to `end`.

    `tagged` blocks are never shown, others only when they are no call. `text` and `reasoning` are
    what is shown and thought in the place of a tagged block that holds more than calls. A `loose`
    block is a tag that prose may speak of: shown in an answer, and not beside a call.
    """

    start: int
    end: int
    calls: tuple[Written, ...] = ()
    problem: Problem | None = None
    tagged: bool = False
    text: str = ""
    reasoning: str = ""
    loose: bool = False

    @property
    def is_call(self) -> bool:
        return bool(self.calls or self.problem)


Reader = Callable[[str, int, Offer], Block | None]
"""Reads the block that starts at a place of a text, or gives None when it is not of its family."""


@dataclass(frozen=True)
class Family:
    """One format of calls: a block begins where one of the `openers` starts a line.

    `inline` is what must follow an opener (a regular expression, tried on the next 80 characters)
    for it to count within a line as well; "" for special tokens, which no prose holds. `begins`
    tells of openers that are common in prose whether a call follows: None while that is open.
    Families that share an opener are asked in turn.
    """

    name: str
    openers: tuple[str, ...]
    read: Reader
    inline: str | None = None
    begins: Begins | None = None


def named(name: str, arguments: Any, offer: Offer) -> Written | Problem:
    """A call of an offered tool, under any spelling of its name."""
    name = offer.resolve(name)
    if name in offer:
        return Written(name, arguments)
    return Problem(
        "unknown_tool",
        f"There is no tool {name[:80]!r}; nothing was run. The tools are {', '.join(offer.names)}.",
    )


def called(start: int, end: int, read: list[Written | Problem]) -> Block:
    """A tagged block with these calls, if all of them are calls."""
    problems = [call for call in read if isinstance(call, Problem)]
    if problems or not read:
        return failed(start, end, problems[0] if problems else None)
    return Block(start, end, tuple(c for c in read if isinstance(c, Written)), tagged=True)


def failed(start: int, end: int, problem: Problem | str | None = None) -> Block:
    """A tagged block that was meant to be a call."""
    if not isinstance(problem, Problem):
        problem = Problem("malformed_tool_call", problem or UNREADABLE)
    return Block(start, end, problem=problem, tagged=True)
