"""What each rule of a strict server refuses, and what it lets pass."""

from typing import Any

import pytest

from tests.cases.wire_rules import ALWAYS, RULES, broken
from tests.strictness import check_requests, rules_for

SYSTEM = {"role": "system", "content": "s"}
USER = {"role": "user", "content": "u"}
TEXT = {"role": "assistant", "content": "a"}


def made(*ids: Any, arguments: Any = "{}", content: Any = "") -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    entries = [{"id": each, "type": "function", "function": function} for each in ids]
    return {"role": "assistant", "content": content, "tool_calls": entries}


def result(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "r"}


def tool(schema: dict[str, Any]) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "f", "parameters": schema}}


SHALLOW = tool({"properties": {"p": {"pattern": "^a$"}}})
NESTED = tool({"properties": {"p": {"items": {"pattern": "^a$"}}}})


@pytest.mark.parametrize(
    ("messages", "told"),
    [
        ([USER, SYSTEM], "system_after_first: message 1"),
        ([SYSTEM, {"role": "developer", "content": "d"}], "system_after_first: message 1"),
        ([SYSTEM, USER, USER], "consecutive_user: message 2"),
        ([USER, made("a"), result("a"), USER], "consecutive_user: message 3"),
        ([USER, made("a", content=None), result("a")], "assistant_content_null: message 1"),
        ([USER, made("a", arguments={}), result("a")], "history_args_not_json_object_string"),
        ([USER, made("a", arguments="[]"), result("a")], "history_args_not_json_object_string"),
        ([USER, made("a", arguments='{"p"'), result("a")], "history_args_not_json_object_string"),
        ([USER, made("a")], "tool_ids_unpaired_or_empty: the calls ['a'] have no result"),
        ([USER, made(""), result("")], "tool_ids_unpaired_or_empty: message 1"),
        ([USER, made(None), result("")], "tool_ids_unpaired_or_empty: message 1"),
        ([USER, made("a", "a"), result("a"), result("a")], "tool_ids_unpaired_or_empty: message 1"),
        ([USER, made("a"), result("b")], "tool_ids_unpaired_or_empty: message 2"),
        ([USER, made("a", "b"), result("a"), TEXT], "tool_ids_unpaired_or_empty: message 3"),
        ([USER, TEXT, result("a")], "tool_ids_unpaired_or_empty: message 2"),
    ],
)
def test_a_broken_rule_is_named_with_the_place(messages: list[dict[str, Any]], told: str) -> None:
    (found,) = broken({"messages": messages})
    assert found.startswith(told)
    with pytest.raises(AssertionError, match="request 2 breaks"):
        check_requests([{"messages": [SYSTEM, USER]}, {"messages": messages}])


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, USER],
        [SYSTEM, USER, TEXT, USER],
        [USER, made("a", "b"), result("b"), result("a"), TEXT, USER],
        [USER, made("a"), result("a"), made("b"), result("b"), TEXT],
    ],
)
def test_a_legal_conversation_breaks_none(messages: list[dict[str, Any]]) -> None:
    assert broken({"messages": messages, "tools": [SHALLOW]}) == []


def test_rules_of_tools() -> None:
    assert broken({"tools": [SHALLOW, NESTED]}) == [
        "tools_nested_pattern: the schema of 'f' has a nested pattern"
    ]
    assert broken({"tools": [SHALLOW]}, RULES) == ["tools_present: the request has tools"]
    assert broken({"tools": []}, RULES) == []


def test_tools_are_sent_in_native_requests_alone() -> None:
    assert rules_for(["--approval", "auto"]) == ALWAYS
    assert rules_for(["--protocol", "native"]) == ALWAYS
    assert rules_for(["--protocol", "text", "Do it."]) == tuple(RULES)
    assert rules_for(["--protocol", "constrained"]) == tuple(RULES)
