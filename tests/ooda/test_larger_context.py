"""A server that is started again with a larger context while a session runs, as we advise."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, places
from harness.journal import Event
from harness.session import Session
from harness.tools.approval import Answer
from tests.model.raw_server import delta, sse
from tests.model.served_routes import Served, listed, routes_at

CHAT, MODELS = "POST /v1/chat/completions", "GET /v1/models"
GOOD = sse(delta(content="Fine."), delta("stop")).decode()
LONG = "Say fine. " + "word " * 3500
SOME = "Say fine. " + "word " * 1000


def refused(context: int) -> tuple[int, str]:
    message = f"This model's maximum context length is {context} tokens, yours has 6000 tokens"
    return 400, json.dumps({"error": {"message": message, "code": 400}})


def told(length: int) -> dict[str, Any]:
    return listed("q", owned_by="vllm", max_model_len=length)


class Trial:
    """A session, and the routes of its server: `start` has them answer for another context."""

    def __init__(self, workspace: Path, served: Served, routes: dict[str, Any]) -> None:
        self.served = served
        self._routes = routes
        self.events: list[Event] = []
        self.session = Session(
            Options(host=served.url),
            places(workspace),
            lambda request: Answer(False, by="mode"),
            version="test",
            sinks=[self.events.append],
        )

    def start(self, models: dict[str, Any], chat: Any) -> None:
        self._routes.update({MODELS: models, CHAT: chat})

    def compactions(self) -> int:
        return sum(event.kind == "compacted" for event in self.events)

    def context(self) -> str:
        return dict(self.session.memory())["context"]


@pytest.fixture
def trial(workspace: Path) -> Iterator[Trial]:
    routes: dict[str, Any] = {MODELS: told(4096), CHAT: GOOD}
    with routes_at(routes) as served:
        begun = Trial(workspace, served, routes)
        yield begun
        begun.session.close("end")


@pytest.mark.parametrize("tells", [True, False])
def test_a_request_that_was_too_long_is_sent_to_a_server_with_a_larger_context(
    trial: Trial, tells: bool
) -> None:
    trial.start(listed("q"), refused(4096))
    failed = trial.session.run(LONG)
    assert (failed.kind, failed.exit_code) == ("model_error", 4)
    assert "context of 4,096 tokens" in failed.message
    trial.start(told(65_536) if tells else listed("q"), GOOD)
    assert trial.session.run(LONG).kind == "answered"
    assert ("of 65,536" if tells else "not known") in trial.context()


def test_a_context_that_grew_between_two_turns_is_noticed_before_anything_is_shortened(
    trial: Trial,
) -> None:
    assert trial.session.run(SOME).kind == "answered"
    trial.start(told(65_536), GOOD)
    for _ in range(3):
        assert trial.session.run(SOME).kind == "answered"
    assert trial.compactions() == 0
    assert trial.context().endswith("of 65,536")


def test_one_that_stayed_as_it_was_is_kept_to(trial: Trial) -> None:
    for _ in range(4):
        assert trial.session.run(SOME).kind == "answered"
    assert trial.compactions() >= 1
    assert trial.context().endswith("of 4,096")


def test_reset_forgets_what_was_learned_of_a_server_that_tells_nothing(trial: Trial) -> None:
    trial.start(listed("q"), refused(4096))
    trial.session.run(LONG)
    assert trial.context().endswith("of 4,096")
    trial.session.reset()
    assert "not known" in trial.context()
    assert trial.session.connection.context_length is None
