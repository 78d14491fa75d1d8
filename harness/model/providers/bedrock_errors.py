"""What an error of Amazon Bedrock means: by its code first, and the words of a ValidationException.

Codes are those of the service's exceptions and of AWS's common errors. Inside an event stream the
same codes begin in lower case.
"""

import re
from collections.abc import Mapping, Sequence

from harness.model.classify import classify
from harness.model.failures import RequestFailed

_CAUSES: Mapping[str, str] = {
    "AccessDeniedException": "auth",
    "UnrecognizedClientException": "auth",
    "ExpiredTokenException": "auth",
    "ExpiredToken": "auth",
    "InvalidSignatureException": "auth",
    "IncompleteSignature": "auth",
    "InvalidClientTokenId": "auth",
    "MissingAuthenticationTokenException": "auth",
    "MissingAuthenticationToken": "auth",
    "OptInRequired": "auth",
    "ThrottlingException": "busy",
    "TooManyRequestsException": "busy",
    "ServiceQuotaExceededException": "busy",
    "ServiceUnavailableException": "busy",
    "ServiceUnavailable": "busy",
    "ModelNotReadyException": "loading",
    "ResourceNotFoundException": "not_found",
    "ModelTimeoutException": "server_error",
    "ModelErrorException": "server_error",
    "InternalServerException": "server_error",
    "InternalFailure": "server_error",
    "ModelStreamErrorException": "interrupted",
}
_SAID: Sequence[tuple[str, str]] = (
    ("tool_parse", r"invalid sequence as part of tooluse"),
    ("caching", r"prompt caching|cachepoint"),
    ("streaming", r"tool use in streaming mode|streaming mode is not supported"),
    ("tools", r"doesn't support tool|does not support tool|tool use is not supported"),
    (
        "overflow",
        r"input is too long|prompt is too long|input tokens exceeded|too many input tokens"
        r"|maximum context length|exceeds? the (model's )?(maximum )?context",
    ),
    ("not_found", r"model identifier|on-demand throughput isn|end of its life|model id"),
    ("schema", r"inputschema|toolspec|json schema"),
)
_MOST_ANSWER = (
    r"maximum tokens you requested exceeds the model limit of (\d+)|max_tokens: \d+ > (\d+)"
)
_CONTEXT = r"tokens > (\d+) maximum|maximum context length is (\d+)"


class UnsupportedFeature(RequestFailed):
    """The model does not take something that can be left out: `caching` or `streaming`."""

    def __init__(self, feature: str, said: str) -> None:
        super().__init__("bad_request", said)
        self.feature = feature


def failure(code: str, message: str, status: int, retry_after: str = "") -> RequestFailed:
    """The failure behind an error's code ("" for none), message and HTTP status."""
    known = classify(status, message, retry_after)
    code = code[:1].upper() + code[1:]
    cause = _by_words(message) or _CAUSES.get(code)
    if cause in ("caching", "streaming"):
        return UnsupportedFeature(cause, message)
    if answer := re.search(_MOST_ANSWER, message):
        return RequestFailed("room", message, room=_number(answer))
    if cause == "overflow":
        length = re.search(_CONTEXT, message, re.IGNORECASE)
        return RequestFailed(cause, message, context_length=_number(length) if length else None)
    if cause is None and code == "ValidationException":
        cause = "bad_request"
    if cause is None:
        return known
    return RequestFailed(cause, message or code, known.wait)


def _by_words(message: str) -> str | None:
    for cause, pattern in _SAID:
        if re.search(pattern, message, re.IGNORECASE):
            return cause
    return None


def _number(found: re.Match[str]) -> int:
    return int(next(group for group in found.groups() if group))
