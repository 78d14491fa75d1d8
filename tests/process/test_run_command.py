import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.process.run import Completed, Nudge, run

ENVIRONMENT = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def run_in(folder: Path, script: str, timeout: float = 10.0, **options: object) -> Completed:
    argv = ["sh", "-c", script]
    return run(argv, cwd=folder, env=ENVIRONMENT, timeout=timeout, **options)  # type: ignore[arg-type]


def is_alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def pid_in(file: Path) -> int:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if file.is_file() and file.read_text().strip():
            return int(file.read_text())
        time.sleep(0.01)
    raise AssertionError(f"{file} was never written")


def test_output_and_errors_come_merged_in_order(tmp_path: Path) -> None:
    completed = run_in(tmp_path, "echo one; echo two >&2; echo three")
    assert completed.output == "one\ntwo\nthree\n"
    assert completed.exit_code == 0
    assert completed.bytes_total == 14
    assert not completed.timed_out


def test_exit_codes_and_signals_are_told_apart(tmp_path: Path) -> None:
    assert run_in(tmp_path, "exit 3").exit_code == 3
    assert run_in(tmp_path, "kill -SEGV $$").exit_code == -signal.SIGSEGV


def test_standard_input_is_closed(tmp_path: Path) -> None:
    completed = run(["cat"], cwd=tmp_path, env=ENVIRONMENT, timeout=5)
    assert completed.exit_code == 0
    assert completed.seconds < 2


def test_undecodable_output_is_replaced(tmp_path: Path) -> None:
    assert run_in(tmp_path, r"printf 'caf\351'").output == "caf\N{REPLACEMENT CHARACTER}"


def test_a_missing_command_is_a_sentence(tmp_path: Path) -> None:
    completed = run(["no-such-command"], cwd=tmp_path, env=ENVIRONMENT, timeout=5)
    assert completed.exit_code == 127
    assert completed.output == "command not found: 'no-such-command'\n"


@pytest.mark.parametrize("argv", [["/etc/passwd"], ["echo", "a\0b"], ["/"]])
def test_a_command_that_cannot_start_is_a_sentence(tmp_path: Path, argv: list[str]) -> None:
    completed = run(argv, cwd=tmp_path, env=ENVIRONMENT, timeout=5)
    assert completed.exit_code == 126
    assert "could not be started" in completed.output


def test_a_missing_folder_is_a_sentence(tmp_path: Path) -> None:
    completed = run(["true"], cwd=tmp_path / "gone", env=ENVIRONMENT, timeout=5)
    assert completed.exit_code == 126
    assert "gone' is not there" in completed.output


def test_long_output_keeps_head_and_tail_and_goes_to_the_log_whole(tmp_path: Path) -> None:
    log = tmp_path / "logs" / "all.log"
    completed = run_in(tmp_path, "seq 1 60000", keep=1000, log=log)
    assert completed.output.startswith("1\n2\n3\n")
    assert completed.output.endswith("59999\n60000\n")
    assert " bytes left out ...\n" in completed.output
    assert len(completed.output) < 1100
    assert completed.log == log
    assert log.stat().st_size == completed.bytes_total
    assert log.stat().st_mode & 0o777 == 0o600


def test_endless_output_is_stopped_at_the_size_of_the_log(tmp_path: Path) -> None:
    log = tmp_path / "all.log"
    completed = run_in(tmp_path, "yes", log=log)
    assert completed.overflowed
    assert completed.exit_code is None
    assert log.stat().st_size == 50 * 1024 * 1024


def test_a_log_that_cannot_be_written_does_not_stop_the_command(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    completed = run_in(tmp_path, "echo on", log=tmp_path / "file" / "log")
    assert completed.output == "on\n"
    assert completed.log is None


@linux
def test_the_time_limit_ends_the_tree_and_keeps_what_was_said(tmp_path: Path) -> None:
    script = """
        echo before
        sleep 60 & echo $! > child
        setsid sh -c 'echo $$ > session; exec sleep 60' &
        wait
    """
    completed = run_in(tmp_path, script, timeout=0.6)
    assert completed.timed_out
    assert completed.exit_code is None
    assert completed.output == "before\n"
    assert 0.5 < completed.seconds < 3
    assert not is_alive(pid_in(tmp_path / "child"))
    assert not is_alive(pid_in(tmp_path / "session"))


@linux
def test_a_child_whose_parent_died_is_found_again(tmp_path: Path) -> None:
    orphan = "setsid sh -c 'echo $$ > orphan; exec sleep 60 >/dev/null 2>&1' &"
    completed = run_in(tmp_path, f"({orphan}) ; while ! [ -s orphan ]; do :; done; sleep 60", 1)
    assert completed.timed_out
    assert not is_alive(pid_in(tmp_path / "orphan"))


@linux
def test_a_background_child_with_the_pipe_does_not_hang_the_call(tmp_path: Path) -> None:
    completed = run_in(tmp_path, "sleep 60 & echo $! > child; echo done")
    assert completed.output == "done\n"
    assert completed.exit_code == 0
    assert completed.seconds < 2
    assert not is_alive(pid_in(tmp_path / "child"))


@linux
def test_an_escaped_child_without_our_environment_is_found_by_its_pipe(tmp_path: Path) -> None:
    escape = "(setsid env -i sh -c 'echo $$ > escaped; exec sleep 60' &)"
    completed = run_in(tmp_path, f"{escape}; while ! [ -s escaped ]; do :; done")
    assert completed.exit_code == 0
    assert not is_alive(pid_in(tmp_path / "escaped"))


def test_a_stopped_run_ends_at_once(tmp_path: Path) -> None:
    started = time.monotonic()
    completed = run_in(tmp_path, "sleep 60", stopped=lambda: time.monotonic() > started + 0.2)
    assert completed.stopped
    assert completed.exit_code is None
    assert completed.seconds < 2


def test_a_nudge_reaches_those_who_expect_it_and_no_one_else(tmp_path: Path) -> None:
    nudge = Nudge(signal.SIGURG, 0.3)
    # dash runs a trap between two commands
    expecting = "trap 'echo nudged; exit 0' URG; while :; do sleep 0.05; done"
    assert run_in(tmp_path, expecting, nudge=nudge).output == "nudged\n"
    assert run_in(tmp_path, "exec sleep 0.6", nudge=nudge).exit_code == 0
    assert run_in(tmp_path, "exit 3", nudge=nudge).exit_code == 3


def test_inherited_descriptors_reach_the_command(tmp_path: Path) -> None:
    receiver, sender = os.pipe()
    try:
        os.set_blocking(receiver, False)
        run_in(tmp_path, f"echo private > /dev/fd/{sender}", pass_fds=[sender])
        assert os.read(receiver, 100) == b"private\n"
    finally:
        os.close(receiver)
        os.close(sender)


@linux
def test_an_interrupt_ends_the_tree_and_goes_on(tmp_path: Path) -> None:
    script = """
import sys
from pathlib import Path
from harness.process.run import run
try:
    run(["sh", "-c", "echo $$ > child; sleep 60"], cwd=Path(sys.argv[1]), env={}, timeout=60)
except KeyboardInterrupt:
    print("interrupted")
"""
    here = Path(__file__).resolve().parents[2]
    argv = [sys.executable, "-c", script, str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(here)}
    with subprocess.Popen(argv, env=environment, stdout=subprocess.PIPE, text=True) as process:
        child = pid_in(tmp_path / "child")
        process.send_signal(signal.SIGINT)
        output, _ = process.communicate(timeout=10)
    assert output == "interrupted\n"
    assert not is_alive(child)
