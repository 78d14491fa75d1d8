"""The append-only record of a session: one JSON object a line.

Line format, schema 1:
`{"schema": 1, "seq": 7, "time": 1790000000.123, "kind": "verdict", "payload": {...}}`
(`time` in seconds since the epoch). Kinds and payloads are listed in docs/journal.md.
Everything a person or program may want to know of a run is an event here, and every face
(terminal, `--json`, tests) is a sink of the same stream.
"""

import errno
import json
import os
import re
import stat
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCHEMA = 1
_ESCAPED = re.compile("[\ud800-\udfff\x85\u2028\u2029]")
"""Halves of characters, which UTF-8 cannot hold, and line ends that are not `\\n`."""
# opening a FIFO or a device must neither wait nor become our terminal
_QUICKLY = os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def on_a_line(text: str) -> str:
    """`text` with everything that would end a line or act on a terminal written as an escape.

    For names and words out of rule files, which would otherwise look like lines of our own.
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


@dataclass(frozen=True)
class Event:
    """One thing that happened. `seq` is 0 for a live event, which is shown but not written."""

    seq: int
    time: float
    kind: str
    payload: Mapping[str, Any]

    def to_json(self) -> str:
        record = {
            "schema": SCHEMA,
            "seq": self.seq,
            "time": round(self.time, 6),
            "kind": self.kind,
            "payload": self.payload,
        }
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


Sink = Callable[[Event], None]


class Journal:
    """Writes events to a file and hands them to its sinks, in order."""

    def __init__(
        self, path: Path | None = None, next_seq: int = 1, *, fd: int | None = None
    ) -> None:
        """`path` None keeps the journal in the sinks alone. Parents must exist. `fd` is the file of
        `path` when it is open already.

        Raises BlockingIOError when another program writes this journal, and OSError.
        """
        self.path = path
        self.sinks: list[Sink] = []
        self.problem: str | None = None
        self._next_seq = next_seq
        self._fd = fd
        if path is not None and fd is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _QUICKLY
            self._fd = _locked(os.open(path, flags, 0o600))

    def emit(self, kind: str, /, **payload: Any) -> Event:
        """Write one event as one line and show it to every sink."""
        event = Event(self._next_seq, time.time(), kind, payload)
        self._next_seq += 1
        self._write(event)
        self._show(event)
        return event

    def live(self, kind: str, /, **payload: Any) -> None:
        """Show something of the moment, such as streamed text, without recording it."""
        self._show(Event(0, time.time(), kind, payload))

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _show(self, event: Event) -> None:
        for sink in self.sinks:
            sink(event)

    def _write(self, event: Event) -> None:
        if self._fd is None:
            return
        line = (event.to_json() + "\n").encode("utf-8")
        size = os.fstat(self._fd).st_size
        try:
            _append(self._fd, line)
        except OSError as error:
            with suppress(OSError):
                os.ftruncate(self._fd, size)
            self._complain(error)

    def _complain(self, error: OSError) -> None:
        """Say once that the record has a hole; the session goes on."""
        if self.problem is None:
            path = str(self.path)
            self.problem = f"the session journal {path!r} is incomplete: {error.strerror}"
            self.live("notice", level="warning", text=self.problem)


def _append(fd: int, line: bytes) -> None:
    """Write a line, in one piece unless the disk takes only a part at first."""
    left = memoryview(line)
    while left:
        left = left[os.write(fd, left) :]


@dataclass(frozen=True)
class Recording:
    """A journal read back: its events, and what had to be repaired."""

    events: tuple[Event, ...]
    repairs: tuple[str, ...]


def read(path: Path) -> Recording:
    """Read a journal, mending a last line that was not written to its end; while another program
    writes the journal, such a line is left out instead.

    Raises ValueError, naming the line, when any other line is not an event of schema 1, and
    OSError when the file cannot be read or mended, or is no regular file.
    """
    fd = _open_regular(path, os.O_RDONLY)
    try:
        events, tail = parse(_content(fd), path)
    finally:
        os.close(fd)
    if not tail:
        return Recording(tuple(events), ())
    try:
        journal, recording = reopen(path)
    except BlockingIOError:
        return Recording(tuple(events), ())
    journal.close()
    return recording


def reopen(path: Path) -> tuple[Journal, Recording]:
    """A journal to go on with and what is in it, mended, with no other program writing it.

    Raises BlockingIOError when another program does, what `read` raises, and ValueError when
    there is no event in it; the file is then left as it is.
    """
    fd = _locked(_open_regular(path, os.O_RDWR | os.O_APPEND))
    try:
        data = _content(fd)
        events, tail = parse(data, path)
        if not events and _parse(tail) is None:
            raise ValueError(f"{str(path)!r} holds no journal event")
        repairs = [_mend(fd, path.name, len(data), tail, events)] if tail else []
    except BaseException:
        os.close(fd)
        raise
    next_seq = events[-1].seq + 1 if events else 1
    return Journal(path, next_seq, fd=fd), Recording(tuple(events), tuple(repairs))


def parse(data: bytes, path: Path) -> tuple[list[Event], bytes]:
    """The events of the whole lines, and the bytes after the last of them.

    Raises ValueError, naming the line, when one is not an event of schema 1.
    """
    lines = data.split(b"\n")
    tail = lines.pop()
    events: list[Event] = []
    for number, line in enumerate(lines, 1):
        event = _parse(line)
        if event is None:
            raise ValueError(f"line {number} of {str(path)!r} is not a journal event")
        events.append(event)
    return events, tail


def _mend(fd: int, name: str, size: int, tail: bytes, events: list[Event]) -> str:
    """Complete the last line when only its end is missing, else cut it off."""
    event = _parse(tail)
    if event is None:
        os.ftruncate(fd, size - len(tail))
        return f"an incomplete last line ({len(tail)} bytes) was cut from {name!r}"
    _append(fd, b"\n")
    events.append(event)
    return f"the last line of {name!r} was ended"


def _open_regular(path: Path, flags: int) -> int:
    fd = os.open(path, flags | _QUICKLY)
    if not stat.S_ISREG(os.fstat(fd).st_mode):
        os.close(fd)
        raise OSError(errno.EINVAL, "it is not a regular file", str(path))
    return fd


def _content(fd: int) -> bytes:
    with open(fd, "rb", closefd=False) as file:
        return file.read()


def _locked(fd: int) -> int:
    """The same handle, which no other program can lock now. Raises BlockingIOError, having closed
    it, when another has."""
    import fcntl

    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(fd)
        raise
    except OSError:
        return fd  # a file system without locks: better unguarded than no session
    return fd


def _parse(line: bytes) -> Event | None:
    try:
        record = json.loads(line)
        if record["schema"] != SCHEMA or not isinstance(record["payload"], dict):
            return None
        return Event(
            int(record["seq"]), float(record["time"]), str(record["kind"]), record["payload"]
        )
    except (ValueError, LookupError, TypeError, OverflowError, RecursionError):
        return None
