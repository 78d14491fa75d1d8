"""The layer `discovery`: what our look at a server finds out about it and its models."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from harness.errors import ModelFailure
from harness.model.servers import Discovery, discover
from tests.cases.wire_match import Seen, faults_of_reply
from tests.cases.wire_replies import failed
from tests.cases.wire_rules import Json
from tests.cases.wire_server import Replay

FOUND: Mapping[str, Callable[[Discovery], Any]] = {
    "server": lambda found: found.recognised,
    "model": lambda found: found.model.name,
    "models": lambda found: list(found.server.models),
    "context_length": lambda found: found.model.context_length,
    "context_trained": lambda found: found.model.context_trained,
    "tools": lambda found: found.model.tools,
    "vision": lambda found: found.model.vision,
    "loaded": lambda found: found.model.loaded,
}
"""What `discovered` may hold, and where it is here."""


def check_discovery(case: Json) -> Iterator[str]:
    expect = case["expect"]
    wanted = expect.get("discovered") or {}
    with Replay(case) as replay:
        try:
            found = discover(replay.base_url)
        except ModelFailure as failure:
            yield from faults_of_reply(failed(failure), expect)
            yield from (f"{key}: nothing was found" for key in wanted)
            return
    yield from faults_of_reply(Seen(), expect)
    for key, value in wanted.items():
        if key not in FOUND:
            yield f"discovered: {key!r} is not known"
        elif FOUND[key](found) != value:
            yield f"discovered: the {key} is {FOUND[key](found)!r}, not {value!r}"
