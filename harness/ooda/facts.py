"""Facts about a workspace, kept in step with it, and what the rules derive from them."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from harness.code.index import CodeIndex
from harness.code.test_setup import is_test_setup
from harness.journal import Journal
from harness.ooda import rulings
from harness.ooda.bounds import Bounds, Fitting, fit
from harness.workspace.changes import Changes
from rules import Database, DoesNotHold, Fact, LimitError, Program
from rules.engine.change import Change

LISTED = 200
"""More facts of one predicate than this are counted in the trace and not listed."""
_TRACED_ALWAYS = frozenset({"test_covers", "has_tests", "is_test"})
_LANGUAGES = {
    "py": "python",
    "pyi": "python",
    "js": "javascript",
    "ts": "typescript",
    "go": "go",
    "rs": "rust",
    "c": "c",
    "h": "c",
    "cpp": "cpp",
    "java": "java",
    "rb": "ruby",
    "sh": "shell",
    "md": "markdown",
    "json": "json",
    "toml": "toml",
    "yaml": "yaml",
    "yml": "yaml",
}


def language(path: str) -> str:
    name = path.rsplit("/", 1)[-1]
    return _LANGUAGES.get(name.rsplit(".", 1)[-1].lower(), "other") if "." in name else "other"


class Facts:
    """The database of one session, with every change of it in the journal.

    When rules conclude too much or take too long, which the kernel's own cannot, those of the
    weakest tiers are dropped and said to be; what is stronger stays, whatever the others do.
    """

    def __init__(self, program: Program, journal: Journal, bounds: Bounds | None = None) -> None:
        self._journal = journal
        self._bounds = bounds or Bounds()
        self._asserted: dict[str, dict[Fact, str]] = {}
        self.dropped: dict[str, str] = {}
        """Tiers whose rules are not in force, each with the reason."""
        self.lost: frozenset[str] = frozenset()
        """What the tools do that rules of those tiers may have had a say in."""
        self._given = program
        self._broken_off = False
        self._install(program)

    @property
    def program(self) -> Program:
        """The rules in force."""
        return self._program

    def replace(self, program: Program) -> None:
        """Other rules from now on, for the same facts; what they newly conclude is journalled."""
        self._given, self._broken_off = program, True
        self.dropped, self.lost = {}, frozenset()
        self._reinstall(program)
        self._broken_off = False

    def would_drop(self, program: Program) -> Mapping[str, str]:
        """The tiers of these rules that would fall for the facts as they are, with the reason."""
        return self._fitted(program).dropped

    def rules_on(self, access: str) -> bool:
        """Whether rules have a say in what tools of this kind may do."""
        return access in self._ruled or access in self.lost

    def sync(self, wanted: set[Fact], predicates: Iterable[str], origin: str) -> None:
        """Make what was asserted here of `predicates` exactly `wanted`."""
        known = self.known(predicates)
        self.update(sorted(wanted - known), sorted(known - wanted), origin)

    def known(self, predicates: Iterable[str]) -> set[Fact]:
        """What was asserted here of `predicates`; what rule files state is not."""
        return {fact for name in predicates for fact in self._asserted.get(name, ())}

    def update(self, added: Iterable[Fact], removed: Iterable[Fact], origin: str) -> None:
        """Retract, then assert, in one transaction."""
        if self._broken_off:
            self.replace(self._given)  # Ctrl-C may have left the database behind what is asserted
        added = [fact for fact in added if not self._has(fact)]
        removed = [fact for fact in removed if self._has(fact)]
        if not added and not removed:
            return
        self._broken_off = True
        self._make_room(len(added))
        lines = [*_lines("retract", removed), *_lines("assert", added)]
        texts = [str(fact) for fact in added], [str(fact) for fact in removed]
        self._journal.emit("facts", added=texts[0], removed=texts[1], origin=origin, lines=lines)
        for fact in removed:
            del self._asserted[fact.predicate][fact]
        for fact in added:
            self._asserted.setdefault(fact.predicate, {})[fact] = origin
        try:
            self._change(added, removed, origin)
        except LimitError as error:
            self._reinstall(self._program, error)
        self._broken_off = False

    def _make_room(self, new: int) -> None:
        """Let what is looked at grow with the workspace."""
        wanted = self._bounds.for_each * (new + sum(map(len, self._asserted.values())))
        if wanted > self._bounds.work:
            self._bounds = replace(self._bounds, work=2 * wanted)
            self._install(self._program)

    def _has(self, fact: Fact) -> bool:
        return fact in self._asserted.get(fact.predicate, ())

    def _change(self, added: Iterable[Fact], removed: Iterable[Fact], origin: str) -> None:
        with self.database.transaction():
            for fact in removed:
                if fact not in self._stated:
                    self.database.retract_fact(fact.predicate, *fact.args)
            for fact in added:
                self.database.assert_fact(fact.predicate, *fact.args, origin=origin)

    def _reinstall(self, program: Program, error: LimitError | None = None) -> None:
        """Another database, and what it newly concludes in the journal."""
        former = set(self.database.derived())
        self._install(program, error)
        self._announce(fact for fact in self.database.derived() if fact not in former)

    def _install(self, program: Program, error: LimitError | None = None) -> None:
        """A database of these rules, or of as many as keep within the bounds."""
        fitting = self._fitted(program, error)
        self._program, self.database = fitting.program, fitting.database
        for tier, reason in fitting.dropped.items():
            text = f"the {tier} rules are switched off for this session: {reason}"
            self._journal.emit("notice", level="warning", text=text)
        self.dropped |= fitting.dropped
        self.lost |= rulings.lost(program, fitting.dropped) if fitting.dropped else frozenset()
        self._ruled = rulings.ruled(self._program)
        self._stated = frozenset(self._program.facts)
        self.database.on_change(self._concluded)

    def _fitted(self, program: Program, error: LimitError | None = None) -> Fitting:
        return fit(program, self._filled, self._bounds.told, error)

    def _filled(self, program: Program) -> Database:
        """What was asserted comes in the parts it came in: each may cost what it cost then."""
        database = self._bounds.open(program)
        parts: dict[str, list[Fact]] = {}
        for facts in self._asserted.values():
            for fact, origin in facts.items():
                parts.setdefault(origin, []).append(fact)
        for origin, facts_then in parts.items():
            with database.transaction():
                for fact in facts_then:
                    database.assert_fact(fact.predicate, *fact.args, origin=origin)
        return database

    def _concluded(self, change: Change) -> None:
        self._announce(change.added)

    def _announce(self, facts: Iterable[Fact]) -> None:
        """Journal what was concluded; of very many facts of one predicate, the first ones."""
        counts: dict[str, int] = {}
        for fact in facts:
            counts[fact.predicate] = counts.get(fact.predicate, 0) + 1
            if counts[fact.predicate] <= LISTED:
                self._derived(fact)
        for name, count in counts.items():
            if count > LISTED:
                more = count - LISTED
                line = f"  [rules] ... -> {name}(...) {more} times more"
                self._journal.emit("derived_more", predicate=name, count=more, line=line)

    def _derived(self, fact: Fact) -> None:
        try:
            derivation = self.database.derivation(fact)
        except DoesNotHold:
            return  # it is stated or asserted, and no rule concludes it
        self._journal.emit(
            "derived",
            rule=derivation.rule.name,
            fact=str(fact),
            premises=[str(premise) for premise in derivation.premises],
            line=f"  [rules] {derivation}",
        )


def workspace_facts(index: CodeIndex, files: Iterable[str]) -> set[Fact]:
    """What holds of the code: files, tests, imports and who covers whom."""
    tests = index.tests()
    facts = {Fact("file", (path, language(path))) for path in files}
    facts |= {Fact("is_test", (path,)) for path in tests}
    facts |= {Fact("imports", (a, b)) for a, targets in index.imports().items() for b in targets}
    for source, covering in index.covers().items():
        facts |= {Fact("test_covers", (test, source)) for test in covering}
    if tests:
        facts.add(Fact("has_tests", ()))
    return facts


def tool_facts(tools: Mapping[str, str]) -> set[Fact]:
    """What the tools do, by name: `tool_writes('write_file')`."""
    said = {access: predicate for predicate, access in rulings.OF_TOOLS.items()}
    return {Fact(said[access], (name,)) for name, access in tools.items()}


def change_facts(changes: Changes) -> set[Fact]:
    """What differs from the start of the turn."""
    facts = {Fact("file_modified", (path,)) for path in changes.modified}
    facts |= {Fact("file_created", (path,)) for path in changes.created}
    facts |= {Fact("file_deleted", (path,)) for path in changes.deleted}
    facts |= {
        Fact("verify_config_changed", (path,)) for path in changes.paths if is_test_setup(path)
    }
    return facts


def _lines(verb: str, facts: list[Fact]) -> list[str]:
    counts: dict[str, int] = {}
    for fact in facts:
        counts[fact.predicate] = counts.get(fact.predicate, 0) + 1
    listed = [
        f"  [facts] {verb} {fact}"
        for fact in facts
        if fact.predicate in _TRACED_ALWAYS or counts[fact.predicate] <= LISTED
    ]
    counted = [
        f"  [facts] {verb} {name}(...) for {count} files"
        for name, count in counts.items()
        if count > LISTED and name not in _TRACED_ALWAYS
    ]
    return counted + listed
