"""Files that are broken: said at start-up, used as far as possible, nothing lost."""

import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge import Store
from knowledge.document import parse

GOOD = '{"key": "good", "content": "still used"}'


def store_with(base: Path, data: bytes) -> tuple[Store, Path]:
    path = base / "ws" / ".mini-coding-agent" / "knowledge" / "entries.json"
    path.parent.mkdir(parents=True)
    path.write_bytes(data)
    return Store(path, base / "home" / "entries.json"), path


def aside(path: Path) -> list[Path]:
    return sorted(path.parent.glob("entries.json.bad-*"))


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"null", "holds no list of entries"),
        (b"3", "holds no list of entries"),
        (b'{"key": "a"}', "holds no list of entries"),
        (b"{not json", "is not valid JSON (line 1, column 2"),
        (b"\xff\xfe\x00", "is not UTF-8"),
        (b"[" * 100_000, "is not JSON that can be read"),
        (b"[" + b"9" * 5000 + b"]", "is not JSON that can be read"),
        (b'["a", null, 3, [], true]', "holds 5 of 5 items that cannot be used"),
    ],
)
def test_where_nothing_can_be_read_a_copy_is_kept_once(
    tmp_path: Path, data: bytes, part: str
) -> None:
    store, path = store_with(tmp_path, data)
    (message,) = store.load()
    assert part in message
    assert message.endswith("no entry of it is used; a copy is kept as 'entries.json.bad-1'")
    assert repr(str(path)) in message
    assert store.entries() == []
    assert store.load() == []
    Store(path, tmp_path / "none").load()
    assert [copy.read_bytes() for copy in aside(path)] == [data]


def test_an_empty_file_is_said_and_not_copied(tmp_path: Path) -> None:
    store, path = store_with(tmp_path, b"\n")
    assert store.load() == [f"knowledge file {str(path)!r} is empty; no entry of it is used"]
    assert aside(path) == []


@pytest.mark.parametrize(
    ("items", "part"),
    [
        (f'[{GOOD}, "text"]', "item 2 is a text, not an object"),
        (f"[7, {GOOD}]", "item 1 is a number, not an object"),
        (f'[{GOOD}, {{"key": 5, "content": "x"}}]', "item 2 has a number under 'key', not a text"),
        (f'[{GOOD}, {{"key": "k", "content": null}}]', "item 2 has null under 'content'"),
        (f'[{GOOD}, {{"key": "k"}}]', "item 2 has no 'content'"),
        (f'[{GOOD}, {{"key": "", "content": "x"}}]', "item 2 has an empty key"),
        (f'{{"entries": [{GOOD}, []]}}', "item 2 is a list, not an object"),
        (f"[{GOOD}, 1, 2, 3, 4, 5]", "item 2 is a number, not an object; item 3"),
    ],
)
def test_good_entries_are_used_and_the_file_is_left(tmp_path: Path, items: str, part: str) -> None:
    store, path = store_with(tmp_path, items.encode())
    (message,) = store.load()
    assert part in message
    assert message.endswith("1 entry is used, and the file is left as it is")
    assert [entry.key for entry in store.entries()] == ["good"]
    assert path.read_text(encoding="utf-8") == items
    assert aside(path) == []


def test_wrong_types_in_other_fields_do_not_cost_the_entry(tmp_path: Path) -> None:
    item = {"key": "k", "content": "c", "tags": 5, "scope": [], "created_at": 3}
    store, path = store_with(tmp_path, json.dumps([item]).encode())
    assert store.load() == []
    (entry,) = store.entries()
    assert (entry.tags, entry.scope, entry.created_at) == ((), "workspace", "")
    store.remember("other", "x", "workspace")
    assert json.loads(path.read_bytes())[0] == item


def test_entries_before_and_after_a_break_are_found(tmp_path: Path) -> None:
    torn = (
        '[{"key": "a", "content": "1"},\n<<<<<<< HEAD\n'
        '{"key": "b", "content": "{2}"},\n{"key": "c", "con'
    )
    store, path = store_with(tmp_path, torn.encode())
    (message,) = store.load()
    assert "is not valid JSON (line 2, column 1" in message
    assert "2 entries are used" in message
    assert [entry.key for entry in store.entries()] == ["a", "b"]
    assert path.read_text(encoding="utf-8") == torn


def test_a_rewrite_keeps_the_broken_file_aside(tmp_path: Path) -> None:
    data = f'[{GOOD}, "precious", {{"key": 5}}]'.encode()
    store, path = store_with(tmp_path, data)
    store.load()
    store.remember("new", "x", "workspace")
    (message,) = store.load()
    assert "the file as it was is kept as 'entries.json.bad-1'" in message
    assert [copy.read_bytes() for copy in aside(path)] == [data]
    assert [item["key"] for item in json.loads(path.read_bytes())] == ["good", "new"]
    assert Store(path, tmp_path / "none").load() == []


def test_each_broken_file_gets_a_copy_of_its_own(tmp_path: Path) -> None:
    store, path = store_with(tmp_path, b"first")
    store.load()
    path.write_bytes(b"second!")
    store.load()
    assert [copy.read_bytes() for copy in aside(path)] == [b"first", b"second!"]


def test_forgetting_nothing_rewrites_nothing(tmp_path: Path) -> None:
    data = f"[{GOOD}, 1]".encode()
    store, path = store_with(tmp_path, data)
    assert store.forget("absent", "workspace") is False
    assert path.read_bytes() == data
    assert aside(path) == []


def test_two_hundred_entries_and_a_megabyte_are_fine(tmp_path: Path) -> None:
    items = [{"key": f"k{n}", "content": f"content {n}"} for n in range(200)]
    items.append({"key": "big", "content": "x" * 2**20})
    store, _ = store_with(tmp_path, json.dumps(items).encode())
    assert store.load() == []
    assert len(store.entries()) == 201


def test_a_byte_order_mark_is_no_error(tmp_path: Path) -> None:
    store, _ = store_with(tmp_path, b"\xef\xbb\xbf[" + GOOD.encode() + b"]")
    assert store.load() == []
    assert len(store.entries()) == 1


@pytest.mark.parametrize("kind", ["folder", "fifo"])
def test_what_is_no_file_never_stops_the_start(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "ws" / ".mini-coding-agent" / "knowledge" / "entries.json"
    path.parent.mkdir(parents=True)
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path)
    (message,) = Store(path, tmp_path / "none").load()
    assert "is not a file; no entry of it is used" in message


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["key", "content", "entries", "x"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(json_values)
def test_any_json_is_read_or_explained(value: object) -> None:
    parsed = parse(json.dumps(value).encode())
    listed = value.get("entries") if isinstance(value, dict) else value
    whole = isinstance(listed, list) and len(parsed.items) == len(listed)
    assert whole or parsed.problem


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_explained(data: bytes) -> None:
    parse(data)


@given(st.integers(min_value=0))
def test_a_file_cut_anywhere_keeps_the_entries_before_the_cut(cut: int) -> None:
    items = [{"key": f"k{n}", "content": 'with "quotes" and {braces}'} for n in range(4)]
    text = json.dumps(items)
    kept = parse(text[: cut % (len(text) + 1)].encode()).items
    assert list(kept) == items[: len(kept)]
