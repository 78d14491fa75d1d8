"""A workspace cannot lead the store out of itself, and a failed write changes nothing."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from knowledge import KnowledgeError, Store

PLANTED = '[{"key": "planted", "content": "from outside"}]'


def place(base: Path) -> Path:
    return base / "ws" / ".mini-coding-agent" / "knowledge" / "entries.json"


@pytest.mark.parametrize("depth", ["entries.json", "knowledge", ".mini-coding-agent"])
def test_a_link_to_outside_is_neither_read_nor_written(tmp_path: Path, depth: str) -> None:
    path = place(tmp_path)
    target = {
        "entries.json": tmp_path / "outside.json",
        "knowledge": tmp_path / "outside" / "entries.json",
        ".mini-coding-agent": tmp_path / "outside" / "knowledge" / "entries.json",
    }[depth]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(PLANTED, encoding="utf-8")
    link = next(part for part in (path, *path.parents) if part.name == depth)
    link.parent.mkdir(parents=True, exist_ok=True)
    link.symlink_to(target if depth == "entries.json" else tmp_path / "outside")
    store = Store(path, tmp_path / "none")
    (message,) = store.load()
    assert "leads outside the workspace" in message
    assert store.entries() == []
    with pytest.raises(KnowledgeError, match=r"leads outside the workspace.*nothing was changed"):
        store.remember("a", "b", "workspace")
    assert target.read_text(encoding="utf-8") == PLANTED
    assert [each.name for each in target.parent.iterdir() if "lock" in each.name] == []


def test_a_link_within_the_workspace_is_followed_and_stays(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.parent.mkdir(parents=True)
    shared = tmp_path / "ws" / "docs" / "agent" / "entries.json"
    shared.parent.mkdir(parents=True)
    shared.write_text(PLANTED, encoding="utf-8")
    path.symlink_to(shared)
    store = Store(path, tmp_path / "none")
    store.load()
    store.remember("a", "b", "workspace")
    assert path.is_symlink()
    assert [entry.key for entry in store.entries()] == ["planted", "a"]
    assert '"a"' in shared.read_text(encoding="utf-8")


def test_links_in_the_home_are_the_users_own(tmp_path: Path) -> None:
    dotfiles = tmp_path / "dotfiles"
    dotfiles.mkdir()
    (tmp_path / "home").symlink_to(dotfiles)
    store = Store(place(tmp_path), tmp_path / "home" / "entries.json")
    store.remember("a", "b", "global")
    assert (dotfiles / "entries.json").is_file()


@contextmanager
def unprivileged() -> Iterator[None]:
    """Run as somebody whom file modes stop, also when the tests run as root."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_folder_that_cannot_be_written_is_a_sentence() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = place(Path(folder))
        path.parent.mkdir(parents=True)
        path.write_text(PLANTED, encoding="utf-8")
        for each in (path, *path.parents[:4]):
            each.chmod(0o555)
        store = Store(path, Path(folder) / "none")
        try:
            with unprivileged():
                store.load()
                with pytest.raises(KnowledgeError, match=r"cannot be written \(Permission denied"):
                    store.remember("a", "b", "workspace")
        finally:
            for each in path.parents[:4]:
                each.chmod(0o755)
        assert path.read_text(encoding="utf-8") == PLANTED
        assert [entry.key for entry in store.entries()] == ["planted"]
        assert [each.name for each in path.parent.iterdir()] == ["entries.json"]


def test_a_broken_file_in_a_folder_that_cannot_be_written_is_still_said() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = place(Path(folder))
        path.parent.mkdir(parents=True)
        path.write_bytes(b"broken")
        for each in (path, *path.parents[:4]):
            each.chmod(0o555)
        try:
            with unprivileged():
                (message,) = Store(path, Path(folder) / "none").load()
        finally:
            for each in path.parents[:4]:
                each.chmod(0o755)
        assert message.endswith("no entry of it is used, and the file is left as it is")


def test_a_disk_without_room_leaves_the_old_file(tmp_path: Path) -> None:
    path = place(tmp_path)
    path.parent.mkdir(parents=True)
    path.write_text(PLANTED, encoding="utf-8")
    program = """
import resource, sys
from pathlib import Path
from knowledge import KnowledgeError, Store
store = Store(Path(sys.argv[1]), Path(sys.argv[1]).with_name("none"))
resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
try:
    store.remember("big", "x" * 10_000, "workspace")
except KnowledgeError as error:
    print(error)
"""
    run = subprocess.run(
        [sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True
    )
    assert "cannot be written (File too large); nothing was changed" in run.stdout
    assert path.read_text(encoding="utf-8") == PLANTED
    assert list(path.parent.glob("*.tmp")) == []
    assert list(path.parent.glob(".*.tmp")) == []
