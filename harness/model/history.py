"""The conversation as it is sent: always legal, and rewritten by a compaction alone.

Legal means what the strictest servers and chat templates accept (see legal.py): one system
message, first; no two user messages without an answer between them; every call has an id of its
own and exactly one tool message directly after; arguments are the text of a JSON object; content
is "" and not null; no reasoning is sent back. What was sent once stays byte for byte the beginning
of what is sent next, so that a server can reuse its cache.
"""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from typing import Any

from harness.model.ids import fresh_id
from harness.model.strict import is_object
from harness.model.tokens import estimate_tokens
from harness.model.values import Call, Message, Reply

NO_REPLY = "(no reply: the request was interrupted)"
"""Stands for the answer that an interrupted request never got."""

NO_TEXT = "(no text)"
INTERRUPTED = "interrupted: this call was not run, or its result was lost"
GO_ON = "Go on."

_PER_MESSAGE = 4
"""Tokens a chat template spends around each message."""


def estimate_message(message: Message) -> int:
    """About how many tokens a message is, with what the template puts around it."""
    return _PER_MESSAGE + estimate_tokens(message)


class History:
    """The messages of one session. `endings` tells how requests ended, by what was asked."""

    def __init__(self, system: str) -> None:
        self.endings: dict[str, str] = {}
        self._messages: list[Message] = []
        self._tokens = 0
        self._open: dict[str, str] = {}  # ids of unanswered calls, as told us -> as sent
        self._ids: set[str] = set()
        self._append({"role": "system", "content": _clean(system)})

    @classmethod
    def from_messages(cls, messages: Iterable[Mapping[str, Any]]) -> "History":
        """A legal history with the content of `messages`; what was illegal is mended."""
        given = [message for message in messages if isinstance(message, Mapping)]
        systems = [_content(m) for m in given if m.get("role") in ("system", "developer")]
        history = cls("\n\n".join(systems))
        for message in given:
            history._take(message)
        history.repair()
        return history

    def __len__(self) -> int:
        return len(self._messages)

    @property
    def last(self) -> Message:
        """The newest message."""
        return self._messages[-1]

    def user(self, text: str) -> Message:
        """Add what the user, or the harness for the user, says."""
        self.repair()
        if self._awaits_answer():
            self._append({"role": "assistant", "content": NO_REPLY})
        return self._append({"role": "user", "content": _clean(text)})

    def assistant(self, reply: Reply) -> Reply:
        """Add a reply; each of its calls is then waiting for its result. The reply with the ids
        that its calls have in the history: one that was used before, perhaps in a part that a
        compaction took away, is not used again."""
        self.repair()
        if self.last["role"] in ("system", "assistant"):
            self._append({"role": "user", "content": GO_ON})
        message = self.as_message(reply)
        calls: list[Call] = []
        for call, entry in zip(reply.calls, message.get("tool_calls", ()), strict=True):
            if not entry["id"] or entry["id"] in self._ids:
                entry["id"] = fresh_id()
            known_as = call.id if call.id and call.id not in self._open else entry["id"]
            self._open[known_as] = entry["id"]
            self._ids.add(entry["id"])
            calls.append(dataclasses.replace(call, id=entry["id"]))
        self._append(message)
        return dataclasses.replace(reply, calls=tuple(calls))

    def as_message(self, reply: Reply) -> Message:
        """The message that `assistant` keeps of a reply.

        Arguments that were no JSON object are kept as `{}`: the call's result quotes them.
        """
        content = _clean(reply.text)
        if not reply.calls:
            return {"role": "assistant", "content": content if content.strip() else NO_TEXT}
        calls = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": _clean(call.name), "arguments": _arguments(call)},
            }
            for call in reply.calls
        ]
        return {"role": "assistant", "content": content, "tool_calls": calls}

    def tool(self, call_id: str, text: str) -> None:
        """Add the result of a call, by its id as it was told us or as it is sent.

        Raises ValueError when no such call is waiting.
        """
        told = next((told for told, sent in self._open.items() if sent == call_id), call_id)
        sent_id = self._open.pop(told, None)
        if sent_id is None:
            raise ValueError(f"no call with the id {call_id!r} is waiting for a result")
        self._append({"role": "tool", "tool_call_id": sent_id, "content": _clean(text)})

    def repair(self) -> None:
        """Answer the calls that never got a result."""
        for call_id in tuple(self._open):
            self.tool(call_id, INTERRUPTED)

    def messages(self) -> list[Message]:
        """All messages, as they are sent. Calls that have no result yet get one first."""
        self.repair()
        return list(self._messages)

    def replace(self, messages: Iterable[Message]) -> None:
        """Go on with other messages: the outcome of a compaction, all calls answered."""
        self._messages = []
        self._tokens = 0
        self._open.clear()
        for message in messages:
            self._append(message)
            # an id that was used once is not used again, also when its call is gone
            self._ids.update(call["id"] for call in message.get("tool_calls", ()))

    def mend(self) -> None:
        """Make the messages legal, whatever happened to them."""
        self.replace(History.from_messages(self._messages).messages())

    def reset(self) -> None:
        """Forget all but the system message."""
        self.replace(self._messages[:1])
        self._ids.clear()
        self.endings.clear()

    def estimate(self) -> int:
        """About how many tokens the messages are."""
        return self._tokens

    def _awaits_answer(self) -> bool:
        """Whether a user message has no answer in words yet. Calls and their results do not
        count as one: Mistral's template does not see them between two user messages."""
        for message in reversed(self._messages):
            if message["role"] != "tool" and "tool_calls" not in message:
                return bool(message["role"] == "user")
        return False

    def _append(self, message: Message) -> Message:
        self._messages.append(message)
        self._tokens += estimate_message(message)
        return message

    def _take(self, message: Mapping[str, Any]) -> None:
        """Add one message of somebody else's history."""
        role = message.get("role")
        if role == "user":
            self.user(_content(message))
        elif role == "assistant":
            self.assistant(Reply(text=_content(message), calls=_calls(message)))
        elif role == "tool" and self._open:
            call_id = message.get("tool_call_id") or next(iter(self._open))
            if isinstance(call_id, str) and call_id in self._open:
                self.tool(call_id, _content(message))


def _calls(message: Mapping[str, Any]) -> tuple[Call, ...]:
    entries = message.get("tool_calls")
    calls: list[Call] = []
    for entry in entries if isinstance(entries, list) else ():
        function = entry.get("function") if isinstance(entry, Mapping) else None
        if isinstance(function, Mapping):
            raw = function.get("arguments")
            raw = raw if isinstance(raw, str) else json.dumps(raw)
            calls.append(Call(str(entry.get("id") or ""), str(function.get("name")), None, raw))
    return tuple(calls)


def _arguments(call: Call) -> str:
    """The text of a JSON object: as the model wrote it, where that is one."""
    if is_object(call.raw):
        return _clean(call.raw)
    return json.dumps(dict(call.arguments or {}))


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _clean(text: str) -> str:
    """Lone surrogates cannot be sent."""
    return text.encode("utf-8", "replace").decode("utf-8")
