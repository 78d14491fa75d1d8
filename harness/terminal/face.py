"""What this room needs of a session: seen from here, a session is no more than this."""

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
    """`tier` is kernel, global, workspace or learned; `where` its file and line."""

    @property
    def tier(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def where(self) -> str: ...


class RulesReport(Protocol):
    """Facts and derived facts as atoms in text form."""

    @property
    def facts(self) -> tuple[str, ...]: ...
    @property
    def rules(self) -> tuple[RuleLine, ...]: ...
    @property
    def derived(self) -> tuple[str, ...]: ...


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

    def rules_report(self) -> RulesReport: ...

    def why(self, atom: str) -> str:
        """The proof of an atom as text. Raises UserError with one line."""

    def entries(self) -> tuple[EntryLine, ...]: ...

    def memory(self) -> tuple[tuple[str, str], ...]:
        """Rows of label and value about what the model is sent."""

    def info(self) -> tuple[tuple[str, str], ...]:
        """Rows of label and value about the session itself."""

    def diff(self) -> str:
        """What changed in the workspace since the session began, '' when nothing."""
