"""What has happened in a turn so far, as far as the next step depends on it: heard, not asked."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from harness.journal import Event
from harness.model.values import Call, Message
from harness.ooda import prompts

READS_FILE = frozenset({"read_file", "read_symbol"})
MOST_NUDGES = 2
"""Times in a turn that a model is told that a call was due."""
MOST_MISSED = 3
"""Edits of a file that fail in one attempt; what the model means is not there then."""
LOOKS_TO_GIVE_UP = 4
"""Looks after which a model that changes nothing may say so."""
_MOST_SEEN = 200
"""Paths in the results of one turn that are remembered."""


class SoFar:
    """A sink of the journal. `reads` are the files that the model has read or written in this
    conversation, each with the content that it had then (None: to be looked at)."""

    def __init__(self, access: Mapping[str, str], path_of: Callable[[Call], str]) -> None:
        """`access` says what each tool does; `path_of` gives the canonical path of a call."""
        self._access = access
        self._path_of = path_of
        self._calls: dict[str, tuple[str, str]] = {}
        self._missed: dict[str, int] = {}
        self._nudges = 0
        self.request = ""
        self.reads: dict[str, str | None] = {}
        self.picked: tuple[str, ...] = ()
        self.seen: dict[str, None] = {}
        self.written: set[str] = set()
        self.called = False
        self.looks = 0
        self._attempts = 0
        self._changed = False
        self._hear: Mapping[str, Callable[[Mapping[str, Any]], None]] = {
            "turn_started": self._turn,
            "context": self._context,
            "attempt_started": self._attempt,
            "tool_call": self._call,
            "tool_result": self._result,
            "compacted": self._compacted,
            "history_reset": self._reset,
        }

    def __call__(self, event: Event) -> None:
        hear = self._hear.get(event.kind)
        if hear is not None:
            hear(event.payload)

    @property
    def unaccepted(self) -> bool:
        """Whether an answer now would be the one that the checks refused; who has looked long
        enough may give up."""
        return self._attempts > 1 and not self._changed and self.looks < LOOKS_TO_GIVE_UP

    def due(self, text: str) -> str:
        """What to tell a model that replied with this text alone where a call was due, or ""."""
        if self.called or self._nudges >= MOST_NUDGES:
            return ""
        from harness.ooda.asking import call_was_due

        if not call_was_due(self.request, text):
            return ""
        self._nudges += 1
        return prompts.CALL_DUE

    def _turn(self, payload: Mapping[str, Any]) -> None:
        self.request = str(payload.get("request", ""))
        self.picked, self.seen, self.written = (), {}, set()
        self.called = self._changed = False
        self.looks = self._attempts = 0
        self._nudges = 0
        self._calls.clear()
        self._missed.clear()

    def _attempt(self, payload: Mapping[str, Any]) -> None:
        """What was done before the checks failed is not enough of an answer to them."""
        self._attempts += 1
        self.looks, self._changed = 0, False
        self._missed.clear()

    def _context(self, payload: Mapping[str, Any]) -> None:
        picks = payload.get("picks") or ()
        self.picked = tuple(str(pick["name"]) for pick in picks if pick["kind"] == "code")

    def _call(self, payload: Mapping[str, Any]) -> None:
        self.called = True
        call_id, name, arguments = payload["id"], payload["name"], payload["arguments"]
        if isinstance(arguments, Mapping):
            path = self._path_of(Call(call_id, name, arguments, ""))
            self._calls[call_id] = (name, path)

    def _result(self, payload: Mapping[str, Any]) -> None:
        name, path = self._calls.pop(payload["id"], ("", ""))
        access = self._access.get(name)
        if access == "write" and not payload.get("ok") and not payload.get("denied"):
            self.reads.pop(path, None)  # it does not know the file as well as it thought
            self._missed[path] = self._missed.get(path, 0) + 1
        if not payload.get("ok") or access is None:
            return
        self.looks += 1
        self._changed = self._changed or access in ("write", "execute")
        if access == "read":
            self._see(str(payload.get("text", "")))
        known = self._missed.get(path, 0) < MOST_MISSED
        if path and known and (name in READS_FILE or access == "write"):
            self.reads[path] = None
        if path and access == "write":
            self.written.add(path)

    def _see(self, text: str) -> None:
        """Note what begins the lines of a result: paths, in those of lists and searches."""
        for line in text.split("\n"):
            if len(self.seen) >= _MOST_SEEN:
                return
            start = line.partition(":")[0].strip()
            if start and " " not in start:
                self.seen[start] = None

    def _compacted(self, payload: Mapping[str, Any]) -> None:
        """What was read is no longer all there; of what was changed, enough is."""
        known = self.written | self._still_there(payload.get("messages") or ())
        self.reads = {path: digest for path, digest in self.reads.items() if path in known}

    def _still_there(self, messages: Sequence[Message]) -> set[str]:
        """The files whose reading a compaction has left."""
        from harness.ooda.shortening import MARK, name_of
        from harness.ooda.talk import calls_of

        calls = calls_of(messages)
        results = [message for message in messages if message["role"] == "tool"]
        kept = [calls[m["tool_call_id"]] for m in results if not m["content"].startswith(MARK)]
        return {self._path_in(call) for call in kept if name_of(call) in READS_FILE}

    def _path_in(self, call: Mapping[str, Any]) -> str:
        """The canonical path of a call in the history."""
        function = call["function"]
        arguments = json.loads(function["arguments"])
        return self._path_of(Call(call["id"], function["name"], arguments, ""))

    def _reset(self, payload: Mapping[str, Any]) -> None:
        self.reads.clear()
        self._turn({})
