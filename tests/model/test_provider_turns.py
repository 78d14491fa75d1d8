"""The conversation as Anthropic and Bedrock want it."""

import json
from typing import Any

import anthropic_double
import bedrock_double
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.history import History
from harness.model.providers import anthropic_request, bedrock_request
from harness.model.providers.turns import Text, Use, call_id, conversation
from harness.model.values import Call, Reply, Sampling

TOOL = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a file.",
        "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
    },
}


def anthropic_body(messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
    asked = conversation(messages, tools)
    return anthropic_request.request("claude-test", asked, Sampling(), 100, {})


def bedrock_body(messages: list[dict[str, Any]], tools: list[Any]) -> dict[str, Any]:
    asked = conversation(messages, tools)
    sampling = Sampling()
    return bedrock_request.request("qwen.qwen3", asked, sampling, None, {}, cached=True)


texts = st.text(max_size=12)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("user"), texts),
        st.tuples(st.just("assistant"), texts, st.lists(st.tuples(texts, texts), max_size=3)),
    ),
    max_size=8,
)


@settings(max_examples=60, deadline=None)
@given(steps, texts, st.booleans())
def test_whatever_the_history_holds_both_providers_accept_it(
    steps: list[Any], result: str, with_tools: bool
) -> None:
    history = History("Be brief.")
    for step in steps:
        if step[0] == "user":
            history.user(step[1])
            continue
        calls = tuple(Call(i, name, {}, "{}") for i, name in step[2])
        history.assistant(Reply(text=step[1], calls=calls))
        for call in {call.id: call for call in calls if call.id}.values():
            history.tool(call.id, result)
    tools = [TOOL] if with_tools else []
    anthropic_double.check(anthropic_body(history.messages(), tools))
    bedrock_double.check(bedrock_body(history.messages(), tools))


@settings(max_examples=30, deadline=None)
@given(steps)
def test_what_was_sent_stays_the_beginning_of_what_is_sent_next(steps: list[Any]) -> None:
    history = History("Be brief.")
    before: list[str] = []
    for number, step in enumerate(steps):
        if step[0] == "user":
            history.user(step[1])
        else:
            calls = tuple(Call(f"{number}-{n}", "x", {}, "{}") for n in range(len(step[2])))
            history.assistant(Reply(text=step[1], calls=calls))
            for call in calls:
                history.tool(call.id, "r")
        # a turn is only added to, and markers of the cache are no part of the prompt
        turns = conversation(history.messages(), [TOOL]).turns
        blocks = [repr((turn.role, block)) for turn in turns for block in turn.blocks]
        sent = blocks if turns[-1].blocks != (Text("Go on."),) else blocks[:-1]
        assert sent[: len(before)] == before
        before = sent


def test_results_of_one_reply_are_in_one_user_message_with_what_follows() -> None:
    calls = tuple(Call(f"c{n}", "read_file", {"path": "a"}, '{"path": "a"}') for n in range(3))
    history = History("s")
    history.user("go")
    history.assistant(Reply(text="I look.", calls=calls))
    for call in calls:
        history.tool(call.id, f"text {call.id}")
    (_, assistant, user) = anthropic_body(history.messages(), [TOOL])["messages"]
    assert [block["type"] for block in assistant["content"]] == ["text", *["tool_use"] * 3]
    assert assistant["content"][1]["input"] == {"path": "a"}
    assert [block["content"] for block in user["content"]] == ["text c0", "text c1", "text c2"]


def test_ids_and_names_of_other_providers_are_made_to_fit_the_same_way_each_time() -> None:
    odd = "chatcmpl-tool:" + "x" * 80
    entry = {"id": odd, "function": {"name": "repo.read file", "arguments": "[1]"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": "", "tool_calls": [entry]},
        {"role": "tool", "tool_call_id": odd, "content": "ok"},
    ]
    body = anthropic_body(messages, [TOOL])
    anthropic_double.check(body)
    use = body["messages"][1]["content"][0]
    assert use["name"] == "repo_read_file"
    assert use["input"] == {}
    assert call_id(odd) == call_id(odd) == use["id"]
    assert call_id(odd + "y") != use["id"]


def test_without_tools_calls_become_text() -> None:
    history = History("s")
    history.user("go")
    history.assistant(Reply(calls=(Call("c", "read_file", {"path": "a"}, '{"path": "a"}'),)))
    history.tool("c", "x = 1")
    history.user("Sum up.")
    turns = conversation(history.messages()).turns
    assert not any(isinstance(block, Use) for turn in turns for block in turn.blocks)
    told = json.dumps(anthropic_body(history.messages(), []))
    assert "called read_file" in told
    assert "(result) x = 1" in told


def test_the_cache_is_marked_at_the_system_text_and_the_last_two_user_turns() -> None:
    history = History("Be brief.")
    for number in range(4):
        history.user(f"question {number}")
        history.assistant(Reply(text=f"answer {number}"))
    history.user("last")
    body = anthropic_body(history.messages(), [TOOL])
    marked = [b["text"] for m in body["messages"] for b in m["content"] if "cache_control" in b]
    assert marked == ["question 3", "last"]
    assert "cache_control" in body["system"][0]
    points = [
        [list(block) for block in message["content"]]
        for message in bedrock_body(history.messages(), [TOOL])["messages"]
    ]
    assert points[-3:] == [[["text"], ["cachePoint"]], [["text"]], [["text"], ["cachePoint"]]]
