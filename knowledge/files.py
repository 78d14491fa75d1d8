"""Small files written whole or not at all, one writer at a time."""

import errno
import fcntl
import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from knowledge.errors import KnowledgeError

MAX_BYTES = 64 * 1024 * 1024
_LOCK_SECONDS = 10.0
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


class FileProblem(Exception):
    """Why a file cannot be used, as the part of a sentence after its name."""


def read(path: Path) -> bytes | None:
    """The bytes of a regular file, None when there is none. Raises FileProblem."""
    try:
        # a FIFO would otherwise block until somebody writes to it
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise FileProblem(f"cannot be read ({error.strerror})") from error
    try:
        status = os.fstat(fd)
        if not stat.S_ISREG(status.st_mode):
            raise FileProblem("is not a file")
        if status.st_size > MAX_BYTES:
            raise FileProblem(f"is too large to be read ({status.st_size // 2**20} MB)")
        with open(fd, "rb", closefd=False) as file:
            return file.read()
    finally:
        os.close(fd)


def replace(path: Path, data: bytes) -> None:
    """Put `data` in the place of `path`, keeping its mode. Raises OSError, which names `path`, and
    leaves the old file.

    The bytes are on disk before the name changes over to them.
    """
    try:
        _replace(path, data)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from error


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}.tmp")
    fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
    try:
        try:
            with suppress(FileNotFoundError):
                os.fchmod(fd, stat.S_IMODE(path.stat().st_mode))
            _write_all(fd, data)
            os.fsync(fd)
        finally:
            os.close(fd)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    _sync_folder(path.parent)


def create(path: Path, data: bytes) -> None:
    """Write a new file. Raises FileExistsError when there is one."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o666)
    try:
        _write_all(fd, data)
        os.fsync(fd)
    except OSError:
        path.unlink(missing_ok=True)
        raise
    finally:
        os.close(fd)


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the lock file `path` against other programs.

    Raises OSError when it cannot be opened and KnowledgeError when it stays taken.
    """
    fd = os.open(path, os.O_RDWR | os.O_CREAT | _FLAGS, 0o666)
    try:
        _take(fd, path)
        yield
    finally:
        os.close(fd)


def _take(fd: int, path: Path) -> None:
    deadline = time.monotonic() + _LOCK_SECONDS
    while True:
        try:
            fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EACCES):
                raise
        else:
            return
        if time.monotonic() > deadline:
            raise KnowledgeError(
                f"another program has held {str(path)!r} for {_LOCK_SECONDS:.0f} seconds; "
                "nothing was changed, try again"
            )
        time.sleep(0.01)


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # some file systems refuse; the file itself is synced
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)
