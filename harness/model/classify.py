"""What a server's error means, judged by its body first and its status second.

Wordings are those of llama.cpp, Ollama, LM Studio, vLLM, SGLang, Jan and OpenAI. Status codes
alone mislead: the same context overflow is 400 on one build and 500 on another.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from harness.model.failures import RequestFailed

_SAID: Sequence[tuple[str, re.Pattern[str]]] = tuple(
    (cause, re.compile(pattern, re.IGNORECASE))
    for cause, pattern in (
        # first: these quote what the model wrote, which may hold any of the words below
        ("tool_parse", r"\A\W*(failed to parse input at pos|error parsing tool call)"),
        ("tool_parse", r"\A\W*invalid character .{1,12} (after|looking for|in) "),
        (
            "overflow",
            r"exceed_context_size|exceeds? the (available )?context|context_length_exceeded"
            r"|maximum context length|not fit in (the )?context|context length only supports"
            r"|(longer|greater) than the (model's )?(maximum )?context|no user query found"
            r"|prompt is too long|context (size|window) (has been )?exceeded",
        ),
        ("schema", r"parse grammar|json schema conversion failed|invalid schema for function"),
        (
            "tools",
            r"does not support tools|enable-auto-tool-choice|requires --jinja"
            r"|tool (use|calling|choice) is not supported",
        ),
        (
            "template",
            r"jinja|raise_exception|roles must alternate|chat template"
            r"|system message must be at the beginning",
        ),
        ("loading", r"loading model|model is (currently )?(being )?load"),
        (
            "not_found",
            r"model_not_found|model\b.{0,200}?\b(not found|does not exist|not exist)"
            r"|no models? (are )?loaded|invalid model|unknown model",
        ),
        ("busy", r"server busy|overloaded|maximum pending|rate limit|too many requests"),
    )
)
_STATUS: Mapping[int, str] = {
    401: "auth",
    403: "auth",
    404: "no_endpoint",
    405: "no_endpoint",
    413: "overflow",
    429: "busy",
    502: "busy",
    503: "busy",
    504: "busy",
}


def classify(status: int, body: str, retry_after: str = "") -> RequestFailed:
    """The failure behind an HTTP status and its body, or an error inside a stream (status 200)."""
    said = message_of(body)
    status = _own_status(body) or status if status == 200 else status
    html = said.lstrip().startswith("<")
    cause = _STATUS[status] if status in (401, 403) else _by_words(body, said, status, html)
    if cause == "template":
        # a trace of the template comes first
        said = said.rpartition("Jinja Exception:")[2]
    return RequestFailed(cause, said or f"status {status}", _seconds(retry_after))


def message_of(body: str) -> str:
    """The server's own words in an error body: many shapes of JSON, or the text itself."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body.strip()
    return _words(value) or body.strip()


def _by_words(body: str, said: str, status: int, html: bool) -> str:
    if not html:
        for cause, pattern in _SAID:
            # the type and code beside the message tell as much as its words
            if pattern.search(said if cause == "tool_parse" else body):
                return cause
    if status in _STATUS:
        return _STATUS[status]
    if 300 <= status < 400:
        return "no_endpoint"
    return "bad_request" if 400 <= status < 500 else "server_error"


def _words(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, Mapping):
        for key in ("error", "message", "detail", "msg"):
            words = _words(value.get(key))
            if words:
                return words
    if isinstance(value, list) and value:
        return _words(value[0])
    return ""


def _own_status(body: str) -> int | None:
    """The status a server names inside the body of a stream that began well."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = value.get("error", value) if isinstance(value, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _seconds(retry_after: str) -> float | None:
    try:
        return max(float(retry_after), 0.0)
    except ValueError:
        return None
