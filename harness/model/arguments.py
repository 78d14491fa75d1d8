"""A call's arguments, fitted to the schema of its tool where nothing is lost by it."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from harness.model.repair import as_object, parse_value

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

WRAPPERS = ("arguments", "parameters", "args", "input", "kwargs", "params")
_OF_A_CALL = ("name", "type", "function", "tool", "id")

_INTEGER = re.compile(r"\s*([+-]?[0-9]{1,18})(?:\.0{1,9})?\s*")
_NUMBER = re.compile(r"\s*[+-]?[0-9]{1,18}(?:\.[0-9]{1,18})?(?:[eE][+-]?[0-9]{1,3})?\s*")
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False}


def fitted(schema: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments under the names and with the types of the schema.

    A null means that an argument is absent, and so does the word where no text is asked for. A
    value is turned into another type only where the schema asks for it and the value says exactly
    that: "130" for an integer is 130, and for a string it stays "130".
    """
    properties = _properties(schema)
    given = _unwrapped(properties, given)
    arguments = {key: value for key, value in given.items() if value is not None}
    for name in properties:
        sent = [key for key in arguments if key not in properties and _means(key, name)]
        if name not in arguments and len(sent) == 1:
            arguments[name] = arguments.pop(sent[0])
    return {
        key: _coerced(value, properties.get(key))
        for key, value in arguments.items()
        if not _is_nothing(value, _types(properties.get(key)))
    }


def _unwrapped(properties: Mapping[str, Any], given: Mapping[str, Any]) -> Mapping[str, Any]:
    """What stands in a second call around the arguments, of a model that sends all of it twice."""
    inner = [key for key in given if key in WRAPPERS]
    if len(inner) != 1 or not properties or any(key in properties for key in given):
        return given
    found = as_object(given[inner[0]])
    return found if found is not None and {*given} <= {*WRAPPERS, *_OF_A_CALL} else given


def misfit(schema: Mapping[str, Any], arguments: Mapping[str, Any]) -> str:
    """The first argument that is missing, unknown or of another type, or ""."""
    properties = _properties(schema)
    missing = [name for name in required(schema) if name not in arguments]
    unknown = [key for key in arguments if properties and key not in properties]
    wrong = [key for key, value in arguments.items() if not is_of(value, properties.get(key))]
    return next((str(name) for name in (*missing, *unknown, *wrong)), "")


def required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    """The arguments that a tool cannot do without."""
    names = schema.get("required")
    return tuple(n for n in names if isinstance(n, str)) if isinstance(names, list) else ()


def _properties(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = schema.get("properties")
    return properties if isinstance(properties, Mapping) else {}


def _means(key: str, name: str) -> bool:
    return key in ALIASES.get(name, ()) or _plain(key) == _plain(name)


def _plain(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


def _types(schema: Any) -> tuple[str, ...]:
    """The types that a schema names; none when it does not say."""
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    kinds = kind if isinstance(kind, list) else [kind]
    return tuple(kind for kind in kinds if isinstance(kind, str) and kind in _IS)


def is_of(value: Any, schema: Any) -> bool:
    """Whether a value has a type that the schema names, or it names none."""
    kinds = _types(schema)
    return not kinds or any(_IS[kind](value) for kind in kinds)


def _is_nothing(value: Any, kinds: tuple[str, ...]) -> bool:
    """Whether a null was written as a word, as formats do in which all values are text."""
    return bool(kinds) and "string" not in kinds and value in ("null", "None")


def _coerced(value: Any, schema: Any) -> Any:
    """The value as the first of the schema's types that it can be, or as it is."""
    if is_of(value, schema):
        return value
    for kind in _types(schema):
        made = _MAKE[kind](value) if kind in _MAKE else None
        if made is not None:
            return made
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple)


def _is_integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _integer(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    found = _INTEGER.fullmatch(value) if isinstance(value, str) else None
    return int(found[1]) if found else None


def _number(value: Any) -> int | float | None:
    if not isinstance(value, str) or not _NUMBER.fullmatch(value):
        return None
    number = float(value)
    whole = None if "." in value else _integer(value)
    return whole if whole is not None else number if math.isfinite(number) else None


def _text(value: Any) -> str | None:
    return str(value) if _is_integer(value) else None


def _truth(value: Any) -> bool | None:
    return _TRUTHS.get(value.strip().lower()) if isinstance(value, str) else None


def _nested(wanted: type) -> Callable[[Any], Any]:
    def made(value: Any) -> Any:
        if not isinstance(value, str) or value.lstrip()[:1] not in ("{", "["):
            return None
        try:
            found = parse_value(value)
        except ValueError:
            return None
        return found if isinstance(found, wanted) else None

    return made


_IS: Mapping[str, Callable[[Any], bool]] = {
    "string": lambda value: isinstance(value, str),
    "integer": _is_integer,
    "number": lambda value: isinstance(value, int | float) and not isinstance(value, bool),
    "boolean": lambda value: isinstance(value, bool),
    "array": _is_list,
    "object": lambda value: isinstance(value, Mapping),
    "null": lambda value: value is None,
}
_MAKE: Mapping[str, Callable[[Any], Any]] = {
    "string": _text,
    "integer": _integer,
    "number": _number,
    "boolean": _truth,
    "array": _nested(list),
    "object": _nested(dict),
}
