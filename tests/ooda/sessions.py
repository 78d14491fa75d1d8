"""A real session in this process, against a scripted model."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.config import Options, places
from harness.journal import Event
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.session import Session
from harness.tools.approval import Answer
from tests.prefix import assert_stable
from tests.strictness import check_requests


def step(tool: str, /, **arguments: Any) -> dict[str, Any]:
    """A reply that is one step."""
    return {"text": json.dumps({"tool": tool, **arguments})}


def written(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A reply with a call in its text."""
    call = json.dumps({"name": name, "arguments": arguments})
    return {"text": f"<tool_call>\n{call}\n</tool_call>"}


class Talk:
    """A session, what it sent, and what it journalled."""

    def __init__(self, session: Session, server: ScriptedServer, events: list[Event]) -> None:
        self.session = session
        self.events = events
        self.bodies = server.requests

    def kinds(self, kind: str) -> list[dict[str, Any]]:
        return [dict(event.payload) for event in self.events if event.kind == kind]

    def steps(self, number: int) -> dict[str, dict[str, Any]]:
        """The steps that the schema of one request allows: the arguments by tool."""
        schema = self.bodies[number]["response_format"]["json_schema"]["schema"]
        return {
            choice["properties"]["tool"]["enum"][0]: {
                name: each.get("enum") for name, each in choice["properties"].items()
            }
            for choice in schema["anyOf"]
        }


@contextmanager
def session_at(
    workspace: Path, replies: Sequence[dict[str, Any]], **options: Any
) -> Iterator[Talk]:
    """Approves everything unless `options` say otherwise. Every request must be one that a strict
    server would take, and begin with the one before it."""
    script = Script.from_json({"replies": list(replies), "after_last": "error"})
    events: list[Event] = []
    with ScriptedServer(script) as server:
        settings = Options(**{"host": server.base_url, "approval": "auto", **options})
        session = Session(
            settings,
            places(workspace),
            lambda request: Answer(True),
            version="test",
            sinks=[events.append],
        )
        try:
            yield Talk(session, server, events)
            check_requests(server.requests)
            assert_stable(server.requests, [{"kind": event.kind} for event in events])
        finally:
            session.close("end")
