"""One tier of the store: a file of entries, read when it changed and rewritten under a lock."""

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from knowledge import document, files
from knowledge.entry import Entry, Item, Scope, from_item
from knowledge.errors import KnowledgeError
from knowledge.files import FileProblem

Signature = tuple[int, int, int, int]
GITIGNORE = b"""\
# Shared with the project: the entries, the rules, the configuration. All else stays here.
/*
!/.gitignore
!/config.toml
!/rules/
!/knowledge/
/knowledge/*
!/knowledge/entries.json
"""


class Tier:
    """The entries of one file.

    `root` None is the user's own tier, where links are followed. Otherwise the file belongs to
    the workspace `root` and is neither read nor written where a link leads outside.
    """

    def __init__(self, path: Path, scope: Scope, root: Path | None = None) -> None:
        self.path = path
        self.scope = scope
        self.root = root
        self.entries: tuple[Entry, ...] = ()
        self._signature: Signature | None = None
        self._messages: list[str] = []

    def load(self) -> list[str]:
        """Read the file if it changed since the last time. Returns what is new to say."""
        self._refresh()
        messages, self._messages = self._messages, []
        return messages

    def update(self, change: Callable[[list[Item]], bool]) -> bool:
        """Let `change` alter the items of the file and write them back.

        `change` returns whether an entry of that key was there. Items that could not be read are
        kept aside in a copy of the file. Raises KnowledgeError; the file is then as it was.
        """
        try:
            path = self._confined()
            self._make_folder(path)
            with files.locked(path.with_name(path.name + ".lock")):
                found = self._rewrite(path, change)
        except OSError as error:
            what = f"cannot be written ({error.strerror}); nothing was changed"
            raise KnowledgeError(self._sentence(what)) from error
        except FileProblem as error:
            raise KnowledgeError(self._sentence(f"{error}; nothing was changed")) from error
        self._refresh()
        return found

    def _rewrite(self, path: Path, change: Callable[[list[Item]], bool]) -> bool:
        data = files.read(path)
        parsed = document.Document() if data is None else document.parse(data)
        items = list(parsed.items)
        found = change(items)
        if items == list(parsed.items):
            return found
        if data is not None:
            if parsed.problem and data.strip():
                self._say(
                    "was rewritten without what could not be read; the file as it was is kept as "
                    f"{_keep_aside(path, data)!r}"
                )
            files.replace(path.with_name(path.name + ".bak"), data)
        files.replace(path, parsed.to_bytes(items))
        return found

    def _refresh(self) -> None:
        signature = self._stat()
        if signature != self._signature:
            self._signature = signature
            self._read()

    def _read(self) -> None:
        self.entries = ()
        try:
            data = files.read(self._confined())
        except FileProblem as error:
            self._say(f"{error}; no entry of it is used")
            return
        if data is None:
            return
        parsed = document.parse(data)
        self.entries = tuple(from_item(item, self.scope) for item in parsed.items)
        if parsed.problem:
            self._say(f"{parsed.problem}; {self._consequence(data)}")

    def _consequence(self, data: bytes) -> str:
        count = len(self.entries)
        if count:
            what = "1 entry is used" if count == 1 else f"{count} entries are used"
            return f"{what}, and the file is left as it is"
        if not data.strip():
            return "no entry of it is used"
        try:
            return f"no entry of it is used; a copy is kept as {_keep_aside(self.path, data)!r}"
        except (OSError, FileProblem):
            return "no entry of it is used, and the file is left as it is"

    def _say(self, what: str) -> None:
        self._messages.append(self._sentence(what))

    def _sentence(self, what: str) -> str:
        return f"knowledge file {str(self.path)!r} {what}"

    def _confined(self) -> Path:
        """The real place of the file. Raises FileProblem when it is outside the workspace."""
        real = Path(os.path.realpath(self.path))
        if self.root is not None and not real.is_relative_to(os.path.realpath(self.root)):
            raise FileProblem(f"leads outside the workspace, to {str(real)!r}")
        return real

    def _make_folder(self, path: Path) -> None:
        if self.root is None:
            path.parent.mkdir(parents=True, exist_ok=True)
            return
        # not parents=True: a workspace that is gone must not be made again
        for folder in (path.parent.parent, path.parent):
            folder.mkdir(exist_ok=True)
        with suppress(OSError):  # one that is there stays; where none can be made, none is needed
            files.create(path.parent.parent / ".gitignore", GITIGNORE)

    def _stat(self) -> Signature | None:
        try:
            status = self.path.stat()
        except OSError:
            return None
        return (status.st_mtime_ns, status.st_size, status.st_ino, status.st_dev)


def _keep_aside(path: Path, data: bytes) -> str:
    """Copy `data` beside `path` as `<name>.bad-<n>`, once. Returns the copy's name."""
    number = 0
    while True:
        number += 1
        aside = path.with_name(f"{path.name}.bad-{number}")
        try:
            files.create(aside, data)
        except FileExistsError:
            if aside.is_file() and files.read(aside) == data:
                return aside.name
        else:
            return aside.name
