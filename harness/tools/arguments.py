"""Checking a call's arguments against the tool's schema."""

import re
from collections.abc import Mapping
from typing import Any

from harness.errors import InvalidArguments
from harness.model.arguments import fitted, is_of
from harness.tools.base import Arguments, Tool

_SURROGATE = re.compile("[\ud800-\udfff]")


def check(tool: Tool, given: Arguments) -> dict[str, Any]:
    """The arguments with aliases resolved and lossless type differences mended.

    Raises InvalidArguments naming the argument, what was sent and what is wanted.
    """
    properties: Mapping[str, Any] = tool.parameters["properties"]
    arguments = fitted(tool.parameters, given)
    unknown = [key for key in arguments if key not in properties]
    if unknown:
        raise InvalidArguments(f"{tool.name} has no argument {unknown[0]!r}. {_usage(tool)}")
    missing = [name for name in tool.parameters["required"] if name not in arguments]
    if missing:
        raise InvalidArguments(f"{tool.name} needs {missing[0]!r}. {_usage(tool)}")
    return {key: _checked(tool, key, value, properties[key]) for key, value in arguments.items()}


def _checked(tool: Tool, key: str, value: Any, schema: Mapping[str, Any]) -> Any:
    if not is_of(value, schema):
        wanted = _article(schema["type"])
        raise InvalidArguments(
            f"{tool.name}: {key!r} must be {wanted}, not {_short(value)}. {_usage(tool)}"
        )
    if isinstance(value, str):
        return _choice(tool, key, _whole_characters(tool, key, value), schema)
    return value


def _whole_characters(tool: Tool, key: str, value: str) -> str:
    half = _SURROGATE.search(value)
    if half:
        raise InvalidArguments(
            f"{tool.name}: {key!r} holds {half[0]!r}, half of a character. Send whole characters."
        )
    return value


def _choice(tool: Tool, key: str, value: str, schema: Mapping[str, Any]) -> str:
    choices = schema.get("enum")
    if choices and value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise InvalidArguments(f"{tool.name}: {key!r} must be {listed}, not {_short(value)}.")
    return value


def _usage(tool: Tool) -> str:
    required = tool.parameters["required"]
    parts = [
        f"{name}: {schema['type']}" + ("" if name in required else " (optional)")
        for name, schema in tool.parameters["properties"].items()
    ]
    return f"Call it as {tool.name}({', '.join(parts)})."


def _article(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
