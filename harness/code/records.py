"""What is known of a file, and the shapes it is handed out in.

A `FileRecord` belongs to a content, not to a path: two equal files share one. Its parts are kept
as JSON text, as the cache stores them, and unpacked when they are asked for.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

Kind = Literal["class", "function", "method", "assignment"]
ReferenceKind = Literal["call", "attribute", "import", "assignment", "argument", "name"]


@dataclass(frozen=True)
class Symbol:
    """A definition. `qualified` is dotted within its file; lines are 1-based and inclusive, with
    the decorators; `doc` is the docstring's first line. Attributes which a method sets on `self`
    are assignments of the class."""

    name: str
    qualified: str
    kind: Kind
    path: str
    start_line: int
    end_line: int
    signature: str
    doc: str


@dataclass(frozen=True)
class Reference:
    """A use of a name. `line` and `column` are 1-based, columns in characters; `enclosing` is the
    qualified name of the definition around it or ""; `text` the line without its indent."""

    path: str
    line: int
    column: int
    kind: ReferenceKind
    enclosing: str
    text: str


@dataclass(frozen=True)
class Import:
    """One imported module. `level` counts the dots before `module`; `names` are what a
    from-import takes out of it ("*" for all) and `bound` what each is called here."""

    module: str
    level: int
    names: tuple[str, ...]
    bound: tuple[str, ...]
    line: int


@dataclass(frozen=True)
class FileRecord:
    """What one content holds.

    `words_text` maps stems to weights, without the words of the path; `identifiers` are all
    words of the text with a space around each, so that a file without a name needs no parsing.
    """

    hash: str
    symbols_text: str
    imports_text: str
    words_text: str
    identifiers: str

    @cached_property
    def imports(self) -> tuple[Import, ...]:
        return tuple(
            Import(module, level, tuple(names), tuple(bound), line)
            for module, level, names, bound, line in json.loads(self.imports_text)
        )

    @cached_property
    def words(self) -> Mapping[str, float]:
        unpacked: dict[str, float] = json.loads(self.words_text)
        return unpacked

    @cached_property
    def length(self) -> float:
        """The sum of the weights of its words."""
        return sum(self.words.values())

    def symbols(self, path: str) -> list[Symbol]:
        """Its definitions in the order of the text, as those of `path`."""
        return [
            Symbol(name, qualified, kind, path, start, end, signature, doc)
            for name, qualified, kind, start, end, signature, doc in json.loads(self.symbols_text)
        ]

    def defines(self, name: str) -> bool:
        """Whether a definition may have this plain name, found without unpacking."""
        return f'"{name}"' in self.symbols_text

    def may_import(self, name: str) -> bool:
        """Whether an import may bind this name, or every name, found without unpacking."""
        return f'"{name}"' in self.imports_text or '"*"' in self.imports_text

    def mentions(self, name: str) -> bool:
        """Whether the text holds `name` as a word."""
        return f" {name} " in self.identifiers


def pack(
    digest: str,
    symbols: Iterable[Symbol],
    imports: Iterable[Import],
    words: Mapping[str, float],
    identifiers: Iterable[str],
) -> FileRecord:
    """A record of these parts; the paths of the symbols are left out."""
    rows = [
        (s.name, s.qualified, s.kind, s.start_line, s.end_line, s.signature, s.doc) for s in symbols
    ]
    found = [(i.module, i.level, i.names, i.bound, i.line) for i in imports]
    return FileRecord(
        hash=digest,
        symbols_text=_compact(rows),
        imports_text=_compact(found),
        words_text=_compact(words),
        identifiers=f" {' '.join(identifiers)} ",
    )


def empty(digest: str) -> FileRecord:
    """The record of a file that is not parsed."""
    return pack(digest, (), (), {}, ())


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
