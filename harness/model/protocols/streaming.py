"""The text of an answer, while the step that holds it is still arriving."""

import json
import re

_HEAD = re.compile(r'\s*\{\s*"tool"\s*:\s*"answer"\s*,\s*"text"\s*:\s*"')
_LONGEST_HEAD = 200
_LONGEST_ESCAPE = len(r"\ud83d\ude00")
_WHOLE = re.compile(
    r'(?:[^"\\]|\\["\\/bfnrt]|\\u[dD][89abAB][0-9a-fA-F]{2}\\u[0-9a-fA-F]{4}'
    r"|\\u(?![dD][89abAB])[0-9a-fA-F]{4})*"
)
"""As much of a JSON string as has arrived in whole characters."""


class AnswerStream:
    """Gives the answer piece by piece; nothing of any other step."""

    def __init__(self) -> None:
        self.shown = 0
        self._buffer = ""
        self._spaces = ""
        self._inside = False
        self._over = False

    def feed(self, text: str) -> str:
        """What to show now. White space at either end is kept back: the whole text is stripped."""
        if self._over or not text:
            return ""
        self._buffer += text
        if not self._inside and not self._entered():
            return ""
        whole = _WHOLE.match(self._buffer)
        end = whole.end() if whole else 0
        ready, self._buffer = self._buffer[:end], self._buffer[end:]
        # what is no escape now is none with more behind it
        self._over = self._buffer.startswith('"') or len(self._buffer) >= _LONGEST_ESCAPE
        return self._show(_decoded(ready))

    def _entered(self) -> bool:
        head = _HEAD.match(self._buffer)
        if head:
            self._inside = True
            self._buffer = self._buffer[head.end() :]
        elif len(self._buffer) > _LONGEST_HEAD:
            self._over = True
        return self._inside

    def _show(self, text: str) -> str:
        text = self._spaces + text if self.shown else text.lstrip()
        body = text.rstrip()
        self._spaces = text[len(body) :] if body or self.shown else ""
        self.shown += len(body)
        return body


def _decoded(text: str) -> str:
    try:
        value = json.loads(f'"{text}"', strict=False)
    except ValueError:
        return ""
    return value if isinstance(value, str) else ""
