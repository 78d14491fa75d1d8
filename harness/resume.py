"""`--resume`: finding a journal again, and the conversation as a fold over its events."""

import errno
import os
import re
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness import journal
from harness.config import Places
from harness.errors import UsageError
from harness.journal import Event, Journal, Recording
from harness.model.history import History
from harness.model.values import Message, Usage
from harness.ooda import prompts
from harness.ooda.limits import Spent

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SPEAKERS = ("user", "assistant", "tool")
_MOST_BYTES = 64 * 1024 * 1024
"""Of a session kept in the workspace."""
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


@dataclass(frozen=True)
class Former:
    """A session that is taken up again. `journal` is open, and no other program can write it;
    `workspace` is the path it was recorded for."""

    id: str
    journal: Journal
    recording: Recording
    workspace: str

    @property
    def turns(self) -> int:
        return sum(event.kind == "turn_started" for event in self.recording.events)


def find(where: Places, wanted: str) -> Former:
    """The session `wanted` (an id, or `latest` of this workspace).

    Raises UsageError with one line for an unknown id, a path, a file that is not a journal, and a
    session that another program has open.
    """
    path = _latest(where) if wanted == "latest" else _by_id(where, wanted)
    try:
        opened, recording = journal.reopen(path)
    except ValueError as error:
        raise UsageError(f"--resume {wanted}: {error}; it cannot be resumed") from error
    except BlockingIOError as error:
        raise UsageError(
            f"--resume {wanted}: the session {path.stem!r} is in use by another program; "
            "end that one first, or start a new session"
        ) from error
    except OSError as error:
        raise UsageError(f"--resume {wanted}: {str(path)!r}: {error.strerror}") from error
    return Former(path.stem, opened, recording, _workspace(recording.events))


def replay(events: Iterable[Event], system: str) -> History:
    """The conversation that the events tell of, legal also where it was cut off."""
    messages: list[Message] = []
    endings: dict[str, str] = {}
    request = ""
    for event in events:
        payload = event.payload
        if event.kind == "user_message":
            messages.append({"role": "user", "content": payload.get("content")})
            if payload.get("cause") == "request":
                request = prompts.asked(str(payload.get("content")))
        elif event.kind == "compacted":
            messages = _compacted(payload.get("messages"))
        elif event.kind == "outcome":
            endings[request] = str(payload.get("kind"))
        elif event.kind == "model_reply" and _is_reply(payload.get("message")):
            messages.append(payload["message"])
        elif event.kind == "tool_result":
            answer = {"tool_call_id": payload.get("id"), "content": payload.get("text")}
            messages.append({"role": "tool", **answer})
        elif event.kind == "history_reset":
            messages.clear()
            endings.clear()
    history = History.from_messages([{"role": "system", "content": system}, *messages])
    history.endings |= endings
    return history


def _compacted(messages: object) -> list[Message]:
    """What a compaction left, without anything that would speak as the system."""
    given = messages if isinstance(messages, list) else []
    return [m for m in given if isinstance(m, dict) and m.get("role") in _SPEAKERS]


def spent(events: Iterable[Event]) -> Spent:
    """What the events tell of tokens and dollars."""
    found = Spent()
    for event in events:
        if event.kind == "model_reply":
            payload = event.payload
            found.count(
                Usage(
                    _count(payload.get("prompt_tokens")),
                    _count(payload.get("completion_tokens")),
                    estimated=payload.get("estimated") is not False,
                    cached_tokens=_count(payload.get("cached_tokens")),
                    cost=_amount(payload.get("cost")),
                )
            )
    return found


def _count(value: object) -> int:
    return max(value, 0) if isinstance(value, int) else 0


def _amount(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        return None
    return float(value)


def _is_reply(message: object) -> bool:
    """A session that came with the workspace must not speak as the system."""
    return isinstance(message, dict) and message.get("role") == "assistant"


def _latest(where: Places) -> Path:
    """The newest of the user's own sessions here; one in the workspace only when there is none,
    because whoever made the workspace may have made that too."""
    own = _newest(where.sessions)
    if own is not None:
        return own
    kept = _newest(where.local / "sessions")
    if kept is None:
        raise UsageError("--resume latest: this workspace has no session yet")
    return _adopted(where, kept.stem)


def _newest(folder: Path) -> Path | None:
    found: list[tuple[int, Path]] = []
    for path in folder.glob("*.jsonl"):
        if _ID.fullmatch(path.stem):
            with suppress(FileNotFoundError):  # gone since the listing
                found.append((path.lstat().st_mtime_ns, path))
    return max(found)[1] if found else None


def _by_id(where: Places, wanted: str) -> Path:
    if not _ID.fullmatch(wanted):
        raise UsageError(f"--resume {wanted!r} is not a session id; give an id or 'latest'")
    name = f"{wanted}.jsonl"
    if (where.sessions / name).is_file():
        return where.sessions / name
    if os.path.lexists(where.local / "sessions" / name):
        return _adopted(where, wanted)
    elsewhere = sorted((where.user / "state").glob(f"*/sessions/{name}"))
    if elsewhere:
        return elsewhere[0]
    known = sorted(path.stem for path in where.sessions.glob("*.jsonl"))[-3:]
    hint = f"the latest are {', '.join(known)}" if known else "this workspace has none yet"
    raise UsageError(f"--resume {wanted!r}: there is no such session; {hint}")


def _adopted(where: Places, name: str) -> Path:
    """The user's own copy of a session kept in the workspace, which itself is never written."""
    source = where.local / "sessions" / f"{name}.jsonl"
    target = where.sessions / source.name
    try:
        data = _read_without_links(where.local, source.name)
        journal.parse(data, source)
    except ValueError as error:
        raise UsageError(f"--resume {name}: {error}; it cannot be resumed") from error
    except OSError as error:
        raise UsageError(
            f"--resume {name}: {str(source)!r} cannot be used ({error.strerror}): a session kept "
            f"in a workspace must be a file of at most {_MOST_BYTES >> 20} MiB, and no link"
        ) from error
    try:
        _copy(data, target)
    except OSError as error:
        raise UsageError(
            f"--resume {name}: it cannot be copied to {str(target)!r}: {error.strerror}"
        ) from error
    return target


def _read_without_links(local: Path, name: str) -> bytes:
    with (
        _opened(local, _FOLDER) as folder,
        _opened("sessions", _FOLDER, folder) as sessions,
        _opened(name, _FILE, sessions) as fd,
    ):
        if not stat.S_ISREG(os.fstat(fd).st_mode):
            raise OSError(errno.EINVAL, "it is not a regular file")
        with open(fd, "rb", closefd=False) as file:
            data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise OSError(errno.EFBIG, os.strerror(errno.EFBIG))
    return data


@contextmanager
def _opened(path: str | Path, flags: int, folder: int | None = None) -> Iterator[int]:
    fd = os.open(path, flags, dir_fd=folder)
    try:
        yield fd
    finally:
        os.close(fd)


def _copy(data: bytes, target: Path) -> None:
    """Make `target` in one step; one that is there already stays as it is."""
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    part = target.with_name(f".{target.name}-{os.urandom(6).hex()}.tmp")
    try:
        with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(data)
        with suppress(FileExistsError):
            os.link(part, target)
    finally:
        part.unlink(missing_ok=True)


def _workspace(events: Iterable[Event]) -> str:
    """Where the session last was."""
    found = [
        str(event.payload.get("workspace", ""))
        for event in events
        if event.kind in ("session_started", "session_resumed")
    ]
    return found[-1] if found else ""
