"""Which file a dotted module name means, seen from another file.

Any folder may be an import root. Tried in this order, as Python and pytest would have it: the
folder that holds the importing file's package, the folders above it (and their `src` and `lib`),
the file's own folder, and last, for names that are not of the standard library, wherever in the
workspace such a module is, the nearest first.
"""

import sys
from collections.abc import Iterable, Iterator

_SOURCE_FOLDERS = ("src", "lib", "python")


class Modules:
    """The modules among the files of a workspace. A module is spelled by its path without ending:
    `pkg/mod`, and `pkg` for a package with or without `__init__`."""

    def __init__(self, paths: Iterable[str]) -> None:
        self._files: dict[str, str] = {}
        self._packages: dict[str, str] = {}
        for path in sorted(paths, reverse=True):  # so that .py wins over .pyi
            stem = path.rpartition(".")[0]
            folder, _, name = stem.rpartition("/")
            if name == "__init__":
                self._packages[folder] = path
            else:
                self._files[stem] = path
        self._folders = set(_folders_of(self._files.keys(), self._packages.keys()))
        self._roots: dict[str, list[str]] = {}
        for module in sorted({*self._files, *self._packages, *self._folders} - {""}):
            folder, _, name = module.rpartition("/")
            self._roots.setdefault(name, []).append(folder)
        self._orders: dict[str, dict[str, int]] = {}
        self._resolved: dict[tuple[str, str], list[str]] = {}

    def file(self, module: str) -> str | None:
        """The file that runs when the module is imported; None for a namespace package."""
        return self._packages.get(module) or self._files.get(module)

    def exists(self, module: str) -> bool:
        return module in self._files or module in self._packages or module in self._folders

    def is_package(self, module: str) -> bool:
        return module in self._packages or module in self._folders

    def absolute(self, importer: str, dotted: str) -> list[str]:
        """The modules `dotted` may mean in the file `importer`: one, or several equally near."""
        seen_from = (_folder(importer), dotted)
        found = self._resolved.get(seen_from)
        if found is None:
            found = self._resolved[seen_from] = self._resolve(*seen_from)
        return found

    def relative(self, importer: str, level: int, dotted: str) -> str | None:
        """The module of a from-import with `level` dots, or None when it leaves the workspace."""
        folder = _folder(importer)
        for _ in range(level - 1):
            if not folder:
                return None
            folder = _folder(folder)
        module = _joined(folder, dotted.replace(".", "/"))
        return module if self.exists(module) or module == folder else None

    def parents(self, importer: str, module: str) -> Iterator[str]:
        """The packages which run before `module` does, without those around `importer` too."""
        folder = _folder(module)
        while folder and folder in self._packages:
            if not importer.startswith(folder + "/"):
                yield folder
            folder = _folder(folder)

    def _resolve(self, folder: str, dotted: str) -> list[str]:
        first, _, rest = dotted.partition(".")
        roots = self._roots.get(first)
        if not roots:
            return []
        order = self._order(folder)
        ranked = sorted((order[root], root) for root in roots if root in order)
        of_python = first in sys.stdlib_module_names
        for _, root in ranked:
            if of_python and root == folder and folder in self._packages:
                continue  # within a package Python's own module is meant
            module = self._under(root, first, rest)
            if module is not None:
                return [module]
        if of_python:
            return []
        return self._nearest(folder, first, rest, [root for root in roots if root not in order])

    def _under(self, root: str, first: str, rest: str) -> str | None:
        top = _joined(root, first)
        if first in sys.stdlib_module_names and self.file(top) is None:
            return None  # a mere folder does not hide a module of Python's own
        module = _joined(top, rest.replace(".", "/")) if rest else top
        return module if self.exists(module) else None

    def _nearest(self, folder: str, first: str, rest: str, roots: list[str]) -> list[str]:
        found: dict[str, int] = {}
        for root in roots:
            module = self._under(root, first, rest)
            if module is not None:
                found[module] = _shared(folder, module)
        best = max(found.values(), default=0)
        return [module for module, shared in found.items() if shared == best]

    def _order(self, folder: str) -> dict[str, int]:
        """Import roots seen from a file in `folder`, the likeliest with the lowest number."""
        order = self._orders.get(folder)
        if order is None:
            order = self._orders[folder] = {}
            base = folder
            while base and base in self._packages:
                base = _folder(base)
            while True:
                for root in (base, *(_joined(base, name) for name in _SOURCE_FOLDERS)):
                    order.setdefault(root, len(order))
                if not base:
                    break
                base = _folder(base)
            order.setdefault(folder, len(order))
        return order


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _joined(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name


def _folders_of(*groups: Iterable[str]) -> Iterator[str]:
    """Every folder above some modules."""
    seen: set[str] = set()
    for group in groups:
        for module in group:
            folder = _folder(module)
            while folder not in seen:
                seen.add(folder)
                yield folder
                folder = _folder(folder)


def _shared(folder: str, module: str) -> int:
    """How many leading folders a folder and a module share."""
    count = 0
    for a, b in zip(folder.split("/"), module.split("/"), strict=False):
        if a != b:
            break
        count += 1
    return count
