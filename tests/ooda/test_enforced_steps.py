"""A server that holds its model to the schema, and a model that says whatever that allows."""

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, places
from harness.journal import Event
from harness.model.playback import Answer
from harness.model.script import Script, ScriptedReply
from harness.model.scripted import ScriptedServer
from harness.session import Session
from harness.tools.approval import Answer as Decision
from tests.cases.wire_rules import RULES
from tests.prefix import assert_stable
from tests.strictness import check_requests

TEXTS: Mapping[str, tuple[str, ...]] = {
    "old_text": ("max_attempts = 3", "max_attempts = 4", "no such text", "import"),
    "new_text": ("max_attempts = 4", "max_attempts = 3", "max_attempts = ("),
    "command": ("true", "echo more >> README.md", "rm -f README.md", "false"),
    "path": ("new.py", "docs/new.md", "auth.py"),
    "content": ("VALUE = 1\n", "def broken(:\n"),
}
OTHER = ("auth", "login", "x")
KINDS = {"verified", "answered", "failed", "unverified", "needs_review", "limit", "denied"}


class Enforcing(ScriptedServer):
    """Answers with a step that its request's schema allows, drawn by chance."""

    def __init__(self, seed: int) -> None:
        super().__init__(Script.from_json({"replies": [{"text": ""}]}))
        self._random = random.Random(seed)
        self.steps: list[dict[str, Any]] = []

    def answer(self, body: dict[str, Any]) -> Answer:
        self.requests.append(body)
        choices = body["response_format"]["json_schema"]["schema"]["anyOf"]
        step = self._step(self._random.choice(choices))
        self.steps.append(step)
        return Answer(ScriptedReply(text=json.dumps(step)), len(self.requests), self.script, body)

    def _step(self, choice: Mapping[str, Any]) -> dict[str, Any]:
        given = [
            name
            for name in choice["properties"]
            if name in choice["required"] or self._random.random() < 0.3
        ]
        return {name: self._value(name, choice["properties"][name]) for name in given}

    def _value(self, name: str, schema: Mapping[str, Any]) -> Any:
        if "enum" in schema:
            return self._random.choice(schema["enum"])
        if schema["type"] == "integer":
            return self._random.randint(1, 9)
        return self._random.random() < 0.5 if schema["type"] == "boolean" else self._text(name)

    def _text(self, name: str) -> str:
        return self._random.choice(TEXTS.get(name, OTHER))


@contextmanager
def talking(workspace: Path, seed: int) -> Iterator[tuple[Session, Enforcing, list[Event]]]:
    events: list[Event] = []
    with Enforcing(seed) as server:
        options = Options(
            host=server.base_url, approval="ask", protocol="constrained", max_steps=15
        )
        decide = random.Random(seed)
        session = Session(
            options,
            places(workspace),
            lambda request: Decision(decide.random() < 0.7),
            version="test",
            sinks=[events.append],
        )
        try:
            yield session, server, events
        finally:
            session.close("end")


REQUESTS = ("change the limit to 5", "what is the limit?", "create new.py", "erkl\u00e4re auth.py")


@pytest.mark.parametrize("seed", range(6))
def test_what_the_schema_allows_can_be_done_and_comes_to_an_end(workspace: Path, seed: int) -> None:
    with talking(workspace, seed) as (session, server, events):
        for request in REQUESTS[seed % 2 :: 2]:
            there = {path.relative_to(workspace).as_posix() for path in workspace.rglob("*")}
            begun = len(server.requests)
            outcome = session.run(request)
            repeated = "same call" in outcome.message or "circles" in outcome.message
            assert outcome.kind in KINDS or repeated, outcome
            names = {step["tool"] for step in server.steps[begun:]}
            if request == "what is the limit?":
                assert names.isdisjoint({"write_file", "patch_file", "run_shell", "remember"})
                first = paths_of(server.requests[begun], "read_file")
                assert first <= there
        check_requests(server.requests, RULES)
        assert_stable(server.requests, [{"kind": event.kind} for event in events])
        assert not [each for each in events if each.payload.get("note") == "malformed call"]
        check_patches(server)


def paths_of(body: Mapping[str, Any], tool: str) -> set[str]:
    """The paths that a schema allows for a tool."""
    choices = body["response_format"]["json_schema"]["schema"]["anyOf"]
    found = [each["properties"] for each in choices if each["properties"]["tool"]["enum"] == [tool]]
    return {path for each in found for path in each["path"].get("enum", ())}


def check_patches(server: Enforcing) -> None:
    """A file can be patched only after it was read or written."""
    known: set[str] = set()
    for body, step in zip(server.requests, server.steps, strict=True):
        assert paths_of(body, "patch_file") <= known
        if step["tool"] in ("read_file", "read_symbol", "write_file"):
            known.add(str(step["path"]).removeprefix("./"))
