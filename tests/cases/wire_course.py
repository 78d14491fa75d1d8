"""What a wire case expects of the way to an end: how often is asked, what is said and done.

retry         none      one request
              once      two in the same way, then the end; or one more in another protocol
              bounded   more than one, and an end: MOST_BOUNDED, or `max_requests`
              backoff   more than one, each after a longer wait than the one before
              after_fix no request is sent a second time as it was
              feedback  asked again, with a message that is new
max_requests  chat requests, in all
feedback, hint  what a message to the model or the user holds
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from tests.cases.wire_match import Did, made_calls, same, wanted_calls
from tests.cases.wire_rules import Json

MOST_BOUNDED = 4
MOST_OTHERWISE = 3
"""Requests in all, where the last is in another protocol than those before."""

_EXECUTED = (" executed", " run", " was run")
_CREATED = (" created", " written", " changed")
_OTHERWISE = " with any other content"
_NOT_MODIFIED = "file_modified asserted"


@dataclass(frozen=True)
class Course:
    """What happened on the way. `tries` counts also those that reached nobody; `said` is all that
    the harness told the model or the user; `ran` are the calls that were run; `modified` the
    files that the facts call modified."""

    requests: list[Json] = field(default_factory=list)
    tries: int = 0
    waits: tuple[float, ...] = ()
    said: str = ""
    ran: tuple[Did, ...] = ()
    modified: tuple[str, ...] = ()


def _none(course: Course) -> Iterator[str]:
    if course.tries != 1:
        yield f"retry none: asked {course.tries} times"


def _once(course: Course) -> Iterator[str]:
    ways = [_way(body) for body in course.requests] or [""] * course.tries
    if ways.count(ways[0]) != 2 or len(ways) > MOST_OTHERWISE:
        yield f"retry once: asked {len(ways)} times, {ways.count(ways[0])} in the same way"


def _way(body: Json) -> str:
    """How a request has a model say what it does."""
    return " ".join(key for key in ("tools", "response_format") if key in body)


def _bounded(course: Course) -> Iterator[str]:
    if not 1 < course.tries <= MOST_BOUNDED:
        yield f"retry bounded: asked {course.tries} times"


def _backoff(course: Course) -> Iterator[str]:
    if not course.waits:
        yield "retry backoff: there was no wait"
    if any(wait <= 0 for wait in course.waits) or any(b < a for a, b in pairwise(course.waits)):
        yield f"retry backoff: the waits are {list(course.waits)}"


def _after_fix(course: Course) -> Iterator[str]:
    for at, (one, next_one) in enumerate(pairwise(course.requests), 1):
        if one == next_one:
            yield f"retry after_fix: request {at + 1} is request {at}, sent again as it was"


def _feedback(course: Course) -> Iterator[str]:
    if len(course.requests) < 2:
        yield "retry feedback: the model was not asked again"
    yield from _after_fix(course)


RETRIES: Mapping[str, Callable[[Course], Iterator[str]]] = {
    "none": _none,
    "once": _once,
    "bounded": _bounded,
    "backoff": _backoff,
    "after_fix": _after_fix,
    "feedback": _feedback,
}


def faults_of_retry(expect: Json, course: Course) -> Iterator[str]:
    """Whether it was asked again as it should be."""
    retry = expect.get("retry")
    if retry is not None:
        yield from RETRIES[retry](course) if retry in RETRIES else [f"unknown retry {retry!r}"]


def faults_of_bound(expect: Json, course: Course) -> Iterator[str]:
    most = expect.get("max_requests")
    if most is not None and len(course.requests) > most:
        yield f"{len(course.requests)} requests, more than {most}"


def faults_of_words(expect: Json, course: Course) -> Iterator[str]:
    """Whether model or user are told what they need."""
    for key in ("feedback", "hint"):
        for words in expect.get(key) or ():
            if words not in course.said:
                yield f"{key}: nobody is told {words!r} in {course.said!r}"


def faults_of_deeds(expect: Json, course: Course) -> Iterator[str]:
    """Whether something was done that must not be."""
    for phrase in expect.get("must_not") or ():
        yield from _done(phrase, expect, course)


def unread(expect: Json) -> list[str]:
    """What of `must_not` is in words that are not understood, and so not checked."""
    ends = (*_EXECUTED, *_CREATED, _OTHERWISE, _NOT_MODIFIED)
    return [phrase for phrase in expect.get("must_not") or () if not phrase.endswith(ends)]


def _done(phrase: str, expect: Json, course: Course) -> Iterator[str]:
    if phrase.endswith(_NOT_MODIFIED):
        if course.modified:
            yield f"must not: file_modified of {list(course.modified)}"
    elif phrase.endswith(_OTHERWISE):
        name = phrase.removesuffix(_OTHERWISE)
        allowed = wanted_calls(expect)
        made = [call for call in made_calls(course.ran) if call[0] == name]
        for call in made:
            if not any(same(call, other) for other in allowed):
                yield f"must not: {call} was run"
    elif phrase.endswith(_EXECUTED):
        name = phrase.split(" ")[0]
        if any(call.name == name for call in course.ran):
            yield f"must not: {name} was run"
    elif phrase.endswith(_CREATED):
        path = phrase.split(" ")[0]
        if any(path in map(str, call.arguments.values()) for call in course.ran):
            yield f"must not: a call for {path} was run"
