"""Checking a call's arguments against the tool's schema."""

import re
from collections.abc import Mapping
from typing import Any

from harness.errors import ToolError
from harness.tools.base import Arguments, Tool

ALIASES: Mapping[str, tuple[str, ...]] = {
    "path": ("filePath", "file_path", "filepath", "filename", "file", "directory", "folder"),
    "command": ("cmd",),
    "content": ("contents", "text"),
    "old_text": ("old_string", "old_str", "oldText", "old"),
    "new_text": ("new_string", "new_str", "newText", "new"),
    "start": ("start_line", "startLine"),
    "end": ("end_line", "endLine"),
    "pattern": ("query", "regex"),
    "name": ("symbol",),
}
"""What other agents call the same argument; used only when ours is missing."""
_INTEGER = re.compile(r"\s*[+-]?[0-9]{1,18}\s*")
_SURROGATE = re.compile("[\ud800-\udfff]")


def check(tool: Tool, given: Arguments) -> dict[str, Any]:
    """The arguments with aliases resolved and lossless type differences mended.

    Raises ToolError naming the argument, what was sent and what is wanted.
    """
    properties: Mapping[str, Any] = tool.parameters["properties"]
    arguments = _renamed(properties, given)
    unknown = [key for key in arguments if key not in properties]
    if unknown:
        raise ToolError(f"{tool.name} has no argument {unknown[0]!r}. {_usage(tool)}")
    missing = [name for name in tool.parameters["required"] if name not in arguments]
    if missing:
        raise ToolError(f"{tool.name} needs {missing[0]!r}. {_usage(tool)}")
    return {key: _coerce(tool, key, value, properties[key]) for key, value in arguments.items()}


def _renamed(properties: Mapping[str, Any], given: Arguments) -> dict[str, Any]:
    arguments = {key: value for key, value in given.items() if value is not None}
    for name in properties:
        for alias in ALIASES.get(name, ()):
            if name not in arguments and alias in arguments and alias not in properties:
                arguments[name] = arguments.pop(alias)
    return arguments


def _coerce(tool: Tool, key: str, value: Any, schema: Mapping[str, Any]) -> Any:
    wanted = schema["type"]
    if wanted == "string":
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str):
            return _choice(tool, key, _whole_characters(tool, key, value), schema)
    if wanted == "integer" and not isinstance(value, bool):
        if isinstance(value, int):
            return value
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, str) and _INTEGER.fullmatch(value):
            return int(value)
    raise ToolError(
        f"{tool.name}: {key!r} must be {_article(wanted)}, not {_short(value)}. {_usage(tool)}"
    )


def _whole_characters(tool: Tool, key: str, value: str) -> str:
    half = _SURROGATE.search(value)
    if half:
        raise ToolError(
            f"{tool.name}: {key!r} holds {half[0]!r}, half of a character. Send whole characters."
        )
    return value


def _choice(tool: Tool, key: str, value: str, schema: Mapping[str, Any]) -> str:
    choices = schema.get("enum")
    if choices and value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise ToolError(f"{tool.name}: {key!r} must be {listed}, not {_short(value)}.")
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
