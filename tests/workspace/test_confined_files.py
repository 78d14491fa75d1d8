"""Reading and writing beneath the root, with the files a hostile tree may hold."""

import os
import resource
import stat
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from harness.errors import ToolError
from harness.workspace.root import MAX_READ, Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "ws").mkdir()
    return Root(tmp_path / "ws")


def names(folder: Path) -> set[str]:
    return {entry.name for entry in folder.iterdir()}


@contextmanager
def ordinary_user(folder: Path) -> Iterator[None]:
    """Root ignores permissions, so the block runs as nobody, who owns `folder`."""
    if os.geteuid() != 0:
        yield
        return
    os.chown(folder, 65534, 65534)
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can reach."""
    import shutil
    import tempfile

    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    for inner, _, _ in os.walk(folder):
        Path(inner).chmod(0o755)
    shutil.rmtree(folder)


def test_what_is_written_is_read(root: Root) -> None:
    for data in (b"", b"x", b"\r\n\0\xff" * 1000):
        root.write("a/b/c.bin", data)
        assert root.read("a/b/c.bin") == data
        assert root.read_if_there("a/b/c.bin") == data
    assert names(root.path / "a" / "b") == {"c.bin"}


def test_what_is_not_there_is_none_or_a_sentence(root: Root) -> None:
    assert root.read_if_there("nothing.txt") is None
    with pytest.raises(ToolError, match=r"'nothing.txt' cannot be read: No such file"):
        root.read("nothing.txt")


def test_folders_are_not_read(root: Root) -> None:
    (root.path / "d").mkdir()
    for path in ("d", "."):
        with pytest.raises(ToolError, match="is a folder"):
            root.read(path)


def test_a_file_is_no_folder(root: Root) -> None:
    root.write("f", b"x")
    with pytest.raises(ToolError, match="Not a directory"):
        root.read("f/x")
    with pytest.raises(ToolError, match="Not a directory"):
        root.write("f/x", b"y")
    with pytest.raises(ToolError, match="cannot be written"):
        root.locate_new("f/x")
    assert root.read("f") == b"x"


def test_pipes_sockets_and_devices_are_refused_at_once(root: Root, tmp_path: Path) -> None:
    import socket

    os.mkfifo(root.path / "pipe")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(root.path / "socket"))
        started = time.monotonic()
        for name in ("pipe", "socket"):
            with pytest.raises(ToolError, match=r"regular file|cannot be read"):
                root.read(name)
            with pytest.raises(ToolError, match="regular file"):
                root.write(name, b"x")
            with pytest.raises(ToolError, match="regular file"):
                root.locate_new(name)
        assert time.monotonic() - started < 1
    assert names(root.path) == {"pipe", "socket"}


def test_a_device_in_the_tree_is_refused(root: Root) -> None:
    try:
        os.mknod(root.path / "zero", 0o666 | stat.S_IFCHR, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root can make a device")
    with pytest.raises(ToolError, match="not a regular file"):
        root.read("zero")
    with pytest.raises(ToolError, match="not a regular file"):
        root.write("zero", b"x")


def test_reading_has_a_largest_size(root: Root) -> None:
    with (root.path / "big").open("wb") as file:
        file.truncate(MAX_READ)
    assert len(root.read("big")) == MAX_READ
    os.truncate(root.path / "big", MAX_READ + 1)
    with pytest.raises(ToolError, match=rf"has {MAX_READ + 1} bytes; at most {MAX_READ}"):
        root.read("big")


def test_links_are_never_followed_here(root: Root, tmp_path: Path) -> None:
    (tmp_path / "victim").write_text("VICTIM")
    (root.path / "file").symlink_to(tmp_path / "victim")
    (root.path / "folder").symlink_to(tmp_path)
    for path in ("file", "folder/victim"):
        with pytest.raises(ToolError):
            root.read(path)
        with pytest.raises(ToolError):
            root.write(path, b"pwn")
    assert (tmp_path / "victim").read_text() == "VICTIM"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o640])
def test_the_mode_is_kept(root: Root, mode: int) -> None:
    root.write("f", b"1")
    (root.path / "f").chmod(mode)
    root.write("f", b"2")
    assert stat.S_IMODE((root.path / "f").stat().st_mode) == mode


def test_the_owner_is_kept_where_that_is_allowed(root: Root) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    root.write("f", b"1")
    os.chown(root.path / "f", 65534, 65534)
    root.write("f", b"2")
    assert (root.path / "f").stat().st_uid == 65534


def test_new_files_follow_the_umask(root: Root) -> None:
    old = os.umask(0o027)
    try:
        root.write("d/f", b"1")
    finally:
        os.umask(old)
    assert stat.S_IMODE((root.path / "d" / "f").stat().st_mode) == 0o640
    assert stat.S_IMODE((root.path / "d").stat().st_mode) == 0o750


def test_a_read_only_file_is_refused_also_for_root(root: Root) -> None:
    root.write("ro", b"old")
    (root.path / "ro").chmod(0o444)
    with pytest.raises(ToolError, match="'ro' was not written: it is read-only"):
        root.write("ro", b"new")
    with pytest.raises(ToolError, match="read-only"):
        root.locate_new("ro")
    assert root.read("ro") == b"old"
    assert names(root.path) == {"ro"}


def test_a_read_only_folder_is_a_sentence(open_folder: Path) -> None:
    inner = open_folder / "ws"
    inner.mkdir()
    (inner / "f").write_bytes(b"old")
    (inner / "f").chmod(0o666)
    inner.chmod(0o555)
    root = Root(inner)
    with ordinary_user(inner):
        for path in ("f", "new", "sub/new"):
            with pytest.raises(ToolError, match=f"'{path}' was not written: Permission denied"):
                root.write(path, b"new")
        assert root.read("f") == b"old"


def test_an_unreadable_file_is_a_sentence(open_folder: Path) -> None:
    (open_folder / "secret").write_bytes(b"x")
    (open_folder / "secret").chmod(0)
    root = Root(open_folder)
    with ordinary_user(open_folder), pytest.raises(ToolError, match="Permission denied"):
        root.read("secret")


def test_a_hard_link_is_broken_not_written_through(root: Root, tmp_path: Path) -> None:
    (tmp_path / "victim").write_bytes(b"VICTIM")
    os.link(tmp_path / "victim", root.path / "hard")
    root.write("hard", b"mine")
    assert (tmp_path / "victim").read_bytes() == b"VICTIM"
    assert root.read("hard") == b"mine"


def test_a_name_of_the_greatest_length_is_written(root: Root) -> None:
    for name in ("n" * 255, "é" * 127):
        root.write(name, b"x")
        assert root.read(name) == b"x"


def test_a_file_that_grows_too_large_leaves_the_old_one(root: Root) -> None:
    root.write("f", b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, hard))
    try:
        with pytest.raises(ToolError, match="'f' was not written: File too large"):
            root.write("f", b"z" * 300_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert root.read("f") == b"old"
    assert names(root.path) == {"f"}


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 KiB."""
    folder = tmp_path / "disk"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("a small file system cannot be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_leaves_the_old_file_and_nothing_else(small_disk: Path) -> None:
    root = Root(small_disk)
    root.write("f", b"old")
    with pytest.raises(ToolError, match="'f' was not written: No space left"):
        root.write("f", b"z" * 100_000)
    assert root.read("f") == b"old"
    assert names(small_disk) == {"f"}
    root.write("f", b"z" * 30_000)
    assert len(root.read("f")) == 30_000


def test_a_read_only_file_system_is_a_sentence(small_disk: Path) -> None:
    root = Root(small_disk)
    root.write("f", b"old")
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    with pytest.raises(ToolError, match="Read-only file system"):
        root.write("f", b"new")


def test_readers_see_the_old_or_the_new_file(root: Root) -> None:
    contents = {b"a" * 50_000, b"b" * 70_000}
    root.write("f", b"a" * 50_000)
    stop = threading.Event()
    seen: set[bytes] = set()

    def read() -> None:
        while not stop.is_set():
            seen.add((root.path / "f").read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(30):
        for data in contents:
            root.write("f", data)
    stop.set()
    reader.join()
    assert seen <= contents
