"""`--resume`: finding a journal again, and the conversation as a fold over its events."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness import journal
from harness.config import Places
from harness.errors import UsageError
from harness.journal import Event, Recording
from harness.model.history import History
from harness.model.values import Message

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")


@dataclass(frozen=True)
class Former:
    """A session that is taken up again. `workspace` is the path it was recorded for."""

    id: str
    path: Path
    recording: Recording
    workspace: str

    @property
    def turns(self) -> int:
        return sum(event.kind == "turn_started" for event in self.recording.events)

    @property
    def last_seq(self) -> int:
        return self.recording.events[-1].seq if self.recording.events else 0


def find(where: Places, wanted: str) -> Former:
    """The session `wanted` (an id, or `latest` of this workspace).

    Raises UsageError with one line for an unknown id, a path, or a file that is not a journal.
    """
    path = _latest(where) if wanted == "latest" else _by_id(where, wanted)
    try:
        recording = journal.read(path)
    except ValueError as error:
        raise UsageError(f"--resume {wanted}: {error}; it cannot be resumed") from error
    except OSError as error:
        raise UsageError(f"--resume {wanted}: {str(path)!r}: {error.strerror}") from error
    return Former(path.stem, path, recording, _workspace(recording.events))


def replay(events: Iterable[Event], system: str) -> History:
    """The conversation that the events tell of, legal also where it was cut off."""
    messages: list[Message] = []
    for event in events:
        payload = event.payload
        if event.kind == "user_message":
            messages.append({"role": "user", "content": payload.get("content")})
        elif event.kind == "model_reply" and isinstance(payload.get("message"), dict):
            messages.append(payload["message"])
        elif event.kind == "tool_result":
            answer = {"tool_call_id": payload.get("id"), "content": payload.get("text")}
            messages.append({"role": "tool", **answer})
        elif event.kind == "history_reset":
            messages.clear()
    return History.from_messages([{"role": "system", "content": system}, *messages])


def _folders(where: Places) -> tuple[Path, ...]:
    """This workspace's own sessions first, then those kept in the workspace itself."""
    return where.sessions, where.local / "sessions"


def _latest(where: Places) -> Path:
    found = [path for folder in _folders(where) for path in folder.glob("*.jsonl")]
    if not found:
        raise UsageError("--resume latest: this workspace has no session yet")
    return max(found, key=lambda path: (path.stat().st_mtime_ns, path.name))


def _by_id(where: Places, wanted: str) -> Path:
    if not _ID.fullmatch(wanted):
        raise UsageError(f"--resume {wanted!r} is not a session id; give an id or 'latest'")
    for folder in _folders(where):
        if (folder / f"{wanted}.jsonl").is_file():
            return folder / f"{wanted}.jsonl"
    elsewhere = sorted((where.user / "state").glob(f"*/sessions/{wanted}.jsonl"))
    if elsewhere:
        return elsewhere[0]
    known = sorted(path.stem for path in where.sessions.glob("*.jsonl"))[-3:]
    hint = f"the latest are {', '.join(known)}" if known else "this workspace has none yet"
    raise UsageError(f"--resume {wanted!r}: there is no such session; {hint}")


def _workspace(events: Iterable[Event]) -> str:
    """Where the session last was."""
    found = [
        str(event.payload.get("workspace", ""))
        for event in events
        if event.kind in ("session_started", "session_resumed")
    ]
    return found[-1] if found else ""
