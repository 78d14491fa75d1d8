"""Reading and writing files beneath one folder, without following a link out of it.

`locate` has resolved links before a path comes here, so every component is opened relative to
the directory before it and must not be a link: one that was swapped in meanwhile is refused.
"""

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from harness.errors import ToolError
from harness.workspace.paths import Located, locate, require_exists

MAX_READ = 5 * 1024 * 1024
"""Bytes of a file that are read at most."""
PROTECTED = (".git", ".mini-coding-agent")
"""Files and folders that no tool writes, at any depth: version control's and our own."""

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# without O_NONBLOCK, opening a FIFO would wait for a writer
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Root:
    """The workspace's files. All paths given to it are canonical (see `locate`)."""

    def __init__(self, path: Path) -> None:
        self._text = os.path.realpath(path)
        self.path = Path(self._text)

    def locate(self, spelling: str) -> Located:
        """An existing file or folder; raises ToolError for anything else."""
        located = locate(self._text, spelling)
        require_exists(self._text, located, spelling)
        return located

    def locate_new(self, spelling: str) -> Located:
        """A file to be written, which may exist; raises ToolError for what `write` refuses."""
        located = locate(self._text, spelling, creating=True)
        for part in located.path.split("/"):
            # some file systems take `.GIT` for `.git`
            if part.casefold() in PROTECTED:
                raise ToolError(f"{spelling!r} is not written by tools: {part!r} is protected.")
        if spelling.endswith("/") or os.path.isdir(os.path.join(self._text, located.path)):
            raise ToolError(f"{spelling!r} is a folder; name a file.")
        try:
            _former(None, os.path.join(self._text, located.path))
        except OSError as error:
            raise ToolError(f"{spelling!r} cannot be written: {error.strerror}.") from error
        return located

    def read(self, path: str) -> bytes:
        """The bytes of a regular file of at most MAX_READ bytes; raises ToolError."""
        try:
            with self._parent(path) as (folder, name):
                return _read(folder, name, path)
        except OSError as error:
            raise ToolError(f"{path!r} cannot be read: {error.strerror}.") from error

    def read_if_there(self, path: str) -> bytes | None:
        """Like `read`, or None when there is no such file."""
        if not os.path.lexists(os.path.join(self._text, path)):
            return None
        return self.read(path)

    def write(self, path: str, data: bytes) -> None:
        """Replace or create a file in one step: whatever happens, it is the old or the new one.

        Raises ToolError when it is read-only or the disk refuses.
        """
        try:
            with self._parent(path, create=True) as (folder, name):
                _replace(folder, name, data)
        except OSError as error:
            raise ToolError(f"{path!r} was not written: {error.strerror}.") from error

    @contextmanager
    def _parent(self, path: str, create: bool = False) -> Iterator[tuple[int, str]]:
        """A handle of the folder that holds `path`, and the name in it."""
        *folders, name = path.split("/")
        handle = os.open(self._text, _DIRECTORY)
        try:
            for part in folders:
                if create:
                    _make_folder(part, handle)
                inner = os.open(part, _DIRECTORY, dir_fd=handle)
                os.close(handle)
                handle = inner
            yield handle, name
        finally:
            os.close(handle)


def _make_folder(name: str, parent: int) -> None:
    with suppress(FileExistsError):
        os.mkdir(name, dir_fd=parent)


def _read(folder: int, name: str, path: str) -> bytes:
    fd = os.open(name, _FILE, dir_fd=folder)
    try:
        status = os.fstat(fd)
        if stat.S_ISDIR(status.st_mode):
            raise ToolError(f"{path!r} is a folder; list_files shows what is in it.")
        if not stat.S_ISREG(status.st_mode):
            raise ToolError(f"{path!r} is not a regular file.")
        if status.st_size > MAX_READ:
            size = status.st_size
            raise ToolError(f"{path!r} has {size} bytes; at most {MAX_READ} are read.")
        return _read_all(fd, status.st_size)
    finally:
        os.close(fd)


def _read_all(fd: int, expected: int) -> bytes:
    pieces: list[bytes] = []
    left = MAX_READ
    while left and (piece := os.read(fd, min(left, expected + 1))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)


def _replace(folder: int, name: str, data: bytes) -> None:
    former = _former(folder, name)
    temporary = f".mca-{os.getpid()}-{os.urandom(6).hex()}.tmp"
    fd = os.open(temporary, _NEW, 0o666, dir_fd=folder)
    try:
        try:
            _write_all(fd, data)
            if former is not None:
                _keep_owner_and_mode(fd, former)
            os.fsync(fd)
        finally:
            os.close(fd)
        os.rename(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temporary, dir_fd=folder)
        raise
    # the file is the new one already; not every file system can sync a folder
    with suppress(OSError):
        os.fsync(folder)


def _write_all(fd: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(fd, left) :]


def _former(folder: int | None, name: str) -> os.stat_result | None:
    """The file to be replaced; raises PermissionError for one that must not be."""
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(status.st_mode):
        raise PermissionError(1, "it is not a regular file")
    if not status.st_mode & stat.S_IWUSR:
        raise PermissionError(13, "it is read-only")
    return status


def _keep_owner_and_mode(fd: int, former: os.stat_result) -> None:
    new = os.fstat(fd)
    if (new.st_uid, new.st_gid) != (former.st_uid, former.st_gid):
        with suppress(PermissionError):
            os.fchown(fd, former.st_uid, former.st_gid)
    os.fchmod(fd, stat.S_IMODE(former.st_mode))
