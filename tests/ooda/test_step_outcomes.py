"""Whatever becomes of steps: what is sent is legal, grows at its end only, and can be resumed."""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import ModelFailure, ToolError, TurnEnd
from harness.journal import Event, Journal
from harness.model.history import History
from harness.model.legal import check
from harness.model.protocols.rendering import render
from harness.model.values import Asked, Call, Message, Protocol, Reply, RetryNote
from harness.ooda.act import Act
from harness.ooda.limits import Limits, Meter
from harness.ooda.window import Window
from harness.resume import replay
from harness.tools.approval import Answer, Approvals
from harness.tools.base import Access, Arguments, Prepared, Result, Tool, ToolContext, parameters
from harness.tools.toolbox import Toolbox
from tests.strictness import check_requests
from tests.tools.toolrig import rigged

SYSTEM = "You are an agent."
WAYS: tuple[Protocol, ...] = ("native", "constrained", "text")
LONG = "".join(f"line {number} of a long result\n" for number in range(60))


def tool(name: str, run: Callable[[], Result], access: Access = "read") -> Tool:
    def prepare(context: ToolContext, arguments: Arguments) -> Prepared:
        if name == "wrong":
            raise ToolError("there is no such file")
        return Prepared(run)

    free = parameters(path={"type": "string"})
    return Tool(name, "A tool.", free, access, "path", prepare)


def interrupted() -> Result:
    raise KeyboardInterrupt


def broken() -> Result:
    raise RuntimeError("a bug")


TOOLS = (
    tool("fine", lambda: Result("ok")),
    tool("long", lambda: Result(LONG)),
    tool("wrong", lambda: Result("")),
    tool("broken", broken),
    tool("denied", lambda: Result("never"), "execute"),
    tool("stopped", interrupted),
)

IDS = st.sampled_from(["", "a", "b", "call_0"])
NAMES = st.sampled_from([*(each.name for each in TOOLS), "unknown"])
ARGUMENTS = st.sampled_from(["{}", '{"path": "a.py"}', "{broken", "[1]"])
CALLS = st.lists(st.tuples(IDS, NAMES, ARGUMENTS), min_size=1, max_size=3)
ERRORS = st.sampled_from(["empty", "truncated_tool_call", "call_missing", "repetition"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("calls"), CALLS),
        st.tuples(st.just("says"), st.sampled_from(["Done.", "", LONG])),
        st.tuples(st.just("error"), ERRORS),
        st.tuples(st.just("fails"), st.none()),
        st.tuples(st.just("interrupted"), st.none()),
    ),
    max_size=20,
)


def call(number: int, given: tuple[str, str, str]) -> Call:
    call_id, name, raw = given
    read = {"{}": {}, '{"path": "a.py"}': {"path": f"{number}.py"}}.get(raw)
    return Call(call_id, name, read, raw, "" if read is not None else "no JSON")


class Model:
    """Plays steps, and keeps what it was sent."""

    def __init__(self, steps: Sequence[tuple[str, Any]]) -> None:
        self.steps: Iterator[tuple[str, Any]] = iter(steps)
        self.sent: list[list[Message]] = []
        self._number = count()

    def complete(
        self, asked: Asked, on_text: Callable[[str], None], on_retry: Callable[[RetryNote], None]
    ) -> Reply:
        self.sent.append(list(asked.messages))
        kind: str
        value: Any
        kind, value = next(self.steps, ("says", "Done."))
        if kind == "fails":
            raise ModelFailure("stream_interrupted", "it broke off")
        if kind == "interrupted":
            raise KeyboardInterrupt
        if kind == "error":
            return Reply(text=LONG if value == "repetition" else "", error=value, detail="No.")
        if kind == "says":
            return Reply(text=value) if value else Reply(error="empty", detail="It was empty.")
        return Reply(calls=tuple(call(next(self._number), each) for each in value))


@pytest.fixture
def context(tmp_path: Path) -> Iterator[ToolContext]:
    with rigged(tmp_path) as rig:
        yield rig.context


@given(STEPS, st.sampled_from([None, 2048]))
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_what_is_sent_next_is_legal_whatever_became_of_the_steps(
    context: ToolContext, steps: list[tuple[str, Any]], length: int | None
) -> None:
    events: list[Event] = []
    journal = Journal()
    journal.sinks.append(events.append)
    history, model = History(SYSTEM), Model(steps)
    refusing = Approvals("ask", lambda request: Answer(False))
    toolbox = Toolbox(context, refusing, journal, tools=TOOLS)
    window = Window(history, toolbox, journal, lambda: length)
    act = Act(model, history, toolbox, journal, window)
    for number in range(len(steps) + 1):
        act.say(f"Request {number}.", "request")
        try:
            act(Meter(Limits(steps=30)), lambda call: None, lambda call: False)
        except (TurnEnd, KeyboardInterrupt):
            act.repair()
        act.ended("answered")
    verify(model.sent, events)


def verify(sent: list[list[Message]], events: list[Event]) -> None:
    schemas = [each.schema() for each in TOOLS]
    asked = [at for at, event in enumerate(events) if event.kind == "model_request"]
    assert sent
    assert not [event for event in events if event.kind == "notice"]  # nothing had to be mended
    former = 0
    for number, (at, messages) in enumerate(zip(asked, sent, strict=True)):
        assert check(messages) == ""
        assert replay(events[:at], SYSTEM).messages() == messages
        for way in WAYS:
            shown = render(messages, schemas, way)
            check_requests([{"messages": shown}])
            if number and not any(event.kind == "compacted" for event in events[former:at]):
                before = render(sent[number - 1], schemas, way)
                assert shown[: len(before)] == before
        former = at
