"""The record of a session on disk, and how it is read back."""

import json
import os
import resource
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.journal import Event, Journal, read, reopen


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def written(path: Path, *payloads: dict[str, Any]) -> None:
    journal = Journal(path)
    for payload in payloads:
        journal.emit("notice", **payload)
    journal.close()


def test_an_event_is_one_line_of_the_documented_shape(path: Path) -> None:
    written(path, {"level": "info", "text": "a\nb\u2028c\x85d"})
    data = path.read_bytes()
    assert data.endswith(b"\n")
    assert len(data.decode().splitlines()) == 1
    record = json.loads(data)
    assert list(record) == ["schema", "seq", "time", "kind", "payload"]
    assert (record["schema"], record["seq"], record["kind"]) == (1, 1, "notice")
    assert record["payload"] == {"level": "info", "text": "a\nb\u2028c\x85d"}
    assert record["time"] == pytest.approx(1.79e9, rel=0.2)


def test_each_event_is_on_disk_before_the_next(path: Path) -> None:
    journal = Journal(path)
    for number in range(1, 4):
        journal.emit("notice", text="x")
        assert [event.seq for event in read(path).events] == list(range(1, number + 1))
    journal.close()


def test_the_file_is_the_users_alone(path: Path) -> None:
    old = os.umask(0)
    try:
        written(path, {})
    finally:
        os.umask(old)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_sinks_see_every_event_in_order_and_live_ones_with_number_zero(path: Path) -> None:
    journal = Journal(path)
    seen: list[tuple[int, str]] = []
    journal.sinks.append(lambda event: seen.append((event.seq, event.kind)))
    event = journal.emit("one", kind_of="x")
    journal.live("text", text="piece")
    journal.emit("two")
    journal.close()
    journal.close()
    assert seen == [(1, "one"), (0, "text"), (2, "two")]
    assert event.payload == {"kind_of": "x"}
    assert [event.kind for event in read(path).events] == ["one", "two"]


def test_a_journal_without_a_file_has_sinks_alone() -> None:
    journal = Journal()
    seen: list[Event] = []
    journal.sinks.append(seen.append)
    journal.emit("one")
    assert [event.seq for event in seen] == [1]


def test_a_payload_may_have_any_key(path: Path) -> None:
    written(path, {"kind": "x", "self": "y", "seq": 9})
    assert read(path).events[0].payload == {"kind": "x", "self": "y", "seq": 9}


def test_a_resumed_journal_goes_on_counting(path: Path) -> None:
    written(path, {"n": 1}, {"n": 2})
    journal = Journal(path, next_seq=3)
    journal.emit("notice", n=3)
    journal.close()
    recording = read(path)
    assert [(e.seq, e.payload["n"]) for e in recording.events] == [(1, 1), (2, 2), (3, 3)]
    assert recording.repairs == ()


TEXTS = st.text(st.sampled_from('aé\n\r"\\\0\x85\u2028\u2029\ud800\udce9😀'), max_size=8)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)


@settings(deadline=None)
@given(st.dictionaries(TEXTS, JSON, max_size=3))
def test_any_payload_comes_back(payload: dict[str, Any]) -> None:
    text = Event(3, 1.5, "x", payload).to_json()
    assert len(text.encode("utf-8").decode("utf-8").splitlines()) == 1
    assert json.loads(text) == {
        "schema": 1,
        "seq": 3,
        "time": 1.5,
        "kind": "x",
        "payload": json.loads(json.dumps(payload)),
    }


def test_halves_of_characters_are_kept(path: Path) -> None:
    written(path, {"text": "caf\udce9 \ud800 é"})
    assert read(path).events[0].payload["text"] == "caf\udce9 \ud800 é"


@pytest.mark.parametrize("cut", [1, 2, 20, 60])
def test_a_torn_last_line_is_repaired_and_said(path: Path, cut: int) -> None:
    written(path, {"n": 1}, {"n": 2}, {"n": 3})
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    recording = read(path)
    kept = 3 if cut == 1 else 2
    assert [event.payload["n"] for event in recording.events] == [1, 2, 3][:kept]
    (repair,) = recording.repairs
    assert ("was ended" if cut == 1 else "an incomplete last line") in repair
    assert repair.count("'s.jsonl'") == 1
    assert whole.startswith(path.read_bytes())
    assert path.read_bytes().endswith(b"\n")
    assert read(path) == type(recording)(recording.events, ())
    journal = Journal(path, recording.events[-1].seq + 1)
    journal.emit("notice", n=9)
    journal.close()
    assert read(path).events[-1].payload["n"] == 9


@pytest.mark.parametrize("tail", [b"\0" * 500, b"\xff\xfe", b"{", b'{"schema": 2}', b"[" * 99999])
def test_a_tail_that_is_no_event_is_cut(path: Path, tail: bytes) -> None:
    written(path, {"n": 1})
    whole = path.read_bytes()
    path.write_bytes(whole + tail)
    recording = read(path)
    assert len(recording.events) == 1
    assert f"({len(tail)} bytes)" in recording.repairs[0]
    assert path.read_bytes() == whole


def test_an_empty_file_has_no_events(path: Path) -> None:
    path.write_bytes(b"")
    assert read(path).events == ()


def test_a_file_without_any_event_is_no_journal_and_left_alone(path: Path) -> None:
    path.write_bytes(b"torn")
    with pytest.raises(ValueError, match="holds no journal event"):
        read(path)
    assert path.read_bytes() == b"torn"


def test_a_reopened_journal_goes_on_where_it_ended(path: Path) -> None:
    written(path, {"n": 1}, {"n": 2})
    path.write_bytes(path.read_bytes() + b"torn")
    journal, recording = reopen(path)
    assert "an incomplete last line (4 bytes)" in recording.repairs[0]
    journal.emit("notice", n=3)
    journal.close()
    assert [(e.seq, e.payload["n"]) for e in read(path).events] == [(1, 1), (2, 2), (3, 3)]


def test_one_at_a_time_writes_a_journal(path: Path) -> None:
    journal = Journal(path)
    journal.emit("notice", n=1)
    with path.open("ab") as file:
        file.write(b"half a li")
    before = path.read_bytes()
    for opening in (reopen, Journal):
        with pytest.raises(BlockingIOError):
            opening(path)
    assert [event.payload for event in read(path).events] == [{"n": 1}]
    assert path.read_bytes() == before, "a line that is being written is not cut"
    journal.close()
    reopen(path)[0].close()
    assert len(path.read_bytes()) < len(before)


@pytest.mark.parametrize("opening", [read, reopen])
def test_what_is_no_file_is_not_waited_for(
    tmp_path: Path, path: Path, opening: Callable[[Path], object]
) -> None:
    os.mkfifo(path)
    for odd in (path, Path(os.devnull), tmp_path):
        with pytest.raises(OSError, match=r"not a regular file|Is a directory"):
            opening(odd)


GOOD = b'{"schema":1,"seq":1,"time":1.0,"kind":"x","payload":{}}\n'


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"garbage",
        b"null",
        b"[]",
        b'"text"',
        b"\xff",
        b"\0" * 20,
        b"[" * 99_999,
        GOOD[:20],
        GOOD.strip().replace(b"1,", b"2,", 1),
        GOOD.strip().replace(b"{}", b"[]"),
        GOOD.strip().replace(b'"seq":1', b'"seq":"one"'),
        GOOD.strip().replace(b'"seq":1', b'"seq":null'),
        GOOD.strip().replace(b'"seq":1', b'"seq":1e999'),
        GOOD.strip().replace(b'"time":1.0,', b""),
    ],
)
def test_a_damaged_line_is_refused_with_its_number(path: Path, line: bytes) -> None:
    path.write_bytes(GOOD + line + b"\n" + GOOD)
    with pytest.raises(ValueError, match=r"^line 2 of '.*s\.jsonl' is not a journal event$"):
        read(path)
    assert path.read_bytes() == GOOD + line + b"\n" + GOOD


def test_a_missing_journal_is_an_os_error(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read(path)


def test_a_full_disk_is_said_once_and_leaves_no_torn_line(path: Path) -> None:
    journal = Journal(path)
    seen: list[tuple[str, str]] = []
    journal.sinks.append(lambda event: seen.append((event.kind, str(event.payload.get("text")))))
    journal.emit("small")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        journal.emit("large", text="x" * 200_000)
        journal.emit("large", text="x" * 200_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    journal.emit("small")
    journal.close()
    notices = [text for kind, text in seen if kind == "notice"]
    assert notices == [f"the session journal {str(path)!r} is incomplete: File too large"]
    assert journal.problem == notices[0]
    assert [kind for kind, _ in seen if kind != "notice"] == ["small", "large", "large", "small"]
    recording = read(path)
    assert [(event.seq, event.kind) for event in recording.events] == [(1, "small"), (4, "small")]
    assert recording.repairs == ()


def test_a_device_that_is_full_is_no_crash() -> None:
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full here")
    journal = Journal(Path("/dev/full"))
    seen: list[str] = []
    journal.sinks.append(lambda event: seen.append(event.kind))
    journal.emit("one")
    journal.emit("two")
    journal.close()
    assert seen == ["notice", "one", "two"]
    assert "No space left on device" in str(journal.problem)


def test_many_events_are_written_quickly(path: Path) -> None:
    import time

    journal = Journal(path)
    started = time.process_time()
    for _ in range(2000):
        journal.emit("notice", text="x" * 200)
    assert time.process_time() - started < 1
    journal.close()
