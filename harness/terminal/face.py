"""What this room needs of a session: seen from here, a session is no more than this."""

from collections.abc import Sequence
from typing import Protocol

from harness.journal import Journal


class Outcome(Protocol):
    """How a turn ended; `kind` is a word of docs/journal.md."""

    @property
    def kind(self) -> str: ...
    @property
    def exit_code(self) -> int: ...
    @property
    def message(self) -> str: ...
    @property
    def answer(self) -> str: ...


class RuleLine(Protocol):
    """`tier` is kernel, default, global, workspace or learned; `where` its file and line."""

    @property
    def tier(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def where(self) -> str: ...
    @property
    def off(self) -> bool: ...
    @property
    def stated(self) -> bool: ...


class RulesReport(Protocol):
    """Facts and derived facts as atoms in text form; tiers that were dropped, and why."""

    @property
    def facts(self) -> tuple[str, ...]: ...
    @property
    def rules(self) -> Sequence[RuleLine]: ...
    @property
    def derived(self) -> tuple[str, ...]: ...
    @property
    def dropped(self) -> tuple[tuple[str, str], ...]: ...


class RulesCheck(Protocol):
    """What was read as rules, what is wrong with it, where it was written, or '', and which rules
    of it had been switched off until then."""

    @property
    def rules(self) -> tuple[str, ...]: ...
    @property
    def complaints(self) -> tuple[str, ...]: ...
    @property
    def refused(self) -> bool: ...
    @property
    def where(self) -> str: ...
    @property
    def on_again(self) -> tuple[str, ...]: ...


class ProposalLine(Protocol):
    """Rules that the sessions named speak for."""

    @property
    def number(self) -> int: ...
    @property
    def rules(self) -> tuple[str, ...]: ...
    @property
    def reason(self) -> str: ...
    @property
    def sessions(self) -> tuple[str, ...]: ...


class Rules(Protocol):
    """The rules of a session. Everything raises UserError with one line for what cannot be."""

    def report(self) -> RulesReport: ...

    def why(self, fact: str, *, as_json: bool = False) -> str:
        """The proof of a fact as text, or why it does not hold."""

    def check(self, path: str) -> RulesCheck: ...

    def add(self, text: str, *, everywhere: bool = False) -> RulesCheck: ...

    def switch(self, name: str, *, on: bool) -> str:
        """The text of the rule that was switched."""

    def propose(self) -> Sequence[ProposalLine]: ...

    def accept(self, number: int) -> tuple[tuple[str, ...], str]:
        """The rules that were taken up, and their file."""

    def reject(self, number: int) -> tuple[str, ...]: ...


class EntryLine(Protocol):
    """One piece of remembered knowledge; `note` is short, or empty."""

    @property
    def key(self) -> str: ...
    @property
    def content(self) -> str: ...
    @property
    def scope(self) -> str: ...
    @property
    def note(self) -> str: ...


class Session(Protocol):
    """A conversation about one workspace."""

    @property
    def id(self) -> str: ...
    @property
    def journal(self) -> Journal: ...
    @property
    def ooda(self) -> bool: ...

    def run(self, request: str) -> Outcome:
        """Never raises for a model error; a Ctrl-C inside ends as kind `interrupted`."""

    def reset(self) -> None:
        """Forget the messages and the facts about modified files."""

    @property
    def rules(self) -> Rules:
        """Raises UserError when `ooda` is off."""

    def entries(self) -> tuple[EntryLine, ...]: ...

    def memory(self) -> tuple[tuple[str, str], ...]:
        """Rows of label and value about what the model is sent."""

    def info(self) -> tuple[tuple[str, str], ...]:
        """Rows of label and value about the session itself."""

    def diff(self) -> str:
        """What changed in the workspace since the session began, '' when nothing."""
