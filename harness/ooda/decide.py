"""Decide: from what changed, by rules, which gates are due and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.code.coverage import is_test
from harness.code.index import CodeIndex
from harness.code.test_setup import changes_tests, is_test_setup
from harness.errors import ToolError
from harness.journal import on_a_line
from harness.model.values import Call
from harness.ooda.facts import Facts, change_facts, tool_facts, workspace_facts
from harness.ooda.nearest import nearest_first
from harness.ooda.observe import Observe
from harness.ooda.rulings import OF_TOOLS, strictest
from harness.ooda.turn import DueGate, Turn
from harness.tools.approval import Requested, Ruling
from harness.workspace.changes import Changes, Snapshot, Tracker, compare
from harness.workspace.root import Root
from rules import Fact

if TYPE_CHECKING:
    from harness.code.test_shape import ShapeChange
    from harness.gates.values import Finding, Severity

_OF_WORKSPACE = ("file", "is_test", "imports", "test_covers", "has_tests")
_OF_CHANGES = ("file_modified", "file_created", "file_deleted", "verify_config_changed")
_OF_TESTS = ("expectation_changed", "test_removed", "test_switched_off", "test_setup_changed")
_OF_TURN = ("attempt", "tool_requested", "command_requested")


@dataclass(frozen=True)
class Decision:
    """Gates that are due, findings of the integrity rules, and modified sources no test covers;
    `commanded` when a command was asked for, which may change what is not followed; `lost` says
    which rules are not in force although they should be."""

    gates: tuple[DueGate, ...] = ()
    findings: tuple[Finding, ...] = ()
    uncovered: tuple[str, ...] = ()
    commanded: bool = False
    lost: tuple[str, ...] = ()


class Decide:
    """Keeps the facts in step with the workspace and asks the rules."""

    def __init__(
        self,
        facts: Facts,
        index: CodeIndex,
        refresh: Callable[[Snapshot], None],
        observe: Observe,
        tracker: Tracker,
        root: Root,
        tools: Mapping[str, str],
    ) -> None:
        """`refresh` brings `index` up to a snapshot; `tools` says what each tool does."""
        self._access = tools
        self._tools = tool_facts(tools)
        self._facts = facts
        self._refresh = refresh
        self._index = index
        self._observe = observe
        self._tracker = tracker
        self._root = root
        self._synced: Snapshot | None = None
        self._looked: tuple[Snapshot, Changes] | None = None

    def start(self, now: Snapshot) -> None:
        """Facts about the workspace as it is."""
        if now == self._synced:
            return
        self._refresh(now)
        origin = "start" if self._synced is None else "scan"
        wanted = workspace_facts(self._index, now) | self._tools
        self._facts.sync(wanted, (*_OF_WORKSPACE, *OF_TOOLS), origin)
        self._synced = now

    def begin(self, turn: Turn) -> None:
        """Facts for the start of a turn: the workspace as it is, nothing modified."""
        self.forget()
        self.start(turn.before)

    def forget(self) -> None:
        """Drop what is known of the running turn's changes."""
        self._looked = None
        self._facts.sync(set(), (*_OF_CHANGES, *_OF_TESTS, *_OF_TURN), "turn")

    def requested(self, call: Call, path: str) -> None:
        self._facts.update([Fact("tool_requested", (call.id, call.name, path))], (), "turn")

    def permission(self, requested: Requested) -> Ruling:
        """What the rules say of a call that is about to run; a refusal goes before a question,
        and a question before an allowance."""
        facts = [Fact("tool_requested", (requested.id, requested.tool, requested.path))]
        if requested.command:
            facts.append(Fact("command_requested", (requested.id, requested.command)))
        self._facts.update(facts, (), "turn")
        return self._rulings([requested.id], requested.tool)[requested.id]

    def withheld(self, tool: str, paths: Sequence[str]) -> dict[str, str]:
        """Of files whose text a reading tool would show without having been asked for each of
        them, those that rules do not let be read unasked, with the reason."""
        access = self._access[tool]
        if not paths or not self._facts.rules_on(access):
            return {}
        ids = {f"{tool} {path}": path for path in paths}
        facts = [Fact("tool_requested", (name, tool, path)) for name, path in ids.items()]
        self._facts.update(facts, (), "turn")
        rulings = self._rulings(ids, tool)
        self._facts.update((), facts, "turn")
        kept = {name: each for name, each in rulings.items() if each.decision in ("deny", "ask")}
        return {ids[name]: ruling.reason for name, ruling in kept.items()}

    def _rulings(self, requests: Iterable[str], tool: str) -> dict[str, Ruling]:
        """What holds of each request. Where rules that might refuse it are lost, it is asked."""
        said: dict[str, set[tuple[str, str]]] = {request: set() for request in requests}
        for fact in self._holding("permission"):
            request, decision, reason = map(str, fact.args)
            if request in said:
                said[request].add((decision, reason))
        if self._access[tool] in self._facts.lost:
            lost = f"{_not_in_force(self._facts.dropped)}: one of them may refuse it"
            for reasons in said.values():
                reasons.add(("ask", lost))
        return {request: strictest(reasons) for request, reasons in said.items()}

    def attempt(self, number: int) -> None:
        self._facts.sync({Fact("attempt", (number,))}, ("attempt",), "turn")

    def look(self, turn: Turn, origin: str) -> Changes:
        """Bring the facts up to what differs from the start of the turn."""
        now = self._observe.now()
        if self._looked is not None and self._looked[0] == now:
            return self._looked[1]
        changes = compare(self._observe.start_of(turn), now)
        lost = {path: set(self._index.covering(path)) for path in changes.deleted}
        self._refresh(now)
        if changes:
            self._synced = None  # the facts hold those of the turn, too
        new = self._covering_facts(changes, now)
        new |= {Fact("test_covers", (test, path)) for path, tests in lost.items() for test in tests}
        known = self._facts.known(_OF_WORKSPACE)
        wanted = change_facts(changes)
        modified = self._facts.known(_OF_CHANGES)
        added = sorted((new - known) | (wanted - modified))
        self._facts.update(added, sorted(modified - wanted), origin)
        self._looked = (now, changes)
        return changes

    def __call__(self, turn: Turn) -> Decision:
        """What is due for the changes since the start of the turn; call `look` first."""
        before = self._observe.start_of(turn)
        changes = compare(before, self._observe.last)
        shapes = self._test_shapes(before, changes)
        facts = _shape_facts(shapes) | self._setup_facts(before, changes)
        self._facts.sync(facts, _OF_TESTS, "scan")
        requested = self._facts.database.facts("tool_requested")
        return Decision(
            gates=self._due(),
            findings=self._findings(shapes),
            uncovered=self._uncovered(changes),
            commanded=any(fact.args[1] == "run_shell" for fact in requested),
            lost=tuple(
                f"the {tier} rules are not in force: {reason}"
                for tier, reason in self._facts.dropped.items()
            ),
        )

    def _covering_facts(self, changes: Changes, now: Mapping[str, str]) -> set[Fact]:
        """Workspace facts that the changed files bring; none is taken back within a turn."""
        if not changes:
            return set()
        changed = set(changes.paths)
        facts = {
            fact
            for fact in workspace_facts(self._index, now)
            if fact.predicate == "has_tests" or not changed.isdisjoint(fact.args)
        }
        for path in changes.modified:
            covering = self._index.covering(path)
            facts |= {Fact("test_covers", (test, path)) for test in covering}
        return facts

    def _due(self) -> tuple[DueGate, ...]:
        database = self._facts.database
        targets, further = self._by_gate("gate_target"), self._by_gate("further_target")
        return tuple(
            DueGate(
                on_a_line(name := str(fact.args[0])),
                tuple(sorted(targets.get(name, ()))),
                database.why(fact).text(),
                nearest_first(further.get(name, set()) - targets.get(name, set()), database),
            )
            for fact in self._holding("verify_gate")
        )

    def _by_gate(self, predicate: str) -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        for fact in self._holding(predicate):
            found.setdefault(str(fact.args[0]), set()).add(str(fact.args[1]))
        return found

    def _holding(self, predicate: str) -> list[Fact]:
        """What the rules conclude, and what a rule file simply states."""
        database = self._facts.database
        return sorted({*database.derived(predicate), *database.facts(predicate)})

    def _setup_facts(self, before: Snapshot, changes: Changes) -> set[Fact]:
        """Changed configuration, where there were tests that it could have been changed for."""
        changed = [path for path in changes.paths if is_test_setup(path)]
        if not changed or not any(is_test(path) for path in before):
            return set()
        return {
            Fact("test_setup_changed", (path,))
            for path in changed
            if self._changes_tests(path, before.get(path))
        }

    def _changes_tests(self, path: str, digest: str | None) -> bool:
        former = self._tracker.content(digest)
        if digest is not None and former is None:
            return True
        try:
            return changes_tests(path, former, self._root.read_if_there(path))
        except ToolError:
            return True

    def _test_shapes(self, before: Snapshot, changes: Changes) -> dict[str, ShapeChange]:
        shapes: dict[str, ShapeChange] = {}
        tests = {str(fact.args[0]) for fact in self._facts.database.facts("is_test")}
        for path in changes.paths:
            if path in before and path in tests:
                shapes[path] = self._shape(path, before[path], path in changes.deleted)
        return shapes

    def _shape(self, path: str, digest: str, deleted: bool) -> ShapeChange:
        from harness.code.test_shape import ShapeChange
        from harness.code.test_shape import compare as compare_tests

        if deleted:
            return ShapeChange(removed=("every test in it",))
        before = self._tracker.content(digest)
        if before is None:
            return ShapeChange(expectation_changed=("the former text was not kept",))
        try:
            return compare_tests(before, self._root.read(path))
        except ToolError:
            return ShapeChange(removed=("it cannot be read",))

    def _findings(self, shapes: Mapping[str, ShapeChange]) -> tuple[Finding, ...]:
        from harness.gates.values import Finding

        found: list[Finding] = []
        for fact in self._holding("integrity"):
            level, reason, path = (str(arg) for arg in fact.args)
            names = _names(shapes.get(path), reason)
            message = on_a_line(f"{reason}: {', '.join(names)}" if names else reason)
            severity: Severity = "error" if level == "hard" else "warning"
            found.append(Finding(severity, on_a_line(path), 0, message))
        return tuple(found)

    def _uncovered(self, changes: Changes) -> tuple[str, ...]:
        covered = {fact.args[1] for fact in self._facts.database.facts("test_covers")}
        tests = {fact.args[0] for fact in self._facts.database.facts("is_test")}
        return tuple(
            path
            for path in changes.modified
            if path.endswith(".py") and path not in covered and path not in tests
        )


def _not_in_force(tiers: Iterable[str]) -> str:
    return f"the {' and '.join(tiers)} rules are not in force"


def _shape_facts(shapes: Mapping[str, ShapeChange]) -> set[Fact]:
    facts: set[Fact] = set()
    for path, shape in shapes.items():
        if shape.expectation_changed:
            facts.add(Fact("expectation_changed", (path,)))
        if shape.removed:
            facts.add(Fact("test_removed", (path,)))
        if shape.switched_off:
            facts.add(Fact("test_switched_off", (path,)))
    return facts


def _names(shape: ShapeChange | None, reason: str) -> tuple[str, ...]:
    """The tests that a reason of the kernel's integrity rules is about."""
    if shape is None:
        return ()
    about = {
        "a test expectation was changed": shape.expectation_changed,
        "a test was removed": shape.removed,
        "a test was switched off": shape.switched_off,
    }
    return about.get(reason, ())
