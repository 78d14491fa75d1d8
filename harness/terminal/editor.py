"""The prompt on a terminal. Importing this module loads prompt_toolkit: import it late."""

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path
from typing import TextIO

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input.defaults import create_input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output.defaults import create_output

from harness.terminal.completion import candidates
from harness.terminal.interrupts import Interrupts
from harness.terminal.plain import MORE, PROMPT, continues


class WorkspaceCompleter(Completer):
    """Commands, and paths relative to `root`."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def get_completions(
        self, document: Document, complete_event: CompleteEvent
    ) -> Iterable[Completion]:
        before, asked = document.text_before_cursor, complete_event.completion_requested
        for found in candidates(before, self._root, asked=asked):
            yield Completion(
                found.text, start_position=-found.replaces, display_meta=found.about or None
            )


class PrivateHistory(FileHistory):
    """A history file for its owner's eyes (mode 0600)."""

    def __init__(self, path: Path) -> None:
        """Raises OSError when the file can be neither found nor made."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        os.fchmod(file, 0o600)
        os.close(file)
        super().__init__(str(path))

    def store_string(self, string: str) -> None:
        # a full disk costs the line's place in the history, not the prompt
        with contextlib.suppress(OSError):
            super().store_string(string)


class Editor:
    """Reads requests with editing, completion and a history that outlives the process."""

    def __init__(
        self,
        stdin: TextIO,
        screen_out: TextIO,
        *,
        root: Path,
        history_file: Path | None,
        interrupts: Interrupts,
    ) -> None:
        self.problem = ""
        self._interrupts = interrupts
        self._session: PromptSession[str] = PromptSession(
            PROMPT,
            multiline=True,
            prompt_continuation=MORE,
            completer=WorkspaceCompleter(root),
            history=self._history(history_file),
            key_bindings=_keys(interrupts),
            enable_suspend=True,
            enable_open_in_editor=True,
            reserve_space_for_menu=6,
            input=create_input(stdin),
            output=create_output(screen_out),
        )

    def read(self) -> str:
        """Raises EOFError for Ctrl-D at an empty prompt and KeyboardInterrupt for Ctrl-C."""
        # in the terminal's raw mode Ctrl-C is a key; a signal comes before it, after it, or
        # from another process
        with self._interrupts.waking(self._wake):
            text = self._session.prompt(handle_sigint=False, pre_run=self._leave_when_owed)
        if self._interrupts.owed():
            raise KeyboardInterrupt
        return text

    def _wake(self) -> None:
        loop = self._session.app.loop
        if loop is not None:
            with contextlib.suppress(RuntimeError):  # closed in this moment
                loop.call_soon_threadsafe(self._leave_when_owed)

    def _leave_when_owed(self) -> None:
        app = self._session.app
        future = app.future
        if future is not None and not future.done() and self._interrupts.owed():
            app.exit(exception=KeyboardInterrupt())

    def _history(self, path: Path | None) -> History:
        if path is None:
            return InMemoryHistory()
        try:
            return PrivateHistory(path)
        except OSError as error:
            self.problem = f"no history is kept: {str(path)!r}: {error.strerror}"
            return InMemoryHistory()


def _keys(interrupts: Interrupts) -> KeyBindings:
    keys = KeyBindings()

    @keys.add("c-c", filter=has_focus(DEFAULT_BUFFER))
    def interrupt(event: KeyPressEvent) -> None:
        interrupts.press()
        event.app.exit(exception=KeyboardInterrupt())

    @keys.add("enter")
    def send(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.document.is_cursor_at_the_end and continues(buffer.text):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    @keys.add("escape", "enter")
    def newline(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    return keys
