"""The statements of a function in a form in which only their meaning differs.

Comments, formatting, docstrings and `pass` have no trace in it; the names of local variables
have none in `renamed`.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from harness.code.assertions import asserts

Function = ast.FunctionDef | ast.AsyncFunctionDef
_BLOCKS = ("body", "orelse", "finalbody", "handlers")
_NAME = re.compile(r"Name\('([^']*)'")


@dataclass(frozen=True)
class Statement:
    """`text` holds the statement after the heads of the blocks it is in."""

    text: str
    asserting: bool


def flattened(function: Function) -> tuple[Statement, ...]:
    """Every statement of a function with its blocks taken apart, in order."""
    return tuple(_flattened(function.body, ""))


def renamed(statements: Iterable[Statement], function: Function) -> tuple[Statement, ...]:
    """The same with local variables called by the order in which they first appear."""
    local = {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    numbers: dict[str, int] = {}

    def numbered(match: re.Match[str]) -> str:
        name = match[1]
        if name not in local:
            return match[0]
        return f"Name('{numbers.setdefault(name, len(numbers))}'"

    return tuple(Statement(_NAME.sub(numbered, s.text), s.asserting) for s in statements)


def dump(node: ast.AST) -> str:
    return ast.dump(node, annotate_fields=False)


def head(node: ast.AST) -> str:
    """A statement without the blocks it holds."""
    fields: dict[str, Any] = {
        name: [] if name in _BLOCKS else getattr(node, name) for name in node._fields
    }
    return dump(type(node)(**fields))


def only_asserts_more(old: tuple[Statement, ...], new: tuple[Statement, ...]) -> bool:
    """Whether `new` is `old` with additions that cannot change what `old` asserts: assertions
    anywhere, anything after the last assertion."""
    last = max((i for i, each in enumerate(old) if each.asserting), default=len(old) - 1)
    position, added = 0, ""
    for statement in new:
        if position < len(old) and statement.text == old[position].text:
            position += 1
        elif position <= last and not (added and statement.text.startswith(f"{added}/")):
            if not statement.asserting:
                return False
            added = statement.text  # what an added assertion holds comes with it
    return position == len(old)


def _flattened(body: Iterable[ast.AST], around: str) -> Iterator[Statement]:
    for node in body:
        if isinstance(node, ast.Pass) or _is_text(node):
            continue
        blocks = [name for name in _BLOCKS if getattr(node, name, None)]
        text = f"{around}/{head(node) if blocks else dump(node)}"
        yield Statement(text, asserts(node))
        for name in blocks:
            yield from _flattened(getattr(node, name), f"{text}/{name}")


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
