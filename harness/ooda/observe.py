"""Observe: what is asked, and what changed since the last time."""

import time

from harness.errors import ToolError
from harness.ooda.turn import Turn
from harness.workspace.changes import Snapshot, Tracker, compare
from harness.workspace.root import Root


class Observe:
    """Looks at the workspace at the start of a turn and after every step that may change it."""

    def __init__(self, root: Root, tracker: Tracker) -> None:
        self._root = root
        self._tracker = tracker
        self._first: Snapshot | None = None
        self._last: Snapshot = {}
        self._ended: Snapshot | None = None
        self.turns = 0

    def begin(self, request: str) -> Turn:
        """The turn's starting state. The first turn has no earlier one to compare with."""
        began = time.time()
        before = self.now()
        elsewhere = compare(self._ended, before).paths if self._ended is not None else ()
        self.turns += 1
        return Turn(self.turns, request, before, elsewhere, git_branch(self._root), began)

    def end(self) -> None:
        """The turn is over: what changes from now on is somebody else's doing."""
        self._ended = self.now()

    def now(self) -> Snapshot:
        """The workspace at this moment; only what changed is read again."""
        self._last = self._tracker.snapshot()
        if self._first is None:
            self._first = self._last
        return self._last

    def start_of(self, turn: Turn) -> Snapshot:
        """What the turn began with, ignored files that a tool has edited since included."""
        return self._tracker.with_adopted(turn.before)

    @property
    def first(self) -> Snapshot:
        """What the session began with."""
        return self._tracker.with_adopted(self._first or {})

    @property
    def last(self) -> Snapshot:
        """The latest snapshot taken."""
        return self._last

    def resume(self, turns: int) -> None:
        """Go on counting after `turns` turns."""
        self.turns = turns


def git_branch(root: Root) -> str:
    """The checked-out branch, '' outside git or when no branch is checked out."""
    try:
        head = (root.read_if_there(".git/HEAD") or b"").decode("utf-8", "replace")
    except ToolError:
        return ""
    prefix = "ref: refs/heads/"
    return head.strip()[len(prefix) :] if head.startswith(prefix) else ""
