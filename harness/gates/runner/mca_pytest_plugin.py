"""A pytest plugin that writes what happens as JSON Lines to a file descriptor.

Stands alone: imports nothing of the program it belongs to, works on Python 3.8 and later and
pytest 7 and later. It is handed to `pytest.main` by the runner beside it, or found by pytest as
an installed plugin; then the environment variable MCA_REPORT names the file to append to.

Every line has `event`, `pid` and `time` (seconds since the epoch):
    begin           pytest, python                    before configuration and conftest are read
    start           rootdir
    collecting      id
    collect_error   id, text, lines, message, path, line
    collected       ids (of one process; several lines with at most 500 each)
    deselected      count
    started         id
    result          id, when, outcome, xfail, raised, seconds, file, line,
                    text, lines, message, crash_file, crash_line
    ended           id
    interrupted     text
    captured        text      (what pytest held back of a test that is about to be killed)
    finish          exit_code
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import Any

import pytest

_TEXT_LIMIT = 12000
_LINE_LIMIT = 300
_MOST_LINES = 30


class Recorder:
    """Writes events, one `write` each, so that a killed process leaves whole lines."""

    # held here: a test may have replaced them while its result is written
    _getpid = staticmethod(os.getpid)
    _now = staticmethod(time.time)
    _send = staticmethod(os.write)
    _stat = staticmethod(os.fstat)
    _encode = staticmethod(json.JSONEncoder(default=str).encode)

    def __init__(self, descriptor: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor = descriptor
        self._file = self._identity()
        self._pid = self._getpid()

    def write(self, event: str, **fields: Any) -> None:
        # a forked test process holds the same descriptor and must not speak for us
        if self._getpid() != self._pid:
            return
        record = {"event": event, "pid": self._pid, "time": self._now()}
        record.update(fields)
        line = self._encode(record).encode("ascii") + b"\n"
        # a test that closes every descriptor ends the report, which is then no pass
        with contextlib.suppress(OSError):
            # ... and may have opened another file in its place
            if self._identity() != self._file:
                return
            while line:
                line = line[self._send(self._descriptor, line) :]

    def _identity(self) -> tuple[int, int]:
        found = self._stat(self._descriptor)
        return found.st_dev, found.st_ino

    def begin(self) -> None:
        python = ".".join(str(part) for part in sys.version_info[:3])
        self.write("begin", pytest=pytest.__version__, python=python)


class ReportPlugin:
    """Hooks of one pytest session. With pytest-xdist it lives in the controlling process.

    `partial`: only some of the tests run.
    """

    def __init__(self, recorder: Recorder, partial: bool = False) -> None:
        self._write = recorder.write
        self._partial = partial
        self._plugins: Any = None

    @pytest.hookimpl(tryfirst=True)
    def pytest_configure(self, config: Any) -> None:
        """A threshold of pytest-cov for the whole suite says nothing about a part of it."""
        if self._partial:
            cov: Any = config.pluginmanager.getplugin("_cov")
            for options in (config.option, getattr(cov, "options", config.option)):
                if hasattr(options, "cov_fail_under"):
                    options.cov_fail_under = 0

    def pytest_sessionstart(self, session: Any) -> None:
        self._plugins = session.config.pluginmanager
        self._write("start", rootdir=str(session.config.rootpath))

    def tell_captured(self, *_: object) -> None:
        """Report what pytest holds back of the output; a signal handler."""
        with contextlib.suppress(Exception):
            out, err = self._plugins.getplugin("capturemanager").read_global_capture()
            self._write("captured", text=_shortened(out + err))

    def pytest_collectstart(self, collector: Any) -> None:
        if isinstance(collector, pytest.File):
            self._write("collecting", id=collector.nodeid)

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._write("collect_error", id=report.nodeid, **_failure(report))

    def pytest_deselected(self, items: Any) -> None:
        self._write("deselected", count=len(items))

    @pytest.hookimpl(trylast=True)
    def pytest_collection_finish(self, session: Any) -> None:
        self._collected([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: Any) -> None:
        self._collected(list(ids))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self._write("started", id=nodeid)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item: Any, call: Any) -> Any:
        outcome = yield
        report = outcome.get_result()
        # seen last, after every hook of the workspace: what it says and what was raised
        report.mca_id = item.nodeid
        report.mca_raised = call.excinfo.typename if call.excinfo is not None else ""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.when != "call" and report.outcome == "passed":
            return
        file, line = _location(report)
        self._write(
            "result",
            id=getattr(report, "mca_id", report.nodeid),
            when=report.when,
            outcome=report.outcome,
            xfail=hasattr(report, "wasxfail"),
            raised=getattr(report, "mca_raised", ""),
            seconds=report.duration,
            file=file,
            line=line,
            **(_failure(report) if report.failed else {"text": _reason(report)}),
        )

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self._write("ended", id=nodeid)

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        frames = [frame for frame in excinfo.traceback if "_pytest" not in str(frame.path)]
        where = f" ({frames[-1].path}:{frames[-1].lineno + 1})" if frames else ""
        self._write("interrupted", text=f"{excinfo.typename}: {excinfo.value}{where}")

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, exitstatus: Any) -> None:
        self._write("finish", exit_code=int(exitstatus))

    def _collected(self, ids: list[str]) -> None:
        for at in range(0, len(ids), 500):
            self._write("collected", ids=ids[at : at + 500])


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: Any) -> None:
    """Start reporting when pytest found this file as an installed plugin."""
    path = os.environ.pop("MCA_REPORT", None)
    if path is None:
        return
    recorder = Recorder(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
    recorder.begin()
    early_config.pluginmanager.register(ReportPlugin(recorder), "mca-report")


def _failure(report: Any) -> dict[str, Any]:
    """The text of a failure, its telling lines, and where it was raised."""
    text = str(report.longreprtext)
    crash = getattr(report.longrepr, "reprcrash", None)
    return {
        "text": _shortened(text),
        "lines": _telling_lines(text),
        "message": _shortened(str(getattr(crash, "message", ""))),
        "crash_file": str(getattr(crash, "path", "")),
        "crash_line": int(getattr(crash, "lineno", 0) or 0),
    }


def _telling_lines(text: str) -> list[str]:
    """The lines pytest marks with `>` (the statement) and `E` (what went wrong), and the
    statement above them where the traceback style has no `>`."""
    chosen: list[str] = []
    previous = ""
    for line in text.splitlines():
        if line.startswith(("E ", ">")):
            if line.startswith("E ") and previous.startswith("    "):
                chosen.append(previous[:_LINE_LIMIT])
            chosen.append(line[:_LINE_LIMIT])
        previous = line
    return chosen[:_MOST_LINES]


def _location(report: Any) -> tuple[str, int]:
    file, line, _ = report.location or ("", None, "")
    return str(file), (line + 1 if line is not None else 0)


def _reason(report: Any) -> str:
    """Why a test was skipped, if it was."""
    longrepr = report.longrepr
    reason = longrepr[2] if isinstance(longrepr, tuple) else getattr(report, "wasxfail", "")
    return str(reason)[:_LINE_LIMIT]


def _shortened(text: str) -> str:
    if len(text) <= _TEXT_LIMIT:
        return text
    half = _TEXT_LIMIT // 2
    return f"{text[:half]}\n... {len(text) - 2 * half} characters left out ...\n{text[-half:]}"
