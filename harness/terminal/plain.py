"""Reading lines from standard input, with no more than the stream itself.

The prompt and the approval questions read the same stream: both go through `read_line`, which
takes no byte beyond the line.
"""

from typing import TextIO

from harness.terminal.interrupts import Interrupts
from harness.terminal.screen import Screen

PROMPT = "> "
MORE = "| "


def read_line(stdin: TextIO) -> str | None:
    """The next line without its end, None at the end of input. Bytes that are no text become
    U+FFFD."""
    buffer = getattr(stdin, "buffer", None)
    if buffer is None:
        line = stdin.readline()
    else:
        line = buffer.readline().decode(stdin.encoding or "utf-8", "replace")
    if not line:
        return None
    return line.rstrip("\r\n")


def continues(line: str) -> bool:
    """Whether a line asks for another: it ends in a backslash which is not itself escaped."""
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


class PlainReader:
    """Requests from a pipe, a file, or a terminal that cannot do more than show text."""

    def __init__(self, stdin: TextIO, screen: Screen, interrupts: Interrupts) -> None:
        self._stdin = stdin
        self._screen = screen
        self._interrupts = interrupts
        self._prompts = stdin.isatty()

    def read(self) -> str:
        """The next request. Raises EOFError at the end of input, KeyboardInterrupt for Ctrl-C."""
        with self._interrupts.working():
            return self._read()

    def _read(self) -> str:
        lines: list[str] = []
        while True:
            if self._prompts:
                self._screen.ask(MORE if lines else PROMPT)
            line = read_line(self._stdin)
            if line is None and not lines:
                raise EOFError
            if line is None or not continues(line):
                return "\n".join([*lines, line or ""])
            lines.append(line[:-1])
