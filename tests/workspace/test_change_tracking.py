"""What differs between two moments, seen without reading everything again."""

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.workspace.changes import Changes, Tracker, compare, digest
from harness.workspace.root import MAX_READ, Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "ws").mkdir()
    return Root(tmp_path / "ws")


def put(root: Root, path: str, text: str = "x") -> Path:
    file = root.path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def age(root: Root, seconds: float = 0.12) -> None:
    """Let the files become old enough to be believed unchanged."""
    time.sleep(seconds)


class CountingRoot(Root):
    """Counts what is read."""

    reads = 0

    def read(self, path: str) -> bytes:
        self.reads += 1
        return super().read(path)


def test_a_snapshot_holds_the_hash_of_each_file(root: Root) -> None:
    put(root, "a.py", "one")
    put(root, "d/b.py", "two")
    assert Tracker(root).snapshot() == {"a.py": digest(b"one"), "d/b.py": digest(b"two")}


def test_created_modified_deleted_and_renamed(root: Root) -> None:
    for name in ("same", "edited", "gone", "old_name"):
        put(root, name, name)
    tracker = Tracker(root)
    before = tracker.snapshot()
    put(root, "edited", "EDITED")
    put(root, "new", "n")
    (root.path / "gone").unlink()
    (root.path / "old_name").rename(root.path / "new_name")
    changes = compare(before, tracker.snapshot())
    assert changes == Changes(
        created=("new", "new_name"),
        modified=("edited", "new", "new_name"),
        deleted=("gone", "old_name"),
    )
    assert changes.paths == ("edited", "gone", "new", "new_name", "old_name")
    assert changes


def test_back_as_it_was_is_no_change(root: Root) -> None:
    file = put(root, "a.py", "one")
    tracker = Tracker(root)
    before = tracker.snapshot()
    put(root, "a.py", "two")
    assert compare(before, tracker.snapshot()).modified == ("a.py",)
    put(root, "a.py", "one")
    file.chmod(0o755)
    assert not compare(before, tracker.snapshot())


def test_only_changed_files_are_read_again(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    root = CountingRoot(tmp_path / "ws")
    for number in range(20):
        put(root, f"f{number}")
    age(root)
    tracker = Tracker(root)
    tracker.snapshot()
    assert root.reads == 20
    tracker.snapshot()
    assert root.reads == 20
    put(root, "f3", "y")
    tracker.snapshot()
    assert root.reads == 21


def test_an_edit_of_the_same_size_in_the_same_instant_is_seen(root: Root) -> None:
    file = put(root, "a.py", "0")
    tracker = Tracker(root)
    stamp = file.stat().st_mtime_ns
    for number in range(1, 200):
        before = tracker.snapshot()
        file.write_text(str(number % 10))
        os.utime(file, ns=(stamp, stamp))
        assert compare(before, tracker.snapshot()).modified == ("a.py",)


def test_a_file_system_with_a_coarse_clock_hides_no_edit(tmp_path: Path) -> None:
    command = ["mount", "-t", "ramfs", "ramfs", str(tmp_path)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no file system with a coarse clock can be mounted here")
    try:
        file = tmp_path / "a.py"
        tracker = Tracker(Root(tmp_path))
        for number in range(200):
            file.write_text(str(number % 10))
            before = tracker.snapshot()
            file.write_text(str((number + 1) % 10))
            assert compare(before, tracker.snapshot()).modified == ("a.py",)
    finally:
        subprocess.run(["umount", str(tmp_path)], check=True)


def test_a_time_stamp_from_the_future_does_not_cost_reading(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    root = CountingRoot(tmp_path / "ws")
    file = put(root, "a.py")
    os.utime(file, (4e9, 4e9))
    age(root)
    tracker = Tracker(root)
    tracker.snapshot()
    tracker.snapshot()
    assert root.reads == 1


def test_ignored_files_count_when_they_are_watched(root: Root) -> None:
    put(root, ".gitignore", "*.log\n")
    put(root, "a.log", "1")
    tracker = Tracker(root)
    assert list(tracker.snapshot()) == [".gitignore"]
    tracker.adopt("a.log", None)
    before = tracker.snapshot()
    assert before["a.log"] == digest(b"1")
    put(root, "a.log", "2")
    assert compare(before, tracker.snapshot()).modified == ("a.log",)
    (root.path / "a.log").unlink()
    assert compare(before, tracker.snapshot()).deleted == ("a.log",)
    (root.path / "a.log").mkdir()
    assert compare(before, tracker.snapshot()).deleted == ("a.log",)


def test_large_files_are_told_apart_without_reading(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    root = CountingRoot(tmp_path / "ws")
    with (root.path / "big").open("wb") as file:
        file.truncate(MAX_READ + 1)
    tracker = Tracker(root)
    before = tracker.snapshot()
    assert not compare(before, tracker.snapshot())
    with (root.path / "big").open("ab") as file:
        file.write(b"x")
    assert compare(before, tracker.snapshot()).modified == ("big",)
    assert root.reads == 0


def test_kept_contents_are_found_by_hash(root: Root) -> None:
    put(root, "a.py", "one")
    put(root, "b.py", "two")
    put(root, "big", "z" * 300_000)
    tracker = Tracker(root)
    before = tracker.snapshot()
    assert tracker.content(before["a.py"]) is None
    assert tracker.content(None) is None
    tracker.keep("a.py")
    tracker.keep("nothing.py")
    put(root, "a.py", "changed")
    assert tracker.content(before["a.py"]) == b"one"
    tracker.keep_all(before)
    assert tracker.content(before["b.py"]) == b"two"
    assert tracker.content(before["big"]) is None
    tracker.keep("big")
    assert tracker.content(before["big"]) == b"z" * 300_000


def test_the_cache_spares_a_new_program_the_reading(tmp_path: Path) -> None:
    (tmp_path / "ws").mkdir()
    root = CountingRoot(tmp_path / "ws")
    for number in range(5):
        put(root, f"é{number}.py")
    age(root)
    cache = tmp_path / "files.json"
    first = Tracker(root, cache)
    before = first.snapshot()
    first.save()
    root.reads = 0
    put(root, "é3.py", "changed meanwhile")
    second = Tracker(root, cache)
    assert compare(before, second.snapshot()).modified == ("é3.py",)
    assert root.reads == 1
    assert [path.name for path in tmp_path.iterdir() if "tmp" in path.name] == []


def corrupt(change: Callable[[dict[str, list[list[object]]]], object]) -> Callable[[bytes], bytes]:
    """A change of the parsed cache as one of its bytes."""

    def apply(data: bytes) -> bytes:
        return json.dumps(change(json.loads(data))).encode()

    return apply


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-20],
        lambda data: b"\0\xff" + data,
        lambda data: b"null",
        lambda data: b"[1]",
        lambda data: b'{"schema": 1}',
        lambda data: b'{"schema": 1, "files": {"a.py": 3}}',
        lambda data: b'{"schema": 1, "files": [3]}',
        lambda data: b"[" * 100_000,
        corrupt(lambda d: {**d, "schema": 0}),
        corrupt(lambda d: {**d, "files": [row[:6] for row in d["files"]]}),
        corrupt(lambda d: {**d, "files": [[*row[:5], 5, row[6]] for row in d["files"]]}),
        corrupt(lambda d: {**d, "files": [[*row[:5], None, row[6]] for row in d["files"]]}),
        corrupt(lambda d: {**d, "files": [[*row[:6], "9"] for row in d["files"]]}),
        corrupt(lambda d: {**d, "files": [[3, *row[1:]] for row in d["files"]]}),
        corrupt(lambda d: {**d, "files": [[row[0], "x", *row[2:]] for row in d["files"]]}),
    ],
)
def test_a_damaged_or_old_cache_is_ignored(
    root: Root, tmp_path: Path, damage: Callable[[bytes], bytes]
) -> None:
    put(root, "a.py", "one")
    put(root, "b.py", "two")
    age(root, 0.06)
    cache = tmp_path / "files.json"
    first = Tracker(root, cache)
    truth = first.snapshot()
    first.save()
    cache.write_bytes(damage(cache.read_bytes()))
    second = Tracker(root, cache)
    assert second.snapshot() == truth
    second.save()
    assert Tracker(root, cache).snapshot() == truth


def test_a_cache_that_cannot_be_written_is_done_without(root: Root, tmp_path: Path) -> None:
    put(root, "a.py")
    (tmp_path / "file").write_text("")
    for cache in (tmp_path / "no" / "folder" / "c.json", tmp_path / "file" / "c.json", tmp_path):
        tracker = Tracker(root, cache)
        tracker.snapshot()
        tracker.save()
    assert {path.name for path in tmp_path.iterdir()} == {"ws", "file"}


def test_a_snapshot_of_two_thousand_files_is_quick_when_nothing_changed(tmp_path: Path) -> None:
    root = Root(tmp_path)
    for number in range(2000):
        put(root, f"pkg{number % 40}/m{number}.py", f"x = {number}\n")
    age(root)
    tracker = Tracker(root)
    tracker.snapshot()

    def seconds() -> float:
        started = time.process_time()
        assert len(tracker.snapshot()) == 2000
        return time.process_time() - started

    assert min(seconds() for _ in range(5)) < 0.060


NAMES = st.sampled_from(["a", "b", "d/a", "d/b"])
CONTENTS = st.sampled_from(["", "1", "2", "33"])
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("write"), NAMES, CONTENTS),
        st.tuples(st.just("replace"), NAMES, CONTENTS),
        st.tuples(st.just("rename"), NAMES, NAMES),
        st.tuples(st.just("delete"), NAMES, NAMES),
        st.tuples(st.just("backdate"), NAMES, NAMES),
        st.tuples(st.just("look"), NAMES, NAMES),
        st.tuples(st.just("restart"), NAMES, NAMES),
    ),
    max_size=12,
)


def hashes(root: Root) -> dict[str, str]:
    files = (path for path in root.path.rglob("*") if path.is_file())
    return {str(path.relative_to(root.path)): digest(path.read_bytes()) for path in files}


def apply(root: Root, kind: str, name: str, other: str) -> None:
    file = root.path / name
    if kind == "write":
        file.write_text(other)
    elif kind == "replace":
        root.write(name, other.encode())
    elif file.exists() and kind == "rename":
        file.rename(root.path / other)
    elif file.exists() and kind == "delete":
        file.unlink()
    elif file.exists() and kind == "backdate":
        os.utime(file, (1e9, 1e9))


@settings(max_examples=60, deadline=None)
@given(STEPS)
def test_any_changes_are_what_hashing_everything_says(steps: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "ws" / "d").mkdir(parents=True)
        root = Root(Path(folder) / "ws")
        cache = Path(folder) / "cache.json"
        tracker = Tracker(root, cache)
        before, truth_before = tracker.snapshot(), hashes(root)
        for kind, name, other in steps:
            apply(root, kind, name, other)
            if kind == "look":
                tracker.snapshot()
            elif kind == "restart":
                tracker.save()
                tracker = Tracker(root, cache)
        after, truth_after = tracker.snapshot(), hashes(root)
        assert after == truth_after
        assert compare(before, after) == compare(truth_before, truth_after)
