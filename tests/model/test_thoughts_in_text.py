"""Tags of thoughts in the content: what they end, and where they are only spoken of."""

import pytest
from test_families import JSON, READ, TOOLS, calls, said

from harness.model.decode import Decoder

CALL = f"<tool_call>\n{JSON}\n</tool_call>"


@pytest.mark.parametrize("call", [CALL, JSON, '{"name": "x"}'])
def test_a_lone_end_makes_thoughts_of_what_stands_before_it(call: str) -> None:
    reply = said(f"I could call\n{call}\n</think>\nIt is 3.")
    assert (reply.text, reply.calls, reply.error) == ("It is 3.", (), None)
    assert call in reply.reasoning


def test_a_call_before_a_lone_end_is_not_run() -> None:
    reply = said(f"I look.\n{CALL}\n</think>")
    assert (reply.calls, reply.text, reply.error) == ((), "", "call_in_reasoning")


def test_a_call_behind_a_lone_end_is_run() -> None:
    assert calls(said(f"I look.\n</think>\n{CALL}")) == READ


def test_a_call_with_a_thought_behind_it_is_not_the_last() -> None:
    reply = said(f"{CALL}\n<think>\nNo, wait.\n</think>")
    assert (reply.calls, reply.error) == ((), "malformed_tool_call")


@pytest.mark.parametrize("size", [1, 4, 100])
def test_a_thought_in_a_thought_ends_twice(size: int) -> None:
    text = "<think>\nA <think>b</think> c\n</think>\nIt is 3."
    decoder, shown = Decoder(TOOLS), ""
    for at in range(0, len(text), size):
        delta = {"content": text[at : at + size]}
        shown += decoder.feed({"choices": [{"index": 0, "delta": delta}]})
    decoder.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    reply = decoder.finish()
    assert (reply.text, reply.error) == ("It is 3.", None)
    assert shown[-decoder.shown :] == reply.text
    assert "c" in reply.reasoning


@pytest.mark.parametrize(
    "text",
    [
        "The <think> tag opens a thought.\nThe </think> tag ends it.",
        "Models think between <think> and </think>, and then answer.",
        "Between `<think>` and `</think>` they think.",
    ],
)
def test_tags_of_thoughts_may_be_spoken_of(text: str) -> None:
    reply = said(text)
    assert (reply.text, reply.reasoning, reply.error) == (text, "", None)


def test_a_list_of_calls_may_be_split_before_its_parenthesis() -> None:
    decoder = Decoder(TOOLS)
    shown = [
        decoder.feed({"choices": [{"index": 0, "delta": {"content": piece}}]})
        for piece in ("Now.\n[read_file", "\n", "(path='auth.py')]")
    ]
    assert (shown, [call.name for call in decoder.finish().calls]) == (
        ["Now.", "", ""],
        ["read_file"],
    )
