"""What must hold of a conversation before it is sent."""

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from harness.journal import Event
from harness.model.history import History
from harness.model.legal import check
from harness.model.values import Call, Message, Reply
from harness.ooda.compaction import Aims, compact
from harness.resume import replay

SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "go"}


def asked(*calls: Any, content: Any = "") -> Message:
    return {"role": "assistant", "content": content, "tool_calls": list(calls)}


def made(call_id: Any = "c1", arguments: Any = "{}") -> dict[str, Any]:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def told(call_id: str = "c1") -> Message:
    return {"role": "tool", "tool_call_id": call_id, "content": "ok"}


ILLEGAL = {
    "exactly one system message": [[USER], [SYSTEM, USER, SYSTEM], []],
    "no role 'developer'": [[SYSTEM, {"role": "developer", "content": ""}, USER]],
    "no user message is left": [[SYSTEM]],
    "the content of a message with the role 'assistant' is no text": [
        [SYSTEM, USER, asked(made(), content=None), told()]
    ],
    "would send 'reasoning_content' back": [
        [SYSTEM, USER, {"role": "assistant", "content": "a", "reasoning_content": "hm"}]
    ],
    "not the user's": [[SYSTEM, {"role": "assistant", "content": "a"}, USER]],
    "two user messages": [
        [SYSTEM, USER, USER],
        [SYSTEM, USER, asked(made()), told(), USER],
    ],
    "two assistant messages": [
        [SYSTEM, USER, {"role": "assistant", "content": "a"}, {"role": "assistant", "content": ""}]
    ],
    "a result has no call": [
        [SYSTEM, USER, told()],
        [SYSTEM, USER, asked(made()), told(), told()],
        [SYSTEM, USER, asked(made()), told("c2")],
    ],
    "'c1' has no result": [
        [SYSTEM, USER, asked(made())],
        [SYSTEM, USER, asked(made(), made("c2")), told("c2"), {"role": "assistant", "content": ""}],
    ],
    "a call has no id": [[SYSTEM, USER, asked(made("")), told("")]],
    "two calls have the id 'c1'": [
        [SYSTEM, USER, asked(made()), told(), asked(made()), told()],
    ],
    "not the text of a JSON object": [
        [SYSTEM, USER, asked(made(arguments=raw)), told()]
        for raw in ('{"a": 1}{"b": 2}', "[]", "", {"a": 1}, None, '{"a": NaN}')
    ],
}


@pytest.mark.parametrize(
    ("sentence", "messages"), [(s, m) for s, several in ILLEGAL.items() for m in several]
)
def test_what_a_strict_server_refuses_is_named_and_can_be_mended(
    sentence: str, messages: list[Message]
) -> None:
    assert sentence in check(messages)
    if USER in messages:
        assert check(History.from_messages(messages).messages()) == ""


def test_what_strict_servers_take_is_legal() -> None:
    steps = [
        asked(made(), made("c2")),
        told("c2"),
        told(),
        asked(made("c3"), content="x"),
        told("c3"),
    ]
    assert check([SYSTEM, USER, *steps, {"role": "assistant", "content": "Done."}, USER]) == ""


class Conversation(RuleBasedStateMachine):
    """A session in any order: what is asked, done, denied, broken off, compacted, forgotten and
    taken up again."""

    def __init__(self) -> None:
        super().__init__()
        self.history = History("You are an agent.")
        self.events: list[Event] = []
        self.waiting: list[tuple[str, str]] = []  # as told us, and as sent
        self.request: Message | None = None
        self.sent: list[Message] = []
        self.calls = 0

    def note(self, kind: str, **payload: Any) -> None:
        self.events.append(Event(len(self.events) + 1, 0.0, kind, payload))

    @rule(text=st.sampled_from(["Do it.", "", "Why?"]))
    def ask(self, text: str) -> None:
        self.interrupt()
        self.request = self.history.user(text)
        self.note("user_message", content=text, cause="request")

    @precondition(lambda self: self.request is not None)
    @rule(
        ids=st.lists(st.sampled_from(["", "a", "call_0"]), max_size=3, unique=True),
        raw=st.sampled_from(["{}", '{"path": "a.py"}', "nonsense", "[1]"]),
        text=st.sampled_from(["", "I look."]),
    )
    def reply(self, ids: list[str], raw: str, text: str) -> None:
        self.interrupt()
        calls = tuple(Call(call_id, "read_file", None, raw) for call_id in ids)
        self.history.assistant(Reply(text=text, reasoning="hm", calls=calls))
        message = self.history.last
        sent = [call["id"] for call in message.get("tool_calls", ())]
        self.waiting = [(mine or theirs, theirs) for mine, theirs in zip(ids, sent, strict=True)]
        self.note("model_reply", message=message)

    @precondition(lambda self: self.waiting)
    @rule(text=st.sampled_from(["ok", "Denied: not now", "Error: x", "line\n" * 200]))
    def result(self, text: str) -> None:
        known_as, sent_as = self.waiting.pop(0)
        self.history.tool(known_as, text)
        self.note("tool_result", id=sent_as, text=text)

    @rule()
    def interrupt(self) -> None:
        self.history.repair()
        self.waiting = []

    @precondition(lambda self: self.request is not None and not self.waiting)
    @rule(most=st.integers(0, 400))
    def compact(self, most: int) -> None:
        aims = Aims(lambda estimate: estimate, most, most, self.request, writes=("patch_file",))
        done = compact(self.history.messages(), aims)
        self.history.replace(done.messages)
        self.sent = []
        self.note("compacted", messages=list(done.messages[1:]))

    @rule()
    def reset(self) -> None:
        self.history.reset()
        self.waiting, self.request, self.sent = [], None, []
        self.note("history_reset")

    @precondition(lambda self: not self.waiting)
    @rule()
    def resume(self) -> None:
        again = replay(self.events, "You are an agent.")
        before = self.history.messages()
        assert [m["content"] for m in again.messages()] == [m["content"] for m in before]
        self.history, self.sent = again, []

    @invariant()
    def what_would_be_sent_is_legal_and_begins_with_what_was_sent(self) -> None:
        if self.waiting or self.request is None:
            return
        messages = self.history.messages()
        assert check(messages) == ""
        assert messages[: len(self.sent)] == self.sent
        self.sent = messages


TestConversation = Conversation.TestCase
TestConversation.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
