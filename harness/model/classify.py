"""What a server's error means, judged by its body first and its status second.

Wordings are those of llama.cpp, Ollama, LM Studio, vLLM, SGLang, Jan and OpenAI. Status codes
alone mislead: the same context overflow is 400 on one build and 500 on another.
"""

import json
import math
import re
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from harness.model.failures import RequestFailed
from harness.model.lengths import Lengths, lengths_in

_OPTIONS = (
    r"stream_options|max_tokens|max_completion_tokens|temperature|top_p|parallel_tool_calls"
    r"|tool_choice|include_usage"
)
_REFUSED = (
    r"unrecognized|unknown|unsupported|not supported|does not support|doesn't support|unexpected"
    r"|not permitted|not allowed|deprecated|extra_forbidden|additional properties|cannot both"
)
# plain strings: compiled when something failed, not at every start
_SAID: Sequence[tuple[str, str]] = (
    # first: these quote what the model wrote, which may hold any of the words below
    ("tool_parse", r"\A\W*(failed to parse input at pos|error parsing tool call)"),
    ("tool_parse", r"\A\W*invalid character .{1,12} (after|looking for|in) "),
    (
        "tool_parse",
        r"\A\W*(xml syntax error on line|json\.exception\.parse_error|failed to call a function"
        r"|invalid diff: |unexpected token \d+ while expecting)",
    ),
    ("no_credit", r"insufficient_quota|billing_not_active|insufficient (credits|balance)"),
    # before the lengths: a limit on tokens in a minute is no context
    ("busy", r"rate.?limit|too many requests|tokens per (min|day)|throttl"),
    (
        "overflow",
        r"exceed_context_size|context_length_exceeded|context_window_exceeded"
        r"|exceed(s|ed)? (the |this )?(available |model'?s? |max(imum)? )*context"
        r"|exceed(s|ed)? .{1,12}token context|max(imum)? context (length|window|size)"
        r"|not fit in (the )?context|context length only supports"
        r"|loaded with (a )?context length|when (the )?context (the )?overflows"
        r"|(longer|greater) than the (model's )?(maximum )?(context|model length)"
        r"|(prompt|input|request|conversation)( is|'s)? too (long|large)\b"
        r"|context (length|size|window) (has been |was )?exceeded"
        r"|exceeds the maximum number of (input )?tokens|request_too_large"
        r"|max_new_tokens` must be <=|`inputs` must have less than|tokens > \d+ max"
        r"|max_(completion_)?tokens\b.{0,60}\b(too large|less than or equal to)"
        r"|max_(completion_)?tokens: \d+ > |valid range of max_(completion_)?tokens"
        r"|reduce the length of the (input )?(messages|prompt)|no user query found"
        r"|reached context length|context limit (hit|reached)|= max_seq_len \(",
    ),
    (
        "schema",
        r"parse grammar|json schema conversion failed|invalid schema for|grammar error"
        r"|invalid_function_parameters|unsupported (json )?schema|(compile|compiling) (the )?"
        r"(grammar|(json.?)?schema)|schema .{1,40}not supported|failed to initialize samplers"
        r"|invalid (json schema|grammar)\b|\bpath\W{1,20}tools\W",
    ),
    (
        "tools",
        r"does not support (tools?|function)\b|enable-auto-tool-choice|requires --jinja"
        r"|requires --tool-call-parser|cannot use tools"
        r"|(tool|function).?(use|calls?|calling|choice)( parameter)? (is|are) not (supported"
        r"|available)|no endpoints found that support tool use|tools are not supported"
        r"|\btools?\b(?! role).{0,20} (is|are) not supported"
        r"|(unrecognized|unknown|unsupported|extra_forbidden)\b.{0,60}\btools\b",
    ),
    (
        "template",
        r"jinja|raise_exception|roles must alternate|chat.?template|system role"
        r"|system message must|(unknown|unexpected|invalid|unsupported) (message )?role"
        r"|only user(,| and) .{0,40}roles|role .{0,20}(not supported|is not allowed)"
        r"|must (have|start with|begin with) (a )?user|expected last role|is not callable: null"
        r"|same number of function calls|response prefill|tool call ids? (should|must)\b",
    ),
    ("option", rf"({_REFUSED})\b.{{0,80}}\b({_OPTIONS})\b"),
    ("option", rf"\b({_OPTIONS})\b.{{0,80}}({_REFUSED})\b"),
    ("loading", r"loading model|model is (currently |still )?(being )?load|warming up"),
    (
        "not_found",
        r"model_not_found|model\b.{0,200}?\b(not found|does not exist|not exist)"
        r"|no models? (are )?loaded|invalid model|unknown model|no such model",
    ),
    ("busy", r"server busy|overloaded|maximum pending|at capacity|server is busy"),
    # LM Studio answers 400; it loads the model again for the next request
    ("busy", r"model (has )?crashed|model was unloaded|model (has )?unexpectedly"),
)
_STATUS: Mapping[int, str] = {
    401: "auth",
    402: "no_credit",
    403: "auth",
    404: "no_endpoint",
    405: "no_endpoint",
    407: "proxy",
    413: "overflow",
    429: "busy",
    502: "busy",
    503: "busy",
    504: "busy",
    529: "busy",
}
_RAISED = "Jinja Exception:"
_HEAD, _TAIL = 16384, 4096
"""Characters of a body that are looked at: a server may quote the whole request."""


def classify(status: int, body: str, retry_after: str = "") -> RequestFailed:
    """The failure behind an HTTP status and its body, or an error inside a stream (status 200)."""
    said, raised = message_of(body), ""
    if _RAISED in said:
        # a trace of the template comes first
        said = raised = said.rpartition(_RAISED)[2].strip()
    status = _own_status(body) or status if status == 200 else status
    html = said.lstrip().startswith("<")
    cause = (
        _STATUS[status] if status in (401, 403) else _by_words(raised or body, said, status, html)
    )
    if raised and cause in ("server_error", "bad_request"):
        cause = "template"
    lengths = lengths_in(_looked_at(body)) if cause == "overflow" else Lengths()
    if lengths.room is not None:
        cause = "room"
    wait = seconds_of(retry_after, time.time())
    return RequestFailed(cause, said or f"status {status}", wait, lengths.context, lengths.room)


def message_of(body: str) -> str:
    """The server's own words in an error body: many shapes of JSON, or the text itself."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return body.strip()
    return _words(value) or body.strip()


def _by_words(body: str, said: str, status: int, html: bool) -> str:
    if not html:
        looked_at = _looked_at(body)
        for cause, pattern in _SAID:
            # the type and code beside the message tell as much as its words
            if re.search(pattern, said if cause == "tool_parse" else looked_at, re.IGNORECASE):
                return cause
    if status in _STATUS:
        return _STATUS[status]
    if 300 <= status < 400:
        return "no_endpoint"
    return "bad_request" if 400 <= status < 500 else "server_error"


def _words(value: Any) -> str:
    if isinstance(value, str):
        return _unwrapped(value.strip())
    if isinstance(value, Mapping):
        for key in ("error", "message", "detail", "msg"):
            words = _words(value.get(key))
            if words:
                return _located(value) + words
    if isinstance(value, list) and value:
        return _words(value[0])
    return ""


def _unwrapped(text: str) -> str:
    """A gateway may put the whole body that it got into the message of its own."""
    if not text.startswith("{"):
        return text
    with suppress(ValueError, RecursionError):
        return _words(json.loads(text)) or text
    return text


def _located(error: Mapping[str, Any]) -> str:
    """Where in the request the error is, as FastAPI's servers have it beside their words."""
    place = error.get("loc")
    return f"{'.'.join(map(str, place))}: " if isinstance(place, list) and place else ""


def _own_status(body: str) -> int | None:
    """The status a server names inside the body of a stream that began well."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    error = value.get("error", value) if isinstance(value, Mapping) else None
    code = error.get("code") if isinstance(error, Mapping) else None
    if isinstance(code, str) and re.fullmatch(r"[45]\d\d", code, re.ASCII):
        return int(code)
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _looked_at(body: str) -> str:
    return body if len(body) <= _HEAD + _TAIL else f"{body[:_HEAD]} {body[-_TAIL:]}"


def seconds_of(retry_after: str, now: float) -> float | None:
    """What a Retry-After header asks for: seconds, or an HTTP date (RFC 9110, section 10.2.3).

    `now` is a time of time.time().
    """
    try:
        seconds = float(retry_after)
    except ValueError:
        seconds = _until(retry_after, now)
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def _until(date: str, now: float) -> float:
    """Seconds until an HTTP date; not a number when it is none."""
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(date).timestamp() - now
    except (ValueError, TypeError, OverflowError):
        return math.nan
