"""The command line against odd streams, signals and files."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import Agent

SHOWN = ["--help", "--version", "doctor", "demo"]


def shell(agent: Agent, line: str, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run `line` in a shell, where "$@" is our command with `flags`."""
    command = ["bash", "-c", f"set -o pipefail; {line}", "bash", *agent.command(*flags)]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=agent.workspace
    )


@pytest.mark.parametrize("flag", SHOWN)
def test_a_reader_that_went_away_is_no_failure(agent: Agent, flag: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    run = subprocess.run(
        agent.command(flag), stdout=writing, stderr=subprocess.PIPE, text=True, check=False,
        timeout=120, cwd=agent.workspace,
    )  # fmt: skip
    os.close(writing)
    assert run.stderr == ""
    assert run.returncode == 0


@pytest.mark.parametrize("flag", SHOWN)
def test_a_full_disk_is_one_line(agent: Agent, flag: str) -> None:
    run = shell(agent, '"$@" > /dev/full', flag)
    assert run.stderr == (
        "mini-coding-agent: standard output cannot be written: No space left on device\n"
    )
    assert run.returncode == 2


def test_a_full_disk_for_messages_keeps_the_exit_code(agent: Agent) -> None:
    run = shell(agent, '"$@" 2> /dev/full', "--resume", "latest", "Go on.")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", "")


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("flags", [["--help"], ["--version"], ["doctor"], ["--trace"], ["-"]])
def test_closed_streams_are_no_crash(agent: Agent, closed: str, flags: list[str]) -> None:
    run = shell(agent, f'"$@" {closed}', "--host", "http://127.0.0.1:9", *flags)
    assert "Traceback" not in run.stderr
    assert "Error" not in run.stderr
    expected = {"-": (2,), "doctor": (0, 1)}.get(flags[0], (0,))
    assert run.returncode in expected


def test_a_request_with_every_stream_closed_is_recorded(agent: Agent, home: Path) -> None:
    run = shell(agent, '"$@" <&- >&- 2>&-', "--host", "http://127.0.0.1:9", "Hello.")
    assert run.returncode == 4
    (journal,) = home.rglob("sessions/*.jsonl")
    lines = journal.read_text().splitlines()
    assert all(line.startswith('{"schema":1,') for line in lines)


@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM])
@pytest.mark.parametrize("ignored", [True, False])
def test_a_signal_that_is_ignored_stays_ignored(
    agent: Agent, number: signal.Signals, ignored: bool
) -> None:
    # said in both cases: the tests themselves may have been started with signals ignored
    handler = "SIG_IGN" if ignored else "SIG_DFL"
    become = (
        f"import os, signal, sys; signal.signal({int(number)}, signal.{handler}); "
        "os.execv(sys.argv[1], sys.argv[1:])"
    )
    command = agent.command("--host", "http://127.0.0.1:9", "--json")
    with subprocess.Popen(
        [sys.executable, "-c", become, *command],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=agent.workspace,
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert "session_started" in run.stdout.readline()
        run.send_signal(number)
        if not ignored:
            run.wait(timeout=30)
        _, errors = run.communicate("/info\n" if ignored else None, timeout=30)
    assert run.returncode == (0 if ignored else 128 + number)
    assert "Traceback" not in errors


@pytest.mark.parametrize("module", ["harness.cli", "harness.errors", "harness.session"])
def test_an_interrupt_while_modules_load_is_quiet(agent: Agent, module: str) -> None:
    """`-X importtime` says when: a line of standard error follows each module."""
    command = agent.command("--host", "http://127.0.0.1:9")
    command[1:1] = ["-X", "importtime"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=agent.workspace
    ) as run:
        assert run.stderr is not None
        for line in run.stderr:
            if line.rsplit("|", 1)[-1].strip() == module:
                break
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=30)
    assert run.returncode == 130
    said = [line for line in errors.splitlines() if not line.startswith("import time:")]
    assert len([line for line in said if "mini-coding-agent: " in line]) <= 1
    assert "Traceback" not in errors


@pytest.mark.parametrize("kind", ["pipe", "device", "folder", "large"])
@pytest.mark.parametrize("whose", ["workspace", "home"])
def test_a_rule_file_must_be_a_file(
    agent: Agent, home: Path, workspace: Path, kind: str, whose: str
) -> None:
    base = home if whose == "home" else workspace
    path = base / ".mini-coding-agent" / "rules" / "a.dl"
    path.parent.mkdir(parents=True)
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        path.write_text("#" * 1024 * 1024 + "\n")
    run = agent.run("Do it.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert str(path) in run.err
    assert run.requests == []


def test_a_rule_file_may_be_a_link(agent: Agent, home: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.dl").write_text("mine: file_modified(?f) -> shared_rule(?f)\n")
    path = home / ".mini-coding-agent" / "rules" / "a.dl"
    path.parent.mkdir(parents=True)
    path.symlink_to(tmp_path / "shared.dl")
    assert agent.run("Do it.").code == 0
