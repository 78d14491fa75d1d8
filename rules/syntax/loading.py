"""Reading rule files with all that they include.

A file may include regular files of at most 1 MiB in the folder of the file that was asked for,
or below it. Each is read once, at the place of the first `.include` of it.
"""

import os
import stat
from collections.abc import Iterator

from rules.errors import MAX_DIAGNOSTICS, Diagnostic, diagnose
from rules.source import Source, Span
from rules.statements import Declaration, Guard, Query, Rule
from rules.syntax.directives import Include
from rules.syntax.foreign import disguised_directives
from rules.syntax.parser import Item, Parser

MAX_INCLUDED_BYTES = 1024 * 1024

_ADVICE = (
    "include a regular file of at most 1 MiB, in or below the folder of the file that is loaded"
)


class Reading:
    """What has been read, each kind in file order, the faults of the texts, and warnings."""

    def __init__(self) -> None:
        self.statements: list[Rule] = []
        self.declarations: list[Declaration] = []
        self.guards: list[Guard] = []
        self.queries: list[Query] = []
        self.diagnostics: list[Diagnostic] = []
        self.warnings: list[Diagnostic] = []
        self._sources: dict[str, int] = {}

    def begin(self, source: Source) -> None:
        self._sources.setdefault(source.name, len(self._sources))

    def parsed(self, source: Source, tier: str) -> list[Item]:
        """The items of one text; its faults are kept."""
        self.begin(source)
        parser = Parser(source, tier)
        self.diagnostics += parser.diagnostics
        self.warnings += disguised_directives(source)
        return parser.items

    def add(self, item: Item) -> None:
        if isinstance(item, Rule):
            self.statements.append(item)
        elif isinstance(item, Declaration):
            self.declarations.append(item)
        elif isinstance(item, Guard):
            self.guards.append(item)
        elif isinstance(item, Query):
            self.queries.append(item)

    def report(self, span: Span, code: str, message: str, advice: str = "") -> None:
        self.diagnostics.append(diagnose(span, code, message, advice))

    def in_order(self, faults: list[Diagnostic]) -> list[Diagnostic]:
        """By the order in which the texts were read, and by their places."""
        last = len(self._sources)
        return sorted(
            faults, key=lambda each: (self._sources.get(each.source, last), each.line, each.column)
        )


def read_text(source: Source, tier: str) -> Reading:
    """A text by itself, which can include nothing."""
    reading = Reading()
    for item in reading.parsed(source, tier):
        if isinstance(item, Include):
            note = "a text that is not a file cannot include one"
            reading.report(item.span, "include", note, "load the rules from a file")
        else:
            reading.add(item)
    return reading


def read_file(path: str, tier: str) -> Reading:
    """A file and what it includes. Raises OSError if the file itself cannot be read."""
    with open(path, "rb") as file:
        data = file.read()
    return _FileReading(path).read(data, tier)


_OpenFile = tuple[str, str, Iterator[Item]]
"""The name that messages show, the real path, and what is still to be taken from it."""


class _FileReading:
    def __init__(self, path: str) -> None:
        self._reading = Reading()
        self._name = path
        self._top = os.path.realpath(path)
        self._folder = os.path.dirname(self._top)
        self._seen = {self._top}

    def read(self, data: bytes, tier: str) -> Reading:
        reading = self._reading
        # a chain of includes may be longer than Python's stack is deep
        open_files: list[_OpenFile] = [(self._name, self._top, self._items(self._name, data, tier))]
        while open_files:
            name, path, items = open_files[-1]
            item = next(items, None)
            if item is None:
                open_files.pop()
            elif not isinstance(item, Include):
                reading.add(item)
            elif len(reading.diagnostics) < MAX_DIAGNOSTICS:
                open_files += self._included(item, name, path)
        return reading

    def _items(self, name: str, data: bytes, tier: str) -> Iterator[Item]:
        reading = self._reading
        try:
            source = Source(name, data.decode("utf-8"))
        except UnicodeDecodeError as error:
            source = Source(name, data.decode("utf-8", "replace"))
            at = len(data[: error.start].decode("utf-8").removeprefix("\ufeff"))
            note = f"byte 0x{data[error.start]:02x} is not valid UTF-8"
            reading.begin(source)
            reading.report(Span(source, at, at + 1), "encoding", note, "save the file as UTF-8")
            return iter(())
        return iter(reading.parsed(source, tier))

    def _included(self, include: Include, name: str, path: str) -> list[_OpenFile]:
        """The included file, unless it was read before or cannot be."""
        try:
            target = self._target(include.path, path)
            if target in self._seen:
                return []
            self._seen.add(target)
            data = _content(target)
        except _Refused as refused:
            note = str(refused)
        except OSError as error:
            note = f"cannot be read: {error.strerror}"
        except ValueError:  # a character that no file name can have
            note = "is no name of a file"
        else:
            shown = os.path.normpath(os.path.join(os.path.dirname(name), include.path))
            return [(shown, target, self._items(shown, data, include.tier))]
        self._reading.report(include.span, "include", f"{include.path!r} {note}", _ADVICE)
        return []

    def _target(self, written: str, including: str) -> str:
        if os.path.isabs(written):
            raise _Refused("is not relative to the including file")
        target = os.path.realpath(os.path.join(os.path.dirname(including), written))
        if not target.startswith(self._folder.rstrip(os.sep) + os.sep):
            raise _Refused(f"is outside of the folder of {self._name!r}")
        return target


class _Refused(Exception):
    """A file may not be included; the message goes on after its name."""


def _content(path: str) -> bytes:
    """Raises OSError. A pipe or device is not waited for."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _Refused("is not a regular file")
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(MAX_INCLUDED_BYTES + 1)
    finally:
        os.close(descriptor)
    if len(data) > MAX_INCLUDED_BYTES:
        raise _Refused("has more than 1 MiB")
    return data
