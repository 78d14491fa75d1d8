"""The conversation: read a line, run a command or a turn, until the user leaves."""

from pathlib import Path
from typing import Protocol

from harness.errors import UserError
from harness.terminal.commands import perform
from harness.terminal.console import Console
from harness.terminal.face import Session
from harness.terminal.interrupts import Interrupts
from harness.terminal.plain import PlainReader
from harness.terminal.screen import Screen

LEFT = 0
INTERRUPTED = 130


class Reader(Protocol):
    """Where requests come from."""

    def read(self) -> str:
        """Raises EOFError at the end and KeyboardInterrupt for Ctrl-C."""


def run(
    session: Session,
    console: Console,
    *,
    root: Path,
    history_file: Path | None = None,
    version: str = "",
) -> int:
    """Talk until the end of input, /exit or two Ctrl-C; the exit code.

    `root` is the folder whose paths are completed, `history_file` keeps what was typed. The
    console's sinks must already be among the session journal's sinks.
    """
    _greet(session, console.talk, version)
    interrupts = Interrupts()
    reader = _reader(console, root, history_file, interrupts)
    return _Conversation(session, console, reader, interrupts).until_left()


class _Conversation:
    def __init__(
        self, session: Session, console: Console, reader: Reader, interrupts: Interrupts
    ) -> None:
        self._session = session
        self._console = console
        self._reader = reader
        self._interrupts = interrupts

    def until_left(self) -> int:
        with self._interrupts.listening():
            return self._until_left()

    def _until_left(self) -> int:
        talk = self._console.talk
        while True:
            try:
                text = self._reader.read()
                if text.strip() and self._obey(text):
                    return LEFT
                if self._console.can_edit:
                    talk.line()
            except EOFError:
                return LEFT
            except KeyboardInterrupt:
                if not self._console.stdin.isatty():
                    return INTERRUPTED
                self._say("line cleared; Ctrl-C again within two seconds leaves, Ctrl-D at once")
            except UserError as error:
                talk.message(talk.glyphs.failed, str(error), "bad")
            if self._interrupts.leaving:
                return INTERRUPTED

    def _obey(self, text: str) -> bool:
        """Run one command or turn; True when it was a command to leave."""
        if text.startswith("/"):
            with self._interrupts.working():
                return perform(self._session, self._console.results, text)
        self._turn(text.strip())
        return False

    def _turn(self, request: str) -> None:
        try:
            with self._interrupts.working():
                self._session.run(request)
        except KeyboardInterrupt:
            self._say("interrupted")

    def _say(self, text: str) -> None:
        talk = self._console.talk
        talk.message(talk.glyphs.info, text, "dim")


def _reader(
    console: Console, root: Path, history_file: Path | None, interrupts: Interrupts
) -> Reader:
    if not console.can_edit:
        return PlainReader(console.stdin, console.talk, interrupts)
    from harness.terminal.editor import Editor

    editor = Editor(
        console.stdin,
        console.talk.out,
        root=root,
        history_file=history_file,
        interrupts=interrupts,
    )
    if editor.problem:
        console.talk.message(console.talk.glyphs.warning, editor.problem, "attention")
    return editor


def _greet(session: Session, screen: Screen, version: str) -> None:
    rows = dict(session.info())
    name = f"mini-coding-agent {version}".strip()
    model, host = rows.get("model", ""), rows.get("host", "")
    at = f"{model} at {host}" if model and host else model or host
    screen.single(f"{name}, {at}" if at else name, "bold")
    screen.single(rows.get("workspace", ""), cut="middle")
    off = "" if session.ooda else "; --no-ooda: nothing is verified"
    screen.single(f"/help lists the commands, Ctrl-D leaves{off}", "dim")
