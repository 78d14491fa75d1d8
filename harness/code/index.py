"""The index of a workspace's Python files: what is defined where, used where, covered by what."""

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from harness.code.coverage import Covers, Origin, covers, is_test, reaching
from harness.code.graph import Graph
from harness.code.records import FileRecord, Reference, Symbol, empty
from harness.code.search import CodeMatch, Search, path_terms
from harness.code.store import RecordCache
from harness.errors import ToolError
from harness.workspace.changes import digest

if TYPE_CHECKING:
    from harness.code.parse import Parser

SUFFIXES = (".py", ".pyi")
_SHOWN = 3


class CodeIndex:
    """Kept in step by `refresh`; everything else answers for the files it was given last.

    Answers are sorted by path and line.
    """

    def __init__(self, read: Callable[[str], bytes], cache_dir: Path | None = None) -> None:
        """`read` gives the bytes of a path or raises OSError or ToolError; `cache_dir` is a folder
        outside the workspace, which exists."""
        self._read = read
        self._cache = RecordCache(cache_dir) if cache_dir is not None else None
        self._parser: Parser | None = None
        self._known: dict[str, FileRecord] = {}
        self._files: dict[str, str] = {}
        self._records: dict[str, FileRecord] = {}
        self._path_terms: dict[str, frozenset[str]] = {}
        self._graph: Graph | None = None
        self._former: Graph | None = None
        self._covers: Covers | None = None
        self._search: Search | None = None
        self._too_large: set[str] = set()

    def refresh(self, files: Mapping[str, str]) -> list[str]:
        """Take `files` (path to content hash, see `workspace.changes.digest`) as the workspace.

        Parses contents not seen before; paths that do not end in .py or .pyi are left out.
        Returns sentences about what was skipped and about the cache, each once.
        """
        python = {path: files[path] for path in sorted(files) if path.endswith(SUFFIXES)}
        if python != self._files:
            self._files = python
            self._update()
        notices = self._cache.take_notices() if self._cache is not None else []
        return notices + self._skipped()

    def close(self) -> None:
        if self._cache is not None:
            self._cache.close()

    @property
    def files(self) -> Mapping[str, str]:
        """The indexed paths and their content hashes."""
        return self._files

    def definitions(self, name: str) -> list[Symbol]:
        """Where a name is defined: plain (`reset`), or dotted with its class and module as far
        as wanted (`AuthService.reset`, `auth.AuthService.reset`)."""
        last = name.rpartition(".")[2]
        return [
            symbol
            for path, record in self._records.items()
            if record.defines(last)
            for symbol in record.symbols(path)
            if _is_called(symbol, name)
        ]

    def outline(self, path: str) -> list[Symbol]:
        """The definitions of a file in the order of the text; none for a file not indexed."""
        record = self._records.get(path)
        return record.symbols(path) if record is not None else []

    def symbol(self, path: str, dotted: str) -> Symbol | None:
        """The definition with this dotted name in a file, or with a name that ends so. Of several
        (overloads, a property and its setter) the longest."""
        symbols = self.outline(path)
        exact = [symbol for symbol in symbols if symbol.qualified == dotted]
        found = exact or [symbol for symbol in symbols if _is_called(symbol, dotted)]
        return max(found, key=lambda symbol: symbol.end_line - symbol.start_line, default=None)

    def references(self, name: str) -> list[Reference]:
        """Where the last part of `name` is used; the definitions of functions and classes are
        left out. Only files that hold the word are parsed."""
        from harness.code.references import find

        word = name.rpartition(".")[2]
        found: list[Reference] = []
        for path, record in self._records.items():
            data = self._bytes(path) if word and record.mentions(word) else None
            if data is not None:
                found.extend(find(self._parsing(), path, data, word))
        return found

    def imports(self) -> Mapping[str, frozenset[str]]:
        """File to the files it imports, with the packages that run on the way."""
        return self._imported().imports

    def tests(self) -> set[str]:
        """The test files."""
        return set(filter(is_test, self._files))

    def covers(self) -> Mapping[str, Mapping[str, Origin]]:
        """Source to the tests that cover it directly, each with `name` or `import`."""
        if self._covers is None:
            self._covers = covers(self._imported())
        return self._covers

    def covering(self, source: str) -> Mapping[str, Origin]:
        """The tests that cover `source` directly, else those that reach it through imports."""
        direct = self.covers().get(source)
        if direct or source not in self._files:
            return direct or {}
        reached = reaching(source, self._imported().importers, self.tests())
        return dict.fromkeys(sorted(reached), "imports, transitively")

    def search(self, query: str, limit: int = 10) -> list[CodeMatch]:
        """The files that a text is about, best first, each with the reason; see `search`."""
        if self._search is None:
            covered: dict[str, dict[str, str]] = {}
            for source, tests in self.covers().items():
                for test, origin in tests.items():
                    covered.setdefault(test, {})[source] = origin
            self._search = Search(self._records, covered, self._paths_in_words())
        return self._search.find(query, limit)

    def _update(self) -> None:
        needed = dict.fromkeys(self._files.values())
        known = {h: self._known[h] for h in needed if h in self._known}
        missing = [h for h in needed if h not in known]
        if missing and self._cache is not None:
            known |= self._cache.load(missing)
        known |= self._parsed(h for h in missing if h not in known)
        self._known = known
        self._records = {path: known[h] for path, h in self._files.items()}
        self._former = self._graph or self._former
        self._graph = self._covers = self._search = None

    def _parsed(self, hashes: Iterable[str]) -> dict[str, FileRecord]:
        """Records made anew; those whose file was as its hash says are cached too."""
        wanted = set(hashes)
        made: dict[str, FileRecord] = {}
        sound: list[FileRecord] = []
        for path, content in self._files.items():
            if content not in wanted or content in made:
                continue
            data = self._bytes(path)
            made[content] = record = self._record(path, content, data)
            if data is not None and path not in self._too_large and digest(data) == content:
                sound.append(record)
        if sound and self._cache is not None:
            self._cache.save(sound, self._files.values())
        return made

    def _record(self, path: str, content: str, data: bytes | None) -> FileRecord:
        from harness.code.parse import MAX_BYTES

        if data is None:
            return empty(content)
        if len(data) > MAX_BYTES:
            self._too_large.add(path)
            return empty(content)
        return self._parsing().record(data, content)

    def _parsing(self) -> "Parser":
        if self._parser is None:
            from harness.code.parse import Parser

            self._parser = Parser()
        return self._parser

    def _bytes(self, path: str) -> bytes | None:
        try:
            return self._read(path)
        except (OSError, ToolError):
            return None  # gone or out of reach since it was listed

    def _imported(self) -> Graph:
        if self._graph is None:
            self._graph = Graph(self._records, self._former)
            self._former = None
        return self._graph

    def _paths_in_words(self) -> Mapping[str, frozenset[str]]:
        known = self._path_terms
        self._path_terms = {path: known.get(path) or path_terms(path) for path in self._files}
        return self._path_terms

    def _skipped(self) -> list[str]:
        paths = sorted(self._too_large)
        self._too_large.clear()
        if not paths:
            return []
        shown = ", ".join(map(repr, paths[:_SHOWN]))
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        return [f"not indexed because larger than 1 MB: {shown}{more}"]


def _is_called(symbol: Symbol, name: str) -> bool:
    if symbol.name == name or symbol.qualified == name:
        return True
    if "." not in name:
        return False
    module = symbol.path.rpartition(".")[0].removesuffix("/__init__").replace("/", ".")
    return f"{module}.{symbol.qualified}".endswith(f".{name}") or (
        f"{module}.{symbol.qualified}" == name
    )
