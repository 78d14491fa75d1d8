"""What the journals of earlier sessions tell of their turns: a fold, as everything else is."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import journal
from harness.journal import Event

MOST_SESSIONS = 200
"""The newest ones are read."""
_MOST_BYTES = 64 * 1024 * 1024
_BY_HAND = re.compile(
    r"\b(pytest|py\.test|tox|nox|unittest|make (test|check)|npm (run )?test|cargo test|go test)\b"
)
_KEPT = frozenset({"answered", "verified", "needs_review", "unverified"})
"""Outcomes after which a change stands."""


@dataclass(frozen=True)
class TurnRecord:
    """`changed` paths of a turn, the gates that were `due`, and which of them `passed` or
    `failed`; `tried` when tests that were run by hand failed."""

    kind: str
    changed: tuple[str, ...] = ()
    due: frozenset[str] = frozenset()
    passed: frozenset[str] = frozenset()
    failed: frozenset[str] = frozenset()
    tried: bool = False

    @property
    def kept(self) -> bool:
        return bool(self.changed) and self.kind in _KEPT


@dataclass(frozen=True)
class SessionRecord:
    """The turns of one session, in order."""

    id: str
    turns: tuple[TurnRecord, ...]


def sessions(folder: Path, besides: str = "") -> list[SessionRecord]:
    """The sessions whose journals lie in `folder`, oldest first, without the one called `besides`.

    A journal that cannot be read tells nothing.
    """
    found: list[tuple[int, Path]] = []
    for path in folder.glob("*.jsonl"):
        with suppress(OSError):
            status = path.lstat()
            if path.stem != besides and status.st_size <= _MOST_BYTES and not path.is_symlink():
                found.append((status.st_mtime_ns, path))
    newest = sorted(found)[-MOST_SESSIONS:]
    return [SessionRecord(path.stem, tuple(_turns(_events(path)))) for _, path in newest]


def _events(path: Path) -> list[Event]:
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            return journal.parse(file.read(), path)[0]
    except (OSError, ValueError):
        return []


def _turns(events: Iterable[Event]) -> Iterator[TurnRecord]:
    running = _Running()
    for event in events:
        if event.kind == "turn_started":
            running = _Running()
        elif event.kind == "outcome":
            yield running.ended(event.payload)
            running = _Running()
        else:
            running.note(event)


class _Running:
    """A turn whose outcome is still to come."""

    def __init__(self) -> None:
        self.due: set[str] = set()
        self.verdicts: dict[str, set[str]] = {"passed": set(), "failed": set()}
        self.commands: dict[str, str] = {}
        self.tried = False

    def note(self, event: Event) -> None:
        payload = event.payload
        if event.kind == "gates_due":
            self.due |= {str(gate.get("name")) for gate in _objects(payload.get("gates"))}
        elif event.kind == "verdict" and payload.get("status") in ("passed", "failed"):
            self.verdicts[payload["status"]].add(str(payload.get("gate")))
        elif event.kind == "tool_call" and payload.get("name") == "run_shell":
            self.commands[str(payload.get("id"))] = str(payload.get("summary"))
        elif event.kind == "tool_result":
            command = self.commands.pop(str(payload.get("id")), "")
            failed = not payload.get("ok") and not payload.get("denied")
            self.tried = self.tried or bool(failed and _BY_HAND.search(command))

    def ended(self, payload: Any) -> TurnRecord:
        changed = payload.get("changed")
        paths = tuple(map(str, changed)) if isinstance(changed, list) else ()
        return TurnRecord(
            kind=str(payload.get("kind")),
            changed=paths,
            due=frozenset(self.due),
            passed=frozenset(self.verdicts["passed"]),
            failed=frozenset(self.verdicts["failed"]),
            tried=self.tried,
        )


def _objects(value: object) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
