"""What differs between two moments of a workspace, whoever changed it."""

import json
import os
import stat as modes
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness.errors import ToolError
from harness.workspace.files import Stat, walk
from harness.workspace.root import MAX_READ, Root

Snapshot = Mapping[str, str]
"""Content hash by workspace-relative path."""

_CACHE_SCHEMA = 1
_TICK_NS = 50_000_000
_COARSE_TICK_NS = 2_000_000_000
_SECOND_NS = 1_000_000_000
_KEEP_FILE = 256 * 1024
_KEEP_TOTAL = 64 * 1024 * 1024


@dataclass(frozen=True)
class Changes:
    """Paths, sorted. A created file is in `modified` too; a deleted one is not."""

    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    deleted: tuple[str, ...] = ()

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(sorted({*self.modified, *self.deleted}))

    def __bool__(self) -> bool:
        return bool(self.modified or self.deleted)


def compare(before: Snapshot, after: Snapshot) -> Changes:
    created = sorted(path for path in after if path not in before)
    differing = [p for p, digest in after.items() if p in before and before[p] != digest]
    deleted = sorted(path for path in before if path not in after)
    return Changes(tuple(created), tuple(sorted([*created, *differing])), tuple(deleted))


@dataclass(frozen=True, slots=True)
class _Known:
    """What a file was when it was hashed, and when that began (nanoseconds since the epoch)."""

    stat: Stat
    digest: str
    at: int

    def holds(self, stat: Stat) -> bool:
        """Whether a file with this stat must still have the same content.

        A file that changed just before it was hashed may have changed again within one tick of
        the file system's clock. The change time counts alone: no program can set it back.
        """
        coarse = stat.ctime_ns % _SECOND_NS == 0
        return self.stat == stat and stat.ctime_ns < self.at - (
            _COARSE_TICK_NS if coarse else _TICK_NS
        )


class Tracker:
    """Takes snapshots, reading only files whose stat changed since the last one.

    `cache` is a file outside the workspace which keeps stats and hashes between programs.
    """

    def __init__(self, root: Root, cache: Path | None = None) -> None:
        self._root = root
        self._cache = cache
        self._known: dict[str, _Known] = _load(cache)
        self._watched: set[str] = set()
        self._adopted: dict[str, str] = {}
        self._contents: dict[str, bytes] = {}
        self._contents_size = 0
        self._dirty = False

    def snapshot(self) -> Snapshot:
        """The state of the workspace now."""
        files = walk(self._root.path)
        for path in self._watched - files.keys():
            self._add_watched(path, files)
        known: dict[str, _Known] = {}
        for path, stat in files.items():
            entry = self._known.get(path)
            if entry is None or not entry.holds(stat):
                at = time.time_ns()
                entry = _Known(stat, self._digest(path, stat), at)
                self._dirty = True
            known[path] = entry
        self._dirty = self._dirty or len(known) != len(self._known)
        self._known = known
        return {path: entry.digest for path, entry in known.items()}

    def adopt(self, path: str, before: bytes | None) -> None:
        """Follow `path` from now on although the workspace may ignore it; it holds `before`."""
        self._watched.add(path)
        if before is not None:
            self._store(before)
            if path not in self._known:
                self._adopted.setdefault(path, digest(before))

    def with_adopted(self, earlier: Snapshot) -> Snapshot:
        """A snapshot as it would have been had the adopted files been followed then."""
        return {**self._adopted, **earlier} if self._adopted else earlier

    def keep(self, path: str) -> None:
        """Remember the bytes of `path` as they are, so that `content` can give them later."""
        try:
            data = self._root.read_if_there(path)
        except ToolError:
            return
        if data is not None:
            self._store(data)

    def keep_all(self, snapshot: Snapshot) -> None:
        """Remember every small file of `snapshot`, as before a command that may change any."""
        for path, digest in snapshot.items():
            entry = self._known.get(path)
            small = entry is not None and entry.stat.size <= _KEEP_FILE
            if small and digest not in self._contents and self._contents_size < _KEEP_TOTAL:
                self.keep(path)

    def content(self, digest: str | None) -> bytes | None:
        """The bytes that had this hash, when they were kept."""
        return self._contents.get(digest) if digest is not None else None

    def save(self) -> None:
        """Write the cache; a cache that cannot be written is done without."""
        if self._cache is None or not self._dirty:
            return
        rows = [
            [path, e.stat.size, e.stat.mtime_ns, e.stat.ctime_ns, e.stat.inode, e.digest, e.at]
            for path, e in self._known.items()
        ]
        text = json.dumps({"schema": _CACHE_SCHEMA, "files": rows}, separators=(",", ":"))
        temporary = self._cache.with_suffix(f".{os.getpid()}.tmp")
        try:
            temporary.write_text(text, encoding="utf-8")
            temporary.replace(self._cache)
            self._dirty = False
        except OSError:
            with suppress(OSError):
                temporary.unlink()

    def _add_watched(self, path: str, files: dict[str, Stat]) -> None:
        try:
            status = os.stat(self._root.path / path, follow_symlinks=False)
        except OSError:
            return
        if modes.S_ISREG(status.st_mode):
            files[path] = Stat.of(status)

    def _digest(self, path: str, stat: Stat) -> str:
        if stat.size > MAX_READ:
            return f"stat:{stat.size}:{stat.mtime_ns}"
        try:
            return digest(self._root.read(path))
        except ToolError:
            return f"unreadable:{stat.size}:{stat.mtime_ns}"

    def _store(self, data: bytes) -> None:
        key = digest(data)
        if key not in self._contents:
            self._contents[key] = data
            self._contents_size += len(data)


def digest(data: bytes) -> str:
    """The content hash used everywhere: BLAKE2b, 16 bytes, in hexadecimal."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def _load(cache: Path | None) -> dict[str, _Known]:
    """What the cache holds; nothing when it is missing, damaged or of another version."""
    if cache is None:
        return {}
    try:
        data = json.loads(cache.read_bytes())
        return dict(_rows(data["files"])) if data["schema"] == _CACHE_SCHEMA else {}
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return {}


def _rows(rows: list[list[Any]]) -> Iterator[tuple[str, _Known]]:
    """Raises ValueError or TypeError for a row of another shape."""
    for path, size, mtime, ctime, inode, digest, at in rows:
        if not (isinstance(path, str) and isinstance(digest, str)):
            raise TypeError(path)
        yield (
            path,
            _Known(Stat(_int(size), _int(mtime), _int(ctime), _int(inode)), digest, _int(at)),
        )


def _int(value: object) -> int:
    if type(value) is not int:
        raise TypeError(value)
    return value
