"""Reading the events of a test run. Their format is in runner/mca_pytest_plugin.py."""

import contextlib
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.gates.report import Activity, Case, CaseOutcome, Report

SIZE_LIMIT = 64 * 1024 * 1024
"""Bytes of a report that are read."""


def parse(data: bytes, root: Path) -> Report:
    """Fold the events; a line that is torn or of another shape is passed over. `root` is the
    workspace."""
    fold = _Fold(root)
    for event in _events(data[:SIZE_LIMIT]):
        with contextlib.suppress(TypeError, ValueError, LookupError, OverflowError):
            fold.add(event)
    return fold.report()


def _events(data: bytes) -> Iterator[dict[str, Any]]:
    for line in data.split(b"\n"):
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("event"), str):
            yield event


class _Fold:
    """The events of a report, gathered."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._rootdirs: dict[int, Path] = {}
        self._open: set[int] = set()
        self._begun: set[int] = set()
        self._first = 0.0
        self._collected: dict[str, None] = {}
        self._cases: dict[str, Case] = {}
        self._collect_errors: list[Case] = []
        self._running: dict[str, Activity] = {}
        self._importing: dict[int, Activity] = {}
        self._deselected = 0
        self._exit_code: int | None = None
        self._texts: dict[str, str] = {}

    def add(self, event: dict[str, Any]) -> None:
        self._first = self._first or float(event.get("time", 0.0))
        if event["event"] not in ("collecting", "collect_error"):
            self._importing.pop(_pid(event), None)
        step = getattr(self, f"_on_{event['event']}", None)
        if step is not None:
            step(event)

    def report(self) -> Report:
        return Report(
            begun=len(self._begun),
            unfinished=len(self._open),
            first=self._first,
            exit_code=self._exit_code,
            collected=tuple(self._collected),
            deselected=self._deselected,
            cases=self._cases,
            collect_errors=tuple(self._collect_errors),
            running=tuple(self._running.values()),
            importing=tuple(self._importing.values()),
            no_pytest=self._texts.get("no_pytest", ""),
            raised=self._texts.get("raised", ""),
            interrupted=self._texts.get("interrupted", ""),
            captured=self._texts.get("captured", ""),
        )

    def _on_begin(self, event: dict[str, Any]) -> None:
        self._begun.add(_pid(event))
        self._open.add(_pid(event))

    def _on_start(self, event: dict[str, Any]) -> None:
        self._rootdirs[_pid(event)] = Path(str(event.get("rootdir", "")))

    def _on_collecting(self, event: dict[str, Any]) -> None:
        activity = Activity(self._name(event), float(event["time"]))
        self._importing[_pid(event)] = activity

    def _on_collect_error(self, event: dict[str, Any]) -> None:
        self._collect_errors.append(self._case(event, "error"))

    def _on_collected(self, event: dict[str, Any]) -> None:
        for name in event.get("ids", []):
            self._collected[self._relative(str(name), event)] = None

    def _on_deselected(self, event: dict[str, Any]) -> None:
        self._deselected += int(event.get("count", 0))

    def _on_started(self, event: dict[str, Any]) -> None:
        name = self._name(event)
        self._running[name] = Activity(name, float(event["time"]))

    def _on_result(self, event: dict[str, Any]) -> None:
        outcome = _outcome(event)
        if outcome is None:
            return
        case = self._case(event, outcome)
        before = self._cases.get(case.id)
        if before is not None and outcome == "skipped" and event.get("when") == "teardown":
            return
        if before is None or not before.is_failure:
            self._cases[case.id] = case

    def _on_ended(self, event: dict[str, Any]) -> None:
        self._running.pop(self._name(event), None)

    def _on_finish(self, event: dict[str, Any]) -> None:
        self._exit_code = int(event.get("exit_code", 0))
        self._open.discard(_pid(event))

    _on_exit = _on_finish

    def _on_no_pytest(self, event: dict[str, Any]) -> None:
        self._texts["no_pytest"] = str(event.get("error", ""))

    def _on_raised(self, event: dict[str, Any]) -> None:
        self._texts["raised"] = str(event.get("text", ""))
        self._open.discard(_pid(event))

    def _on_interrupted(self, event: dict[str, Any]) -> None:
        self._texts["interrupted"] = str(event.get("text", ""))

    def _on_captured(self, event: dict[str, Any]) -> None:
        self._texts["captured"] = str(event.get("text", ""))

    def _case(self, event: dict[str, Any], outcome: CaseOutcome) -> Case:
        reported = str(event.get("raised", ""))
        name = self._name(event)
        file = self._relative(str(event.get("file", "")), event) or name.partition("::")[0]
        return Case(
            id=name,
            outcome=outcome,
            file=file,
            line=int(event.get("line", 0)),
            message=str(event.get("message", "")),
            lines=tuple(str(line) for line in event.get("lines", [])),
            text=str(event.get("text", "")),
            crash_file=self._relative(str(event.get("crash_file", "")), event),
            crash_line=int(event.get("crash_line", 0)),
            raised=reported if outcome == "passed" else "",
        )

    def _name(self, event: dict[str, Any]) -> str:
        return self._relative(str(event.get("id", "")), event)

    def _relative(self, name: str, event: dict[str, Any]) -> str:
        """A node id or path of pytest, which is relative to its rootdir, seen from the
        workspace; absolute when it is not in there."""
        path, separator, rest = name.partition("::")
        if path:
            rootdir = self._rootdirs.get(_pid(event), self._root)
            place = Path(os.path.normpath(rootdir / path))
            inside = place.is_relative_to(self._root)
            path = str(place.relative_to(self._root) if inside else place)
        return path + separator + rest


def _pid(event: dict[str, Any]) -> int:
    return int(event.get("pid", 0))


def _outcome(event: dict[str, Any]) -> CaseOutcome | None:
    """None for what is no outcome, such as the `rerun` of a plugin."""
    reported = event.get("outcome")
    if reported == "failed":
        return "failed" if event.get("when") == "call" else "error"
    if reported == "skipped":
        return "xfailed" if event.get("xfail") else "skipped"
    if reported == "passed":
        return "xpassed" if event.get("xfail") else "passed"
    return None
