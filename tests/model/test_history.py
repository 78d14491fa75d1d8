import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.history import INTERRUPTED, NO_REPLY, NO_TEXT, History
from harness.model.values import Call, Message, Reply


def call(call_id: str, raw: str = '{"path": "a"}') -> Call:
    return Call(call_id, "read_file", None, raw)


def problems(messages: Sequence[Message]) -> list[str]:
    """Every rule of a strict server that `messages` break."""
    found: list[str] = []
    if [m["role"] for m in messages].count("system") != 1 or messages[0]["role"] != "system":
        found.append("one system message, first")
    spoken = [m["role"] for m in messages if m["role"] != "tool" and "tool_calls" not in m]
    if any(a == b == "user" for a, b in pairwise(spoken)):
        found.append("two user messages in a row")
    if any(a["role"] == b["role"] == "assistant" for a, b in pairwise(messages)):
        found.append("two assistant messages in a row")
    if len(messages) > 1 and messages[1]["role"] != "user":
        found.append("the first message is the user's")
    if any(not isinstance(m["content"], str) for m in messages):
        found.append("content is a string")
    if any("reasoning" in key for m in messages for key in m):
        found.append("reasoning is sent back")
    return found + call_problems(messages)


def call_problems(messages: Sequence[Message]) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    waiting: list[str] = []
    for message in messages:
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                found.append("a result without its call")
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            found.append("a call without its result")
        for entry in message.get("tool_calls", ()):
            if not entry["id"] or entry["id"] in seen:
                found.append("an id that is empty or used")
            seen.add(entry["id"])
            waiting.append(entry["id"])
            if not isinstance(json.loads(entry["function"]["arguments"]), dict):
                found.append("arguments that are no object")
    return found + ["a call without its result"] * bool(waiting)


def test_a_turn_with_calls_is_kept_in_order() -> None:
    history = History("You are an agent.")
    history.user("go")
    history.assistant(Reply(text="I look.", reasoning="hm", calls=(call("a"), call("b"))))
    history.tool("a", "one")
    history.tool("b", "two")
    messages = history.messages()
    assert [m["role"] for m in messages] == ["system", "user", "assistant", "tool", "tool"]
    assert messages[2]["tool_calls"][0]["function"] == {
        "name": "read_file",
        "arguments": '{"path": "a"}',
    }
    assert not problems(messages)


def test_arguments_that_were_no_object_are_kept_as_an_empty_one() -> None:
    history = History("s")
    history.user("go")
    for raw in ("ls -R", '{"a": 1}{"b": 2}', "[1]", "", '{"x": NaN}'):
        history.assistant(Reply(calls=(call(f"id{raw}", raw),)))
        history.tool(f"id{raw}", "no object")
        assert history.messages()[-2]["tool_calls"][0]["function"]["arguments"] == "{}"
    assert not problems(history.messages())


def test_repaired_arguments_are_sent_back_as_json() -> None:
    mended = Call("a", "read_file", {"path": "a"}, "{'path': 'a',}")
    message = History("s").as_message(Reply(calls=(mended,)))
    assert message["tool_calls"][0]["function"]["arguments"] == '{"path": "a"}'


def test_a_call_that_was_never_answered_is_answered_as_interrupted() -> None:
    history = History("s")
    history.user("go")
    history.assistant(Reply(calls=(call("a"), call("b"))))
    history.tool("a", "one")
    history.repair()
    assert history.last == {"role": "tool", "tool_call_id": "b", "content": INTERRUPTED}


def test_a_request_after_an_interrupted_one_gets_an_answer_in_between() -> None:
    history = History("s")
    history.user("first")
    sent = history.messages()
    history.user("second")
    assert history.messages()[:2] == sent
    assert [m["content"] for m in history.messages()[1:]] == ["first", NO_REPLY, "second"]


def test_results_alone_are_no_answer_to_the_user() -> None:
    history = History("s")
    history.user("first")
    history.assistant(Reply(calls=(call("a"),)))
    history.user("second")
    assert not problems(history.messages())
    assert history.messages()[-2]["content"] == NO_REPLY


def test_an_empty_reply_is_kept_with_a_word() -> None:
    history = History("s")
    history.user("go")
    history.assistant(Reply(text=" ", error="empty"))
    assert history.last["content"] == NO_TEXT


def test_a_result_needs_its_call() -> None:
    history = History("s")
    with pytest.raises(ValueError, match="'x'"):
        history.tool("x", "one")


def test_asking_for_the_messages_changes_nothing_that_was_legal() -> None:
    history = History("s")
    history.user("go")
    history.assistant(Reply(text="Done."))
    assert history.messages() == history.messages()
    assert len(history) == 3


def test_an_id_used_before_is_replaced_and_its_result_follows() -> None:
    history = History("s")
    history.user("go")
    for text in ("one", "two"):
        history.assistant(Reply(calls=(call("call_0"),)))
        history.tool("call_0", text)
    assert not problems(history.messages())


def test_reset_leaves_the_system_message() -> None:
    history = History("s")
    history.user("go")
    before = history.estimate()
    history.reset()
    assert history.last == {"role": "system", "content": "s"}
    assert history.estimate() < before
    history.user("again")
    assert not problems(history.messages())


def test_the_estimate_grows_with_every_message() -> None:
    history = History("s")
    sizes = [history.estimate()]
    for text in ("go", "x" * 1000):
        history.user(text)
        sizes.append(history.estimate())
    assert sizes == sorted(set(sizes))
    assert sizes[-1] - sizes[-2] > 200


def test_text_that_cannot_be_encoded_is_made_sendable() -> None:
    history = History("s\ud800")
    history.user("\udcff")
    json.dumps(history.messages(), ensure_ascii=False).encode()


def test_a_foreign_history_is_mended() -> None:
    entry: dict[str, Any] = {"id": "", "function": {"name": "f", "arguments": '{"a":1}{"b":2}'}}
    history = History.from_messages(
        [
            {"role": "system", "content": "one"},
            {"role": "user", "content": "go"},
            {"role": "user", "content": [{"type": "text", "text": "on"}]},
            {"role": "assistant", "content": None, "tool_calls": [entry, dict(entry)]},
            {"role": "tool", "tool_call_id": "", "content": "first"},
            {"role": "tool", "tool_call_id": "", "content": "second"},
            {"role": "tool", "tool_call_id": "stray", "content": "third"},
            {"role": "system", "content": "two"},
        ]
    )
    messages = history.messages()
    assert messages[0]["content"] == "one\n\ntwo"
    assert not problems(messages)
    assert [m["content"] for m in messages if m["role"] == "tool"] == ["first", "second"]


def test_a_legal_history_comes_back_as_it_was() -> None:
    history = History("s")
    history.user("go")
    history.assistant(Reply(text="I look.", calls=(call("a"),)))
    history.tool("a", "one")
    history.assistant(Reply(text="Done."))
    history.user("more")
    assert History.from_messages(history.messages()).messages() == history.messages()


@pytest.mark.parametrize("garbage", [None, 3, "x", [3], [{}], [{"function": 3}], {"a": 1}])
def test_garbage_in_a_foreign_history_is_left_out(garbage: Any) -> None:
    history = History.from_messages(
        [
            {"role": "user", "content": garbage},
            {"role": "assistant", "content": garbage, "tool_calls": garbage},
            {"role": garbage, "content": "x"},
            {"role": "tool", "tool_call_id": garbage, "content": garbage},
        ]
    )
    assert not problems(history.messages())


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("user"), st.text(max_size=4)),
        st.tuples(
            st.just("assistant"),
            st.lists(
                st.tuples(
                    st.sampled_from(["", "a", "b", "call_0"]), st.sampled_from(["{}", "x", "[]"])
                ),
                max_size=2,
                unique_by=lambda pair: pair[0],
            ),
        ),
        st.tuples(st.just("tool"), st.sampled_from(["", "a", "b"])),
        st.tuples(st.just("send"), st.none()),
        st.tuples(st.just("repair"), st.none()),
    ),
    max_size=25,
)


@given(STEPS)
@settings(max_examples=200, deadline=None)
def test_whatever_happens_the_history_is_legal_and_only_grows(steps: list[tuple[str, Any]]) -> None:
    history = History("s")
    sent: list[str] = []
    for step, value in steps:
        if step == "user":
            history.user(value)
        elif step == "assistant":
            history.assistant(Reply(text="t", calls=tuple(call(i, raw) for i, raw in value)))
        elif step == "tool":
            try:
                history.tool(value, "result")
            except ValueError:
                continue
        elif step == "repair":
            history.repair()
        else:
            messages = history.messages()
            assert not problems(messages)
            wire = [json.dumps(message) for message in messages]
            assert wire[: len(sent)] == sent
            sent = wire
    again = History.from_messages(json.loads(json.dumps([*map(json.loads, sent)])))
    if sent:
        assert not problems(again.messages())
