"""The JSON schema of the next step, in the part of the language that every server enforces.

A choice (`anyOf`) of flat objects; in each a `tool` that is one word, the required arguments and
then the others, nothing else. No `$ref`, `pattern`, `format` or bounds: llama.cpp's grammars,
xgrammar (vLLM, SGLang), outlines (MLX in LM Studio) and Ollama disagree about those, and agree
about this. They all keep the order of the properties, so the tool is decided first.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.model.protocols.describing import schema_of
from harness.model.protocols.steps import ANSWER, TEXT, TOOL, WRAPPER
from harness.model.values import Narrowing

NAME = "step"
"""What the schema is called in a request."""


def step_schema(
    tools: Sequence[Mapping[str, Any]], narrowing: Narrowing | None = None
) -> dict[str, Any]:
    """What the next reply may be: any call of any tool and the answer, or what `narrowing`
    leaves of that. Something is always left."""
    known = {tool["function"]["name"]: tool["function"] for tool in tools}
    offered = list(known) if narrowing is None else [n for n in narrowing.tools if n in known]
    values = narrowing.values if narrowing else {}
    choices = [_call(known[name], values) for name in offered]
    if narrowing is None or narrowing.answer or not choices:
        choices.append(_object({TOOL: _word(ANSWER), TEXT: {"type": "string"}}))
    return {"type": "object", "anyOf": choices}


def wrapped(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same as OpenAI's strict mode has it: the choice below a property, every argument
    required, and null for one that is left out."""
    choices = [_all_required(choice) for choice in schema["anyOf"]]
    return _object({WRAPPER: {"anyOf": choices}})


def _call(function: Mapping[str, Any], values: Mapping[tuple[str, str], Any]) -> dict[str, Any]:
    name = function["name"]
    parameters = function.get("parameters") or {}
    properties = {TOOL: _word(name)}
    required = schema_of(parameters, required=True)
    for argument, schema in (required | schema_of(parameters, required=False)).items():
        properties[argument] = _argument(schema, values.get((name, argument)))
    return _object(properties, [TOOL, *required])


def _argument(schema: Mapping[str, Any], allowed: Sequence[str] | None) -> dict[str, Any]:
    kind = str(schema.get("type", "string"))
    choices = list(allowed) if allowed else schema.get("enum")
    return {"type": kind, "enum": list(choices)} if choices else {"type": kind}


def _word(text: str) -> dict[str, Any]:
    return {"type": "string", "enum": [text]}


def _object(properties: Mapping[str, Any], required: Sequence[str] | None = None) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties) if required is None else list(required),
        "additionalProperties": False,
    }


def _all_required(choice: Mapping[str, Any]) -> dict[str, Any]:
    required = set(choice["required"])
    properties = {
        name: each if name in required else _or_null(each)
        for name, each in choice["properties"].items()
    }
    return _object(properties)


def _or_null(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"anyOf": [dict(schema), {"type": "null"}]}
