"""Reading the body of a chat completion, whatever shape the server gives it.

A body is an event stream (https://html.spec.whatwg.org/multipage/server-sent-events.html, with
the liberties that servers take), one JSON object although a stream was asked for, or something
else altogether. The first character tells; the content type is often wrong.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

_MOST_FOREIGN = 4096
"""Bytes kept of a body that is neither, to quote from."""


@dataclass(frozen=True)
class Chunk:
    """A chat.completion.chunk, or a whole chat.completion."""

    payload: Mapping[str, Any]


@dataclass(frozen=True)
class ServerError:
    """The server reports a failure inside the body."""

    body: str


@dataclass(frozen=True)
class Broken:
    """A piece that was to be JSON and is not: something of the reply is lost."""

    text: str


Item = Chunk | ServerError | Broken
_DECODER = json.JSONDecoder()


class BodyReader:
    """Turns bytes into items as they arrive. Comments and pings give no items.

    `done` tells that the server has said all: `[DONE]`, or a whole object.
    """

    def __init__(self) -> None:
        self.kind: Literal["unknown", "events", "object", "foreign"] = "unknown"
        self.done = False
        self._parts: list[bytes] = []
        self._kept = 0
        self._data: list[str] = []
        self._event = ""

    @property
    def beginning(self) -> str:
        """How a body that is no event stream begins."""
        parts = [] if self.kind == "events" else self._parts
        return b"".join(parts).decode("utf-8", "replace")[:_MOST_FOREIGN]

    def feed(self, data: bytes) -> list[Item]:
        if self.kind == "unknown":
            data = self._sniff(data)
        if self.kind == "events":
            return self._lines(data)
        if self.kind == "object" or self._kept < _MOST_FOREIGN:
            self._parts.append(data)
            self._kept += len(data)
        return []

    def finish(self) -> list[Item]:
        """What the end of the body completes: a last event without a blank line, or the object."""
        if self.kind == "events":
            return [*self._lines(b"\n"), *self._dispatch()]
        if self.kind != "object":
            return []
        items = _payload(b"".join(self._parts).decode("utf-8", "replace"))
        if items and isinstance(items[0], Chunk):
            self.done = "choices" in items[0].payload
            return items if self.done else []
        return items

    def _sniff(self, data: bytes) -> bytes:
        data = b"".join([*self._parts, data]).removeprefix(b"\xef\xbb\xbf")
        self._parts.clear()
        start = data.lstrip()
        if not start:
            # one is enough to remember that a byte order mark can no longer come
            self._parts.append(data[:1])
            return b""
        if start[:1] in (b"{", b"["):
            self.kind = "object"
        elif start[:1] in (b"d", b"e", b":", b"i", b"r"):
            self.kind = "events"
        else:
            self.kind = "foreign"
        return start

    def _lines(self, data: bytes) -> list[Item]:
        """Lines end with LF, CRLF or CR. A line is decoded whole, so no character is split."""
        self._parts.append(data)
        if b"\n" not in data and b"\r" not in data:
            return []
        text = b"".join(self._parts)
        # a CR at the very end may be half of a CRLF
        whole = len(text) - 1 if text.endswith(b"\r") else len(text)
        self._parts = [text[whole:]]
        lines = text[:whole].replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        end = lines.rfind(b"\n") + 1
        self._parts.insert(0, lines[end:])
        items: list[Item] = []
        for line in lines[:end].decode("utf-8", "replace").split("\n")[:-1]:
            items.extend(self._line(line))
        return items

    def _line(self, line: str) -> list[Item]:
        if not line:
            return self._dispatch() if self._data or self._event else []
        if line.startswith("data: {") and not self._data and not self._event:
            found = _mapping(line, len("data: "))
            if found is not None:
                return [_item(found, line)]
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            return self._add_data(value)
        if name == "event":
            self._event = value.strip()
        elif name == "error":
            return [ServerError(value)]
        elif name.lstrip().startswith("{"):
            return _payload(line)
        return []

    def _add_data(self, value: str) -> list[Item]:
        """Most servers put a whole payload on each line; those need not wait for a blank one."""
        if value.strip() == "[DONE]":
            self.done = True
            return []
        items = [] if self._data else self._items(value)
        if not items or isinstance(items[0], Broken):
            self._data.append(value)
            return []
        return items

    def _dispatch(self) -> list[Item]:
        value = "\n".join(self._data)
        self._data.clear()
        items = self._items(value) if value.strip() else []
        self._event = ""
        return items

    def _items(self, value: str) -> list[Item]:
        return [ServerError(value)] if self._event == "error" else _payload(value)


def _payload(text: str) -> list[Item]:
    text = text.strip()
    payload = _mapping(text, 0)
    if payload is not None:
        return [_item(payload, text)]
    return [Broken(text)] if text.startswith("{") else []


def _item(payload: Mapping[str, Any], text: str) -> Item:
    failed = payload.get("error") or payload.get("object") == "error"
    return ServerError(text.removeprefix("data: ").strip()) if failed else Chunk(payload)


def _mapping(text: str, at: int) -> Mapping[str, Any] | None:
    """The JSON object that a text is from `at` on."""
    try:
        value, end = _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and not text[end:].strip() else None
