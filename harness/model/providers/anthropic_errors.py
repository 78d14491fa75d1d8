"""What an error of Anthropic's Messages API means.

Shape: `{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}`, as the
body of an HTTP error or as an event of the stream.
"""

import json
import re
from collections.abc import Mapping

from harness.model.classify import classify
from harness.model.failures import RequestFailed

_CAUSES: Mapping[str, str] = {
    "authentication_error": "auth",
    "permission_error": "auth",
    "billing_error": "no_credit",
    "not_found_error": "not_found",
    "request_too_large": "overflow",
    "rate_limit_error": "busy",
    "overloaded_error": "busy",
    "timeout_error": "server_error",
    "api_error": "server_error",
}
_TOO_LONG = r"prompt is too long(?:: \d+ tokens > (\d+))?"
_NO_ROOM = r"exceed context limit: (\d+) \+ \d+ > (\d+)"
_ANSWER_TOO_LONG = r"max_tokens: \d+ > (\d+)"


def failure(status: int, body: str, retry_after: str = "") -> RequestFailed:
    """The failure behind an HTTP status (200 within a stream) and a body."""
    known = classify(status, body, retry_after)
    kind, said = _told(body)
    if too_long := re.search(_TOO_LONG, said):
        length = int(too_long[1]) if too_long[1] else None
        return RequestFailed("overflow", said, context_length=length)
    if left := re.search(_NO_ROOM, said):
        context = int(left[2])
        return RequestFailed("room", said, context_length=context, room=context - int(left[1]))
    if answer := re.search(_ANSWER_TOO_LONG, said):
        return RequestFailed("room", said, room=int(answer[1]))
    if "credit balance" in said:
        return RequestFailed("no_credit", said)
    if kind in _CAUSES:
        return RequestFailed(_CAUSES[kind], said, known.wait)
    if kind == "invalid_request_error":
        return RequestFailed("schema" if "input_schema" in said else "bad_request", said)
    return known


def _told(body: str) -> tuple[str, str]:
    """The error's type and its message; both "" when the body is something else."""
    try:
        error = json.loads(body)["error"]
        return str(error["type"]), str(error["message"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return "", ""
