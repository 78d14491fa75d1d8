"""The parts of a session, joined: who is given what."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.code.index import CodeIndex
from harness.config import Options, Places
from harness.connection import Connection
from harness.journal import Journal
from harness.model.history import History
from harness.ooda.act import Act
from harness.ooda.baseline import NoDecision, no_context, no_verification
from harness.ooda.decide import Decide
from harness.ooda.facts import Facts
from harness.ooda.limits import Limits, Spent
from harness.ooda.loop import Loop, Phases
from harness.ooda.observe import Observe
from harness.ooda.orient import TEST_COMMAND, Orient
from harness.ooda.so_far import SoFar
from harness.ooda.window import Window
from harness.tools.approval import Approvals, Asker
from harness.tools.base import ToolContext
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import Changes, Snapshot, Tracker
from harness.workspace.root import Root
from knowledge import Store
from rules import Program

if TYPE_CHECKING:
    from harness.model.values import Narrowing
    from harness.ooda.decide import Decision
    from harness.ooda.offering import Offering
    from harness.ooda.turn import Turn, Verification
    from harness.ooda.verify import Verify


class Parts:
    """What a session consists of. `command` is the remembered test command of the turn."""

    def __init__(
        self,
        options: Options,
        where: Places,
        asker: Asker,
        *,
        private: Path,
        program: Program,
        journal: Journal,
        connection: Connection,
        history: History,
        spent: Spent,
        warn: Callable[[Iterable[str]], None],
    ) -> None:
        self.command: str | None = None
        self._options = options
        self._private = private
        self._journal = journal
        self._warn = warn
        self.root = Root(where.workspace)
        self.tracker = Tracker(self.root, private / "files.json")
        self.index = CodeIndex(self.root.read, private)
        self.store = Store(where.entries("workspace"), where.entries("global"))
        self.facts = Facts(program, journal)
        self.observe = Observe(self.root, self.tracker)
        toolbox = self._toolbox(asker, where.workspace.name)
        self.window = Window(
            history,
            toolbox,
            journal,
            lambda: connection.context_length,
            options.max_new_tokens,
            connection.look_again,
        )
        self._so_far = SoFar(toolbox.access, toolbox.path_of)
        journal.sinks.append(self._so_far)
        self._tools = toolbox.schemas()
        self.act = Act(
            connection,
            history,
            toolbox,
            journal,
            self.window,
            offering=self._narrow if options.ooda else None,
            due=self._so_far.due,
            spent=spent,
        )
        self.decide = self._deciding(toolbox)
        phases = self._phases()
        limits = _limits(options)
        self.loop = Loop(phases, limits, journal, toolbox.path_of, lambda: toolbox.denied)

    @cached_property
    def offering(self) -> Offering:
        """Only where steps are held to a schema, or somebody asks about it."""
        from harness.ooda.candidates import Candidates
        from harness.ooda.offering import Offering

        candidates = Candidates(lambda: self.index, self._unreadable)
        return Offering(self.facts, self._so_far, candidates, self.tracker.snapshot, self._tools)

    def protocol_changed(self, protocol: str) -> None:
        """The model is asked in another way from now on."""
        if protocol != "constrained" and "offering" in vars(self):
            self.offering.withdraw()
        self.act.protocol_changed()

    def test_command(self) -> str | None:
        """The test command that is remembered now."""
        found = [entry.content for entry in self.store.entries() if entry.key == TEST_COMMAND]
        return found[0].strip() if found else None

    def _toolbox(self, asker: Asker, project: str) -> Toolbox:
        context = ToolContext(
            root=self.root,
            tracker=self.tracker,
            index=self._fresh_index,
            store=self.store,
            private=self._private,
            shell_timeout=self._options.shell_timeout,
            project=project,
            withheld=lambda tool, paths: self.decide.withheld(tool, paths),
        )
        approvals = Approvals(self._options.approval, asker)
        return Toolbox(context, approvals, self._journal, lambda call: self.decide.permission(call))

    def _narrow(self) -> Narrowing:
        return self.offering()

    def _unreadable(self, paths: Sequence[str]) -> Mapping[str, str]:
        return self.decide.withheld("read_file", paths)

    def _deciding(self, toolbox: Toolbox) -> Decide | NoDecision:
        if not self._options.ooda:
            return NoDecision(self.observe)
        return Decide(
            self.facts,
            self.index,
            self._refresh_index,
            self.observe,
            self.tracker,
            self.root,
            toolbox.access,
        )

    def _phases(self) -> Phases:
        if not self._options.ooda:
            return Phases(self.observe, no_context, self.act, self.decide, no_verification, False)
        orient = Orient(
            self.root, lambda: self.index, self.store, self._unreadable, self.window.code_room
        )
        return Phases(self.observe, orient, self.act, self.decide, self._verify)

    def _verify(self, turn: Turn, decision: Decision, changes: Changes) -> Verification:
        return self._gates(turn, decision, changes)

    @cached_property
    def _gates(self) -> Verify:
        """First needed when the model has already answered."""
        from harness.ooda.verify import Verify, VerifySettings

        settings = VerifySettings(
            root=self.root.path,
            private=self._private,
            seconds=self._options.gate_timeout,
            approval=self._options.approval,
            test_command=lambda: self.command,
            content=self.tracker.content,
            start_of=self.observe.start_of,
            most_further=self._options.affected_tests,
        )
        return Verify(settings, self._journal)

    def _fresh_index(self) -> CodeIndex:
        self._refresh_index(self.tracker.snapshot())
        return self.index

    def _refresh_index(self, now: Snapshot) -> None:
        self._warn(self.index.refresh(now))


def _limits(options: Options) -> Limits:
    return Limits(
        options.max_steps,
        options.max_attempts,
        options.max_seconds,
        options.max_tokens,
        options.max_cost,
    )
