"""The tools offered with a request, as far as reading its reply needs them."""

from collections.abc import Mapping, Sequence
from typing import Any

_PREFIXES = ("functions.", "function.", "tools.", "tool.", "default_api.")


class Offer:
    """The names of the offered tools and of their arguments."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """`tools` as sent: `{"type": "function", "function": {"name", "parameters"}}`."""
        self._arguments = dict(_described(tool) for tool in tools)

    def __contains__(self, name: str) -> bool:
        return name in self._arguments

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._arguments)

    def arguments(self, name: str) -> tuple[str, ...]:
        """The argument names of a tool, in the order of its schema."""
        return self._arguments.get(name, ())

    def resolve(self, name: str) -> str:
        """The offered name that `name` is a spelling of, else `name` as it is."""
        name = name.strip()
        if name in self:
            return name
        bare = name
        for prefix in _PREFIXES:
            bare = bare.removeprefix(prefix)
        alike = [known for known in self.names if known.lower() == bare.lower()]
        return alike[0] if len(alike) == 1 else name


def _described(tool: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    function = tool.get("function") or {}
    schema = function.get("parameters") or {}
    return str(function.get("name", "")), tuple(schema.get("properties") or {})
