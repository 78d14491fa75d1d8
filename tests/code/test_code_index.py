"""The index as a whole: looking up, keeping in step, and the cache between programs."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from harness.code.index import CodeIndex
from harness.code.store import FILE_NAME
from harness.errors import ToolError
from harness.workspace.changes import digest
from tests.code.trees import Tree, index_of

FILES = {
    "auth.py": "class AuthService:\n    def reset(self): ...\n    def lock(self): ...\n",
    "pkg/__init__.py": "def reset(): ...\n",
    "pkg/store.pyi": "class Store:\n    def reset(self) -> None: ...\n",
    "README.md": "reset\n",
}


def test_definitions_are_found_by_plain_and_by_dotted_names() -> None:
    index = index_of(FILES)
    found = [(s.path, s.qualified) for s in index.definitions("reset")]
    assert found == [
        ("auth.py", "AuthService.reset"),
        ("pkg/__init__.py", "reset"),
        ("pkg/store.pyi", "Store.reset"),
    ]
    assert [s.path for s in index.definitions("AuthService.reset")] == ["auth.py"]
    assert [s.path for s in index.definitions("auth.AuthService.reset")] == ["auth.py"]
    assert [s.path for s in index.definitions("pkg.reset")] == ["pkg/__init__.py"]
    assert index.definitions("Service.reset") == []
    assert index.definitions("absent") == []
    assert index.definitions("") == []


def test_an_outline_lists_a_file_in_order() -> None:
    index = index_of(FILES)
    names = [symbol.qualified for symbol in index.outline("auth.py")]
    assert names == ["AuthService", "AuthService.reset", "AuthService.lock"]
    assert index.outline("README.md") == []
    assert index.outline("absent.py") == []


def test_a_symbol_is_found_by_its_dotted_name_or_the_end_of_it() -> None:
    index = index_of(FILES)
    for name in ("AuthService.reset", "reset", "auth.AuthService.reset"):
        symbol = index.symbol("auth.py", name)
        assert symbol is not None
        assert (symbol.path, symbol.start_line, symbol.end_line) == ("auth.py", 2, 2)
    assert index.symbol("auth.py", "unlock") is None


def test_of_overloads_the_longest_is_the_symbol() -> None:
    source = "@overload\ndef f(x: int): ...\ndef f(x):\n    a = 1\n    return a\n"
    symbol = index_of({"a.py": source}).symbol("a.py", "f")
    assert symbol is not None
    assert symbol.start_line == 3


def test_an_edit_a_rename_and_a_deletion_are_followed() -> None:
    tree = Tree({"a.py": "def old(): ...\n", "b.py": "import a\n"})
    index = tree.index()
    tree.files["a.py"] = b"def new(): ...\n"
    tree.files["c.py"] = tree.files.pop("b.py")
    index.refresh(tree.hashes())
    assert index.definitions("old") == []
    assert [symbol.path for symbol in index.definitions("new")] == ["a.py"]
    assert index.imports() == {"a.py": frozenset(), "c.py": frozenset({"a.py"})}
    del tree.files["a.py"]
    index.refresh(tree.hashes())
    assert index.imports() == {"c.py": frozenset()}


def test_only_what_changed_is_read() -> None:
    tree = Tree({"a.py": "x = 1\n", "b.py": "y = 1\n", "same.py": "y = 1\n", "c.txt": "z"})
    index = tree.index()
    assert tree.reads == ["a.py", "b.py"]
    tree.files["a.py"] = b"x = 2\n"
    index.refresh(tree.hashes())
    assert tree.reads == ["a.py", "b.py", "a.py"]
    assert [symbol.path for symbol in index.definitions("y")] == ["b.py", "same.py"]


def test_a_huge_file_is_skipped_and_said_once() -> None:
    tree = Tree({"big.py": "x = 1\n" * 200_000, "a.py": "import big\n"})
    index = CodeIndex(tree.read, None)
    assert index.refresh(tree.hashes()) == ["not indexed because larger than 1 MB: 'big.py'"]
    assert index.refresh(tree.hashes()) == []
    assert index.outline("big.py") == []
    assert index.imports()["a.py"] == {"big.py"}


def test_a_file_that_cannot_be_read_is_empty_for_the_index() -> None:
    def refuse(path: str) -> bytes:
        raise ToolError(f"{path!r} cannot be read")

    index = CodeIndex(refuse, None)
    assert index.refresh({"a.py": "unreadable:3:4", "tests/test_a.py": "x"}) == []
    assert index.outline("a.py") == []
    assert index.covers() == {"a.py": {"tests/test_a.py": "name"}}


def test_the_cache_spares_reading_and_parsing(tmp_path: Path) -> None:
    tree = Tree(FILES)
    first = tree.index(tmp_path)
    expected = first.definitions("reset")
    first.close()
    tree.reads.clear()
    second = tree.index(tmp_path)
    assert second.definitions("reset") == expected
    assert tree.reads == []
    second.close()


def test_a_warm_start_does_not_load_the_parser(tmp_path: Path) -> None:
    program = """
import sys
from pathlib import Path
from harness.code.index import CodeIndex
from harness.workspace.changes import digest
files = {"a.py": b"import b\\nclass A:\\n    def reset(self): ...\\n", "test_a.py": b"import a\\n"}
index = CodeIndex(files.__getitem__, Path(sys.argv[1]))
print(index.refresh({path: digest(data) for path, data in files.items()}))
print(len(index.search("reset")), len(index.covers()), len(index.definitions("reset")))
index.close()
print("tree_sitter" in sys.modules)
"""
    outputs = [
        subprocess.run(
            [sys.executable, "-c", program, str(tmp_path)],
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\n")
        for _ in range(2)
    ]
    assert outputs[0][:2] == outputs[1][:2] == ["[]", "1 1 1"]
    assert [output[2] for output in outputs] == ["True", "False"]


def test_a_file_that_changed_after_it_was_hashed_is_not_cached(tmp_path: Path) -> None:
    tree = Tree({"a.py": "def old(): ...\n"})
    hashes = tree.hashes()
    tree.files["a.py"] = b"def new(): ...\n"
    index = CodeIndex(tree.read, tmp_path)
    index.refresh(hashes)
    index.close()
    tree.files["a.py"] = b"def old(): ...\n"
    again = tree.index(tmp_path)
    assert len(again.definitions("old")) == 1
    again.close()


def damaged(cache: Path, how: str) -> None:
    path = cache / FILE_NAME
    if how == "text":
        path.write_text("this is no database, and has never been one\n" * 50, encoding="utf-8")
    elif how == "cut":
        path.write_bytes(path.read_bytes()[:5000])
    elif how == "empty":
        path.write_bytes(b"")
    else:
        with sqlite3.connect(path) as database:
            database.execute(
                {
                    "older": "PRAGMA user_version = 99",
                    "table": "DROP TABLE record",
                    "bytes": "UPDATE record SET symbols = replace(symbols, 'reset', 'other')",
                    "types": "UPDATE record SET words = NULL",
                }[how]
            )
        database.close()


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ("text", "could not be read"),
        ("cut", "could not be read"),
        ("older", "could not be read (version 99 instead of 1)"),
        ("table", "could not be read"),
        ("empty", ""),
        ("bytes", ""),
        ("types", ""),
    ],
)
def test_a_damaged_cache_is_built_again_and_said_once(tmp_path: Path, how: str, said: str) -> None:
    tree = Tree(FILES)
    tree.index(tmp_path).close()
    damaged(tmp_path, how)
    index = CodeIndex(tree.read, tmp_path)
    notices = index.refresh(tree.hashes())
    assert len(index.definitions("reset")) == 3
    assert index.refresh({}) == []
    index.close()
    assert [said in notice and "is built again" in notice for notice in notices] == (
        [True] if said else []
    )
    tree.reads.clear()
    again = tree.index(tmp_path)
    assert tree.reads == []
    again.close()


def test_without_a_usable_cache_the_index_is_in_memory(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).mkdir()
    tree = Tree(FILES)
    index = CodeIndex(tree.read, tmp_path)
    (notice,) = index.refresh(tree.hashes())
    assert "cannot be used" in notice
    assert "in memory" in notice
    assert len(index.definitions("reset")) == 3
    index.close()


def test_a_cache_taken_by_another_program_does_not_stop_the_index(tmp_path: Path) -> None:
    tree = Tree(FILES)
    tree.index(tmp_path).close()
    other = sqlite3.connect(tmp_path / FILE_NAME, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    try:
        index = CodeIndex(tree.read, tmp_path)
        (notice,) = index.refresh(tree.hashes())
        assert "database is locked" in notice
        assert len(index.definitions("reset")) == 3
        index.close()
    finally:
        other.close()


PATHS = [
    "auth.py",
    "app/auth.py",
    "app/__init__.py",
    "app/core.py",
    "tests/test_auth.py",
    "lib/x.py",
]
SOURCES = [
    "",
    "from auth import Service\n",
    "import app.auth as a\n",
    "from app import Service\nService()\n",
    "from .auth import Service\n",
    "from .core import *\n",
    "class Service:\n    def reset(self): ...\n",
    "from app import *\n\ndef test_reset(): Service\n",
    "def broken(:\n",
]


class Editing(RuleBasedStateMachine):
    """Any sequence of edits, renames and deletions leaves the index as if built from scratch."""

    def __init__(self) -> None:
        super().__init__()
        self.tree = Tree({})
        self.index = CodeIndex(self.tree.read, None)

    @rule(path=st.sampled_from(PATHS), source=st.sampled_from(SOURCES))
    def edit(self, path: str, source: str) -> None:
        self.tree.files[path] = source.encode()

    @rule(path=st.sampled_from(PATHS))
    def delete(self, path: str) -> None:
        self.tree.files.pop(path, None)

    @rule(old=st.sampled_from(PATHS), new=st.sampled_from(PATHS))
    def rename(self, old: str, new: str) -> None:
        if old in self.tree.files:
            self.tree.files[new] = self.tree.files.pop(old)

    @invariant()
    def is_as_built_from_scratch(self) -> None:
        self.index.refresh(self.tree.hashes())
        fresh = CodeIndex(self.tree.read, None)
        fresh.refresh(self.tree.hashes())
        for path in PATHS:
            assert self.index.outline(path) == fresh.outline(path)
            assert self.index.covering(path) == fresh.covering(path)
        assert self.index.imports() == fresh.imports()
        assert self.index.covers() == fresh.covers()
        assert self.index.tests() == fresh.tests()
        assert self.index.definitions("reset") == fresh.definitions("reset")
        assert self.index.references("Service") == fresh.references("Service")
        assert self.index.search("reset service") == fresh.search("reset service")


TestEditing = Editing.TestCase
TestEditing.settings = settings(max_examples=25, stateful_step_count=12, deadline=None)


def test_hashes_are_those_of_the_workspace() -> None:
    assert Tree({"a": "x"}).hashes() == {"a": digest(b"x")}
