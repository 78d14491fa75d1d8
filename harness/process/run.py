"""One command, from its start to the last of its processes.

The command runs in a session of its own with standard input closed. Standard output and error
come merged, in order. When the direct child has exited the run is over: what it left in the
background is killed, so a server that should outlive its command cannot be started this way.
"""

import contextlib
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from harness.process.capture import Capture
from harness.process.tree import MARK, Tree, kill_marked

if TYPE_CHECKING:
    import subprocess

Ending = Literal["exited", "timed_out", "stopped", "overflowed"]

_GRACE = 0.2
_LOOK_EVERY = 0.05
_CHUNK = 65536


@dataclass(frozen=True)
class Nudge:
    """A signal for the direct child when it has run for `after` seconds."""

    signal: int
    after: float


@dataclass(frozen=True)
class Completed:
    """What came of a command.

    `exit_code` is negative for a signal, and None when this program killed the command, for
    one of the three reasons given. `output` is text, shortened in the middle; `bytes_total`
    counts all of it; `log` names the file that holds it, up to 50 MB.
    """

    exit_code: int | None
    output: str
    bytes_total: int
    timed_out: bool
    seconds: float
    log: Path | None = None
    stopped: bool = False
    overflowed: bool = False


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    log: Path | None = None,
    keep: int = 65536,
    pass_fds: Sequence[int] = (),
    stopped: Callable[[], bool] = lambda: False,
    nudge: Nudge | None = None,
) -> Completed:
    """Run `argv` to its end, at most `timeout` seconds, and leave no process of it.

    `keep` bounds the bytes of output held; `stopped` is asked at least every 50 ms; a `nudge`
    should be a signal that is ignored by those who do not expect it. A command
    that cannot be started is exit code 127 (not found) or 126 with a sentence, no exception.
    KeyboardInterrupt kills the tree, then goes on.
    """
    started = time.monotonic()
    capture = Capture(keep, log)
    mark = os.urandom(12).hex()
    receiver, sender = os.pipe()
    ending: Ending = "exited"
    try:
        process = _start(argv, cwd, {**env, "PWD": str(cwd), MARK: _marks(mark)}, sender, pass_fds)
        if isinstance(process, _NotStarted):
            code: int | None = process.exit_code
            capture.add(process.sentence.encode("utf-8", "backslashreplace"))
        else:
            output = _Output(receiver, capture)
            limits = _Limits(started, timeout, stopped, nudge)
            ending = _follow(process, mark, output, limits)
            code = process.returncode
    except BaseException:
        kill_marked(mark)
        raise
    finally:
        os.close(receiver)
        capture.close()
    return Completed(
        exit_code=code if ending == "exited" else None,
        output=capture.text(),
        bytes_total=capture.total,
        timed_out=ending == "timed_out",
        seconds=time.monotonic() - started,
        log=capture.log,
        stopped=ending == "stopped",
        overflowed=ending == "overflowed",
    )


@dataclass(frozen=True)
class _Limits:
    started: float
    timeout: float
    stopped: Callable[[], bool]
    nudge: Nudge | None


@dataclass(frozen=True)
class _NotStarted:
    exit_code: int
    sentence: str


def _marks(mark: str) -> str:
    around = os.environ.get(MARK)
    return f"{around},{mark}" if around else mark


def _start(
    argv: Sequence[str], cwd: Path, env: Mapping[str, str], sender: int, pass_fds: Sequence[int]
) -> "subprocess.Popen[bytes] | _NotStarted":
    """The started process, or why there is none. Closes `sender`."""
    import subprocess

    try:
        return subprocess.Popen(
            list(argv),
            cwd=cwd,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=sender,
            stderr=sender,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
        )
    except (OSError, ValueError) as error:
        return _not_started(argv[0] if argv else "", cwd, error)
    finally:
        os.close(sender)


def _not_started(name: str, cwd: Path, error: OSError | ValueError) -> _NotStarted:
    if not cwd.is_dir():
        sentence = f"the folder {str(cwd)!r} is not there, so {name!r} was not started\n"
        return _NotStarted(126, sentence)
    if isinstance(error, FileNotFoundError):
        return _NotStarted(127, f"command not found: {name!r}\n")
    reason = error.strerror if isinstance(error, OSError) else str(error)
    return _NotStarted(126, f"{name!r} could not be started: {reason}\n")


class _Output:
    """The receiving end of the command's output."""

    def __init__(self, receiver: int, capture: Capture) -> None:
        os.set_blocking(receiver, False)
        self._receiver = receiver
        self.pipe = os.fstat(receiver).st_ino
        self.capture = capture
        self.ended = False

    def read(self, wait: float) -> None:
        """Take what is there, waiting at most `wait` seconds for something."""
        import select

        if self.ended:
            time.sleep(wait)
            return
        poll = select.poll()
        poll.register(self._receiver, select.POLLIN)
        if poll.poll(wait * 1000):
            chunk = os.read(self._receiver, _CHUNK)
            self.capture.add(chunk)
            self.ended = not chunk

    def drain(self, seconds: float) -> None:
        """Read to the end, or for that long when a background process keeps the pipe open."""
        deadline = time.monotonic() + seconds
        while not self.ended and (left := deadline - time.monotonic()) > 0:
            self.read(left)


def _follow(
    process: "subprocess.Popen[bytes]",
    mark: str,
    output: _Output,
    limits: _Limits,
) -> Ending:
    """Read until the command ends or has to; then nothing of it is left and it is reaped."""
    tree = Tree(process.pid, mark)
    try:
        ending = _watch(process, tree, output, limits)
        if ending == "exited":
            output.drain(_GRACE)
        return ending
    finally:
        tree.kill()
        _reap(process)
        output.drain(_GRACE)
        if not output.ended:
            tree.kill_holders(output.pipe)


def _reap(process: "subprocess.Popen[bytes]") -> None:
    import subprocess

    # a process stuck inside the kernel outlives SIGKILL; waiting for it would hang the session
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=2.0)


def _watch(
    process: "subprocess.Popen[bytes]", tree: Tree, output: _Output, limits: _Limits
) -> Ending:
    next_look = 0.0
    pause = 0.001
    nudge = limits.nudge
    while not _exited(process):
        now = time.monotonic()
        left = limits.started + limits.timeout - now
        if left <= 0:
            return "timed_out"
        if limits.stopped():
            return "stopped"
        if output.capture.full:
            return "overflowed"
        if nudge is not None and now >= limits.started + nudge.after:
            os.kill(process.pid, nudge.signal)
            nudge = None
        if now >= next_look:
            tree.look()
            next_look = now + min(pause * 4, _LOOK_EVERY)
        output.read(min(pause, left))
        pause = min(pause * 1.5, _LOOK_EVERY)
    return "exited"


def _exited(process: "subprocess.Popen[bytes]") -> bool:
    """Whether the direct child has ended, without reaping it: its number stays taken, so that
    the process group can still be killed safely."""
    if not hasattr(os, "waitid"):
        return process.poll() is not None
    flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
    return os.waitid(os.P_PID, process.pid, flags) is not None
