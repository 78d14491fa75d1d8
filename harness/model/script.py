"""The script of a scripted model: a JSON file of replies, read with care.

The format is described in docs/model.md.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from harness.errors import ConfigError

DEFAULT_MODEL = "scripted-qwen"


@dataclass(frozen=True)
class ScriptedReply:
    """One reply. `calls` are (name, arguments) pairs; `chunks` are SSE data payloads that take
    the place of all else; a `status` of 400 and more answers with `body`; `delay` is in seconds."""

    text: str = ""
    reasoning: str = ""
    calls: tuple[tuple[str, Any], ...] = ()
    finish: str = ""
    delay: float = 0.0
    status: int = 200
    body: str = ""
    chunks: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Script:
    """What a scripted model says, request by request."""

    replies: tuple[ScriptedReply, ...]
    model: str = DEFAULT_MODEL
    after_last: Literal["repeat", "error"] = "repeat"

    @classmethod
    def load(cls, path: Path) -> "Script":
        """Read a script file. Raises ConfigError with the file and the place."""
        try:
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or str(error)
            raise ConfigError(f"cannot read the script {str(path)!r}: {reason}") from None
        try:
            return cls.from_json(json.loads(text))
        except json.JSONDecodeError as error:
            place = f"line {error.lineno}, column {error.colno}"
            raise ConfigError(f"script {str(path)!r}, {place}: {error.msg}") from None
        except (ValueError, RecursionError) as error:
            raise ConfigError(f"script {str(path)!r}: {error}") from None

    @classmethod
    def from_json(cls, value: Any) -> "Script":
        """A script from decoded JSON. Raises ValueError that names the place."""
        fields = _object(value, "the script", {"model", "replies", "after_last"})
        replies = fields.get("replies")
        if not isinstance(replies, list) or not replies:
            raise ValueError("replies must be a list with at least one reply")
        after_last = fields.get("after_last", "repeat")
        if after_last not in ("repeat", "error"):
            raise ValueError(f"after_last must be 'repeat' or 'error', not {after_last!r}")
        model = _field(fields, "model", "model", str, DEFAULT_MODEL)
        read = tuple(_reply(reply, f"replies[{index}]") for index, reply in enumerate(replies))
        return cls(read, model, after_last)


def _reply(value: Any, place: str) -> ScriptedReply:
    known = {"text", "reasoning", "calls", "finish", "delay", "status", "body", "chunks"}
    fields = _object(value, place, known)
    calls = _field(fields, "calls", f"{place}.calls", list, [])
    delay = _field(fields, "delay", f"{place}.delay", (int, float), 0)
    if not 0 <= delay <= 3600:
        raise ValueError(f"{place}.delay must be between 0 and 3600 seconds")
    status = _field(fields, "status", f"{place}.status", int, 200)
    if not 200 <= status <= 599:
        raise ValueError(f"{place}.status must be an HTTP status between 200 and 599")
    return ScriptedReply(
        text=_field(fields, "text", f"{place}.text", str, ""),
        reasoning=_field(fields, "reasoning", f"{place}.reasoning", str, ""),
        calls=tuple(_call(call, f"{place}.calls[{index}]") for index, call in enumerate(calls)),
        finish=_field(fields, "finish", f"{place}.finish", str, ""),
        delay=float(delay),
        status=status,
        body=_text(fields.get("body", "")),
        chunks=_chunks(fields.get("chunks"), f"{place}.chunks"),
    )


def _call(value: Any, place: str) -> tuple[str, Any]:
    fields = _object(value, place, {"name", "arguments"})
    if not isinstance(fields.get("name"), str):
        raise ValueError(f"{place}.name must be a string")
    arguments = fields.get("arguments", {})
    if not isinstance(arguments, str | dict):
        raise ValueError(f"{place}.arguments must be an object, or a string to send as it is")
    return fields["name"], arguments


def _chunks(value: Any, place: str) -> tuple[str, ...] | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise ValueError(f"{place} must be a list of payloads")
    return tuple(_text(chunk) for chunk in value)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _object(value: Any, place: str, known: set[str]) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{place} must be an object")
    unknown = sorted(set(value) - known)
    if unknown:
        raise ValueError(f"{place} has the unknown key {unknown[0]!r}; known are {sorted(known)}")
    return value


def _field(
    fields: Mapping[str, Any], key: str, place: str, kind: type | tuple[type, ...], default: Any
) -> Any:
    value = fields.get(key, default)
    if not isinstance(value, kind) or isinstance(value, bool):
        names = " or ".join(k.__name__ for k in (kind if isinstance(kind, tuple) else (kind,)))
        raise ValueError(f"{place} must be of type {names}, not {type(value).__name__}")
    return value
