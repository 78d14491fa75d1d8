"""Standard output: the answer, and nothing else."""

from typing import TextIO

from harness.errors import UserError
from harness.journal import Event
from harness.terminal.safe import clean, encodable
from harness.terminal.screen import silence

SETTLED = ("answered", "verified")


def print_answer(
    kind: str, message: str, answer: str, stdout: TextIO, told: bool | None = None
) -> None:
    """Write a turn's answer.

    A terminal gets it cleaned, a pipe as it is. When the turn did not end well and the reader is
    not `told` so elsewhere (by default: a terminal is), a last line `[<kind>] <message>` follows,
    so that nobody takes a rejected answer for a result.
    An empty answer prints nothing. A closed pipe is quiet. Raises UserError when it cannot be
    written for another reason.
    """
    shown = clean(answer) if stdout.isatty() else answer
    text = shown if not shown or shown.endswith("\n") else shown + "\n"
    told = stdout.isatty() if told is None else told
    if text and kind not in SETTLED and not told:
        text += f"[{kind}] {' '.join(message.split())}\n"
    try:
        stdout.write(encodable(text, stdout.encoding))
        stdout.flush()
    except BrokenPipeError:
        silence(stdout)
    except OSError as error:
        silence(stdout)
        raise UserError(f"the answer cannot be written: {error.strerror}") from None


class Answers:
    """A sink which prints the answer of each outcome. Placed before the Renderer in the sinks,
    it lets the line which says how the turn ended be the last one on a terminal."""

    def __init__(self, stdout: TextIO, told: bool | None = None) -> None:
        """`told`: the reader of `stdout` also sees how each turn ended."""
        self._stdout = stdout
        self._told = told

    def __call__(self, event: Event) -> None:
        if event.kind == "outcome":
            kind, message, answer = (
                str(event.payload.get(key) or "") for key in ("kind", "message", "answer")
            )
            print_answer(kind, message, answer, self._stdout, self._told)
