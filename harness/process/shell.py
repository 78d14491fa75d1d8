"""One command line through the shell."""

import os
from collections.abc import Callable
from pathlib import Path

from harness.process.environment import command_environment, fresh_bytecode
from harness.process.interpreter import Interpreter, find
from harness.process.run import Completed, run


def shell(
    command: str,
    *,
    root: Path,
    private: Path,
    timeout: float,
    interpreter: Interpreter | None = None,
    log: Path | None = None,
    keep: int = 65536,
    stopped: Callable[[], bool] = lambda: False,
) -> Completed:
    """Run `command` in the workspace `root` as a person would type it there.

    bash where there is one, else /bin/sh; the environment is that of `command_environment`.
    `interpreter` None means the workspace's own.
    """
    fresh_bytecode(private, root)
    return run(
        [shell_path(), "-c", command],
        cwd=root,
        env=command_environment(root, private, interpreter or find(root, None)),
        timeout=timeout,
        log=log,
        keep=keep,
        stopped=stopped,
    )


def shell_path() -> str:
    for candidate in ("/bin/bash", "/usr/bin/bash"):
        if os.access(candidate, os.X_OK):
            return candidate
    return "/bin/sh"
