"""The uses of a name in one file, each with what is done there."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from harness.code.records import Reference, ReferenceKind
from harness.code.source import normalised

if TYPE_CHECKING:
    from tree_sitter import Node

    from harness.code.parse import Parser

_DEFINITIONS = ("function_definition", "class_definition")
_ASSIGNING = {
    "assignment": "left",
    "augmented_assignment": "left",
    "for_statement": "left",
    "for_in_clause": "left",
    "named_expression": "name",
}
_PATTERNS = ("pattern_list", "tuple_pattern", "list_pattern", "as_pattern_target")
_IMPORTS = ("import_statement", "import_from_statement", "aliased_import")


def find(parser: "Parser", path: str, data: bytes, name: str) -> Iterator[Reference]:
    """Every use of `name` in the source `data` in the order of the text, without the definitions
    of functions and classes of that name."""
    data = normalised(data)
    lines = data.split(b"\n")
    root = parser.tree(data).root_node
    word = re.escape(name.encode("utf-8", "surrogatepass"))
    for match in re.finditer(rb"(?<![\w\x80-\xff])" + word + rb"(?![\w\x80-\xff])", data):
        node = root.descendant_for_byte_range(*match.span())
        if node is None or node.type != "identifier" or node.byte_range != match.span():
            continue
        kind = _kind(node)
        if kind is not None:
            row, column = node.start_point
            line = lines[row]
            yield Reference(
                path=path,
                line=row + 1,
                column=len(line[:column].decode("utf-8", "replace")) + 1,
                kind=kind,
                enclosing=_enclosing(node),
                text=line.decode("utf-8", "replace").strip(),
            )


def _kind(node: "Node") -> ReferenceKind | None:
    """What is done with the name; None where it is defined."""
    parent = node.parent
    if parent is None:
        return "name"
    if parent.type in _DEFINITIONS and parent.child_by_field_name("name") == node:
        return None
    if parent.type == "attribute" and parent.child_by_field_name("attribute") == node:
        return _used_as(parent, "attribute")
    if parent.type == "dotted_name" and parent.parent is not None:
        return "import" if parent.parent.type in _IMPORTS else "name"
    if parent.type == "aliased_import":
        return "import"
    return _used_as(node, "name")


def _used_as(node: "Node", otherwise: ReferenceKind) -> ReferenceKind:
    parent = node.parent
    if parent is None:
        return otherwise
    if parent.type == "call" and parent.child_by_field_name("function") == node:
        return "call"
    if parent.type == "decorator":
        return "call"
    if _is_assigned(node, parent):
        return "assignment"
    if otherwise == "name" and parent.type in ("argument_list", "keyword_argument"):
        return "argument"
    return otherwise


def _is_assigned(node: "Node", parent: "Node") -> bool:
    while parent.type in _PATTERNS and parent.parent is not None:
        node, parent = parent, parent.parent
        if parent.type == "as_pattern":
            return True
    field = _ASSIGNING.get(parent.type)
    return field is not None and parent.child_by_field_name(field) == node


def _enclosing(node: "Node") -> str:
    """The dotted name of the definitions around a node."""
    names: list[str] = []
    inner, outer = node, node.parent
    while outer is not None:
        if outer.type in _DEFINITIONS:
            name = outer.child_by_field_name("name")
            if name is not None and name != inner and name.text is not None:
                names.append(name.text.decode("utf-8", "replace"))
        inner, outer = outer, outer.parent
    return ".".join(reversed(names))
