"""What a model is told of the tools where the API does not tell it."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from harness.model.protocols import wording
from harness.model.values import Protocol


def appendix(tools: Sequence[Mapping[str, Any]], protocol: Protocol) -> str:
    """What stands at the end of the system message; "" under `native`, or without tools."""
    if protocol == "native" or not tools:
        return ""
    if protocol == "text":
        return wording.TEXT.format(tools="\n".join(_lines(tools, wording.CALL, "")))
    lines = [*_lines(tools, wording.STEP, ", "), wording.ANSWER_STEP]
    return wording.CONSTRAINED.format(steps="\n".join(lines))


def _lines(tools: Sequence[Mapping[str, Any]], form: str, before: str) -> Iterable[str]:
    for tool in tools:
        function = tool["function"]
        schema = function.get("parameters") or {}
        required = [_argument(*item) for item in schema_of(schema, required=True).items()]
        optional = [_argument(*item) for item in schema_of(schema, required=False).items()]
        description = str(function.get("description", ""))
        if optional:
            description += wording.OPTIONAL.format(arguments=", ".join(optional))
        yield form.format(
            name=function["name"],
            arguments=(before if required else "") + ", ".join(required),
            description=description,
        )


def schema_of(schema: Mapping[str, Any], *, required: bool) -> dict[str, Mapping[str, Any]]:
    """The schemas of those arguments that are required, or of the others, in their order."""
    wanted = set(schema.get("required") or ())
    properties = schema.get("properties") or {}
    return {name: each for name, each in properties.items() if (name in wanted) is required}


def _argument(name: str, schema: Mapping[str, Any]) -> str:
    about = str(schema.get("description") or schema.get("type") or "text")
    return wording.ARGUMENT.format(name=name, about=about)
