"""Python source to a record of its definitions, imports and words, by tree-sitter.

What does parse of a broken file is found all the same. Offsets inside are bytes.
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from harness.code.imports import Reader
from harness.code.records import FileRecord, Kind, Symbol, pack
from harness.code.source import identifiers, normalised
from knowledge.words import query_words

if TYPE_CHECKING:
    from tree_sitter import Language, Node, Tree

MAX_BYTES = 1024 * 1024
_SIGNATURE = 200
_NAME_WEIGHT = 3.0
_DOC_WEIGHT = 1.5


class Parser:
    """Holds the compiled grammar and query. Made when the first file must be parsed."""

    def __init__(self) -> None:
        import tree_sitter
        import tree_sitter_python

        self._language: Language = tree_sitter.Language(tree_sitter_python.language())
        self._parser = tree_sitter.Parser(self._language)
        query = Path(__file__).with_name("python.scm").read_text(encoding="utf-8")
        self._cursor = tree_sitter.QueryCursor(tree_sitter.Query(self._language, query))
        self._terms: dict[str, tuple[str, ...]] = {}

    def tree(self, data: bytes) -> "Tree":
        """The syntax tree of `normalised` source."""
        return self._parser.parse(data)

    def record(self, data: bytes, digest: str) -> FileRecord:
        """What a file of these bytes holds."""
        data = normalised(data)
        root = self.tree(data).root_node
        captures = self._cursor.captures(root)
        symbols = list(_Definitions(data, captures).found())
        imports = Reader(data).read(captures)
        words = sorted(identifiers(data))
        return pack(digest, symbols, imports, self._weighted(symbols, words, data, root), words)

    def _weighted(
        self, symbols: Sequence[Symbol], words: Sequence[str], data: bytes, root: "Node"
    ) -> dict[str, float]:
        weights: dict[str, float] = {}
        for weight, texts in (
            (1.0, words),
            (_NAME_WEIGHT, dict.fromkeys(symbol.name for symbol in symbols)),
            (_DOC_WEIGHT, [symbol.doc for symbol in symbols if symbol.doc]),
            (_DOC_WEIGHT, [docstring(data, root)]),
        ):
            for text in texts:
                for term in self._split(text):
                    weights[term] = weights.get(term, 0.0) + weight
        return weights

    def _split(self, text: str) -> tuple[str, ...]:
        terms = self._terms.get(text)
        if terms is None:
            terms = self._terms[text] = tuple(query_words(text))
        return terms


class _Definitions:
    """Walks the captured nodes in the order of the text, keeping what encloses the next one."""

    def __init__(self, data: bytes, captures: "dict[str, list[Node]]") -> None:
        self._data = data
        self._decorated = {
            inner.start_byte: outer
            for outer in captures.get("decorated", ())
            if (inner := outer.child_by_field_name("definition")) is not None
        }
        nodes = [
            (node.start_byte, -node.end_byte, kind, node)
            for kind in ("class", "function", "assignment")
            for node in captures.get(kind, ())
        ]
        self._nodes = sorted(nodes, key=lambda item: item[:2])
        self._stack: list[tuple[int, str, str]] = []
        self._members: set[str] = set()

    def found(self) -> Iterator[Symbol]:
        for start, end, kind, node in self._nodes:
            while self._stack and self._stack[-1][0] <= start:
                self._stack.pop()
            if kind == "assignment":
                yield from self._assigned(node)
                continue
            name = _text(self._data, node.child_by_field_name("name"))
            if name:
                yield self._definition(kind, name, node)
                self._stack.append((-end, kind, self._qualified(name)))

    def _definition(self, captured: str, name: str, node: "Node") -> Symbol:
        outer = self._decorated.get(node.start_byte, node)
        method = captured == "function" and bool(self._stack) and self._stack[-1][1] == "class"
        kind: Kind = "class" if captured == "class" else "method" if method else "function"
        head = _class_head if captured == "class" else _function_head
        body = node.child_by_field_name("body")
        return Symbol(
            name=name,
            qualified=self._qualified(name),
            kind=kind,
            path="",
            start_line=outer.start_point[0] + 1,
            end_line=_last_line(outer),
            signature=_shortened(head(self._data, name, node)),
            doc=_first_line(docstring(self._data, body)) if body is not None else "",
        )

    def _assigned(self, node: "Node") -> Iterator[Symbol]:
        """Names of the module and of classes, and what methods set on `self`."""
        within = self._stack[-1][1] if self._stack else "module"
        owner = self._qualified("")
        if within == "function":
            if len(self._stack) < 2 or self._stack[-2][1] != "class":
                return
            owner = self._stack[-2][2] + "."
        for target in _targets(node):
            name = self._target_name(target, within)
            if name and (within != "function" or owner + name not in self._members):
                self._members.add(owner + name)
                yield Symbol(
                    name=name,
                    qualified=owner + name,
                    kind="assignment",
                    path="",
                    start_line=node.start_point[0] + 1,
                    end_line=_last_line(node),
                    signature=_shortened(_text(self._data, node)),
                    doc="",
                )

    def _target_name(self, target: "Node", within: str) -> str:
        if within != "function":
            return _text(self._data, target) if target.type == "identifier" else ""
        if target.type != "attribute":
            return ""
        if _text(self._data, target.child_by_field_name("object")) != "self":
            return ""
        return _text(self._data, target.child_by_field_name("attribute"))

    def _qualified(self, name: str) -> str:
        return f"{self._stack[-1][2]}.{name}" if self._stack else name


def docstring(data: bytes, body: "Node") -> str:
    """The text of the string which opens a module or a block, or ""."""
    first = next((child for child in body.named_children if child.type != "comment"), None)
    if first is None or first.type != "expression_statement":
        return ""
    string = first.named_child(0) if first.named_child_count else None
    if string is None or string.type != "string":
        return ""
    return "".join(
        _text(data, part) for part in string.named_children if part.type == "string_content"
    )


def _targets(assignment: "Node") -> "list[Node]":
    left = assignment.child_by_field_name("left")
    if left is None:
        return []
    return left.named_children if left.type in ("pattern_list", "tuple_pattern") else [left]


def _function_head(data: bytes, name: str, node: "Node") -> str:
    parameters = _text(data, node.child_by_field_name("parameters"))
    if "#" in parameters and "\n" in parameters:
        parameters = re.sub(r"#[^\n]*", "", parameters)
    returns = _text(data, node.child_by_field_name("return_type"))
    keyword = "async def" if data.startswith(b"async", node.start_byte) else "def"
    return f"{keyword} {name}{parameters}" + (f" -> {returns}" if returns else "")


def _class_head(data: bytes, name: str, node: "Node") -> str:
    return f"class {name}{_text(data, node.child_by_field_name('superclasses'))}"


def _last_line(node: "Node") -> int:
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def _text(data: bytes, node: "Node | None") -> str:
    if node is None:
        return ""
    text = data[node.start_byte : node.end_byte].decode("utf-8", "replace")
    # as Python does with names
    return text if text.isascii() else unicodedata.normalize("NFKC", text)


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SIGNATURE else text[: _SIGNATURE - 3] + "..."


def _first_line(text: str) -> str:
    return next((line.strip() for line in text.splitlines() if line.strip()), "")
