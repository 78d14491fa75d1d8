"""Facts about a workspace, kept in step with it, and what the rules derive from them."""

from collections.abc import Iterable

from harness.code.index import CodeIndex
from harness.code.test_setup import is_test_setup
from harness.journal import Journal
from harness.workspace.changes import Changes
from rules import Database, Fact, LimitError, Program, kernel
from rules.change import Change

LISTED = 200
"""More facts of one predicate than this are counted in the trace and not listed."""
MOST_DERIVED = 200_000
"""Facts that the rules may conclude; the kernel concludes a few for each changed file."""
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

    When the rules conclude too much, which the kernel's own cannot, those of the lower tiers are
    dropped and said to be, and the kernel's gates stay.
    """

    def __init__(self, program: Program, journal: Journal) -> None:
        self._program = program
        self._journal = journal
        self.database = self._new(program)

    @property
    def program(self) -> Program:
        """The rules in force."""
        return self._program

    def sync(self, wanted: set[Fact], predicates: Iterable[str], origin: str) -> None:
        """Make the base facts of `predicates` exactly `wanted`."""
        known = {fact for name in predicates for fact in self.database.facts(name)}
        self.update(sorted(wanted - known), sorted(known - wanted), origin)

    def update(self, added: Iterable[Fact], removed: Iterable[Fact], origin: str) -> None:
        """Retract, then assert, in one transaction."""
        added, removed = list(added), list(removed)
        if not added and not removed:
            return
        lines = [*_lines("retract", removed), *_lines("assert", added)]
        texts = [str(fact) for fact in added], [str(fact) for fact in removed]
        self._journal.emit("facts", added=texts[0], removed=texts[1], origin=origin, lines=lines)
        try:
            self._change(added, removed, origin)
        except LimitError as error:
            self.database = self._kernel_alone(error, self.database.facts())
            self._change(added, removed, origin)

    def _change(self, added: Iterable[Fact], removed: Iterable[Fact], origin: str) -> None:
        with self.database.transaction():
            for fact in removed:
                self.database.retract_fact(fact.predicate, *fact.args)
            for fact in added:
                self.database.assert_fact(fact.predicate, *fact.args, origin=origin)

    def _new(self, program: Program, asserted: Iterable[Fact] = ()) -> Database:
        try:
            database = Database(program, MOST_DERIVED)
            database.on_change(self._derived)
            with database.transaction():
                for fact in asserted:
                    database.assert_fact(fact.predicate, *fact.args, origin="start")
            return database
        except LimitError as error:
            return self._kernel_alone(error, asserted)

    def _kernel_alone(self, error: LimitError, asserted: Iterable[Fact]) -> Database:
        text = f"the rules of the user and the workspace are switched off: {error}"
        self._journal.emit("notice", level="warning", text=text)
        self._program = kernel()
        return self._new(self._program, asserted)

    def _derived(self, change: Change) -> None:
        for fact in change.added:
            derivation = self.database.derivation(fact)
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
