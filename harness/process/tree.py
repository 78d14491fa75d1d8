"""The processes of one run, wherever they went, and their end.

A child may start a session of its own, and when its parent dies it belongs to process 1. Four
traces lead to it: the process group, the children that `/proc` lists under a process already
known, a random mark in the environment which every descendant inherits, and the output pipe if
it holds it open. Without `/proc` (macOS) there is the process group alone. A process that
leaves its session, wipes its environment, closes its output and loses its parent between two
looks is not found.
"""

import os
import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass

MARK = "MCA_RUN_ID"
"""The environment variable with the marks of a run and, before them, of the runs around it."""

_PATIENCE = 2.0


@dataclass(frozen=True)
class _Process:
    """A process that is not mistaken for a later one with the same number."""

    pid: int
    start: int


class Tree:
    """Everything that descends from one direct child, which must not be reaped before `kill`."""

    def __init__(self, leader: int, mark: str) -> None:
        """`leader` is the direct child and leads its own session and process group; `mark`
        is a random word that its environment holds under `MARK`."""
        self._leader = leader
        self._mark = mark.encode()
        self._known: set[_Process] = set()

    def look(self) -> None:
        """Remember the descendants there are now; cheap, for use while the command runs."""
        pending = [self._leader, *(process.pid for process in self._alive())]
        seen = set(pending)
        while pending:
            for child in _children(pending.pop()):
                if child not in seen:
                    seen.add(child)
                    pending.append(child)
        seen.discard(self._leader)
        self._known |= {process for process in map(_identify, seen) if process is not None}

    def kill(self) -> None:
        """SIGKILL for all, again until none is found or two seconds have passed."""
        deadline = time.monotonic() + _PATIENCE
        pause = 0.001
        while time.monotonic() < deadline:
            self.look()
            marked = _marked(self._mark)
            self._known |= {process for process in marked if process.pid != self._leader}
            victims = self._alive()
            _signal_group(self._leader)
            for process in victims:
                _signal(process.pid)
            if not victims and _identify(self._leader) is None:
                return
            time.sleep(pause)
            pause = min(pause * 2, 0.05)

    def kill_holders(self, pipe: int) -> None:
        """The same for all that have the pipe with that inode number open, us apart."""
        target = f"pipe:[{pipe}]"
        for pid in _others():
            folder = f"/proc/{pid}/fd"
            if any(_link(f"{folder}/{number}") == target for number in _listed(folder)):
                self._known |= set(filter(None, [_identify(pid)]))
        self.kill()

    def _alive(self) -> list[_Process]:
        return [process for process in self._known if _identify(process.pid) == process]


def kill_marked(mark: str) -> None:
    """SIGKILL for all that have `mark` in their environment: for a run whose leader is not
    known because starting it was interrupted."""
    for pause in (0.0, 0.02, 0.1):
        time.sleep(pause)
        for process in _marked(mark.encode()):
            _signal_group(process.pid)
            _signal(process.pid)


def _marked(mark: bytes) -> Iterator[_Process]:
    for pid in _others():
        if mark in _read(f"/proc/{pid}/environ"):
            process = _identify(pid)
            if process is not None:
                yield process


def _others() -> Iterator[int]:
    ours = os.getpid()
    return (int(name) for name in _listed("/proc") if name.isdigit() and int(name) != ours)


def _identify(pid: int) -> _Process | None:
    """The process of that number, or None when it is gone or only waits to be reaped."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    if len(fields) < 20 or fields[0] in (b"Z", b"X"):
        return None
    return _Process(pid, int(fields[19]))


def _children(pid: int) -> Iterator[int]:
    for thread in _listed(f"/proc/{pid}/task"):
        for child in _read(f"/proc/{pid}/task/{thread}/children").split():
            yield int(child)


def _listed(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _link(path: str) -> str:
    try:
        return os.readlink(path)
    except OSError:
        return ""


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def _signal(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except OSError:
        return


def _signal_group(leader: int) -> None:
    try:
        os.killpg(leader, signal.SIGKILL)
    except OSError:
        return
