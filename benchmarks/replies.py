"""Replies of any length for the decoder's benchmark: what models write, and what would be slow."""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

Piece = tuple[str, dict[str, Any]]
"""Content, and the delta that carries it."""
Workload = Callable[[int, int], Iterator[Piece]]
"""Gives a reply of about so many characters in pieces of so many."""

_PROSE = (
    "The lock is taken in step {n}, before the counter is read; so two logins that fail at the "
    "same time count twice. I would keep it and move the reset behind it.\n"
)
_CODE = (
    "In `auth.py` the limit is `max_attempts = {n}`:\n```python\ndef failed(self, user):\n"
    '    count = self.counts.get(user, {n})\n    return f"{{count}} <b>" if count < 3 else None\n'
    "```\nand so on.\n"
)
_LINE = 'def function_{n}(value):\n    """Return {n}."""\n    return {{"value": [value, {n}]}}\n\n'


def _filled(template: str, size: int) -> str:
    parts: list[str] = []
    length = number = 0
    while length < size:
        parts.append(template.format(n=number))
        length += len(parts[-1])
        number += 1
    return "".join(parts)[:size]


def _pieces(text: str, characters: int) -> Iterator[str]:
    return (text[at : at + characters] for at in range(0, len(text), characters))


def _content(make: Callable[[int], str]) -> Workload:
    def workload(size: int, characters: int) -> Iterator[Piece]:
        for piece in _pieces(make(size), characters):
            yield piece, {"content": piece}

    return workload


def _reasoning(size: int, characters: int) -> Iterator[Piece]:
    for piece in _pieces(_filled(_PROSE, size), characters):
        yield piece, {"reasoning_content": piece}
    yield "Done.", {"content": "Done."}


def _native(**repeated: Any) -> Workload:
    def workload(size: int, characters: int) -> Iterator[Piece]:
        arguments = json.dumps({"path": "a.py", "content": _filled(_LINE, size)})
        name: dict[str, Any] = {"name": "write_file"}
        head = {"index": 0, "id": "call_a", "function": {**name, "arguments": ""}}
        yield "", {"tool_calls": [head]}
        for piece in _pieces(arguments, characters):
            function = {"arguments": piece, **(name if repeated.get("name") else {})}
            yield piece, {"tool_calls": [{"index": 0, "function": function}]}

    return workload


def _parallel(size: int, characters: int) -> Iterator[Piece]:
    """Many calls whose pieces come in turn."""
    arguments = json.dumps({"path": "a.py", "content": _filled(_LINE, size // 100)})
    for index in range(100):
        head = {"name": "write_file", "arguments": ""}
        yield "", {"tool_calls": [{"index": index, "id": f"call_{index}", "function": head}]}
    for piece in _pieces(arguments, characters):
        for index in range(100):
            function = {"arguments": piece}
            yield piece, {"tool_calls": [{"index": index, "function": function}]}


def _hermes(size: int) -> str:
    call = {"name": "write_file", "arguments": {"path": "a.py", "content": _filled(_LINE, size)}}
    return f"I write it.\n<tool_call>\n{json.dumps(call)}\n</tool_call>"


def _qwen(size: int) -> str:
    return (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.py\n</parameter>\n"
        f"<parameter=content>\n{_filled(_LINE, size)}\n</parameter>\n</function>\n</tool_call>"
    )


def _templated(template: str, head: str = "") -> Workload:
    return _content(lambda size: head + _filled(template, size))


WORKLOADS: Mapping[str, Workload] = {
    "prose": _templated(_PROSE),
    "prose with code": _templated(_CODE),
    "reasoning": _reasoning,
    "think block": _templated(_PROSE, "<think>"),
    "native call": _native(),
    "native call, name repeated": _native(name=True),
    "100 native calls in turn": _parallel,
    "hermes call": _content(_hermes),
    "qwen3-coder call": _content(_qwen),
    "many <": _templated("a{n} < b<c <"),
    "many `": _templated("`` ` a{n} ```"),
    "unclosed code spans": _templated("`{n}\n"),
    "many braces": _templated('{{"name": "{n}\n{{"name": [{n}\n'),
    "many newlines": _templated("\n\n \n{n}\n\t\n"),
    "unclosed call": _templated("{n}{{", '<tool_call>\n{"name": "write_file", '),
    "unclosed parameter": _templated(
        "</parameter>\n{n}\n<parameter=x", "<function=write_file>\n<parameter=content>\n"
    ),
    "unclosed fence": _templated("```\n~~~~{n}\n", "````json\n"),
    "tags spoken of": _templated("a <tool_call> {n} </function> b\n"),
    "thoughts in thoughts": _templated("<think>{n}", "<think>"),
    "thoughts spoken of": _templated("a <think>{n} ", "x\n"),
    "bracket lists": _templated("[read_file({n}\n"),
    "quotes in arguments": _templated('{n}\\"\\" \'', '<tool_call>\n{"name": "read_file", "a": "'),
}
