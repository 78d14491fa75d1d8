"""Which files a workspace has."""

import os
import re
import stat
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

SKIPPED_FOLDERS = frozenset(
    {
        ".git",
        ".hg",
        ".svn",
        ".mini-coding-agent",
        ".venv",
        "venv",
        "node_modules",
        "__pycache__",
        "site-packages",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".hypothesis",
        ".eggs",
        ".idea",
        ".vscode",
    }
)
MAX_FILES = 100_000
"""A walk stops here: a home folder opened by mistake must not take minutes."""
_MOST_RULES = 1 << 16
"""Bytes of a `.gitignore` that are read: compiling takes a second for as many names."""
_ANYWHERE = "^(?:.+/)?"
"""How the expression of a pattern begins that holds at any depth."""
_STAR, _STARS = r"[^/]*", "(?:/.+)?"
"""How a `*` and an inner `**` are spelled in an expression; a `/` is in nothing but these, a
`[^/]` or `[^/]+`, and between folders."""
_BEFORE_STAR = re.compile(r"\[\^/\]\*((?:\[\^/\]|[^/])+?)(?=\[\^/\]\*)")


@dataclass(frozen=True, slots=True)
class Stat:
    """What tells two states of a file apart without reading it."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int

    @classmethod
    def of(cls, result: os.stat_result) -> "Stat":
        return cls(result.st_size, result.st_mtime_ns, result.st_ctime_ns, result.st_ino)


def walk(root: str | os.PathLike[str]) -> dict[str, Stat]:
    """Every regular file beneath `root` by workspace-relative path, sorted, links not followed.

    Left out: version control, virtual environments, caches, our own folder, names that are not
    UTF-8, and what the `.gitignore` files of the tree exclude.
    """
    found: dict[str, Stat] = {}
    for path, stat_ in _files(os.fspath(root)):
        found[path] = stat_
        if len(found) >= MAX_FILES:
            break
    return dict(sorted(found.items()))


def _files(root: str) -> Iterator[tuple[str, Stat]]:
    """Each folder's files, then its folders': always in the same order, however deep."""
    pending: list[tuple[str, tuple[_Ignore, ...]]] = [("", ())]
    while pending:
        folder, rules = pending.pop()
        entries = _listing(root, folder)
        names = {entry.name for entry in entries}
        if folder and "pyvenv.cfg" in names:
            continue
        if ".gitignore" in names:
            rules = (*rules, _Ignore(root, folder))
        prefix = f"{folder}/" if folder else ""
        folders: list[str] = []
        for entry in entries:
            path = prefix + entry.name
            if _is_folder(entry):
                if entry.name not in SKIPPED_FOLDERS and not _ignored(rules, path + "/"):
                    folders.append(path)
            elif not _ignored(rules, path):
                yield from _file(entry, path)
        pending.extend((path, rules) for path in reversed(folders))


def _listing(root: str, folder: str) -> list["os.DirEntry[str]"]:
    """The entries with a name that is text, sorted; none when the folder cannot be listed."""
    try:
        with os.scandir(os.path.join(root, folder)) as listing:
            entries = [entry for entry in listing if _is_text(entry.name)]
    except OSError:
        return []
    return sorted(entries, key=lambda entry: entry.name)


def _is_text(name: str) -> bool:
    if name.isascii():
        return True
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _file(entry: "os.DirEntry[str]", path: str) -> Iterator[tuple[str, Stat]]:
    try:
        if entry.is_file(follow_symlinks=False):
            yield path, Stat.of(entry.stat(follow_symlinks=False))
    except OSError:
        return  # gone since the listing


class _Ignore:
    """One `.gitignore`, which speaks about the paths beneath its own folder."""

    def __init__(self, root: str, folder: str) -> None:
        self._skip = len(folder) + 1 if folder else 0
        self._patterns, self._touched = _rules(_read(os.path.join(root, folder, ".gitignore")))

    def decides(self, path: str) -> bool | None:
        """True to leave out, False to keep against an outer file, None for no opinion. A folder
        ends with a slash. Nothing is asked about what lies in a folder that is left out."""
        path = path[self._skip :]
        if self._touched.match(path):
            for pattern, include in self._patterns:
                if _holds(pattern, path):
                    return include
        return None


def _holds(pattern: "re.Pattern[str]", path: str) -> bool:
    """Whether a pattern means this very entry, not a folder above it. The only group in these
    expressions is the slash after a folder."""
    match = pattern.search(path)
    if match is None:
        return False
    if match.lastindex is not None:
        return any(found.end() == len(path) for found in pattern.finditer(path))
    return not path.endswith("/") or pattern.search(path[:-1]) is not None


def _read(path: str) -> bytes:
    """A `.gitignore`, which git does not follow through a link either. Of a long one the
    beginning, up to the end of a line."""
    try:
        # a FIFO of that name must not be waited for
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            regular = stat.S_ISREG(os.fstat(fd).st_mode)
            data = os.read(fd, _MOST_RULES) if regular else b""
        finally:
            os.close(fd)
    except OSError:
        return b""
    return data if len(data) < _MOST_RULES else data[: data.rfind(b"\n") + 1]


@lru_cache(maxsize=64)
def _rules(data: bytes) -> tuple[list[tuple["re.Pattern[str]", bool]], "re.Pattern[str]"]:
    """The expressions of a `.gitignore`, last line first, with whether each leaves out; and one
    that matches where any of them does."""
    lines = [line.removesuffix("\r") for line in data.decode("utf-8-sig", "replace").split("\n")]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        patterns = [
            (re.compile(_steady(pattern.regex.pattern)), pattern.include)
            for pattern in reversed(list(_compiled(lines).patterns))
            if pattern.regex is not None and pattern.include is not None
        ]
        return patterns, _union([pattern for pattern, _ in patterns])


def _compiled(lines: Sequence[str]) -> "GitIgnoreSpec":
    """The rules of those lines that are patterns; like git, others match nothing."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except (ValueError, re.error):
        return GitIgnoreSpec.from_lines([line for line in lines if _is_pattern(line)])


def _is_pattern(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error):
        return False
    return True


def _steady(expression: str) -> str:
    """The same expression without the retries whose number grows with every `*` and `**`.

    What stands before a further wildcard may be taken where it is found first, for good: the
    further one reaches whatever a later place would have left.
    """
    while _STAR * 2 in expression:
        expression = expression.replace(_STAR * 2, _STAR)
    expression = _BEFORE_STAR.sub(lambda star: f"(?>[^/]*?{star[1]})", expression)
    first, *rest = expression.split(_STARS)
    if not rest:
        return expression
    if first.startswith(_ANYWHERE):
        first = f"^(?>(?:.+?/)??{first.removeprefix(_ANYWHERE)}(?=/))"
    middle = "".join(f"(?>(?:/.+?)??{part}(?=/))" for part in rest[:-1])
    return first + middle + _STARS + rest[-1]


def _union(patterns: Sequence["re.Pattern[str]"]) -> "re.Pattern[str]":
    """Matches where any of `patterns` is found: asking it first spares most paths the rest."""
    texts = [re.sub(r"\(\?P<\w+>", "(?:", pattern.pattern) for pattern in patterns]
    anywhere = [t.removeprefix(_ANYWHERE) for t in texts if t.startswith(_ANYWHERE)]
    parts = [t if t[0] == "^" else f"(?s:.*?){t}" for t in texts if not t.startswith(_ANYWHERE)]
    if anywhere:
        parts.append(f"{_ANYWHERE}(?:{'|'.join(anywhere)})")
    return re.compile("|".join(parts) or r"(?!)")


def _ignored(rules: tuple[_Ignore, ...], path: str) -> bool:
    for rule in reversed(rules):
        decision = rule.decides(path)
        if decision is not None:
            return decision
    return False
