"""What can be changed in a request that a server refused, so that it takes it.

A remedy is a pure function from a body to a body, which may be the same: then there is nothing to
mend, and the request is not sent again. No remedy changes what is asked: names, arguments and
words stay, only their shape differs. That of `tools_unsupported` is another protocol, which is
chosen above this room's client: see protocols/.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.model import reshaping
from harness.model.failures import RequestFailed
from harness.model.schemas import simple, without_restrictions
from harness.model.values import Message

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Remedy:
    """`told` says to the user what is done from now on; a remedy that is not `lasting` depends on
    the one request, and is not kept for the next."""

    told: str
    apply: Callable[[Body], dict[str, Any]]
    lasting: bool = True


def _messages(reshape: Callable[[Sequence[Message]], list[Message]]) -> Callable[[Body], Any]:
    return lambda body: {**body, "messages": reshape(body["messages"])}


def _without(name: str) -> Callable[[Body], dict[str, Any]]:
    return lambda body: {key: value for key, value in body.items() if key != name}


def _renamed(old: str, new: str) -> Callable[[Body], dict[str, Any]]:
    return lambda body: {new if key == old else key: value for key, value in body.items()}


def simple_schemas(body: Body) -> dict[str, Any]:
    """Tools with simple schemas, and a schema for the reply without restrictions."""
    changed = dict(body)
    if body.get("tools"):
        changed["tools"] = [_simple_tool(tool) for tool in body["tools"]]
    asked = body.get("response_format")
    if isinstance(asked, Mapping) and isinstance(asked.get("json_schema"), Mapping):
        schema = without_restrictions(asked["json_schema"].get("schema") or {})
        changed["response_format"] = {
            **asked, "json_schema": {**asked["json_schema"], "schema": schema}
        }  # fmt: skip
    return changed


def _simple_tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool["function"]
    parameters = function.get("parameters")
    if not isinstance(parameters, Mapping):
        return dict(tool)
    return {**tool, "function": {**function, "parameters": simple(parameters)}}


def smaller_answer(room: int) -> Remedy:
    """At most `room` tokens for the answer."""

    def apply(body: Body) -> dict[str, Any]:
        return {
            key: min(value, room) if key in ("max_tokens", "max_completion_tokens") else value
            for key, value in body.items()
        }

    return Remedy(f"Asking for {room} tokens at most", apply, lasting=False)


REMEDIES: Mapping[str, Remedy] = {
    "system_first": Remedy(
        "All system messages are sent as one, at the beginning",
        _messages(reshaping.system_first),
    ),
    "system_as_user": Remedy(
        "The system message is sent at the beginning of the first user message",
        _messages(reshaping.system_as_user),
    ),
    "users_merged": Remedy(
        "Neighbouring user messages are sent as one",
        _messages(reshaping.users_merged),
    ),
    "calls_as_text": Remedy(
        "Former tool calls and their results are sent as text",
        _messages(reshaping.calls_as_text),
    ),
    "simple_schemas": Remedy(
        "The tools' schemas are sent without patterns, bounds and the like",
        simple_schemas,
    ),
    "without_stream_options": Remedy(
        "`stream_options` is left out, so token counts may be estimates",
        _without("stream_options"),
    ),
    "new_name": Remedy(
        "`max_tokens` is sent as `max_completion_tokens`",
        _renamed("max_tokens", "max_completion_tokens"),
    ),
    "without_temperature": Remedy(
        "`temperature` is left out: the model has its own", _without("temperature")
    ),
    "without_top_p": Remedy("`top_p` is left out: the model has its own", _without("top_p")),
}
_BY_WORDS: Mapping[str, Sequence[tuple[str, Sequence[str]]]] = {
    "template": (
        (r"system (role|messages? (is|are) )?not supported", ("system_as_user",)),
        (r"alternate", ("users_merged", "calls_as_text", "system_as_user")),
        (r"system message must", ("system_first", "system_as_user")),
        (r"only user", ("system_as_user", "calls_as_text")),
        (r"\btool|role", ("calls_as_text", "system_as_user")),
        (r"", ("system_first", "users_merged", "system_as_user", "calls_as_text")),
    ),
    "schema": ((r"", ("simple_schemas",)),),
    "option": (
        (r"stream_options|include_usage", ("without_stream_options",)),
        (r"max_tokens", ("new_name",)),
        (r"temperature.*top_p|top_p.*temperature", ("without_top_p",)),
        (r"temperature", ("without_temperature",)),
        (r"top_p", ("without_top_p",)),
    ),
}
"""By cause, what the server's words suggest, best first; the first words that fit count."""


def suggested(failed: RequestFailed) -> Iterator[Remedy]:
    """The remedies for a refusal, best first."""
    if failed.cause == "room" and failed.room is not None:
        yield smaller_answer(failed.room)
    for pattern, names in _BY_WORDS.get(failed.cause, ()):
        if re.search(pattern, failed.said, re.IGNORECASE | re.DOTALL):
            yield from (REMEDIES[name] for name in names)
            return


class Mending:
    """What one server needs: remedies that have helped before, and those tried right now."""

    def __init__(self) -> None:
        self._proven: list[Remedy] = []
        self._tried: list[Remedy] = []
        self._complaints: set[tuple[str, str]] = set()

    def begin(self) -> None:
        """A new request: what was tried for the last one, and did not help, is forgotten."""
        self._tried.clear()
        self._complaints.clear()

    def keep(self) -> None:
        """The request was taken: what was tried helped."""
        self._proven += [remedy for remedy in self._tried if remedy.lasting]
        self.begin()

    def mended(self, body: Body) -> dict[str, Any]:
        """`body` as this server needs it."""
        changed = dict(body)
        for remedy in (*self._proven, *self._tried):
            changed = remedy.apply(changed)
        return changed

    def take(self, failed: RequestFailed, body: Body) -> str:
        """Choose a remedy for a refused `body`: what it does, or "" when there is none.

        A server that says the same again was not helped by the one before.
        """
        complaint = (failed.cause, failed.said)
        if complaint in self._complaints:
            return ""
        for remedy in suggested(failed):
            if remedy.apply(body) != body:
                self._complaints.add(complaint)
                self._tried.append(remedy)
                return remedy.told
        return ""
