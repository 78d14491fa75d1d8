"""What servers tell about lengths when a request did not fit: numbers of tokens in their words.

Wordings of llama.cpp, llama-cpp-python, LM Studio, vLLM, SGLang, TGI, OpenAI, OpenRouter,
Anthropic, Gemini and Mistral. `#` stands for a number.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

LEAST_ANSWER = 256
"""Tokens that an answer needs: with less room than this, the conversation must be shortened."""

_SPARE = 16
"""Tokens left between prompt, answer and the end: servers differ in whether the last one counts."""

_CONTEXT: Sequence[str] = (
    r'\bn_ctx"?\s*[:=]\s*#',
    r"available context size \(#",
    r"context (?:length|window|size) only supports #",
    r"(?:context|model) (?:length|window|size)(?: for this model)?(?: is|,? of|:)?(?: only)? \(?#",
    r"with # maximum context",
    r"(?:max_model_len|max_seq_len|num_ctx)\W{1,4}(?:is |of )?#",
    r"tokens > # max",
    r"exceeds? (?:the )?context limit: \d+ \+ \d+ > #",
    r"(?:exceeds|maximum) (?:the maximum )?number of (?:input )?tokens (?:allowed|supported) \(?#",
    r"`max_new_tokens` must be <= #",
    r"`inputs` must have less than # tokens",
    r"the #-token context",
)
_PROMPT: Sequence[str] = (
    r"# (?:tokens )?(?:in|from) the (?:input |)(?:messages|prompt)",
    r"(?:has|contains)(?: at least)? # input tokens",
    r"exceeds? (?:the )?context limit: # \+",
    r"given: # `inputs` tokens",
    r"\(# of (?:text )?input",
)
_ANSWER: Sequence[str] = (
    r"# (?:tokens )?(?:in|for) the (?:completion|output)",
    r"requested # output tokens",
    r"max_(?:completion_)?tokens['\"]?(?: or ['\"]?max_completion_tokens['\"]?)? is too large: #",
    r"exceeds? (?:the )?context limit: \d+ \+ #",
    r"and # `max_new_tokens`",
)
_MOST_ANSWER: Sequence[str] = (
    r"supports? at most # (?:completion|output) tokens",
    r"max_(?:completion_)?tokens: \d+ > #, which is the maximum",
    r"max_(?:completion_)?tokens\W.{0,80}?less than or equal to [`']?#",
    r"valid range of max_(?:completion_)?tokens is \[\d+, ?#",
)


@dataclass(frozen=True)
class Lengths:
    """Tokens: the whole context, and what there is room for in the answer; as far as told."""

    context: int | None = None
    room: int | None = None


def lengths_in(words: str) -> Lengths:
    """What the body of a refusal tells.

    `room` is there only where a shorter answer makes the request fit: the prompt alone does.
    """
    context, prompt, most = (_first(p, words) for p in (_CONTEXT, _PROMPT, _MOST_ANSWER))
    if most is not None:
        return Lengths(context, most)
    if context is None or prompt is None or _first(_ANSWER, words) is None:
        return Lengths(context)
    room = context - prompt - _SPARE
    return Lengths(context, room if room >= LEAST_ANSWER else None)


def _first(patterns: Sequence[str], words: str) -> int | None:
    """The first number, but zero, that one of the patterns finds."""
    for pattern in patterns:
        expression = pattern.replace("#", r"(\d[\d,]{0,11})(?!\d)")
        for match in re.finditer(expression, words, re.IGNORECASE):
            number = int(match[1].replace(",", ""))
            if number:
                return number
    return None
