"""What every test stands on: a home of its own, a copy of the example, a scripted model."""

import gc
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import forked
from tests.prefix import assert_stable, journalled

REPOSITORY = Path(__file__).resolve().parent.parent
_SETTINGS = ("MCA_", "OPENAI_", "OLLAMA_", "ANTHROPIC_", "AWS_")

# a machine that is busy with something else is no failure
settings.register_profile("busy", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("busy")


def pytest_collection_finish() -> None:
    """What was collected stays to the end: looking for garbage in it again and again is a seventh
    of the time of all tests."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


@pytest.fixture(autouse=True)
def home(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of the test's own, and no setting of the user's."""
    folder = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(_SETTINGS) or name in ("NO_COLOR", "VIRTUAL_ENV"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(folder))
    # hundreds of processes start this program; each would compile all of it again
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)
    return folder


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A copy of example_workspace."""
    target = tmp_path / "workspace"
    ignore = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(REPOSITORY / "example_workspace", target, ignore=ignore)
    return target


def say(text: str, **more: Any) -> dict[str, Any]:
    """A reply without a call."""
    return {"text": text, **more}


def call(name: str, /, **arguments: Any) -> dict[str, Any]:
    """A reply with one call."""
    return {"calls": [{"name": name, "arguments": arguments}]}


def calls(*several: dict[str, Any]) -> dict[str, Any]:
    """One reply with several calls."""
    return {"calls": [single for reply in several for single in reply["calls"]]}


@dataclass(frozen=True)
class Run:
    """One finished command line."""

    code: int
    out: str
    err: str
    requests: list[dict[str, Any]] = field(default_factory=list)

    @property
    def last_line(self) -> str:
        return self.err.strip().splitlines()[-1] if self.err.strip() else ""

    def sent(self, number: int) -> str:
        """Everything in the messages of one request, from 0."""
        return json.dumps(self.requests[number]["messages"], ensure_ascii=False)

    def contents(self, number: int = -1) -> str:
        """The text of all messages of one request, as the model reads it."""
        return "\n".join(str(m.get("content") or "") for m in self.requests[number]["messages"])

    def tool_messages(self, number: int = -1) -> list[dict[str, Any]]:
        return [m for m in self.requests[number]["messages"] if m["role"] == "tool"]

    def events(self, kind: str | None = None) -> list[dict[str, Any]]:
        """The events of a `--json` run."""
        found = [json.loads(line) for line in self.out.splitlines()]
        return [event for event in found if kind is None or event["kind"] == kind]


class Agent:
    """The real command line in a process of its own."""

    def __init__(self, workspace: Path, bytecode: Path | None = None) -> None:
        """`bytecode` is where compiled modules are kept from test to test, if they are."""
        self.workspace = workspace
        self._bytecode = bytecode

    def command(self, *flags: str) -> list[str]:
        return [sys.executable, str(REPOSITORY / "mini_coding_agent.py"), *flags]

    def run(
        self,
        *flags: str,
        replies: Sequence[dict[str, Any]] = (),
        after_last: str = "repeat",
        stdin: str = "",
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
    ) -> Run:
        """Run against a scripted server which gives `replies` in turn. Every request must be one
        that a strict server would take."""
        from harness.model.script import Script
        from harness.model.scripted import ScriptedServer
        from tests.strictness import check_requests, rules_for

        given = list(replies) or [say("ok")]
        script = Script.from_json({"replies": given, "after_last": after_last})
        began = time.time()
        with ScriptedServer(script) as server:
            run = self.run_plain(
                "--host",
                server.base_url,
                "--cwd",
                str(self.workspace),
                *flags,
                stdin=stdin,
                env=env,
                cwd=cwd,
                timeout=timeout,
            )
            check_requests(server.requests, rules_for(flags))
            home = Path((env or {}).get("HOME", os.environ["HOME"]))
            assert_stable(server.requests, journalled(home, began))
            return Run(run.code, run.out, run.err, list(server.requests))

    def run_plain(
        self,
        *flags: str,
        stdin: str = "",
        env: dict[str, str] | None = None,
        cwd: Path | None = None,
        timeout: float = 60,
    ) -> Run:
        """Run with just these flags."""
        whole = {**os.environ, **(env or {})}
        self._compiled_once(Path(whole["HOME"]))
        if forked.AVAILABLE:
            return Run(*forked.run(flags, stdin, whole, cwd, timeout))
        done = subprocess.run(
            self.command(*flags),
            input=stdin,
            capture_output=True,
            text=True,
            encoding="utf-8",
            env=whole,
            cwd=cwd,
            timeout=timeout,
            check=False,
        )
        return Run(done.returncode, done.stdout, done.stderr)

    def _compiled_once(self, home: Path) -> None:
        """Let a new home have the bytecode of Python and pytest that others had compiled: that is
        most of the time of a first test run."""
        from harness.config import places

        if self._bytecode is None or not home.is_dir():
            return
        if os.access(home, os.W_OK) and not any(home.iterdir()):
            state = places(self.workspace, home).state
            state.mkdir(parents=True, mode=0o700)
            (state / "pycache").symlink_to(self._bytecode)


@pytest.fixture(scope="session")
def bytecode(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("bytecode")


@pytest.fixture
def agent(workspace: Path, bytecode: Path) -> Agent:
    return Agent(workspace, bytecode)


@pytest.fixture
def entries(workspace: Path) -> Callable[..., Path]:
    """Write the workspace's entries.json."""

    def write(*items: dict[str, Any], text: str | None = None, folder: Path = workspace) -> Path:
        path = folder / ".mini-coding-agent" / "knowledge" / "entries.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(list(items)) if text is None else text, encoding="utf-8")
        return path

    return write


PASSWORD_RULES = {
    "key": "password_rules",
    "content": "Passwords must be at least 8 chars and contain a digit",
    "scope": "workspace",
    "source_project": "",
    "tags": [],
    "created_at": "",
}
