"""Observe: what is asked, and what changed since the last time."""

from pathlib import Path

from harness.ooda.turn import Turn
from harness.workspace.changes import Snapshot, Tracker, compare


class Observe:
    """Looks at the workspace at the start of a turn and after every step that may change it."""

    def __init__(self, root: Path, tracker: Tracker) -> None:
        self._root = root
        self._tracker = tracker
        self._last: Snapshot | None = None
        self._first: Snapshot | None = None
        self.turns = 0

    def begin(self, request: str) -> Turn:
        """The turn's starting state. The first turn has nothing to compare with."""
        former = self._last if self.turns else None
        before = self.now()
        elsewhere = compare(former, before).paths if former is not None else ()
        self.turns += 1
        return Turn(self.turns, request, before, elsewhere, git_branch(self._root))

    def now(self) -> Snapshot:
        """The workspace at this moment; only what changed is read again."""
        self._last = self._tracker.snapshot()
        if self._first is None:
            self._first = self._last
        return self._last

    @property
    def first(self) -> Snapshot:
        """The first snapshot of the session."""
        return self._first if self._first is not None else {}

    @property
    def last(self) -> Snapshot:
        """The latest snapshot taken."""
        return self._last if self._last is not None else {}

    def resume(self, turns: int) -> None:
        """Go on counting after `turns` turns."""
        self.turns = turns


def git_branch(root: Path) -> str:
    """The checked-out branch, '' outside git or when no branch is checked out."""
    try:
        head = (root / ".git" / "HEAD").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    prefix = "ref: refs/heads/"
    return head.strip()[len(prefix) :] if head.startswith(prefix) else ""
