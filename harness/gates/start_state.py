"""A scratch copy of the workspace as it was when the turn began.

Whatever could make the copy differ from that state in a way nobody would notice is a reason not
to make one.
"""

import os
import shutil
from pathlib import Path

from harness.gates.values import GateContext
from harness.workspace.changes import digest
from harness.workspace.files import SKIPPED_FOLDERS

MOST_BYTES = 200 * 1024 * 1024
MOST_FILES = 20_000
_TICK = 0.05
"""Seconds that a file system's clock may be behind."""
_CACHES = frozenset(name for name in SKIPPED_FOLDERS if name.endswith("cache") or name[0] == "_")


class NotKnown(Exception):
    """The state at the start of the turn cannot be rebuilt; the message says why."""


def rebuild(target: Path, context: GateContext) -> frozenset[str]:
    """Fill the new folder `target`; the names of folders left out that hold more than a cache.

    Raises NotKnown, and OSError where a file can be neither read nor written.
    """
    omitted = _copy(target, context)
    start = context.start or {}
    for path in context.modified:
        before = context.before(path)
        if before is None and path in start:
            raise NotKnown(f"what {path!r} held is not known")
        _overlay(target, path, before)
    return omitted


def _copy(target: Path, context: GateContext) -> frozenset[str]:
    omitted: set[str] = set()
    files = size = 0
    for folder, names, others in os.walk(context.root, onerror=_raise):
        place = Path(folder)
        relative = place.relative_to(context.root)
        omitted |= {name for name in names if _is_left_out(place / name)}
        names[:] = [name for name in names if not _is_left_out(place / name)]
        (target / relative).mkdir(mode=0o700, parents=True, exist_ok=True)
        links = [name for name in names if (place / name).is_symlink()]
        for name in (*links, *others):
            if name in SKIPPED_FOLDERS:
                omitted.add(name)
                continue
            files += 1
            size += os.lstat(place / name).st_size
            if files > MOST_FILES or size > MOST_BYTES:
                raise NotKnown("the workspace is too large")
            _copy_one(str(relative / name), target, context)
    return frozenset(omitted - _CACHES)


def _raise(error: OSError) -> None:
    raise error


def _is_left_out(folder: Path) -> bool:
    return folder.name in SKIPPED_FOLDERS or (folder / "pyvenv.cfg").is_file()


def _copy_one(path: str, target: Path, context: GateContext) -> None:
    source, copy = context.root / path, target / path
    if source.is_symlink():
        _check_link(source, context.root)
        copy.symlink_to(os.readlink(source))
    elif source.is_file():
        data = source.read_bytes()
        _check(path, data, context)
        copy.write_bytes(data)
        shutil.copystat(source, copy)


def _check_link(link: Path, root: Path) -> None:
    inside = link.resolve().is_relative_to(root)
    if os.path.isabs(os.readlink(link)) or not inside:
        raise NotKnown(f"the link {link.name!r} leads elsewhere")


def _check(path: str, data: bytes, context: GateContext) -> None:
    """What names the workspace would be tested there and not here; what was written since the
    turn began and is no change of it may be what a test left."""
    if os.fsencode(context.root) in data:
        raise NotKnown(f"{path!r} names the workspace's own folder")
    status = os.stat(context.root / path)
    if path in context.modified or status.st_ctime < context.began - _TICK:
        return
    if (context.start or {}).get(path) != digest(data):
        raise NotKnown(f"{path!r} was written since the turn began")


def _overlay(target: Path, path: str, before: bytes | None) -> None:
    place = target / path
    for folder in place.relative_to(target).parents:
        if (target / folder).is_symlink():
            raise NotKnown(f"{str(folder)!r} became a link")
    mode = None
    if place.is_symlink() or place.exists():
        mode = place.lstat().st_mode & 0o777
        place.unlink()
    if before is not None:
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(before)
        if mode is not None and not place.is_symlink():
            place.chmod(mode)
