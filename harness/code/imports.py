"""Import statements, as written: which module, which names out of it, under which names."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from harness.code.records import Import

if TYPE_CHECKING:
    from tree_sitter import Node


class Reader:
    """Reads the captured import nodes of one source."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, captures: "Mapping[str, list[Node]]") -> list[Import]:
        """Every import in the order of the text, also those within functions and those which
        call `import_module` with a literal."""
        found: list[tuple[int, Import]] = []
        for kind, read in (
            ("import", self._plain),
            ("import_from", self._from),
            ("module", self._called),
        ):
            for node in captures.get(kind, ()):
                found.extend((node.start_byte, each) for each in read(node))
        return [each for _, each in sorted(found, key=lambda pair: pair[0])]

    def _plain(self, node: "Node") -> Iterator[Import]:
        for name in node.children_by_field_name("name"):
            module, _ = self._named(name)
            yield Import(module, 0, (), (), node.start_point[0] + 1)

    def _from(self, node: "Node") -> Iterator[Import]:
        source = node.child_by_field_name("module_name")
        if source is None:
            return
        module, level = _dotted(self._text(source))
        pairs = [self._named(name) for name in node.children_by_field_name("name")]
        if any(child.type == "wildcard_import" for child in node.named_children):
            pairs = [("*", "*")]
        names = tuple(name for name, _ in pairs)
        yield Import(module, level, names, tuple(b for _, b in pairs), node.start_point[0] + 1)

    def _called(self, node: "Node") -> Iterator[Import]:
        module, level = _dotted(self._text(node))
        if all(part.isidentifier() for part in module.split(".")):
            yield Import(module, level, (), (), node.start_point[0] + 1)

    def _named(self, node: "Node") -> tuple[str, str]:
        """The name in the module and the name it is bound to."""
        if node.type == "aliased_import":
            name = node.child_by_field_name("name")
            alias = node.child_by_field_name("alias")
            if name is not None and alias is not None:
                return self._text(name), self._text(alias)
        text = self._text(node)
        return text, text

    def _text(self, node: "Node") -> str:
        text = self._data[node.start_byte : node.end_byte].decode("utf-8", "replace")
        return "".join(text.split())


def _dotted(text: str) -> tuple[str, int]:
    module = text.lstrip(".")
    return module, len(text) - len(module)
