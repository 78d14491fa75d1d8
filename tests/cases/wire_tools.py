"""The tools that a wire case offers, as real tools that give the results it scripts."""

import itertools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from harness.tools.base import Access, Arguments, Prepared, Result, Tool, ToolContext
from tests.cases.wire_match import Did
from tests.cases.wire_rules import Json

_WRITERS = ("write", "patch", "edit", "create", "delete", "replace")


class CaseTools:
    """`ran` are the calls that were run, in order, with their arguments as they were checked."""

    def __init__(self, case: Json) -> None:
        self.ran: list[Did] = []
        self._by_name: Mapping[str, str] = case.get("tool_results") or {}
        self._in_turn: Iterator[str] = iter(case.get("tool_results_by_turn") or ())
        self.tools = tuple(self._tool(name, schema) for name, schema in offered(case))

    def schemas(self) -> list[Json]:
        return [tool.schema() for tool in self.tools]

    def __getitem__(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools if tool.name == name), None)

    def _tool(self, name: str, schema: Json) -> Tool:
        properties = schema.get("properties") or {}
        full = {"type": "object", **schema, "properties": properties}
        full.setdefault("required", [])

        def prepare(_context: ToolContext, arguments: Arguments) -> Prepared:
            return Prepared(lambda: self._run(name, dict(arguments)))

        shows = next(iter(properties), "")
        return Tool(name, f"{name}.", full, _access(name, properties), shows, prepare)

    def _run(self, name: str, arguments: Json) -> Result:
        self.ran.append(Did("", name, arguments))
        return Result(self._by_name.get(name) or next(self._in_turn, f"{name} done"))


def offered(case: Json) -> Iterable[tuple[str, Json]]:
    """Names and schemas, those of `extra_tools` last."""
    schemas = case.get("tool_schemas") or {}
    own = ((name, schemas.get(name) or {}) for name in case.get("tools_offered") or ())
    return itertools.chain(own, _extra(case.get("extra_tools") or ()))


def _extra(tools: Any) -> Iterator[tuple[str, Json]]:
    """Tools as a mapping from names to schemas, or as a request has them."""
    if isinstance(tools, dict):
        yield from tools.items()
        return
    for tool in tools:
        function = tool.get("function", tool)
        yield function["name"], function.get("parameters") or {}


def _access(name: str, properties: Json) -> Access:
    if any(word in name for word in _WRITERS):
        return "write"
    return "execute" if "command" in properties else "read"
