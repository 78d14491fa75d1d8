"""The rules of strict servers and chat templates, and what in a request breaks them.

A rule takes the body of a chat completions request and tells where it is broken, or "".
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

Json = dict[str, Any]
Rule = Callable[[Json], str]

_SHALLOW = 3
"""Levels of a schema within which a pattern does no harm."""


def _system_after_first(body: Json) -> str:
    late = (at for at, m in _messages(body) if at and m.get("role") in ("system", "developer"))
    return _at(next(late, None), "has the role of a system message")


def _consecutive_user(body: Json) -> str:
    """Calls and their results do not count as an answer: Mistral's template does not see them."""
    former = ""
    for at, message in _messages(body):
        if message.get("role") == "tool" or message.get("tool_calls"):
            continue
        if message.get("role") == former == "user":
            return _at(at, "is a second user message in a row")
        former = message.get("role") or ""
    return ""


def _assistant_content_null(body: Json) -> str:
    empty = (
        at
        for at, message in _messages(body)
        if message.get("role") == "assistant" and message.get("content") is None
    )
    return _at(next(empty, None), "has no content")


def _arguments_are_objects(body: Json) -> str:
    for at, message in _messages(body):
        for call in message.get("tool_calls") or ():
            if not _object_text((call.get("function") or {}).get("arguments")):
                return _at(at, "has arguments that are not the text of a JSON object")
    return ""


def _ids_are_paired(body: Json) -> str:
    open_ids: list[str] = []
    for at, message in _messages(body):
        if message.get("role") == "tool":
            if message.get("tool_call_id") not in open_ids:
                return _at(at, "answers no call that is waiting")
            open_ids.remove(message["tool_call_id"])
        elif open_ids:
            return _at(at, f"comes before the results of {open_ids}")
        else:
            open_ids = [call.get("id") or "" for call in message.get("tool_calls") or ()]
            if not all(open_ids) or len(set(open_ids)) < len(open_ids):
                return _at(at, f"has calls with the ids {open_ids}")
    return f"the calls {open_ids} have no result" if open_ids else ""


def _nested_pattern(body: Json) -> str:
    for name, schema in _schemas(body):
        if any(depth >= _SHALLOW for depth in _patterns(schema, 0)):
            return f"the schema of {name!r} has a nested pattern"
    return ""


def _tools_present(body: Json) -> str:
    return "the request has tools" if body.get("tools") else ""


RULES: Mapping[str, Rule] = {
    "system_after_first": _system_after_first,
    "consecutive_user": _consecutive_user,
    "assistant_content_null": _assistant_content_null,
    "history_args_not_json_object_string": _arguments_are_objects,
    "tool_ids_unpaired_or_empty": _ids_are_paired,
    "tools_nested_pattern": _nested_pattern,
    "tools_present": _tools_present,
}
ALWAYS = tuple(name for name in RULES if name != "tools_present")
"""The rules that hold for every protocol; tools are present in native requests alone."""


def broken(body: Json, rules: Iterable[str] = ALWAYS) -> list[str]:
    """The rules that a request breaks, each with the place."""
    found = ((name, RULES[name](body)) for name in rules)
    return [f"{name}: {where}" for name, where in found if where]


def _messages(body: Json) -> Iterator[tuple[int, Json]]:
    yield from enumerate(body.get("messages") or ())


def _at(index: int | None, what: str) -> str:
    return "" if index is None else f"message {index} {what}"


def _object_text(text: Any) -> bool:
    try:
        return isinstance(text, str) and isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _schemas(body: Json) -> Iterator[tuple[str, Any]]:
    for tool in body.get("tools") or ():
        function = tool.get("function") or {}
        yield function.get("name") or "", function.get("parameters") or {}


def _patterns(schema: Any, depth: int) -> Iterator[int]:
    """How deep each pattern of a schema lies."""
    if isinstance(schema, dict):
        if isinstance(schema.get("pattern"), str):
            yield depth
        schema = list(schema.values())
    if isinstance(schema, list):
        for inner in schema:
            yield from _patterns(inner, depth + 1)
