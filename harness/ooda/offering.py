"""What a model is offered for its next step, by rules: asserted, concluded, and provable.

The rules are in `rules/kernel.dl`; docs/protocols.md tells them in words. The facts are there
while a model's steps are held to a schema, and for a moment when somebody asks about them.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from harness.model.values import Narrowing
from harness.ooda.asking import asked_for
from harness.ooda.candidates import OTHER, Candidates, names_new_file, places
from harness.ooda.facts import Facts
from harness.ooda.so_far import SoFar
from harness.workspace.changes import Snapshot
from rules import Fact

CONCLUDED = ("tool_offered", "argument_allowed", "any_value")
ANSWER = "answer"
ORIGIN = "step"
_ASSERTED = (
    "constrained", "request_asks", "looked", "unaccepted", "file_read", "path_candidate",
    "place_candidate", "takes_file", "takes_place",
)  # fmt: skip


@dataclass(frozen=True)
class Taken:
    """A tool's argument that is a path: `file` when it is required, else a place will do."""

    tool: str
    argument: str
    file: bool


class Offering:
    """Keeps the facts about the next step, and reads off what follows from them."""

    def __init__(
        self,
        facts: Facts,
        so_far: SoFar,
        candidates: Candidates,
        snapshot: Callable[[], Snapshot],
        tools: Sequence[Mapping[str, Any]],
    ) -> None:
        """`snapshot` gives the workspace as it is; `tools` are those of the conversation."""
        self._facts = facts
        self._so_far = so_far
        self._candidates = candidates
        self._snapshot = snapshot
        self._tools = tuple(str(tool["function"]["name"]) for tool in tools)
        self._taken = tuple(_paths_of(tools))
        self._ranks: dict[str, int] = {}

    def __call__(self) -> Narrowing:
        """What the next step may be, now."""
        self._facts.sync(self._wanted(), _ASSERTED, ORIGIN)
        offered = {str(args[0]) for args in self._concluded("tool_offered")}
        free = {(str(tool), str(argument)) for tool, argument in self._concluded("any_value")}
        values = self._values(free)
        tools = tuple(
            name for name in self._tools if name in offered and self._usable(name, values, free)
        )
        return Narrowing(tools, ANSWER in offered, values)

    def withdraw(self) -> None:
        """Nothing is narrowed any more."""
        self._facts.sync(set(), _ASSERTED, ORIGIN)

    @property
    def in_force(self) -> bool:
        return bool(self._facts.known(("constrained",)))

    @contextmanager
    def supposed(self, question: str) -> Iterator[str]:
        """Have the facts there while a question about them is answered; a remark to the answer
        when they are not in force."""
        about = question.strip().partition("(")[0].strip() in CONCLUDED
        if not about or self.in_force:
            yield ""
            return
        self()
        try:
            yield "  (only where steps are held to a schema: --protocol constrained)"
        finally:
            self.withdraw()

    def _wanted(self) -> set[Fact]:
        now = self._snapshot()
        files = self._candidates.files(now, self._so_far)
        self._ranks = files
        facts = {Fact("constrained", ())}
        facts |= {Fact("request_asks", (what,)) for what in self._asked(now)}
        facts |= {Fact("file_read", (path,)) for path in self._read(now)}
        facts |= {Fact("path_candidate", (path, rank)) for path, rank in files.items()}
        facts |= {Fact("place_candidate", (path,)) for path in places(files)}
        for taken in self._taken:
            predicate = "takes_file" if taken.file else "takes_place"
            facts.add(Fact(predicate, (taken.tool, taken.argument)))
        if self._so_far.looks:
            facts.add(Fact("looked", ()))
        if self._so_far.unaccepted:
            facts.add(Fact("unaccepted", ()))
        return facts

    def _asked(self, now: Snapshot) -> frozenset[str]:
        """What the request may ask for. A file that it names and that is not there is one to
        create."""
        request = self._so_far.request
        asked = asked_for(request)
        creates = "change" in asked and names_new_file(request, now)
        return asked | {"create"} if creates else asked

    def _read(self, now: Snapshot) -> list[str]:
        """The files that the model has read and that are still as they were then."""
        reads = self._so_far.reads
        for path, digest in reads.items():
            if digest is None:
                reads[path] = now.get(path, "")
        return [path for path, digest in reads.items() if digest and now.get(path) == digest]

    def _values(self, free: set[tuple[str, str]]) -> dict[tuple[str, str], tuple[str, ...]]:
        found: dict[tuple[str, str], list[str]] = {}
        for tool, argument, value in self._concluded("argument_allowed"):
            found.setdefault((str(tool), str(argument)), []).append(str(value))
        return {
            key: tuple(sorted(values, key=self._order))
            for key, values in found.items()
            if key not in free
        }

    def _order(self, path: str) -> tuple[int, str]:
        return (self._ranks.get(path, OTHER), path)

    def _usable(self, tool: str, values: Mapping[tuple[str, str], Any], free: set[Any]) -> bool:
        """Whether there is a path for each argument that has to be one."""
        keys = [(each.tool, each.argument) for each in self._taken if each.tool == tool]
        return all(key in values or key in free for key in keys)

    def _concluded(self, predicate: str) -> list[tuple[Any, ...]]:
        return [fact.args for fact in self._facts.database.derived(predicate)]


def _paths_of(tools: Sequence[Mapping[str, Any]]) -> Iterator[Taken]:
    for tool in tools:
        function = tool["function"]
        schema = function.get("parameters") or {}
        if "path" in (schema.get("properties") or {}):
            yield Taken(function["name"], "path", "path" in (schema.get("required") or ()))
