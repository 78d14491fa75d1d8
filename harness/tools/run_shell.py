"""run_shell: one command in the workspace."""

from harness.errors import ToolError
from harness.tools.base import (
    Arguments,
    Prepared,
    Result,
    Tool,
    ToolContext,
    integer,
    parameters,
    string,
)

LONGEST = 600
"""Seconds a command may ask for."""


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    command = arguments["command"]
    asked = arguments.get("timeout")
    if not command.strip() or "\0" in command:
        raise ToolError("command is empty or holds a NUL character; give one shell command.")
    if asked is not None and not 0 < asked <= LONGEST:
        raise ToolError(f"timeout must be from 1 to {LONGEST} seconds, not {asked}.")
    seconds = context.shell_timeout if asked is None else asked
    return Prepared(lambda: _run(context, command, seconds), preview=command)


def _run(context: ToolContext, command: str, seconds: float) -> Result:
    from harness.process.shell import shell

    context.tracker.keep_all(context.tracker.snapshot())
    seconds = min(seconds, max(context.remaining(), 1.0))
    done = shell(
        command,
        root=context.root.path,
        private=context.private,
        timeout=seconds,
        log=context.private / "last_command.log",
    )
    output = done.output.rstrip("\n") or "(no output)"
    if done.timed_out:
        after = f"stopped after {round(seconds, 1):g} s"
        head = f"{after}, with everything it had started; output so far:"
        return Result(f"{head}\n{output}", "timed out", ok=False)
    if done.exit_code is None:
        why = "it printed too much" if done.overflowed else "it was interrupted"
        return Result(f"stopped because {why}; output so far:\n{output}", "stopped", ok=False)
    head = f"exit code {done.exit_code}"
    return Result(f"{head}\n{output}", f"exit {done.exit_code}", ok=done.exit_code == 0)


TOOL = Tool(
    name="run_shell",
    description=(
        "Run a shell command in the workspace root; gives its exit code and output. It has no "
        "terminal and no input. The tests are run by the harness when you are done."
    ),
    parameters=parameters(
        ("command",),
        command=string("The command"),
        timeout=integer(f"Seconds before it is stopped, at most {LONGEST}"),
    ),
    access="execute",
    shows="command",
    prepare=_prepare,
)
