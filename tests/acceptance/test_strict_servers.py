"""Whole conversations with servers that refuse whatever a strict server or template may refuse."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, places
from harness.journal import Event
from harness.model.playback import Answer as Played
from harness.model.script import Script
from harness.ooda.turn import Outcome
from harness.resume import find
from harness.session import Session
from harness.tools.approval import Answer, ApprovalRequest
from tests.cases.wire_rules import ALWAYS, RULES
from tests.cases.wire_server import Replay
from tests.conftest import call, calls, say
from tests.strictness import check_requests

Reply = dict[str, Any]
PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)
WRONG = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = = 5",
)
BACK = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = = 5",
    new_text="self.max_attempts = 3",
)
MALFORMED = {"calls": [{"name": "read_file", "arguments": '{"path": "auth.py'}]}
LOOK = call("read_file", path="auth.py")
PROTOCOLS = ("native", "constrained", "text")


def native(reply: Reply) -> Reply:
    return reply


def constrained(reply: Reply) -> Reply:
    if "calls" not in reply:
        return (
            say(json.dumps({"tool": "answer", "text": reply["text"]})) if reply["text"] else reply
        )
    first = reply["calls"][0]
    if isinstance(first["arguments"], str):
        return say('{"tool": "read_file", "path": ')
    return say(json.dumps({"tool": first["name"], **first["arguments"]}))


def text(reply: Reply) -> Reply:
    return say("\n".join(map(tagged, reply["calls"]))) if "calls" in reply else reply


def tagged(made: Mapping[str, Any]) -> str:
    raw = made["arguments"]
    arguments = raw if isinstance(raw, str) else json.dumps(raw)
    end = "" if isinstance(raw, str) else "}\n</tool_call>"
    return f'<tool_call>\n{{"name": "{made["name"]}", "arguments": {arguments}{end}'


WRITTEN: Mapping[str, Callable[[Reply], Reply]] = {
    "native": native,
    "constrained": constrained,
    "text": text,
}


def strict(protocol: str, replies: list[Reply]) -> Replay:
    """A server with every rule, and a model that says all this in its protocol."""
    spoken = [WRITTEN[protocol](reply) for reply in replies]
    script = Script.from_json({"replies": spoken})
    turns = [
        list(Played(reply, number, script, {}).events())
        for number, reply in enumerate(script.replies, 1)
    ]
    rules = [
        {"reject_if": name, "http_status": 400, "body": f"broken: {name}"}
        for name in (ALWAYS if protocol == "native" else RULES)
    ]
    return Replay({"model": "strict", "turns": turns, "rules": rules})


class Person:
    """Is asked before a tool runs, and answers as told: allow, deny, or Ctrl-C."""

    def __init__(self) -> None:
        self.answers: list[str] = []

    def __call__(self, request: ApprovalRequest) -> Answer:
        answer = self.answers.pop(0)
        if answer == "ctrl-c":
            raise KeyboardInterrupt
        return Answer(answer == "allow")


@contextmanager
def talking(
    server: Replay, workspace: Path, person: Person, resume: str = "", **options: Any
) -> Iterator[tuple[Session, list[Event]]]:
    where = places(workspace)
    events: list[Event] = []
    session = Session(
        Options(host=server.base_url, **options),
        where,
        person,
        version="test",
        former=find(where, resume) if resume else None,
        sinks=[events.append],
    )
    try:
        yield session, events
    finally:
        session.close("end")


def taken(server: Replay, protocol: str) -> None:
    """Nothing that was sent broke a rule; the offending request is shown."""
    check_requests(server.requests, ALWAYS if protocol == "native" else tuple(RULES))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_conversation_with_all_that_goes_wrong_stays_legal(
    protocol: str, workspace: Path
) -> None:
    several = calls(LOOK, PATCH) if protocol != "constrained" else PATCH
    replies = [
        *(PATCH, say("Then I leave it.")),
        *(MALFORMED, LOOK, say("Three attempts.")),
        *(say(""), say("Here I am.")),
        *(WRONG, say("Done."), BACK, say("As it was.")),
        several,
        *(LOOK, say("Still three.")),
    ]
    person = Person()
    with strict(protocol, replies) as server:
        with talking(server, workspace, person, protocol=protocol) as (session, events):

            def ask(request: str, *answers: str) -> str:
                person.answers = list(answers)
                outcome = session.run(request)
                taken(server, protocol)
                return told(outcome)

            assert ask("Raise the threshold to 5.", "deny") == "denied"
            assert ask("What is the threshold?") == "answered"
            assert ask("Are you there?") == "answered"
            assert ask("Raise the threshold to 5.", "allow", "allow") == "answered"
            assert ask("Raise the threshold to 5.", "ctrl-c") == "interrupted"
            first = session.id
        with talking(server, workspace, person, first, protocol=protocol) as (session, _):
            assert told(session.run("And now?")) == "answered"
        taken(server, protocol)
        assert len(server.requests) == len(replies)
    failed = [e for e in events if e.kind == "verdict" and e.payload["status"] == "failed"]
    assert failed, "the feedback of a failed check was sent, too"


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_conversation_that_is_made_shorter_stays_legal(protocol: str, workspace: Path) -> None:
    for number in range(8):
        lines = "\n".join(f"value_{number}_{line} = {line}" for line in range(150))
        (workspace / f"part{number}.py").write_text(lines)
    reads = [call("read_file", path=f"part{number}.py") for number in range(8)]
    replies = [*reads, say("Read."), *reads, say("Read again.")]
    with strict(protocol, replies) as server:
        flags = {"protocol": protocol, "context_length": 8192}
        with talking(server, workspace, Person(), **flags) as (session, events):
            assert told(session.run("What do the parts hold?")) == "answered"
            assert told(session.run("Read them again: what do they hold?")) == "answered"
        taken(server, protocol)
        assert len(server.requests) == len(replies)
    assert any(event.kind == "compacted" for event in events)


def test_a_server_that_takes_no_tools_is_asked_in_another_way(workspace: Path) -> None:
    with strict("constrained", [say("never sent"), LOOK, say("Three.")]) as server:
        rules = server.case["rules"]
        body = {"error": {"message": "registry/strict does not support tools"}}
        rules[-1] |= {"body": body}
        assert rules[-1]["reject_if"] == "tools_present"
        with talking(server, workspace, Person()) as (session, _):
            assert told(session.run("What is the threshold?")) == "answered"
    assert ["tools" in body for body in server.requests] == [True, False, False]


def told(outcome: Outcome) -> str:
    """How a turn ended, and why where it failed."""
    if outcome.kind in ("failed", "model_error", "limit"):
        return f"{outcome.kind}: {outcome.message}"
    return outcome.kind
