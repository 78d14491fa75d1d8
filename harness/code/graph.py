"""Which file imports which, with re-exports followed to the file that defines the name."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.code.modules import Modules
from harness.code.records import FileRecord, Import

ALL = "*"


@dataclass(frozen=True)
class _Edges:
    """What one file imports, and every file that was looked into to find that out."""

    direct: frozenset[str]
    imports: frozenset[str]
    consulted: frozenset[str]


class Graph:
    """The import graph of a workspace.

    `direct` holds for each file the files its import statements name, `imports` also the
    packages that run on the way there.
    """

    def __init__(self, records: Mapping[str, FileRecord], former: "Graph | None" = None) -> None:
        """`records` by path. What still holds of the `former` graph is taken from it."""
        self._records = records
        same_paths = former is not None and former._records.keys() == records.keys()
        old = former if same_paths else None
        self._modules: Modules = Modules(records) if old is None else old._modules
        self._bindings: dict[str, dict[str, list[tuple[Import, str]]]] = {}
        self._consulted: set[str] = set()
        changed = {p for p in records if old is not None and old._records[p] != records[p]}
        self._edges: dict[str, _Edges] = {
            path: self._connected(path)
            if old is None or not changed.isdisjoint(old._edges[path].consulted)
            else old._edges[path]
            for path in records
        }
        self.direct = {path: edges.direct for path, edges in self._edges.items()}
        self.imports = {path: edges.imports for path, edges in self._edges.items()}

    @cached_property
    def importers(self) -> Mapping[str, set[str]]:
        """The graph the other way round."""
        backwards: dict[str, set[str]] = {}
        for path, targets in self.imports.items():
            for target in targets:
                backwards.setdefault(target, set()).add(path)
        return backwards

    def _connected(self, path: str) -> _Edges:
        self._consulted = {path}
        named: set[str] = set()
        parents: set[str] = set()
        for each in self._records[path].imports:
            for module in self._meant(path, each):
                named |= self._targets(path, module, each)
                parents.update(self._modules.parents(path, module))
        on_the_way = {file for parent in parents if (file := self._modules.file(parent))}
        return _Edges(
            direct=frozenset(named - {path}),
            imports=frozenset((named | on_the_way) - {path}),
            consulted=frozenset(self._consulted),
        )

    def _meant(self, path: str, each: Import) -> list[str]:
        if not each.level:
            return self._modules.absolute(path, each.module)
        module = self._modules.relative(path, each.level, each.module)
        return [] if module is None else [module]

    def _targets(self, path: str, module: str, each: Import) -> set[str]:
        """The files that one import of `module` is about."""
        file = self._modules.file(module)
        found = {file} if file is not None else set()
        if not each.names or ALL in each.names:
            return found | self._used(path, file)
        for name in each.names:
            inner = self._submodule(module, name)
            if inner is not None:
                found.add(inner)
            elif file is not None:
                found |= self._exported(file, name, {path})
        return found

    def _submodule(self, module: str, name: str) -> str | None:
        if name == ALL or not self._modules.is_package(module):
            return None
        return self._modules.file(f"{module}/{name}" if module else name)

    def _used(self, path: str, package: str | None) -> set[str]:
        """After an import of a whole package: where the names come from that it re-exports and
        `path` uses."""
        if package is None or not package.endswith(("/__init__.py", "/__init__.pyi")):
            return set()
        self._consulted.add(package)
        found: set[str] = set()
        for name in self._bound(package):
            if name == ALL or self._records[path].mentions(name):
                found |= self._exported(package, name, {path})
        return found

    def _exported(self, file: str, name: str, seen: set[str]) -> set[str]:
        """The files behind a name that `file` itself takes from elsewhere; of "*" the files it
        takes every name from."""
        if file in seen:
            return set()
        self._consulted.add(file)
        if not self._records[file].may_import(name):
            return set()
        seen = {*seen, file}
        found: set[str] = set()
        bound = self._bound(file)
        for each, original in bound.get(name, ()):
            found |= self._origin(file, each, original, seen)
        if name != ALL:
            for each, _ in bound.get(ALL, ()):
                found |= self._through_star(file, each, name, seen)
        return found

    def _bound(self, file: str) -> dict[str, list[tuple[Import, str]]]:
        """For each name that `file` imports: where from, and what it is called there."""
        bindings = self._bindings.get(file)
        if bindings is None:
            bindings = self._bindings[file] = {}
            for each in self._records[file].imports:
                for original, name in zip(each.names, each.bound, strict=True):
                    bindings.setdefault(name, []).append((each, original))
        return bindings

    def _origin(self, file: str, each: Import, original: str, seen: set[str]) -> set[str]:
        found: set[str] = set()
        for module in self._meant(file, each):
            inner = self._submodule(module, original)
            source = inner or self._modules.file(module)
            if source is None:
                continue
            found.add(source)
            if inner is None:
                found |= self._exported(source, original, seen)
        return found

    def _through_star(self, file: str, each: Import, name: str, seen: set[str]) -> set[str]:
        found: set[str] = set()
        for module in self._meant(file, each):
            source = self._modules.file(module)
            if source is None:
                continue
            self._consulted.add(source)
            deeper = self._exported(source, name, seen)
            if deeper or self._records[source].defines(name):
                found |= {source} | deeper
        return found
