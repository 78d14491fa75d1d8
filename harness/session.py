"""The parts put together for one workspace: what every face talks to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from harness.code.index import CodeIndex
from harness.config import Options, Places
from harness.connection import Connection
from harness.errors import ModelFailure, ToolError, UserError
from harness.journal import Sink
from harness.model.history import History
from harness.model.servers import Server
from harness.ooda import prompts
from harness.ooda.act import Act
from harness.ooda.baseline import NoDecision, no_context, no_verification
from harness.ooda.decide import Decide
from harness.ooda.facts import Facts
from harness.ooda.limits import Limits
from harness.ooda.loop import Loop, Phases
from harness.ooda.observe import Observe
from harness.ooda.orient import TEST_COMMAND, Orient
from harness.ooda.turn import Outcome
from harness.startup import open_journal, private_folder
from harness.tools.approval import Approvals, Asker
from harness.tools.base import ToolContext
from harness.tools.diffs import unified
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import Changes, Snapshot, Tracker, compare
from harness.workspace.edits import decode
from harness.workspace.files import MAX_FILES
from harness.workspace.root import Root
from knowledge import Store
from rules import Program

if TYPE_CHECKING:
    from harness.governance import Governance
    from harness.ooda.decide import Decision
    from harness.ooda.turn import Turn, Verification
    from harness.ooda.verify import Verify
    from harness.reports import EntryLine
    from harness.resume import Former
    from harness.rulebook.book import Rulebook


class Session:
    """One conversation about one workspace, from its journal to its model."""

    def __init__(
        self,
        options: Options,
        where: Places,
        asker: Asker,
        *,
        version: str,
        former: Former | None = None,
        sinks: Iterable[Sink] = (),
    ) -> None:
        """Raises ConfigError for a rule file that cannot be used; asks no server yet."""
        self.options = options
        self.ooda = options.ooda
        self._command: str | None = None
        self._last: Outcome | None = None
        self._where = where
        notices: list[str] = []
        self._book = _rulebook(where) if options.ooda else None
        private = private_folder(where, notices)
        self.id, self.journal = open_journal(private, former)
        self.journal.sinks.extend(sinks)
        self.connection = Connection(options, self._on_connect)
        self._history = _history(former, prompts.system(options.ooda))
        self._build(options, where, asker, private)
        self._start(version, former)
        told = self._book.loaded.notices if self._book else ()
        self._warn([*notices, *told, *self._store.load()])

    def run(self, request: str) -> Outcome:
        """One turn. Raises nothing for what a model, a server or Ctrl-C can do."""
        self._warn(self._store.load())
        # what the model remembers in this turn does not change its judge
        self._command = self._test_command()
        try:
            self.connection.connect()
        except ModelFailure as failure:
            self._last = self._loop.refuse(failure)
            return self._last
        self._last = self._loop.run(request)
        self._tracker.save()
        return self._last

    def _on_connect(self, server: Server, model: str) -> None:
        self.journal.emit("connected", backend=server.kind, host=server.base_url, model=model)

    def _warn(self, texts: Iterable[str]) -> None:
        for text in texts:
            self.journal.emit("notice", level="warning", text=text)

    def look_for_model(self) -> None:
        """Find the model before the first request; without one a notice says what would help."""
        try:
            self.connection.connect()
        except ModelFailure as failure:
            self._warn([str(failure)])

    def reset(self) -> None:
        """Forget the conversation and the facts about modified files."""
        self._history.reset()
        self._decide.forget()
        self.journal.emit("history_reset")

    @cached_property
    def rules(self) -> Governance:
        """What there is to ask and to decide about rules. Raises UserError without OODA."""
        from harness.governance import Governance

        if self._book is None:
            raise UserError("rules are switched off by --no-ooda: no facts, no gates")
        return Governance(
            self._book,
            self._facts,
            self.journal,
            lambda: self._decide.start(self._observe.now()),
            session=self.id,
            propose_after=self.options.propose_after,
        )

    def entries(self) -> tuple[EntryLine, ...]:
        from harness.reports import EntryLine

        self._warn(self._store.load())
        in_force = self._store.entries()
        return tuple(
            EntryLine(
                entry.key,
                entry.content,
                entry.scope,
                "" if entry in in_force else "the workspace's own entry is used instead",
            )
            for entry in self._store.all()
        )

    def memory(self) -> tuple[tuple[str, str], ...]:
        """What the conversation holds."""
        return (
            ("turns", str(self._observe.turns)),
            ("messages", str(len(self._history))),
            ("tokens (estimated)", str(self._history.estimate())),
            ("files read", ", ".join(self._act.read) or "none"),
            ("changed files", ", ".join(self._changed().paths) or "none"),
        )

    def info(self) -> tuple[tuple[str, str], ...]:
        """What the session is."""
        model, host = self.connection.described
        return (
            ("session", self.id),
            ("journal", str(self.journal.path or "not kept")),
            ("workspace", str(self._where.workspace)),
            ("model", model),
            ("host", host),
            ("approval", self.options.approval),
            ("ooda", "on" if self.ooda else "off (--no-ooda)"),
            ("requests", str(self._act.requests)),
            ("tokens", f"{self._act.tokens:,}"),
        )

    def diff(self) -> str:
        """What differs from the start of the session, as a unified diff."""
        parts = [self._file_diff(path, self._observe.first) for path in self._changed().paths]
        return "".join(parts)

    def close(self, reason: str) -> None:
        self._tracker.save()
        outcome = {"kind": self._last.kind, "message": self._last.message} if self._last else None
        self.journal.emit("session_ended", reason=reason, outcome=outcome)
        self.connection.close()
        self._index.close()
        self.journal.close()

    def _build(self, options: Options, where: Places, asker: Asker, private: Path) -> None:
        root = Root(where.workspace)
        self._root = root
        self._tracker = Tracker(root, private / "files.json")
        self._index = CodeIndex(root.read, private)
        self._store = Store(where.entries("workspace"), where.entries("global"))
        program = self._book.program if self._book else Program.parse("")
        self._facts = Facts(program, self.journal)
        self._observe = Observe(root, self._tracker)
        toolbox = self._toolbox(options, asker, private)
        self._act = Act(self.connection, self._history, toolbox, self.journal)
        self._decide = self._deciding(options, toolbox)
        limits = Limits(
            options.max_steps, options.max_attempts, options.max_seconds, options.max_tokens
        )
        phases = self._phases(options, private)
        self._loop = Loop(phases, limits, self.journal, toolbox.path_of, lambda: toolbox.denied)

    def _toolbox(self, options: Options, asker: Asker, private: Path) -> Toolbox:
        context = ToolContext(
            root=self._root,
            tracker=self._tracker,
            index=self._fresh_index,
            store=self._store,
            private=private,
            shell_timeout=options.shell_timeout,
            project=self._where.workspace.name,
            withheld=lambda tool, paths: self._decide.withheld(tool, paths),
        )
        approvals = Approvals(options.approval, asker)
        return Toolbox(context, approvals, self.journal, lambda call: self._decide.permission(call))

    def _deciding(self, options: Options, toolbox: Toolbox) -> Decide | NoDecision:
        if not options.ooda:
            return NoDecision(self._observe)
        return Decide(
            self._facts,
            self._index,
            self._refresh_index,
            self._observe,
            self._tracker,
            self._root,
            toolbox.access,
        )

    def _phases(self, options: Options, private: Path) -> Phases:
        if not options.ooda:
            return Phases(
                self._observe, no_context, self._act, self._decide, no_verification, False
            )
        orient = Orient(
            self._root,
            lambda: self._index,
            self._store,
            lambda paths: self._decide.withheld("read_file", paths),
        )
        self._private = private
        self._gates: Verify | None = None
        return Phases(self._observe, orient, self._act, self._decide, self._verify)

    def _verify(self, turn: Turn, decision: Decision, changes: Changes) -> Verification:
        """The gates are first needed when the model has already answered."""
        if self._gates is None:
            from harness.ooda.verify import Verify, VerifySettings

            settings = VerifySettings(
                root=self._root.path,
                private=self._private,
                seconds=self.options.gate_timeout,
                approval=self.options.approval,
                test_command=lambda: self._command,
                content=self._tracker.content,
                start_of=self._observe.start_of,
                most_further=self.options.affected_tests,
            )
            self._gates = Verify(settings, self.journal)
        return self._gates(turn, decision, changes)

    def _fresh_index(self) -> CodeIndex:
        self._refresh_index(self._tracker.snapshot())
        return self._index

    def _refresh_index(self, now: Snapshot) -> None:
        self._warn(self._index.refresh(now))

    def _test_command(self) -> str | None:
        found = [entry.content for entry in self._store.entries() if entry.key == TEST_COMMAND]
        return found[0].strip() if found else None

    def _start(self, version: str, former: Former | None) -> None:
        """Say what session this is, take up a former one, and state the facts of the workspace."""
        workspace = str(self._where.workspace)
        if former is None:
            self.journal.emit(
                "session_started",
                session=self.id,
                version=version,
                workspace=workspace,
                backend=self.options.backend,
                host=self.options.host,
                model=self.options.model,
                ooda=self.ooda,
                approval=self.options.approval,
            )
        else:
            self._observe.resume(former.turns)
            moved = former.workspace if former.workspace not in ("", workspace) else None
            self.journal.emit(
                "session_resumed",
                session=self.id,
                workspace=workspace,
                repairs=list(former.recording.repairs),
                moved_from=moved,
            )
        now = self._observe.now()
        if len(now) >= MAX_FILES:
            self._warn([f"only the first {MAX_FILES:,} files of this workspace are followed"])
        self._decide.start(now)

    def _changed(self) -> Changes:
        """What differs from the start of the session."""
        return compare(self._observe.first, self._tracker.snapshot())

    def _file_diff(self, path: str, first: Snapshot) -> str:
        before = self._tracker.content(first[path]) if path in first else b""
        if before is None:
            return f"--- {path}\n(its former text was not kept)\n"
        try:
            after = self._root.read_if_there(path) or b""
            old, new = decode(before, path).text, decode(after, path).text
        except ToolError as error:
            return f"--- {path}\n({error})\n"
        return unified(path, old, new)


def _history(former: Former | None, system: str) -> History:
    if former is None:
        return History(system)
    from harness.resume import replay

    return replay(former.recording.events, system)


def _rulebook(where: Places) -> Rulebook:
    from harness.rulebook.book import Rulebook

    return Rulebook(where)
