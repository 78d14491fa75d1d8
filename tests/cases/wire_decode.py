"""The layer `decode`: one reply, read by the decoder alone, over loopback, and in whole turns."""

from collections.abc import Iterator

from harness.errors import ModelFailure
from harness.model.history import History
from tests.cases.wire_answers import Answer, answer, streamed
from tests.cases.wire_course import (
    faults_of_bound,
    faults_of_deeds,
    faults_of_retry,
    faults_of_words,
)
from tests.cases.wire_match import Seen, faults_of_reply, made_calls, matched, same
from tests.cases.wire_replies import decoded, failed, seen
from tests.cases.wire_rules import Json, broken
from tests.cases.wire_server import Replay, endless
from tests.cases.wire_tools import CaseTools
from tests.cases.wire_turn import Turn, long_history, run_turn

DONE = (
    '{"choices":[{"index":0,"delta":{"role":"assistant","content":"Done."}}]}',
    '{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}',
    "[DONE]",
)
_ENDLESS = 200_000
"""Chunks: far more than anything may need to be recognised."""


def then_done(case: Json, number: int, body: Json) -> Answer:
    """The reply of the case, then a proper end."""
    return answer(case, number, body) if number == 1 else streamed(list(DONE))


def check_decode(case: Json) -> Iterator[str]:
    expect = case["expect"]
    whole = seen(decoded(case), CaseTools(case))
    yield from faults_of_reply(whole, expect)
    with Replay(case, then_done) as replay:
        turn = run_turn(case, replay, _history(expect))
    yield from _streamed(turn, whole, expect)
    found, _ = matched(whole, expect)
    if found is None:
        return
    yield from _once_and_done(turn, whole, found)
    yield from faults_of_deeds(expect, turn.course)
    if whole.error is not None:
        yield from _for_ever(case, expect)
    if expect.get("early_stop"):
        yield from _never_ending(case)


def _history(expect: Json) -> History | None:
    return long_history() if expect.get("error") == "context_overflow" else None


def first_reply(turn: Turn) -> Seen:
    """What came of the first request of a turn."""
    if not turn.model.replies:
        return Seen(error=f"nothing was sent: {turn.failure}")
    reply, shown = turn.model.replies[0], turn.model.shown[0]
    return failed(reply, shown) if isinstance(reply, ModelFailure) else seen(reply, turn.tools)


def _streamed(turn: Turn, whole: Seen, expect: Json) -> Iterator[str]:
    """The reply over the wire is the one that was decoded from the case, and so is what a user
    saw of it."""
    reply = first_reply(turn)
    for fault in faults_of_reply(reply, expect):
        yield f"streamed: {fault}"
    # a failure has no more of a reply than what was shown
    failing = isinstance(turn.model.replies[0], ModelFailure) if turn.model.replies else True
    for key in ("text", "error") if failing else ("text", "error", "reasoning", "finish"):
        one, other = getattr(whole, key), getattr(reply, key)
        if one != other:
            yield f"streamed: the {key} is {other!r}, not {one!r}"
    if not same(made_calls(whole.calls), made_calls(reply.calls)):
        yield f"streamed: the calls are {made_calls(reply.calls)}"
    shown = turn.model.shown[0].strip() if turn.model.shown else ""
    if reply.error is None and not _is_shown(reply, shown):
        yield f"the user saw {shown!r}"


def _is_shown(reply: Seen, shown: str) -> bool:
    """The text and nothing else; but thoughts may have been taken for text until they ended."""
    text = reply.text.strip()
    thought = shown.removesuffix(text).strip()
    return shown.endswith(text) and (not thought or thought in reply.reasoning)


def _once_and_done(turn: Turn, whole: Seen, found: Json) -> Iterator[str]:
    """After one such reply the turn goes on to its end, and a strict server takes every request."""
    for number, body in enumerate(turn.requests, 1):
        yield from (f"request {number} breaks {rule}" for rule in broken(body))
    if turn.failure is not None:
        yield f"the turn failed: {turn.failure}"
        return
    wanted = [whole.text if found.get("error") is None and not whole.calls else "Done."]
    if whole.error == "silent_truncation" and whole.text:
        wanted.append(whole.text)
    if turn.answer.strip() not in [text.strip() for text in wanted]:
        yield f"the turn's answer is {turn.answer!r}, not {wanted[0]!r}"
    if not same(made_calls(turn.tools.ran), made_calls(whole.calls)):
        yield f"the calls that ran are {made_calls(turn.tools.ran)}"


def _for_ever(case: Json, expect: Json) -> Iterator[str]:
    """The same reply again and again: asked for as often as it may be, then the end."""
    with Replay(case) as replay:
        turn = run_turn(case, replay, _history(expect))
    course = turn.course
    yield from faults_of_retry(expect, course)
    yield from faults_of_bound(expect, course)
    yield from faults_of_words(expect, course)
    yield from faults_of_deeds(expect, course)
    fallback = expect.get("fallback_text")
    if fallback is not None:
        if turn.answer != fallback:
            yield f"the turn's answer is {turn.answer!r}, not {fallback!r}"
    elif turn.failure is None and not turn.answer.strip():
        yield "the turn ended without an answer, and without saying why"


def _never_ending(case: Json) -> Iterator[str]:
    """A model that goes on like this without an end is cut off."""
    if "chunks" not in case:
        yield "early_stop: the case has no chunks to go on with"
        return

    def unending(case: Json, number: int, body: Json) -> Answer:
        if number > 1:
            return streamed(list(DONE))
        return streamed(list(endless(case["chunks"], _ENDLESS)))

    with Replay(case, unending) as replay:
        run_turn(case, replay)
        if not replay.hung_up:
            yield "early_stop: the reply was read to its end"
