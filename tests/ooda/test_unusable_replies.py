"""Replies that cannot be used, until the turn ends."""

from pathlib import Path
from typing import Any

import pytest

from tests.ooda.sessions import session_at, step

WHOLE = "Accounts lock after three failures."
BROKEN = '<tool_call>\n{"name": "read_file", "argum'
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


def test_each_protocol_gets_a_chance_before_the_turn_ends(workspace: Path) -> None:
    with session_at(workspace, [{"text": BROKEN}] * 9) as talk:
        outcome = talk.session.run("When do accounts lock?")
        assert outcome.kind == "model_error"
        ways = [way_of(body) for body in talk.bodies]
    assert ways == ["native"] * 2 + ["constrained"] * 2 + ["text"] * 2


def test_who_says_nothing_is_asked_three_times(workspace: Path) -> None:
    with session_at(workspace, [{"text": ""}] * 9) as talk:
        outcome = talk.session.run("When do accounts lock?")
        assert outcome.kind == "model_error"
        assert [way_of(body) for body in talk.bodies] == ["native", "native", "constrained"]


def test_what_goes_wrong_at_first_in_another_protocol_is_asked_for_again(workspace: Path) -> None:
    broken = {"text": BROKEN}
    replies = [
        broken,
        broken,
        broken,
        step("read_file", path="auth.py"),
        step("answer", text=WHOLE),
    ]
    with session_at(workspace, replies) as talk:
        outcome = talk.session.run("When do accounts lock?")
        assert (outcome.kind, outcome.answer) == ("answered", WHOLE)


def way_of(body: dict[str, Any]) -> str:
    if "tools" in body:
        return "native"
    return "constrained" if "response_format" in body else "text"
