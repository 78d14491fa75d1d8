"""The layers `http`, `sse`, `request` and `timing`: one request by the real client."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.errors import ModelFailure
from harness.model.history import History
from harness.model.values import Asked, Timeouts
from tests.cases.wire_course import (
    Course,
    faults_of_bound,
    faults_of_deeds,
    faults_of_retry,
    faults_of_words,
)
from tests.cases.wire_match import Seen, faults_of_reply, matched
from tests.cases.wire_replies import failed, seen
from tests.cases.wire_rules import Json
from tests.cases.wire_server import Replay
from tests.cases.wire_tools import CaseTools
from tests.cases.wire_turn import (
    REQUEST,
    SYSTEM,
    Turn,
    Watched,
    client_for,
    long_history,
    run_turn,
    speaker_for,
)

MOST_AFTER_FIX = 2
"""Requests of a turn: what can be mended is mended once. Fewer new tokens can be asked for first,
and the conversation made shorter after that."""

HOPELESS = Timeouts(first_token=4.0)
"""Limits for a server that never gets ready: a few waits show how it is asked again."""


@dataclass(frozen=True)
class Asking:
    """What came of one request to the client."""

    seen: Seen
    course: Course
    learned: int | None


def ask(case: Json, timeouts: Timeouts | None = None) -> Asking:
    """Send the case's messages, or our own, with its tools."""
    tools = CaseTools(case)
    with Replay(case) as replay:
        legal = case["layer"] == "request"
        model = Watched(speaker_for(case, replay) if legal else client_for(case, replay, timeouts))
        asked = Asked(_messages(case), tools.schemas())
        learned, message = None, ""
        try:
            reply = model.complete(asked, lambda text: None, lambda note: None)
            result, message = seen(reply, tools), reply.detail
        except ModelFailure as failure:
            result = failed(failure, model.shown[-1])
            learned, message = failure.context_length, str(failure)
        course = Course(
            requests=list(replay.requests),
            tries=len(model.notes) + 1,
            waits=tuple(note.wait for note in model.notes),
            said=message,
        )
        return Asking(result, course, learned)


def check_http(case: Json) -> Iterator[str]:
    """A failing request by itself; then, where something is to be mended, in a whole turn."""
    expect = case["expect"]
    asking = ask(case, None if "then" in case else HOPELESS)
    yield from faults_of_reply(asking.seen, expect)
    found, _ = matched(asking.seen, expect)
    if asking.seen.error is not None or expect.get("retry") == "backoff":
        yield from faults_of_retry(expect, asking.course)
    yield from faults_of_bound(expect, asking.course)
    yield from _learned(expect, asking)
    if found is not None and found.get("error") is not None:
        yield from faults_of_words(expect, asking.course)
    if expect.get("retry") == "after_fix":
        yield from _mended(case)
    elif expect.get("must_not"):
        with Replay(case) as replay:
            yield from faults_of_deeds(expect, run_turn(case, replay).course)


def check_request(case: Json) -> Iterator[str]:
    """A server that takes legal requests alone gets one."""
    expect = case["expect"]
    asking = ask(case)
    yield from faults_of_reply(asking.seen, expect)
    yield from faults_of_bound(expect, asking.course)


def check_timing(case: Json) -> Iterator[str]:
    expect = case["expect"]
    asking = ask(case, timeouts(case))
    yield from faults_of_reply(asking.seen, expect)
    yield from faults_of_retry(expect, asking.course)
    yield from faults_of_bound(expect, asking.course)
    if asking.seen.error is not None:
        yield from faults_of_words(expect, asking.course)


def timeouts(case: Json) -> Timeouts:
    """The limits of the case's settings. Its idle limit is also that for the first piece, unless
    the case is about a server that is silent longer than that before a good reply."""
    settings = case.get("settings") or {}
    usual = Timeouts()
    idle = float(settings.get("idle_timeout_s", usual.idle))
    silent = case.get("headers_delay_s", 0.0)
    for pause, text in case.get("timeline") or ():
        silent = max(silent, pause)
        if text.startswith("data:"):
            break
    patient = case["expect"].get("error") is None and silent > idle
    first = settings.get("first_token_timeout_s", usual.first_token if patient else idle)
    connect = float(settings.get("connect_timeout_s", usual.connect))
    return Timeouts(connect, float(first), idle)


def _messages(case: Json) -> list[Json]:
    if "initial_messages" in case:
        return History.from_messages(case["initial_messages"]).messages()
    history = History(SYSTEM)
    history.user(REQUEST)
    return history.messages()


def _learned(expect: Json, asking: Asking) -> Iterator[str]:
    wanted = (expect.get("learn") or {}).get("context_length")
    if wanted is not None and asking.learned != wanted:
        yield f"the context length learned is {asking.learned}, not {wanted}"


def _mended(case: Json) -> Iterator[str]:
    """A turn mends what it can and asks again, once, with another request."""
    expect = case["expect"]
    with Replay(case) as replay:
        turn = run_turn(case, replay, long_history())
    ways = 2 if (case.get("request") or {}).get("max_tokens") else 1
    most = expect.get("max_requests", ways * MOST_AFTER_FIX)
    if len(turn.requests) > most:
        yield f"in a turn: {len(turn.requests)} requests, more than {most}"
    for fault in faults_of_retry(expect, turn.course):
        yield f"in a turn: {fault}"
    if turn.failure is None:
        yield f"the turn ended with {turn.answer!r}"
    yield from faults_of_deeds(expect, turn.course)
    yield from _remedied(expect, turn)


def _remedied(expect: Json, turn: Turn) -> Iterator[str]:
    """An overflow is answered by a shorter request, or by room for fewer new tokens."""
    if expect.get("error") != "context_overflow":
        return
    if len(turn.requests) < 2:
        yield "in a turn: nothing was left out, and it was not asked again"
        return
    first, second = turn.requests[:2]
    if "max_tokens" in str(expect.get("remedy")):
        if second.get("max_tokens", 0) >= first.get("max_tokens", 0):
            yield "remedy: the second request asks for as many new tokens as the first"
    elif size(second) >= size(first):
        yield "remedy: the second request is as long as the first"


def size(body: Json) -> int:
    return sum(len(str(message.get("content") or "")) for message in body["messages"])
