"""Which files a call may name, the likeliest first."""

import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from harness.code.index import CodeIndex
from harness.ooda.asking import named_paths
from harness.ooda.so_far import SoFar

MOST_FILES = 40
MOST_PLACES = 20
_SEARCHED = 12
_WORD = re.compile(r"\w{3,}")

NAMED, PICKED, READ, TEST, SEEN, FOUND, OTHER = range(1, 8)
"""Ranks: named in the request; picked for it; read or changed; a test that covers one of these; in
the result of a tool; found in the index; anything else."""

_USUAL_ENDING = re.compile(
    r".*\.(?:py|md|txt|rst|json|toml|ya?ml|ini|cfg|csv|sh|sql|html|css|js|ts)"
)

Withheld = Callable[[Sequence[str]], Mapping[str, str]]


class Candidates:
    """Ranks the files of a workspace for one turn after the other."""

    def __init__(self, index: Callable[[], CodeIndex], withheld: Withheld) -> None:
        """`withheld` gives those of some paths that rules do not let be read unasked."""
        self._index = index
        self._withheld = withheld
        self._searched: tuple[str, tuple[str, ...]] = ("", ())

    def files(self, known: Iterable[str], so_far: SoFar) -> dict[str, int]:
        """At most MOST_FILES of the `known` paths with their ranks, best first."""
        there = set(known)
        ranks: dict[str, int] = {}
        for path, rank in self._ranked(there, so_far):
            if path in there:
                ranks.setdefault(path, rank)
        # some more than are shown, so that withheld ones leave no gap
        first = sorted(ranks, key=lambda path: ranks[path])[: 2 * MOST_FILES]
        withheld = self._withheld(first)
        shown = [path for path in first if path not in withheld][:MOST_FILES]
        return {path: ranks[path] for path in shown}

    def _ranked(self, there: set[str], so_far: SoFar) -> Iterator[tuple[str, int]]:
        likely: list[str] = []
        for paths, rank in (
            (_named(so_far.request, there), NAMED),
            (so_far.picked, PICKED),
            (so_far.reads, READ),
        ):
            likely += paths
            yield from ((path, rank) for path in paths)
        index = self._index()
        for path in likely:
            yield from ((test, TEST) for test in index.covering(path))
        yield from ((path, SEEN) for path in so_far.seen)
        yield from ((path, FOUND) for path in self._search(index, so_far.request))
        others = sorted(there, key=lambda path: (path.count("/"), _is_hidden(path), path))
        yield from ((path, OTHER) for path in others)

    def _search(self, index: CodeIndex, request: str) -> tuple[str, ...]:
        if self._searched[0] != request:
            found = tuple(match.path for match in index.search(request, limit=_SEARCHED))
            self._searched = (request, found)
        return self._searched[1]


def names_new_file(request: str, there: Iterable[str]) -> bool:
    """Whether a request names a file that there is not: that is how some ask for a new one."""
    known = [f"/{path}" for path in there]
    named = (path.removeprefix("./") for path in named_paths(request))
    return any(
        _USUAL_ENDING.fullmatch(path) and not any(each.endswith(f"/{path}") for each in known)
        for path in named
    )


def places(files: Iterable[str]) -> tuple[str, ...]:
    """The folders of some files, and the root first."""
    folders: dict[str, None] = {".": None}
    for path in files:
        folder = posixpath.dirname(path)
        if folder:
            folders[folder] = None
    return tuple(folders)[:MOST_PLACES]


def _named(request: str, there: set[str]) -> list[str]:
    """The files that a request names by path, by name, or by a word that is their stem."""
    spelled = [path.removeprefix("./") for path in named_paths(request)]
    words = {word.lower() for word in _WORD.findall(request)}
    exact = [path for path in spelled if path in there]
    ends = tuple(f"/{name}" for name in spelled)
    by_name = [path for path in there if f"/{path}".endswith(ends)] if ends else []
    by_stem = [path for path in there if _stem(path) in words]
    return list(dict.fromkeys([*exact, *sorted(by_name), *sorted(by_stem)]))


def _stem(path: str) -> str:
    return posixpath.basename(path).partition(".")[0].lower()


def _is_hidden(path: str) -> bool:
    return path.startswith(".") or "/." in path
