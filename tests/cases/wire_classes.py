"""Our names for what goes wrong, and those of the wire cases: one table, one to one."""

from collections.abc import Mapping

CLASSES: Mapping[str, str] = {
    # how a request fails
    "auth": "auth",
    "backend_unavailable": "backend_unavailable",
    "bad_request": "bad_request",
    "context_overflow": "context_overflow",
    "model_loading": "model_loading",
    "model_not_found": "model_not_found",
    "server_error": "server_error",
    "stream_interrupted": "stream_interrupted",
    "template_rejected": "template_rejected",
    "timeout": "timeout",
    "tool_schema_rejected": "tool_schema_rejected",
    "tools_unsupported": "tools_unsupported",
    # what is wrong with a reply
    "empty": "empty",
    "malformed_tool_call": "malformed_tool_call",
    "repetition": "repetition",
    "silent_truncation": "silent_truncation",
    "truncated_text": "truncated_text",
    "truncated_tool_call": "truncated_tool_call",
    # what is wrong with a call, or with many of them
    "file_not_found": "file_not_found",
    "invalid_arguments": "invalid_arguments",
    "loop_detected": "loop_detected",
    "path_outside_workspace": "path_outside_workspace",
    "unknown_tool": "unknown_tool",
}
FINER: Mapping[str, str] = {
    # nothing that counts came; ours also says where the call was
    "call_in_reasoning": "empty",
    "call_missing": "empty",
}
"""Names of ours for a part of one of theirs."""

ALONE = frozenset({"refusal"})
"""Names of ours for what the cases do not have: providers that say when their model declines."""


def outside(error: str | None) -> str | None:
    """The cases' name for an error class of ours. Raises KeyError for one that the table lacks."""
    if not error:
        return None
    return CLASSES[FINER.get(error, error)]
