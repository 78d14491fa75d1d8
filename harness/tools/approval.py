"""Whether a prepared call may run."""

from collections.abc import Callable
from dataclasses import dataclass, replace
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
class Requested:
    """What rules may know of a prepared call. `path` is canonical, or empty; `command` is the
    text of a shell command, or empty."""

    id: str
    tool: str
    path: str
    command: str


@dataclass(frozen=True)
class Ruling:
    """What the rules say of a call, and why; an empty decision leaves it to the mode."""

    decision: Literal["", "allow", "ask", "deny"] = ""
    reason: str = ""


Judge = Callable[[Requested], Ruling]


def no_ruling(requested: Requested) -> Ruling:
    """Where there are no rules."""
    return Ruling()


@dataclass(frozen=True)
class Answer:
    """`scope` says how long an allowance lasts; `by` who decided: `mode`, `rule`, `user`,
    `session` or `end of input`; `comment` is passed on to the model."""

    allow: bool
    scope: Literal["once", "session"] = "once"
    comment: str = ""
    by: str = "user"


Asker = Callable[[ApprovalRequest], Answer]

_Key = tuple[str, ...]
"""The tool, what an allowance for the session is about, and why it was asked."""

_NEVER = "--approval never allows reading only"
_ASKED = {"write": "it changes a file", "execute": "it runs a command"}


class Approvals:
    """Applies the mode (`ask`, `auto` or `never`) and remembers what holds for the session."""

    def __init__(self, mode: str, asker: Asker) -> None:
        self._mode = mode
        self._asker = asker
        self._allowed: set[_Key] = set()

    def decide(
        self, tool: Tool, prepared: Prepared, summary: str, ruling: Ruling | None = None
    ) -> Answer:
        """A rule that denies or asks goes before the mode, which may deny more and never less."""
        ruling = ruling or Ruling()
        if ruling.decision == "deny":
            return Answer(False, by="rule", comment=ruling.reason)
        if ruling.decision == "ask":
            return self._ruled(tool, prepared, summary, ruling.reason)
        if tool.access == "read":
            return Answer(True, by="mode")
        if self._mode == "never":
            return Answer(False, by="mode", comment=_NEVER)
        if ruling.decision == "allow":
            return Answer(True, by="rule")
        reason = prepared.ask or _ASKED.get(tool.access, "")
        if self._mode == "auto" or not reason:
            return Answer(True, by="mode")
        # a command is allowed for the session as it was shown, an edit tool as a whole
        key = (tool.name, prepared.preview) if tool.access == "execute" else (tool.name,)
        return self._ask(tool, prepared, summary, reason, key)

    def _ruled(self, tool: Tool, prepared: Prepared, summary: str, reason: str) -> Answer:
        """Ask because a rule says so: in every mode but `never`, in which nobody is asked. An
        allowance for the session is one for this reason and this path, command or content."""
        told = f"a rule has this asked first: {reason}"
        if self._mode == "never":
            comment = reason if tool.access == "read" else f"{_NEVER}; {told}"
            return Answer(False, by="mode", comment=comment)
        path = prepared.path if tool.access in ("read", "write") else ""
        key = (tool.name, path or prepared.preview or summary, reason)
        both = "; ".join(each for each in (prepared.ask, reason) if each)
        answer = self._ask(tool, prepared, summary, both, key)
        if answer.allow or answer.comment:
            return answer
        return replace(answer, comment=told)

    def _ask(self, tool: Tool, prepared: Prepared, summary: str, reason: str, key: _Key) -> Answer:
        """What a tool itself wants asked is asked every time, whatever was allowed before."""
        lasting = not prepared.ask
        if lasting and key in self._allowed:
            return Answer(True, by="session")
        answer = self._asker(ApprovalRequest(tool.name, summary, reason, prepared.preview))
        if lasting and answer.allow and answer.scope == "session":
            self._allowed.add(key)
        return answer
