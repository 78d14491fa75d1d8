"""Whether a prepared call may run."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from harness.tools.base import Prepared, Tool


@dataclass(frozen=True)
class ApprovalRequest:
    """What a person is asked: `preview` is the diff or command, `reason` why it is asked."""

    tool: str
    summary: str
    reason: str
    preview: str


@dataclass(frozen=True)
class Answer:
    """`scope` says how long an allowance lasts; `by` who decided: `mode`, `user`, `session` or
    `end of input`; `comment` is passed on to the model."""

    allow: bool
    scope: Literal["once", "session"] = "once"
    comment: str = ""
    by: str = "user"


Asker = Callable[[ApprovalRequest], Answer]

_ASKED = {"write": "it changes a file", "execute": "it runs a command"}


class Approvals:
    """Applies the mode (`ask`, `auto` or `never`) and remembers what holds for the session."""

    def __init__(self, mode: str, asker: Asker) -> None:
        self._mode = mode
        self._asker = asker
        self._allowed: set[str] = set()

    def decide(self, tool: Tool, prepared: Prepared, summary: str) -> Answer:
        if tool.access == "read":
            return Answer(True, by="mode")
        if self._mode == "never":
            return Answer(False, by="mode", comment="--approval never allows reading only")
        reason = prepared.ask or _ASKED.get(tool.access, "")
        if self._mode == "auto" or not reason:
            return Answer(True, by="mode")
        # a command is allowed for the session as it was shown, an edit tool as a whole
        key = f"{tool.name} {prepared.preview}" if tool.access == "execute" else tool.name
        if key in self._allowed and not prepared.ask:
            return Answer(True, by="session")
        answer = self._asker(ApprovalRequest(tool.name, summary, reason, prepared.preview))
        if answer.allow and answer.scope == "session":
            self._allowed.add(key)
        return answer
