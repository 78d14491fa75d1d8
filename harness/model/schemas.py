"""JSON schemas made simpler, for servers that cannot turn a whole one into a grammar.

Whatever the full schema accepts, the simple one accepts, too (but null, which means absent): only
restrictions and notes go. Names, types, required arguments, enumerations and descriptions stay.
"""

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, Any]

_RESTRICTIONS = frozenset(
    {
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "exclusiveMaximum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minContains",
        "maxContains",
        "minProperties",
        "maxProperties",
        "patternProperties",
        "propertyNames",
        "additionalItems",
        "unevaluatedItems",
        "unevaluatedProperties",
        "prefixItems",
        "if",
        "then",
        "else",
        "not",
        "dependentRequired",
        "dependentSchemas",
        "dependencies",
        "contentEncoding",
        "contentMediaType",
        "contentSchema",
        "$schema",
        "$id",
        "$comment",
        "$anchor",
        "default",
        "examples",
        "deprecated",
        "readOnly",
        "writeOnly",
    }
)
_COMBINED = ("$ref", "allOf", "anyOf", "oneOf")
_DEFINITIONS = ("$defs", "definitions")
_DEEPEST = 12
"""Levels of a schema that are kept; a schema that refers to itself ends there."""


def without_restrictions(schema: Schema) -> dict[str, Any]:
    """`schema` without the keywords that only restrict a value, and without notes."""
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", *_DEFINITIONS) and isinstance(value, Mapping):
            kept[key] = {name: _plain(each) for name, each in value.items()}
        elif key in ("items", "additionalProperties"):
            kept[key] = _plain(value)
        elif key in ("anyOf", "oneOf", "allOf") and isinstance(value, list):
            kept[key] = [_plain(each) for each in value]
        elif key not in _RESTRICTIONS:
            kept[key] = value
    return kept


def simple(schema: Schema) -> dict[str, Any]:
    """The same, with references replaced by what they refer to and without choices of schemas."""
    definitions = {
        f"#/{place}/{name}": each
        for place in _DEFINITIONS
        for name, each in _mapping(schema.get(place)).items()
    }
    return _simple(schema, definitions, _DEEPEST)


def _plain(value: Any) -> Any:
    return without_restrictions(value) if isinstance(value, Mapping) else value


def _simple(schema: Schema, definitions: Schema, levels: int) -> dict[str, Any]:
    schema = _chosen(schema, definitions, levels)
    if not levels:
        return {key: schema[key] for key in ("type", "description") if key in schema}
    kept: dict[str, Any] = {}
    for key, value in schema.items():
        if key == "properties" and isinstance(value, Mapping):
            kept[key] = {
                name: _simple(_mapping(each), definitions, levels - 1)
                for name, each in value.items()
            }
        elif key == "items":
            kept[key] = _simple(_mapping(value), definitions, levels - 1)
        elif key == "type":
            kept |= _one_type(value)
        elif key == "const":
            kept.setdefault("enum", [value])
        elif key == "additionalProperties":
            # a schema for the rest is a restriction, `false` is what strict servers insist on
            kept |= {key: value} if value is False else {}
        elif key not in _RESTRICTIONS and key not in _DEFINITIONS:
            kept[key] = value
    return kept


def _chosen(schema: Schema, definitions: Schema, levels: int) -> Schema:
    """`schema` with a reference followed, and with the one that counts of several schemas."""
    for _ in range(levels + 1):
        rest = {key: value for key, value in schema.items() if key not in _COMBINED}
        if "$ref" in schema:
            schema = {**_mapping(definitions.get(str(schema["$ref"]))), **rest}
        elif isinstance(schema.get("allOf"), list):
            schema = _joined([*map(_mapping, schema["allOf"]), rest])
        elif any(key in schema for key in _COMBINED):
            choices = schema.get("anyOf") or schema.get("oneOf")
            schema = {**_only_one(choices), **rest}
        else:
            return schema
    return rest


def _only_one(choices: Any) -> Schema:
    """The schema of a choice that is none: besides it there is only null. Else no restriction,
    but for choices of values, which are one enumeration."""
    given = [_mapping(each) for each in choices] if isinstance(choices, list) else []
    real = [each for each in given if each.get("type") != "null"]
    if len(real) == 1:
        return real[0]
    values = [each.get("enum", [each["const"]] if "const" in each else None) for each in real]
    if values and all(isinstance(each, list) for each in values):
        return {"enum": [value for each in values for value in each or ()]}
    return {}


def _joined(schemas: list[Schema]) -> Schema:
    """All of several schemas, as one."""
    joined: dict[str, Any] = {}
    for schema in schemas:
        properties = {**_mapping(joined.get("properties")), **_mapping(schema.get("properties"))}
        required = [*joined.get("required", ()), *schema.get("required", ())]
        joined |= schema
        joined |= {"properties": properties} if properties else {}
        joined |= {"required": list(dict.fromkeys(required))} if required else {}
    return joined


def _one_type(value: Any) -> dict[str, Any]:
    """The type beside null; of several there is none that holds for all."""
    if not isinstance(value, list):
        return {"type": value}
    real = [each for each in value if each != "null"]
    return {"type": real[0]} if len(real) == 1 else {}


def _mapping(value: Any) -> Schema:
    return value if isinstance(value, Mapping) else {}
