"""Every real part that tools need, around a folder, and a person who answers as told."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from harness.code.index import CodeIndex
from harness.journal import Event, Journal
from harness.model.values import Call
from harness.tools.approval import Answer, ApprovalRequest, Approvals
from harness.tools.base import Result, ToolContext
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import Tracker
from harness.workspace.root import Root
from knowledge import Store


class Rig:
    """A toolbox, the events it emitted and the questions it asked."""

    def __init__(
        self, workspace: Path, private: Path, mode: str, answers: Sequence[Answer], seconds: float
    ) -> None:
        self.workspace = workspace
        self.events: list[Event] = []
        self.asked: list[ApprovalRequest] = []
        self._answers = list(answers)
        self._calls = 0
        root = Root(workspace)
        self.tracker = Tracker(root, private / "files.json")
        self.index = CodeIndex(root.read, private)
        self.store = Store(
            workspace / ".mini-coding-agent" / "knowledge" / "entries.json",
            private / "home" / "knowledge" / "entries.json",
        )
        self.context = ToolContext(
            root=root,
            tracker=self.tracker,
            index=self._fresh_index,
            store=self.store,
            private=private,
            shell_timeout=seconds,
            project=workspace.name,
        )
        journal = Journal()
        journal.sinks.append(self.events.append)
        self.toolbox = Toolbox(self.context, Approvals(mode, self._ask), journal)

    def __call__(self, tool: str, /, **arguments: Any) -> Result:
        """Run one call and report it, as the loop does."""
        self._calls += 1
        return self.send(Call(f"c{self._calls}", tool, arguments, ""))

    def send(self, call: Call) -> Result:
        result = self.toolbox.run(call)
        self.toolbox.report(call, result)
        return result

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def last(self, kind: str) -> dict[str, Any]:
        """The payload of the last event of that kind."""
        return dict(next(event for event in reversed(self.events) if event.kind == kind).payload)

    def text(self, path: str) -> str:
        return (self.workspace / path).read_text(encoding="utf-8")

    def _ask(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self._answers.pop(0) if self._answers else Answer(False, by="end of input")

    def _fresh_index(self) -> CodeIndex:
        self.index.refresh(self.tracker.snapshot())
        return self.index


@contextmanager
def rigged(base: Path, mode: str = "auto", *answers: Answer, seconds: float = 30) -> Iterator[Rig]:
    """A rig whose workspace is `base/ws` and whose private folder lies beside it."""
    workspace, private = base / "ws", base / "private"
    for folder in (workspace, private):
        folder.mkdir(exist_ok=True, parents=True)
    rig = Rig(workspace, private, mode, answers, seconds)
    try:
        yield rig
    finally:
        rig.index.close()
