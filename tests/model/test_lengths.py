import pytest

from harness.model.classify import classify
from harness.model.lengths import Lengths, lengths_in


@pytest.mark.parametrize(
    ("words", "context"),
    [
        ("request (25837 tokens) exceeds the available context size (25088 tokens)", 25088),
        ('{"n_prompt_tokens":25837,"n_ctx":25088}', 25088),
        ("The input has 31430 tokens, but the context length only supports 30000 tokens.", 30000),
        ("However, the model is loaded with context length of only 4096 tokens, which", 4096),
        ("This model's maximum context length is 16,384 tokens. However, you", 16384),
        ("maximum context length is 262144 tokens. However, you requested 0 output tokens and "
         "your prompt contains at least 262145 input tokens", 262144),
        ("The input (61709 tokens) is longer than the model's context length (40960 tokens).",
         40960),
        ("longer than the maximum model length of 32768. Make sure that max_model_len is", 32768),
        ("Requested tokens (4164) exceed context window of 2048", 2048),
        ("prompt is too long: 205000 tokens > 200000 maximum", 200000),
        ("The prompt is too long: 221782, model maximum context length: 202752", 202752),
        ("too large for model with 32768 maximum context length", 32768),
        ("input token count (1196265) exceeds the maximum number of tokens allowed (1048576).",
         1048576),
        ("prompt too long; exceeded max context length by 17 tokens", None),
        ("the request exceeds the available context size. try increasing it", None),
        ("n_ctx: 0", None),
        ("maximum context length is " + "9" * 5000, None),
    ],
)  # fmt: skip
def test_the_context_is_learned_from_an_overflow(words: str, context: int | None) -> None:
    assert lengths_in(words) == Lengths(context)


@pytest.mark.parametrize(
    ("words", "room"),
    [
        ("maximum context length is 16384 tokens. However, you requested 20000 tokens (10000 in "
         "the messages, 10000 in the completion).", 6368),
        ("'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum "
         "context length is 65536 tokens and your request has 34006 input tokens", 31514),
        ("maximum context length is 26214 tokens. However, you requested 20000 output tokens and "
         "your prompt contains 12000 input tokens, for a total", 14198),
        ("the model's maximum context length of 40960 tokens. You requested a total of 45000 "
         "tokens: 5000 tokens from the input messages and 40000 tokens for the completion.", 35944),
        ("input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000", 9984),
        ("max_tokens is too large: 32000. This model supports at most 16384 completion tokens",
         16384),
        ("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 8192),
    ],
)  # fmt: skip
def test_a_prompt_that_fits_alone_leaves_room_for_a_shorter_answer(words: str, room: int) -> None:
    assert lengths_in(words).room == room
    failed = classify(400, words)
    assert (failed.cause, failed.error_class, failed.room) == ("room", "context_overflow", room)


@pytest.mark.parametrize(
    "words",
    [
        "maximum context length is 16384 tokens. However, you requested 26384 tokens (16384 in the "
        "messages, 10000 in the completion).",
        "maximum context length is 16384 tokens. However, you requested 26300 tokens (16300 in the "
        "messages, 10000 in the completion).",
        "maximum context length is 16384 tokens. However, your request has 19427 input tokens. "
        "(parameter=input_tokens, value=19427)",
    ],
)
def test_a_prompt_that_fills_the_context_is_an_overflow(words: str) -> None:
    failed = classify(400, words)
    assert (failed.cause, failed.context_length, failed.room) == ("overflow", 16384, None)
