"""Calls written as Python: `read_file(path='a.py', start=10)`. Parsed, never evaluated."""

import ast
import re
import warnings
from typing import Any

from harness.model.families.form import UNREADABLE, Problem, Written, named
from harness.model.offer import Offer

PROMISE = re.compile(r"\[\s*([A-Za-z_][\w.]{0,80})\s*\(")
"""How a list of calls starts."""

_MARK = re.compile(
    r"\"\"\".*?(?<!\\)\"\"\"|'''.*?(?<!\\)'''"
    r"|\"[^\"\\\n]*(?:\\.[^\"\\\n]*)*\"|'[^'\\\n]*(?:\\.[^'\\\n]*)*'"
    r"|(?P<open>[\"'].*)|[()\[\]{}]",
    re.DOTALL,
)
_CLOSERS = {"(": ")", "[": "]", "{": "}"}
_MOST_BITS = 1024
"""Of a whole number: beyond, JSON cannot be relied on to carry it."""
_WORDS = {"true": True, "false": False, "null": None}


def list_end(text: str, at: int) -> int | None:
    """Where the bracket at `at` closes, or None."""
    due: list[str] = []
    for mark in _MARK.finditer(text, at):
        if mark["open"]:
            return None
        if mark[0] in _CLOSERS:
            due.append(_CLOSERS[mark[0]])
        elif mark[0] in ")]}":
            if due.pop() != mark[0]:
                return None
            if not due:
                return mark.end()
    return None


def calls_in(source: str, offer: Offer) -> list[Written | Problem] | None:
    """The calls of a source: one, a list, or one a line. None when it is other Python, and an
    empty list when it is no Python.

    Only keyword arguments with literal values are read: which argument a bare value is for would
    be a guess.
    """
    body = _parsed(source)
    nodes = _calls(body)
    return [_call(node, offer) for node in nodes] if nodes or not body else None


def _parsed(source: str) -> list[ast.stmt]:
    try:
        with warnings.catch_warnings():
            # an escape that Python does not know is a backslash to it, as to us
            warnings.simplefilter("ignore")
            return ast.parse(source.strip()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _calls(body: list[ast.stmt]) -> list[ast.Call]:
    """The calls that statements are; none if one of them is something else."""
    calls: list[ast.Call] = []
    for statement in body:
        value = statement.value if isinstance(statement, ast.Expr) else None
        printed = isinstance(value, ast.Call) and _dotted(value.func) == "print"
        if isinstance(value, ast.Call) and printed and len(value.args) == 1:
            value = value.args[0]
        found = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        made = [item for item in found if isinstance(item, ast.Call)]
        if not made or len(made) < len(found):
            return []
        calls.extend(made)
    return calls


def _call(node: ast.Call, offer: Offer) -> Written | Problem:
    name = _dotted(node.func)
    if not name or node.args:
        sentence = f"{UNREADABLE} Name each argument."
        return Problem("malformed_tool_call", sentence)
    try:
        arguments = {_key(keyword): _literal(keyword.value) for keyword in node.keywords}
    except (ValueError, RecursionError):
        return Problem("malformed_tool_call", UNREADABLE)
    return named(name, arguments, offer)


def _dotted(node: ast.expr) -> str:
    if isinstance(node, ast.Attribute):
        above = _dotted(node.value)
        return f"{above}.{node.attr}" if above else ""
    return node.id if isinstance(node, ast.Name) else ""


def _key(keyword: ast.keyword) -> str:
    if keyword.arg is None:
        raise ValueError("no name")
    return keyword.arg


def _literal(node: ast.expr) -> Any:
    """A literal as JSON has it. Raises ValueError for all else."""
    if isinstance(node, ast.Name) and node.id in _WORDS:
        return _WORDS[node.id]
    if isinstance(node, ast.List | ast.Tuple):
        return [_literal(item) for item in node.elts]
    if isinstance(node, ast.Dict):
        keys = [_literal(key) if key else None for key in node.keys]
        if not all(isinstance(key, str) for key in keys):
            raise ValueError("a key that is no text")
        return dict(zip(keys, map(_literal, node.values), strict=True))
    value = ast.literal_eval(node)
    too_large = isinstance(value, int) and value.bit_length() > _MOST_BITS
    if too_large or not isinstance(value, str | int | float | None):
        raise ValueError("no JSON")
    return value
