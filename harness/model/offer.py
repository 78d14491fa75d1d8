"""The tools offered with a request, as far as reading its reply needs them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.model.arguments import fitted, misfit, required

_PREFIX = re.compile(r"\A(?:mcp__[A-Za-z0-9\-]+__|(?:function|tool)=|(?:[A-Za-z0-9_\-]+[.:/])+)")
_SUFFIX = re.compile(r"(?::[0-9]+|\(\)|\.call|<\|.*)\Z", re.DOTALL)
_AROUND = " \t\r\n\"'`<>"
_LONGEST = 200


class Offer:
    """The offered tools: their names and the schemas of their arguments."""

    def __init__(self, tools: Sequence[Mapping[str, Any]]) -> None:
        """`tools` as sent: `{"type": "function", "function": {"name", "parameters"}}`."""
        self._schemas = dict(_described(tool) for tool in tools if isinstance(tool, Mapping))

    def __contains__(self, name: str) -> bool:
        return name in self._schemas

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._schemas)

    def arguments(self, name: str) -> tuple[str, ...]:
        """The argument names of a tool, in the order of its schema."""
        properties = self._schemas.get(name, {}).get("properties")
        return tuple(properties) if isinstance(properties, Mapping) else ()

    def required(self, name: str) -> tuple[str, ...]:
        """The arguments that a tool cannot do without."""
        return required(self._schemas.get(name, {}))

    def fitted(self, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
        """The arguments under the names and with the types of the tool's schema."""
        return fitted(self._schemas.get(name, {}), given)

    def misfit(self, name: str, arguments: Mapping[str, Any]) -> str:
        """The first argument that does not fit the tool, or ""."""
        return misfit(self._schemas.get(name, {}), arguments)

    def resolve(self, name: str) -> str:
        """The offered name that `name` is a spelling of, else `name` as it is.

        A spelling may differ in case, in `_` and `-`, stand in quotes, have a namespace in front
        (`functions.`), a number (`:0`), `()` or a control token behind, or come twice.
        """
        name = name.strip(_AROUND)
        if name in self or len(name) > _LONGEST:
            return name
        bare = _SUFFIX.sub("", name).strip()
        again = next((known for known in self.names if _is_repeated(known, bare)), bare)
        for spelling in (bare, _PREFIX.sub("", bare), again):
            if spelling in self:
                return spelling
            alike = [known for known in self.names if _plain(known) == _plain(spelling)]
            if len(alike) == 1:
                return alike[0]
        return name


def _is_repeated(name: str, text: str) -> bool:
    return bool(name) and text == name * (len(text) // len(name))


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _described(tool: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    function = tool.get("function")
    function = function if isinstance(function, Mapping) else {}
    schema = function.get("parameters")
    return str(function.get("name", "")), schema if isinstance(schema, Mapping) else {}
