"""Which tests cover which sources, by what they are called and what they import."""

from collections.abc import Iterable, Mapping
from typing import Literal

from harness.code.graph import Graph

Origin = Literal["name", "import", "imports, transitively"]
Covers = dict[str, dict[str, Origin]]

# folders which say how the tree is laid out, not what a file is about
_LAYOUT = frozenset(
    ("test", "tests", "testing", "src", "lib", "python", "unit", "integration", "functional", "e2e")
)


def is_test(path: str) -> bool:
    """Whether pytest would collect the file by its default patterns."""
    name = path.rpartition("/")[2]
    return name.endswith("_test.py") or (name.startswith("test_") and name.endswith(".py"))


def covers(graph: Graph) -> Covers:
    """Source to the tests that cover it directly, each with where that is known from.

    A test covers what it imports, what the conftest files above it import and are, and the
    source it is named after.
    """
    found: Covers = {}
    named = _Names(path for path in graph.direct if not is_test(path))
    for test in filter(is_test, graph.direct):
        imported = graph.direct[test]
        for conftest in _conftests(test, graph.direct):
            imported |= graph.direct[conftest] | {conftest}
        for source in imported - {test}:
            found.setdefault(source, {})[test] = "import"
        for source in named.source_of(test, graph.direct[test]):
            found.setdefault(source, {})[test] = "name"
    return found


def reaching(source: str, importers: Mapping[str, set[str]], tests: Iterable[str]) -> set[str]:
    """The tests which import `source` by way of other files, or whose conftest does."""
    reached = {source}
    waiting = [source]
    while waiting:
        new = importers.get(waiting.pop(), set()) - reached
        reached |= new
        waiting.extend(new)
    return {
        test
        for test in tests
        if test != source and (test in reached or not reached.isdisjoint(_conftests(test, reached)))
    }


def _conftests(test: str, known: Iterable[str] | Mapping[str, object]) -> list[str]:
    """The conftest.py files in the folder of `test` and above, among those known."""
    folder = test.rpartition("/")[0]
    found = []
    while True:
        conftest = f"{folder}/conftest.py" if folder else "conftest.py"
        if conftest in known:
            found.append(conftest)
        if not folder:
            return found
        folder = folder.rpartition("/")[0]


class _Names:
    """Sources by the name their test would have."""

    def __init__(self, sources: Iterable[str]) -> None:
        self._sources: dict[str, list[str]] = {}
        for path in sources:
            folder, _, name = path.rpartition("/")
            stem = name.rpartition(".")[0]
            if stem == "__init__":
                stem = folder.rpartition("/")[2]
            if stem != "conftest" and name.endswith(".py"):
                self._sources.setdefault(stem.lstrip("_"), []).append(path)

    def source_of(self, test: str, imported: Iterable[str]) -> list[str]:
        """What the test is named after: of several, those it imports, else those whose folders
        are most like its own, all of them only in a real tie."""
        name = test.rpartition("/")[2].removesuffix(".py")
        subject = name.removeprefix("test_") if name.startswith("test_") else name[: -len("_test")]
        candidates = self._sources.get(subject.lstrip("_"), [])
        if len(candidates) < 2:
            return candidates
        taken = [path for path in candidates if path in imported]
        if taken:
            return taken
        likeness = {path: _likeness(test, path) for path in candidates}
        best = max(likeness.values())
        return [path for path in candidates if likeness[path] == best]


def _likeness(test: str, source: str) -> tuple[int, int]:
    """Folders shared, then (negative) the source's folders the test knows nothing of."""
    about = {part for part in test.split("/")[:-1] if part not in _LAYOUT}
    folders = [part for part in source.split("/")[:-1] if part not in _LAYOUT]
    if source.endswith(("/__init__.py", "/__init__.pyi")):
        folders = folders[:-1]
    shared = sum(part in about for part in folders)
    return shared, shared - len(folders)
