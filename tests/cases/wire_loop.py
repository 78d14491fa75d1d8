"""The layer `loop`: whole turns with a scripted model."""

from collections.abc import Iterator

from harness.errors import ModelFailure
from harness.model.values import Reply
from tests.cases.wire_course import (
    faults_of_bound,
    faults_of_deeds,
    faults_of_retry,
    faults_of_words,
)
from tests.cases.wire_match import Seen, faults_of_reply
from tests.cases.wire_replies import failed, seen
from tests.cases.wire_rules import Json, broken
from tests.cases.wire_server import Replay
from tests.cases.wire_turn import Turn, run_turn


def check_loop(case: Json) -> Iterator[str]:
    expect = case["expect"]
    with Replay(case) as replay:
        turn = run_turn(case, replay)
    yield from faults_of_reply(_end(turn), expect)
    yield from faults_of_retry(expect, turn.course)
    yield from faults_of_bound(expect, turn.course)
    yield from faults_of_deeds(expect, turn.course)
    yield from faults_of_words(expect, turn.course)
    for number, body in enumerate(turn.requests, 1):
        yield from (f"request {number} breaks {rule}" for rule in broken(body))


def _end(turn: Turn) -> Seen:
    """How the turn ended, as if it were one reply."""
    if isinstance(turn.failure, ModelFailure):
        return failed(turn.failure)
    if turn.failure is not None:
        return Seen(error=f"limit: {turn.failure}")
    last = turn.model.replies[-1]
    assert isinstance(last, Reply), "a turn that did not fail ends with a reply"
    read = seen(last, turn.tools)
    return Seen(read.calls, turn.answer, None, read.reasoning, read.finish)
