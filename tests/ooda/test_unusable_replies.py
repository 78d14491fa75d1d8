"""Replies that cannot be used, until the turn ends."""

from pathlib import Path

import pytest

from tests.ooda.sessions import session_at

WHOLE = "Accounts lock after three failures."
PLAN = "We need to open the file and then patch it."


@pytest.mark.parametrize(
    ("reply", "kind", "answer", "requests"),
    [
        ({"reasoning": WHOLE}, "answered", WHOLE, 3),
        ({"reasoning": PLAN}, "model_error", "", 3),
        ({"text": ""}, "model_error", "", 3),
        ({"text": "Cut off", "reasoning": WHOLE, "finish": "length"}, "model_error", "", 3),
        ({"text": "@" * 20_000}, "model_error", "", 2),
    ],
    ids=["an answer in the reasoning", "a plan in the reasoning", "nothing", "cut", "repetition"],
)
def test_a_reply_that_stays_unusable_ends_the_turn(
    reply: dict[str, str], kind: str, answer: str, requests: int, workspace: Path
) -> None:
    with session_at(workspace, [reply] * 4, protocol="native") as talk:
        outcome = talk.session.run("When do accounts lock?")
        assert (outcome.kind, outcome.answer) == (kind, answer)
        assert len(talk.bodies) == requests
