"""The conversation as the protocols send it."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.history import History
from harness.model.protocols.rendering import render
from harness.model.values import Call, Message, Protocol, Reply
from harness.tools.toolbox import all_tools
from tests.cases.wire_rules import RULES, broken

TOOLS = [tool.schema() for tool in all_tools()]
RENDERED: tuple[Protocol, ...] = ("constrained", "text")

TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
ARGUMENTS = st.dictionaries(st.sampled_from(["path", "content", "start"]), TEXTS | st.integers())
CALLS = st.lists(st.tuples(st.sampled_from(["read_file", "write_file", "odd"]), ARGUMENTS))
TURNS = st.lists(
    st.tuples(TEXTS, st.lists(st.tuples(TEXTS, CALLS, TEXTS), max_size=4), TEXTS), max_size=4
)
"""What the user says; steps of a text, calls and their results; what the model says at last."""


def requests_of(turns: list[Any]) -> list[list[Message]]:
    """The messages of every request in the course of a conversation."""
    history = History("You are an agent.")
    sent: list[list[Message]] = []
    count = 0
    for said, steps, answer in turns:
        history.user(said)
        for text, calls, result in steps:
            sent.append(history.messages())
            made = []
            for name, arguments in calls:
                count += 1
                made.append(Call(f"c{count}", name, arguments, json.dumps(arguments)))
            history.assistant(Reply(text=text, calls=tuple(made)))
            if not made:
                history.user("Your last reply could not be used")
            for call in made:
                history.tool(call.id, result)
        sent.append(history.messages())
        if answer:
            history.assistant(Reply(text=answer))
    return sent


@settings(max_examples=30)
@given(turns=TURNS)
def test_requests_are_legal_and_each_begins_with_the_one_before(turns: list[Any]) -> None:
    requests = requests_of(turns)
    assert all(render(messages, TOOLS, "native") == messages for messages in requests)
    for protocol in RENDERED:
        sent = [render(messages, TOOLS, protocol) for messages in requests]
        for former, latter in pairwise(sent):
            assert latter[: len(former)] == former
        for messages in sent:
            assert not broken({"messages": messages}, RULES)
            roles = [message["role"] for message in messages]
            assert set(roles) <= {"system", "user", "assistant"}
            assert all(one != other for one, other in pairwise(roles))


def conversation() -> list[Message]:
    history = History("S")
    history.user("change it")
    two = (
        Call("a", "read_file", {"path": "ä.py"}, '{"path": "ä.py"}'),
        Call("b", "search", {"pattern": '"x"\n'}, '{"pattern": "\\"x\\"\\n"}'),
    )
    history.assistant(Reply(text="I look.", calls=two))
    history.tool("a", "one")
    history.tool("b", "two")
    history.assistant(Reply(text="Done."))
    return history.messages()


def test_several_calls_become_steps_one_after_the_other() -> None:
    assert render(conversation(), TOOLS, "constrained")[1:] == [
        {"role": "user", "content": "change it"},
        {"role": "assistant", "content": '{"tool": "read_file", "path": "ä.py"}'},
        {"role": "user", "content": "Result of read_file:\none"},
        {"role": "assistant", "content": '{"tool": "search", "pattern": "\\"x\\"\\n"}'},
        {"role": "user", "content": "Result of search:\ntwo"},
        {"role": "assistant", "content": '{"tool": "answer", "text": "Done."}'},
    ]


def test_calls_are_text_in_the_form_that_is_read_again() -> None:
    from harness.model.decode import decode

    sent = render(conversation(), TOOLS, "text")
    chunk = {"choices": [{"message": sent[2], "finish_reason": "stop"}]}
    reply = decode(chunk, TOOLS)
    assert reply.text == "I look."
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("read_file", {"path": "ä.py"}),
        ("search", {"pattern": '"x"\n'}),
    ]
    assert sent[3] == {
        "role": "user",
        "content": "<tool_response>\none\n</tool_response>\n<tool_response>\ntwo\n</tool_response>",
    }


@pytest.mark.parametrize("protocol", RENDERED)
def test_the_system_message_tells_every_tool_and_its_arguments(protocol: Protocol) -> None:
    system = render(conversation(), TOOLS, protocol)[0]["content"]
    for tool in all_tools():
        named = (line for line in system.splitlines() if f'"{tool.name}"' in line)
        line = next(line for line in named if tool.description in line)
        assert all(f'"{name}"' in line for name in tool.parameters["properties"])
    assert ('"tool": "answer"' in system) is (protocol == "constrained")
