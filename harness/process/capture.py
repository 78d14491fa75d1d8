"""What a command printed: its head and tail in memory, all of it on disk."""

import os
from pathlib import Path

LOG_LIMIT = 50 * 1024 * 1024
"""Bytes. A command that prints more is killed."""


class Capture:
    """Takes output in pieces and never holds more than about `2 * keep` bytes of it."""

    def __init__(self, keep: int, log: Path | None) -> None:
        """`keep` is in bytes, half for the head and half for the tail. The log's folder is made
        when it is missing; a log that cannot be written is left out and `log` becomes None."""
        self.total = 0
        self.log = log
        self._head_size = max(keep // 2, 1)
        self._head = bytearray()
        self._tail = bytearray()
        self._fd = self._open(log)

    @property
    def full(self) -> bool:
        return self.total > LOG_LIMIT

    def add(self, chunk: bytes) -> None:
        self._write(chunk[: max(LOG_LIMIT - self.total, 0)])
        self.total += len(chunk)
        room = self._head_size - len(self._head)
        self._head += chunk[:room]
        self._tail += chunk[room:]
        if len(self._tail) > 2 * self._head_size:
            del self._tail[: -self._head_size]

    def text(self) -> str:
        """The output as text: all of it, or head and tail around a line that counts the rest."""
        tail = bytes(self._tail[-self._head_size :])
        left_out = self.total - len(self._head) - len(tail)
        if left_out == 0:
            return (bytes(self._head) + tail).decode("utf-8", "replace")
        head = _whole_characters(bytes(self._head))
        tail = tail.lstrip(bytes(range(0x80, 0xC0)))
        left_out = self.total - len(head) - len(tail)
        between = f"\n... {left_out} bytes left out ...\n"
        return head.decode("utf-8", "replace") + between + tail.decode("utf-8", "replace")

    def close(self) -> None:
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None

    def _open(self, log: Path | None) -> int | None:
        if log is None:
            return None
        try:
            log.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC
            return os.open(log, flags, 0o600)
        except OSError:
            self.log = None
            return None

    def _write(self, chunk: bytes) -> None:
        if self._fd is None:
            return
        try:
            while chunk:
                chunk = chunk[os.write(self._fd, chunk) :]
        except OSError:
            self.log = None
            self.close()


def _whole_characters(data: bytes) -> bytes:
    """`data` without the UTF-8 character that its end cuts in two."""
    for back in range(1, min(4, len(data)) + 1):
        byte = data[-back]
        if byte & 0xC0 == 0xC0:
            length = 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4
            return data[:-back] if back < length else data
        if byte < 0x80:
            return data
    return data
