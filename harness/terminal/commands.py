"""The commands of the prompt: lines that begin with a slash and never reach the model."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from harness.errors import UserError
from harness.terminal import rules, views
from harness.terminal.face import Session
from harness.terminal.screen import Screen


@dataclass(frozen=True)
class Command:
    """`run` gets the session, where to write, and what was typed after the name. `forms` are
    what can follow the name, each with a text for the help. `leaves` ends the program."""

    name: str
    about: str
    run: Callable[[Session, Screen, str], None]
    forms: tuple[tuple[str, str], ...] = ()
    leaves: bool = False

    @property
    def words(self) -> tuple[str, ...]:
        """The fixed words with which the forms begin, for completion."""
        return tuple(
            f"{first} " if more else first
            for first, more, _ in (form.partition(" ") for form, _ in self.forms)
        )

    @property
    def usages(self) -> list[tuple[str, str]]:
        own = [(self.name, self.about)]
        return own + [(f"{self.name} {form}", about) for form, about in self.forms]


def perform(session: Session, screen: Screen, text: str) -> bool:
    """Carry out the command in `text`; True when the program shall end.

    Raises UserError when there is no such command or it cannot do what was asked.
    """
    name, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    command = next((known for known in COMMANDS if known.name == name), None)
    if command is None:
        raise UserError(_unknown(name))
    if rest and not command.forms:
        raise UserError(f"{name} takes nothing after it, but got {rest!r}")
    command.run(session, screen, rest)
    return command.leaves


def _unknown(name: str) -> str:
    import difflib

    near = difflib.get_close_matches(name, [command.name for command in COMMANDS], 1, 0.5)
    instead = f"did you mean {near[0]}?" if near else "/help lists the commands"
    return (
        f"unknown command {name!r}: {instead} (if it was a request, put a space before the slash)"
    )


def _help(session: Session, screen: Screen, rest: str) -> None:
    views.show_pairs(screen, (usage for command in COMMANDS for usage in command.usages))
    views.show_keys(screen)


def _memory(session: Session, screen: Screen, rest: str) -> None:
    views.show_pairs(screen, session.memory())


def _knowledge(session: Session, screen: Screen, rest: str) -> None:
    views.show_entries(screen, session.entries())


def _session(session: Session, screen: Screen, rest: str) -> None:
    views.show_pairs(screen, session.info())


def _reset(session: Session, screen: Screen, rest: str) -> None:
    session.reset()
    screen.line(("", "history and facts about modified files are cleared; files stay as they are"))


def _diff(session: Session, screen: Screen, rest: str) -> None:
    views.show_changes(screen, session.diff())


def _leave(session: Session, screen: Screen, rest: str) -> None:
    return


COMMANDS: Final = (
    Command("/help", "list the commands and keys", _help),
    Command("/rules", "facts, rules and derived gates", rules.perform, forms=rules.FORMS),
    Command("/memory", "what the model is sent: turns, tokens, files", _memory),
    Command("/knowledge", "remembered entries", _knowledge),
    Command("/session", "id, workspace, model, tokens", _session),
    Command("/reset", "forget the conversation, keep the files", _reset),
    Command("/diff", "what changed since the session began", _diff),
    Command("/exit", "leave", _leave, leaves=True),
    Command("/quit", "leave", _leave, leaves=True),
)
