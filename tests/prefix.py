"""What was sent stays the beginning of what is sent next, except where the journal says why."""

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

REASONS = ("compacted", "history_reset", "protocol")
"""Events after which a request may begin in another way."""


def journalled(home: Path, since: float) -> list[dict[str, Any]]:
    """All events that the sessions under a home have recorded since a time."""
    files = [path for path in home.rglob("sessions/*.jsonl") if path.is_file()]
    lines = [line for path in files for line in path.read_text(errors="replace").splitlines()]
    events = [
        json.loads(line) for line in lines if line.startswith('{"schema":') and line.endswith("}")
    ]
    return [event for event in events if event["time"] >= since]


def assert_stable(
    requests: Sequence[Mapping[str, Any]], events: Iterable[Mapping[str, Any]]
) -> None:
    """Each request begins, byte for byte, with the whole one before it, and offers the same tools;
    as often as it does not, there is an event that tells why."""
    reasons = sum(event["kind"] in REASONS for event in events)
    broken = [number for number, pair in enumerate(pairwise(requests), 2) if not _extends(*pair)]
    assert len(broken) <= reasons, f"requests {broken} begin unlike the ones before them"


def _extends(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    sent, then = ([json.dumps(m) for m in body["messages"]] for body in (before, after))
    same_tools = json.dumps(before.get("tools")) == json.dumps(after.get("tools"))
    return then[: len(sent)] == sent and same_tools
