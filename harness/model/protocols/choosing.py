"""Which protocol a model is asked in, and when that changes.

A protocol that was asked for by name is never changed. Under `auto` a model begins with what is
remembered of it, else native where its server shows it the tools, and falls to the next one when
replies give trouble: native -> constrained -> text.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

from harness.errors import ModelFailure
from harness.model.protocols.memory import Known, Memory
from harness.model.values import Protocol, Reply

FALL_AT = 2
"""Replies with trouble after which a model is asked otherwise."""
CLEAN_FOR_ONE = 10
"""Clean calls that make up for one of them: nobody is perfect in a long session."""

NEXT: Mapping[Protocol, Protocol] = MappingProxyType(
    {"native": "constrained", "constrained": "text"}
)
TROUBLES: Mapping[str, str] = MappingProxyType(
    {
        "empty": "empty",
        "call_missing": "prose where a call was due",
        "malformed_tool_call": "calls that could not be read",
        "call_in_reasoning": "calls inside the reasoning",
    }
)
"""Errors of a reply that another protocol may spare it, in words."""
NOT_SHOWN = "its server does not show it the tools"
MENDED = "calls that had to be repaired"
REFUSALS: Mapping[Protocol, frozenset[str]] = MappingProxyType(
    {
        "native": frozenset({"tools_unsupported"}),
        "constrained": frozenset({"bad_request", "tool_schema_rejected"}),
    }
)
"""Error classes with which a server refuses what makes up the protocol."""

Tell = Callable[[Protocol, str], None]


class Choice:
    """The protocol of one model, for one session."""

    def __init__(self, wanted: str, memory: Memory | None, key: str, tell: Tell) -> None:
        """`wanted` is `auto` or a protocol; `key` names the model in the memory; `tell` is told
        of each change, and why."""
        self._wanted = wanted
        self._memory = memory
        self._key = key
        self._tell = tell
        self._known = memory.get(key) if memory and self.is_auto else None
        self._troubles: dict[str, int] = {}
        self._clean = 0
        self._calls = False
        self._open = self.is_auto and self._known is None
        self.protocol: Protocol = "native" if self.is_auto else cast(Protocol, wanted)
        self.why = "--protocol" if not self.is_auto else ""
        if self._known:
            self.protocol, self.why = self._known.protocol, self._known.why

    @property
    def is_auto(self) -> bool:
        return self._wanted == "auto"

    @property
    def is_open(self) -> bool:
        """Whether it has yet to be found out what the server does with tools."""
        return self._open

    def shown(self, shows_tools: bool | None, *, keep: bool) -> None:
        """What was found out about the server before the first request, None if nothing could be;
        `keep` tells that it should not be found out again."""
        self._open = False
        if shows_tools is None:
            return
        self._known = Known(self.protocol, self.why, shows_tools)
        if not shows_tools:
            self.settle("constrained", NOT_SHOWN)
        elif keep:
            self._remember()

    def settle(self, protocol: Protocol, why: str) -> None:
        """From now on the model is asked in this one."""
        self.protocol, self.why = protocol, why
        self._troubles.clear()
        self._clean = 0
        self._remember()
        self._tell(protocol, why)

    def after_refusal(self, protocol: Protocol, failure: ModelFailure) -> Protocol | None:
        """What to try when a server refused a request in `protocol`; None when that is no
        question of the protocol, or not ours to change."""
        refused = failure.error_class in REFUSALS.get(protocol, ())
        return NEXT[protocol] if refused and self.is_auto else None

    def heard(self, reply: Reply, shows_tools: Callable[[], bool | None]) -> None:
        """Count a reply in the protocol of now. A model that was not shown its tools, as far as
        the reply tells, needs no second one; one that has made calls, or whose server was found
        to show them, was: a low count then tells of a prompt that was cut."""
        if not self.is_auto or self.protocol not in NEXT:
            return
        trouble = MENDED if reply.mended else TROUBLES.get(reply.error or "")
        if trouble is None:
            self._note_clean(reply)
            return
        self._troubles[trouble] = self._troubles.get(trouble, 0) + 1
        if self._may_lack_tools(reply) and shows_tools() is False:
            self.settle("constrained", NOT_SHOWN)
        elif sum(self._troubles.values()) >= FALL_AT:
            told = ", ".join(self._troubles)
            self.settle(NEXT[self.protocol], f"replies were no good: {told}")

    def _may_lack_tools(self, reply: Reply) -> bool:
        shown = self._calls or (self._known is not None and self._known.shows_tools is True)
        return self.protocol == "native" and not shown and not reply.truncated_prompt

    def _note_clean(self, reply: Reply) -> None:
        if not reply.calls:
            return
        self._calls = True
        self._clean += 1
        if self._clean >= CLEAN_FOR_ONE:
            self._clean = 0
            for trouble in list(self._troubles)[:1]:
                self._troubles[trouble] -= 1
                if not self._troubles[trouble]:
                    del self._troubles[trouble]

    def _remember(self) -> None:
        if self._memory is None or not self.is_auto:
            return
        shows = self._known.shows_tools if self._known else None
        self._known = Known(self.protocol, self.why, shows)
        self._memory.put(self._key, self._known)
