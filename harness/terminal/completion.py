"""What Tab offers: commands, and paths below the workspace's root."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.terminal.commands import COMMANDS
from harness.terminal.safe import clean

NEVER_ENTERED = frozenset({".git", ".venv", "venv", "node_modules", "__pycache__"})
MOST = 200
_TAKES_A_PATH = "/rules check "


@dataclass(frozen=True)
class Candidate:
    """`text` replaces the `replaces` characters before the cursor; `about` explains it."""

    text: str
    replaces: int
    about: str = ""


def candidates(before: str, root: Path, *, asked: bool) -> Iterator[Candidate]:
    """Completions of the text before the cursor.

    `asked` is True when Tab was pressed. While typing, only commands and words with an `@` or
    a `/` are completed, so that plain prose is left alone.
    """
    if before.startswith("/") and "\n" not in before:
        yield from _commands(before)
        if before.startswith(_TAKES_A_PATH):
            yield from _paths(before.rpartition(" ")[2], root)
        return
    word = "" if before[-1:].isspace() else (before.split() or [""])[-1]
    marked = word.startswith("@") or "/" in word
    if marked or (asked and before.strip()):
        yield from _paths(word.removeprefix("@"), root)


def _commands(before: str) -> Iterator[Candidate]:
    name, blank, rest = before.partition(" ")
    if not blank:
        for command in COMMANDS:
            if command.name.startswith(name):
                yield Candidate(command.name, len(name), command.about)
        return
    for command in COMMANDS:
        if command.name == name:
            for word in command.words:
                if word.startswith(rest) and word != rest:
                    yield Candidate(word, len(rest))


def _paths(word: str, root: Path) -> Iterator[Candidate]:
    folder, _, start = word.rpartition("/")
    real_root = root.resolve()
    place = (real_root / folder).resolve() if not word.startswith("/") else None
    if place is None or not place.is_relative_to(real_root):
        return
    if NEVER_ENTERED.intersection(place.relative_to(real_root).parts):
        return
    for name in _names(place, start)[:MOST]:
        yield Candidate(name, len(start))


def _names(place: Path, start: str) -> list[str]:
    """Names in one folder that begin with `start`; folders end in `/`."""
    try:
        with os.scandir(place) as entries:
            found = [_name(entry) for entry in entries if entry.name.startswith(start)]
    except OSError:
        return []
    hidden_wanted = start.startswith(".")
    return sorted(
        name
        for name in found
        if name.rstrip("/") not in NEVER_ENTERED
        and clean(name) == name
        and (hidden_wanted or not name.startswith("."))
    )


def _name(entry: "os.DirEntry[str]") -> str:
    try:
        return f"{entry.name}/" if entry.is_dir() else entry.name
    except OSError:
        return entry.name
