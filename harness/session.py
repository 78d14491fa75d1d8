"""One conversation about one workspace: what every face talks to."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from harness.config import Options, Places
from harness.connection import Connection
from harness.errors import ModelFailure, ToolError, UserError
from harness.journal import Sink
from harness.model.history import History
from harness.model.protocols.memory import Memory
from harness.ooda import prompts
from harness.ooda.limits import Spent
from harness.ooda.turn import Outcome
from harness.parts import Parts
from harness.startup import open_journal, private_folder
from harness.tools.approval import Asker
from harness.tools.diffs import unified
from harness.workspace.changes import Changes, Snapshot, compare
from harness.workspace.edits import decode
from harness.workspace.files import MAX_FILES
from rules import Program

if TYPE_CHECKING:
    from harness.backends import Connected
    from harness.governance import Governance
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
        self._last: Outcome | None = None
        self._where = where
        notices: list[str] = []
        self._book = _rulebook(where) if options.ooda else None
        private = private_folder(where, notices)
        self.id, self.journal = open_journal(private, former)
        self.journal.sinks.extend(sinks)
        self._memory = Memory(where.user / "models.json")
        self.connection = Connection(
            options, self._on_connect, self._on_protocol, self._memory, self._on_context
        )
        self._history = _history(former, prompts.system(options.ooda))
        self._spent = _spent(former)
        self._parts = Parts(
            options,
            where,
            asker,
            private=private,
            program=self._book.program if self._book else Program.parse(""),
            journal=self.journal,
            connection=self.connection,
            history=self._history,
            spent=self._spent,
            warn=self._warn,
        )
        self._start(version, former)
        told = self._book.loaded.notices if self._book else ()
        self._warn([*notices, *told, *self._parts.store.load()])

    def run(self, request: str) -> Outcome:
        """One turn. Raises nothing for what a model, a server or Ctrl-C can do."""
        self._warn(self._parts.store.load())
        # what the model remembers in this turn does not change its judge
        self._parts.command = self._parts.test_command()
        try:
            # a server that failed may have been started again meanwhile, in another way
            failed = self._last is not None and self._last.kind == "model_error"
            self.connection.connect(anew=failed)
        except ModelFailure as failure:
            self._last = self._parts.loop.refuse(failure)
            return self._last
        self._last = self._parts.loop.run(request)
        self._warn(self._memory.complaints())
        self._parts.tracker.save()
        return self._last

    def _on_connect(self, connected: Connected) -> None:
        self.journal.emit(
            "connected",
            backend=connected.server.kind,
            host=connected.server.base_url,
            model=connected.model,
            context_length=self.options.context_length or connected.context_length,
            reason=connected.reason,
        )

    def _on_protocol(self, protocol: str, why: str) -> None:
        self._parts.protocol_changed(protocol)
        model = self.connection.described[0]
        self.journal.emit("protocol", protocol=protocol, model=model, why=why)

    def _on_context(self) -> None:
        self._parts.window.forget_lengths()

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
        """Forget the conversation, the facts about modified files and what was learned of the
        context's length."""
        self._history.reset()
        self.connection.forget_context()
        self._parts.decide.forget()
        self.journal.emit("history_reset")

    @cached_property
    def rules(self) -> Governance:
        """What there is to ask and to decide about rules. Raises UserError without OODA."""
        from harness.governance import Governance

        if self._book is None:
            raise UserError("rules are switched off by --no-ooda: no facts, no gates")
        return Governance(
            self._book,
            self._parts.facts,
            self.journal,
            lambda: self._parts.decide.start(self._parts.observe.now()),
            session=self.id,
            propose_after=self.options.propose_after,
            supposed=self._parts.offering.supposed,
        )

    def entries(self) -> tuple[EntryLine, ...]:
        from harness.reports import EntryLine

        self._warn(self._parts.store.load())
        in_force = self._parts.store.entries()
        return tuple(
            EntryLine(
                entry.key,
                entry.content,
                entry.scope,
                "" if entry in in_force else "the workspace's own entry is used instead",
            )
            for entry in self._parts.store.all()
        )

    def memory(self) -> tuple[tuple[str, str], ...]:
        """What the conversation holds."""
        return (
            ("turns", str(self._parts.observe.turns)),
            ("messages", str(len(self._history))),
            ("context", self._parts.window.described),
            ("files read", ", ".join(self._parts.act.read) or "none"),
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
            ("protocol", " - ".join(filter(None, self.connection.protocol))),
            ("approval", self.options.approval),
            ("ooda", "on" if self.ooda else "off (--no-ooda)"),
            ("requests", str(self._parts.act.requests)),
            ("tokens", f"{self._spent.tokens:,}"),
            ("cost", self._spent.told_cost(self.connection.unpriced)),
        )

    def diff(self) -> str:
        """What differs from the start of the session, as a unified diff."""
        parts = [self._file_diff(path, self._parts.observe.first) for path in self._changed().paths]
        return "".join(parts)

    def close(self, reason: str) -> None:
        self._parts.tracker.save()
        outcome = {"kind": self._last.kind, "message": self._last.message} if self._last else None
        self.journal.emit("session_ended", reason=reason, outcome=outcome)
        self.connection.close()
        self._parts.index.close()
        self.journal.close()

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
            self._parts.observe.resume(former.turns)
            moved = former.workspace if former.workspace not in ("", workspace) else None
            self.journal.emit(
                "session_resumed",
                session=self.id,
                workspace=workspace,
                repairs=list(former.recording.repairs),
                moved_from=moved,
            )
        now = self._parts.observe.now()
        if len(now) >= MAX_FILES:
            self._warn([f"only the first {MAX_FILES:,} files of this workspace are followed"])
        self._parts.decide.start(now)

    def _changed(self) -> Changes:
        """What differs from the start of the session."""
        return compare(self._parts.observe.first, self._parts.tracker.snapshot())

    def _file_diff(self, path: str, first: Snapshot) -> str:
        before = self._parts.tracker.content(first[path]) if path in first else b""
        if before is None:
            return f"--- {path}\n(its former text was not kept)\n"
        try:
            after = self._parts.root.read_if_there(path) or b""
            old, new = decode(before, path).text, decode(after, path).text
        except ToolError as error:
            return f"--- {path}\n({error})\n"
        return unified(path, old, new)


def _spent(former: Former | None) -> Spent:
    if former is None:
        return Spent()
    from harness.resume import spent

    return spent(former.recording.events)


def _history(former: Former | None, system: str) -> History:
    if former is None:
        return History(system)
    from harness.resume import replay

    return replay(former.recording.events, system)


def _rulebook(where: Places) -> Rulebook:
    from harness.rulebook.book import Rulebook

    return Rulebook(where)
