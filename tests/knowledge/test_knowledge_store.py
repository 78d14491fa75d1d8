"""Two files of entries, read and written."""

import json
from pathlib import Path
from typing import Any

import pytest

from knowledge import KnowledgeError, Store

SAMPLE = """[
  {
    "key": "password_rules",
    "content": "Passwords must be at least 8 chars and contain a digit",
    "scope": "workspace",
    "source_project": "example_workspace",
    "tags": [],
    "created_at": ""
  }
]
"""


class Places:
    """A workspace and a home with their two entries files."""

    def __init__(self, base: Path) -> None:
        self.workspace = base / "ws"
        self.workspace_file = self.workspace / ".mini-coding-agent" / "knowledge" / "entries.json"
        self.global_file = base / "home" / ".mini-coding-agent" / "knowledge" / "entries.json"
        self.workspace.mkdir()

    def store(self) -> Store:
        store = Store(self.workspace_file, self.global_file)
        assert store.load() == []
        return store

    def write(self, text: str | bytes, path: Path | None = None) -> Path:
        path = path or self.workspace_file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return path


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


def read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def test_the_hand_written_sample_loads(places: Places) -> None:
    places.write(SAMPLE)
    (entry,) = places.store().entries()
    assert entry.key == "password_rules"
    assert entry.content == "Passwords must be at least 8 chars and contain a digit"
    assert (entry.scope, entry.tags, entry.created_at) == ("workspace", (), "")
    assert entry.source_project == "example_workspace"


def test_no_files_are_no_entries_and_nothing_to_say(places: Places) -> None:
    assert places.store().entries() == []
    assert list(places.workspace.iterdir()) == []


def test_an_object_around_the_list_is_read_and_kept(places: Places) -> None:
    places.write(json.dumps({"version": 7, "entries": json.loads(SAMPLE)}))
    store = places.store()
    store.remember("a", "b", "workspace")
    assert [entry.key for entry in store.entries()] == ["password_rules", "a"]
    assert read(places.workspace_file)["version"] == 7


def test_remembering_writes_beside_what_is_there(places: Places) -> None:
    places.write(SAMPLE)
    store = places.store()
    assert store.remember("test_command", "python -m pytest test_auth.py -v", "workspace") is False
    first, second = read(places.workspace_file)
    assert first == json.loads(SAMPLE)[0]
    assert second["key"] == "test_command"
    assert second["content"] == "python -m pytest test_auth.py -v"
    assert (second["scope"], second["tags"]) == ("workspace", [])
    assert second["created_at"].endswith("Z")
    assert not places.global_file.exists()


def test_a_new_store_finds_what_was_remembered(places: Places) -> None:
    places.store().remember("a", "naïve ✓ \ud800", "workspace")
    (entry,) = places.store().entries()
    assert entry.content == "naïve ✓ \ud800"


def test_global_entries_go_to_the_home_and_other_workspaces_see_them(
    places: Places, tmp_path: Path
) -> None:
    places.store().remember("style", "two blank lines", "global", source_project="one")
    assert list(places.workspace.iterdir()) == []
    other = Store(tmp_path / "other" / ".m" / "knowledge" / "entries.json", places.global_file)
    other.load()
    (entry,) = other.entries()
    assert (entry.key, entry.scope, entry.source_project) == ("style", "global", "one")


def test_the_workspace_wins_and_the_global_file_stays_as_it_was(places: Places) -> None:
    store = places.store()
    store.remember("style", "ours everywhere", "global")
    before = places.global_file.read_bytes()
    store.remember("style", "here otherwise", "workspace")
    assert [entry.content for entry in store.entries()] == ["here otherwise"]
    assert [entry.content for entry in store.all()] == ["here otherwise", "ours everywhere"]
    assert places.global_file.read_bytes() == before


def test_the_tier_is_the_file_whatever_the_entry_says(places: Places) -> None:
    places.write(SAMPLE.replace('"scope": "workspace"', '"scope": "global"'))
    store = places.store()
    (entry,) = store.entries()
    assert entry.scope == "workspace"
    assert store.forget("password_rules", "global") is False
    assert store.forget("password_rules", "workspace") is True


def test_unknown_fields_survive_a_rewrite_and_a_replacement(places: Places) -> None:
    item = {"key": "a", "content": "old", "globs": ["*.py"], "tags": "single", "created_at": "2020"}
    places.write(json.dumps([item]))
    store = places.store()
    assert store.remember("b", "new", "workspace") is False
    assert read(places.workspace_file)[0] == item
    assert store.remember("a", "newer", "workspace") is True
    (replaced, _) = read(places.workspace_file)
    assert replaced["globs"] == ["*.py"]
    assert (replaced["content"], replaced["created_at"]) == ("newer", "2020")
    assert store.entries()[0].extra["globs"] == ["*.py"]


def test_forgetting_takes_the_entry_away(places: Places) -> None:
    store = places.store()
    store.remember("a", "b", "workspace")
    assert store.forget("a", "workspace") is True
    assert store.forget("a", "workspace") is False
    assert store.entries() == []
    assert read(places.workspace_file) == []


def test_forgetting_in_an_empty_place_makes_no_files(places: Places) -> None:
    assert places.store().forget("a", "workspace") is False
    assert list(places.workspace.iterdir()) == []


def test_of_a_key_twice_in_a_file_the_last_is_in_force(places: Places) -> None:
    places.write('[{"key": "a", "content": "1"}, {"key": "a", "content": "2"}]')
    store = places.store()
    assert [entry.content for entry in store.entries()] == ["2"]
    store.remember("a", "3", "workspace")
    assert [item["content"] for item in read(places.workspace_file)] == ["3"]


def test_entries_are_chosen_afresh_when_the_file_changes(places: Places) -> None:
    store = places.store()
    places.write(SAMPLE)
    assert store.load() == []
    assert [entry.key for entry in store.entries()] == ["password_rules"]
    unchanged = store.entries()[0]
    store.load()
    assert store.entries()[0] is unchanged
    places.workspace_file.unlink()
    store.load()
    assert store.entries() == []


def test_what_was_before_is_kept_as_bak(places: Places) -> None:
    places.write(SAMPLE)
    places.store().remember("a", "b", "workspace")
    backup = places.workspace_file.with_name("entries.json.bak")
    assert backup.read_text(encoding="utf-8") == SAMPLE


@pytest.mark.parametrize(
    ("key", "content", "part"),
    [
        ("  ", "x", "empty key"),
        ("a\nb", "x", "control characters"),
        ("a\u202eb", "x", "control characters"),
        ("k" * 201, "x", "201 characters"),
        ("a", " \n", "empty content"),
    ],
)
def test_what_cannot_be_an_entry_is_refused_with_a_sentence(
    places: Places, key: str, content: str, part: str
) -> None:
    with pytest.raises(KnowledgeError, match=part):
        places.store().remember(key, content, "workspace")
    assert list(places.workspace.iterdir()) == []


def test_an_unknown_scope_is_refused(places: Places) -> None:
    with pytest.raises(KnowledgeError, match="no scope 'team'"):
        places.store().remember("a", "b", "team")


def test_keys_are_stripped(places: Places) -> None:
    store = places.store()
    store.remember(" a ", "b", "workspace")
    assert store.remember("a", "c", "workspace") is True
    assert [entry.key for entry in store.entries()] == ["a"]


def test_the_folder_ignores_what_is_not_shared(places: Places) -> None:
    places.store().remember("a", "b", "workspace")
    ignore = places.workspace / ".mini-coding-agent" / ".gitignore"
    assert "!/knowledge/entries.json" in ignore.read_text(encoding="utf-8")
    ignore.write_text("mine\n", encoding="utf-8")
    places.store().remember("a", "c", "workspace")
    assert ignore.read_text(encoding="utf-8") == "mine\n"


def test_a_workspace_that_is_gone_is_not_made_again(places: Places) -> None:
    store = places.store()
    places.workspace.rmdir()
    with pytest.raises(KnowledgeError, match="cannot be written"):
        store.remember("a", "b", "workspace")
    assert not places.workspace.exists()


def test_the_mode_of_the_file_is_kept(places: Places) -> None:
    places.write(SAMPLE).chmod(0o640)
    places.store().remember("a", "b", "workspace")
    assert places.workspace_file.stat().st_mode & 0o777 == 0o640
