"""What a server counted, and what it tells of the prompt."""

from collections.abc import Mapping
from typing import Any

from harness.model.values import Known, Usage

_FEWEST = 1000
"""Tokens of an estimate below which a difference tells nothing."""
_FAR_BELOW = 0.5


def read_usage(usage: Any) -> Usage | None:
    """The counts of a `usage` object, or None when it has none."""
    if not isinstance(usage, Mapping):
        return None
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    if prompt is None or completion is None:
        return None
    details = usage.get("prompt_tokens_details")
    cached = _count(details, "cached_tokens") if isinstance(details, Mapping) else None
    return Usage(prompt, completion, estimated=False, cached_tokens=cached or 0)


def over_context(usage: Usage, known: Known) -> bool:
    """Whether the server counted more in the prompt than the context holds."""
    length = known.context_length
    return length is not None and not usage.estimated and usage.prompt_tokens >= length > 0


def at_limit(usage: Usage, known: Known) -> bool:
    """Whether the reply is as long as was allowed, whatever its finish reason says."""
    most = known.max_tokens
    return most is not None and not usage.estimated and usage.completion_tokens >= most > 0


def prompt_was_cut(usage: Usage, known: Known) -> bool:
    """Whether the server saw far less of the prompt than was sent.

    Some servers count only what was not in their cache. So where the context is known to hold the
    whole estimate, a low count means nothing.
    """
    estimate = known.estimated_prompt_tokens
    if estimate is None or estimate < _FEWEST or usage.estimated or not usage.prompt_tokens:
        return False
    fits = known.context_length is not None and estimate < known.context_length
    return not fits and usage.prompt_tokens < _FAR_BELOW * estimate


def _count(counts: Mapping[str, Any], key: str) -> int | None:
    count = counts.get(key)
    return max(count, 0) if isinstance(count, int) else None
