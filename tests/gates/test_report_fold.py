import json
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.gates.report_fold import parse

ROOT = Path("/ws")


def lines(*events: dict[str, Any]) -> bytes:
    records = ({"pid": 1, "time": float(at), **event} for at, event in enumerate(events, 1))
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def result(name: str, outcome: str, when: str = "call", **more: Any) -> dict[str, Any]:
    return {"event": "result", "id": name, "when": when, "outcome": outcome, **more}


BEGIN = ({"event": "begin"}, {"event": "start", "rootdir": "/ws"})
FINISH = {"event": "finish", "exit_code": 0}


def test_a_whole_run_is_counted() -> None:
    data = lines(
        *BEGIN,
        {"event": "collected", "ids": ["a.py::x", "a.py::y", "a.py::z", "a.py::w"]},
        result("a.py::x", "passed"),
        result("a.py::y", "skipped", "setup", text="later"),
        result("a.py::z", "skipped", xfail=True),
        result("a.py::w", "passed"),
        result("a.py::w", "failed", "teardown", message="boom"),
        FINISH,
    )
    report = parse(data, ROOT)
    assert report.counts == "1 error, 1 passed, 1 skipped, 1 xfailed"
    assert [case.id for case in report.failures] == ["a.py::w"]
    assert report.unfinished == 0
    assert report.not_run == ()


def test_a_run_that_broke_off_names_what_was_going_on() -> None:
    data = lines(
        *BEGIN,
        {"event": "collected", "ids": ["a.py::x", "a.py::y"]},
        {"event": "started", "id": "a.py::x"},
        result("a.py::x", "passed"),
        {"event": "ended", "id": "a.py::x"},
        {"event": "started", "id": "a.py::y"},
    )
    report = parse(data + b'{"event": "result", "id": "a.py::y", "outc', ROOT)
    assert [(one.id, one.since) for one in report.running] == [("a.py::y", 7.0)]
    assert report.unfinished == 1
    assert report.not_run == ("a.py::y",)


def test_a_file_is_being_imported_until_anything_else_happens() -> None:
    importing = {"event": "collecting", "id": "a.py"}
    assert [one.id for one in parse(lines(*BEGIN, importing), ROOT).importing] == ["a.py"]
    assert parse(lines(*BEGIN, importing, FINISH), ROOT).importing == ()


def test_two_processes_are_one_report_and_a_failure_stays() -> None:
    data = lines(*BEGIN, result("a.py::x", "failed"), FINISH) + lines(
        {"event": "begin", "pid": 2},
        {"event": "start", "pid": 2, "rootdir": "/ws"},
        result("a.py::x", "passed", pid=2),
    )
    report = parse(data, ROOT)
    assert report.begun == 2
    assert report.unfinished == 1
    assert report.counts == "1 failed"


def test_a_rerun_is_no_outcome() -> None:
    data = lines(*BEGIN, result("a.py::x", "rerun"), result("a.py::x", "passed"), FINISH)
    assert parse(data, ROOT).counts == "1 passed"


def test_names_are_relative_to_the_workspace_wherever_pytest_has_its_root() -> None:
    data = lines(
        {"event": "begin"},
        {"event": "start", "rootdir": "/"},
        result("ws/tests/a.py::x[/b::c]", "passed", file="ws/tests/a.py", crash_file="/lib/b.py"),
    )
    (case,) = parse(data, ROOT).cases.values()
    assert case.id == "tests/a.py::x[/b::c]"
    assert case.file == "tests/a.py"
    assert case.crash_file == "/lib/b.py"


@given(st.binary(max_size=300))
def test_foreign_bytes_are_passed_over(data: bytes) -> None:
    assert parse(lines(*BEGIN) + data, ROOT).begun >= 1


@given(
    st.dictionaries(
        st.sampled_from(["event", "id", "ids", "time", "pid", "count", "line", "lines"]),
        st.one_of(st.none(), st.text(max_size=5), st.integers(), st.lists(st.integers())),
    )
)
def test_an_event_of_another_shape_is_passed_over(event: dict[str, Any]) -> None:
    for kind in ("started", "result", "collected", "deselected", "finish", "collecting"):
        data = json.dumps({"outcome": "passed", **event, "event": kind}).encode()
        parse(data, ROOT)


def test_a_line_nested_without_end_is_passed_over() -> None:
    data = lines(*BEGIN, result("a.py::x", "passed")) + b"[" * 100_000 + b"\n" + lines(FINISH)
    assert parse(data, ROOT).counts == "1 passed"
