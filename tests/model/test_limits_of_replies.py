"""What the server's counts tell of a reply and of the prompt."""

from typing import Any

import pytest

from harness.model.decode import decode
from harness.model.values import Known, Reply

TOOLS = [{"type": "function", "function": {"name": "list_files", "parameters": {}}}]


def replied(known: Known, prompt: int, completion: int = 5, **message: Any) -> Reply:
    usage = {"prompt_tokens": prompt, "completion_tokens": completion}
    choice = {"message": message, "finish_reason": "stop"}
    return decode({"choices": [choice], "usage": usage}, TOOLS, known)


def test_nothing_from_a_prompt_longer_than_the_context_is_an_overflow() -> None:
    assert replied(Known(context_length=32768), 36012, 0).error == "context_overflow"
    assert replied(Known(context_length=65536), 36012, 0).error == "empty"
    assert replied(Known(), 36012, 0).error == "empty"


def test_an_answer_is_an_answer_whatever_was_counted() -> None:
    assert replied(Known(context_length=100), 36012, content="Done.").error is None


@pytest.mark.parametrize(
    ("known", "prompt", "cut"),
    [
        (Known(estimated_prompt_tokens=12_000), 4096, True),
        (Known(context_length=4096, estimated_prompt_tokens=12_000), 2048, True),
        (Known(estimated_prompt_tokens=12_000), 9000, False),
        (Known(estimated_prompt_tokens=800), 40, False),
        # it counts only what was not in its cache
        (Known(context_length=32_768, estimated_prompt_tokens=12_000), 300, False),
        (Known(), 10, False),
    ],
)
def test_a_prompt_that_was_cut_in_silence_is_told_of(known: Known, prompt: int, cut: bool) -> None:
    reply = replied(known, prompt, content="Done.")
    assert (reply.truncated_prompt, reply.error, reply.text) == (cut, None, "Done.")


@pytest.mark.parametrize("message", [{"content": "It is"}, {"content": "<tool_call>{}"}])
def test_a_reply_as_long_as_was_allowed_is_cut_whatever_it_says(message: dict[str, Any]) -> None:
    error = replied(Known(max_tokens=64), 10, 64, **message).error
    assert error in ("truncated_text", "truncated_tool_call")
    assert replied(Known(max_tokens=64), 10, 63, **message).error != error


def test_tokens_from_the_cache_are_counted() -> None:
    usage = {
        "prompt_tokens": 900,
        "completion_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 850},
    }
    reply = decode({"choices": [{"message": {"content": "a"}}], "usage": usage}, TOOLS)
    assert reply.usage.cached_tokens == 850
