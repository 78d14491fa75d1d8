"""Standard output of `--json`: the journal's lines as they happen."""

import re
from typing import TextIO

from harness.errors import UserError
from harness.journal import Event
from harness.terminal.screen import silence

# JSON leaves these raw; some terminals obey them, and some readers take them for a line's end
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


class JsonLines:
    """A sink which writes each recorded event as one line of UTF-8, at once.

    The objects equal the journal's; only control characters are spelled as JSON escapes.
    When the reader goes away, it stops quietly. Raises UserError when a line cannot be written
    for another reason.
    """

    def __init__(self, stdout: TextIO) -> None:
        self._stdout = stdout
        self._gone = False

    def __call__(self, event: Event) -> None:
        if event.seq == 0 or self._gone:
            return
        line = _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", event.to_json()) + "\n"
        try:
            self._write(line)
        except (BrokenPipeError, ValueError):
            self._gone = True
            silence(self._stdout)
        except OSError as error:
            self._gone = True
            silence(self._stdout)
            raise UserError(f"standard output cannot be written: {error.strerror}") from None

    def _write(self, line: str) -> None:
        buffer = getattr(self._stdout, "buffer", None)
        if buffer is None:
            self._stdout.write(line)
        else:
            self._stdout.flush()
            buffer.write(line.encode("utf-8"))
        self._stdout.flush()
