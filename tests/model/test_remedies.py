"""Remedies change the shape of a request, never what is asked."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.failures import CAUSES, RequestFailed
from harness.model.remedies import REMEDIES, Mending, Remedy, smaller_answer, suggested

WORDS = st.text("abc XYZ.", min_size=1, max_size=12).filter(str.strip)
NAMES = st.sampled_from(["path", "pattern", "format", "properties", "anyOf", "$ref", "type"])


def message(role: str) -> st.SearchStrategy[dict[str, Any]]:
    return st.fixed_dictionaries({"role": st.just(role), "content": WORDS})


@st.composite
def calling(draw: st.DrawFn) -> list[dict[str, Any]]:
    """An assistant message with calls, and their results."""
    ids = draw(st.lists(st.text("0123456789", min_size=4, max_size=6), unique=True, min_size=1))
    calls = [
        {
            "id": each,
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": draw(WORDS)})},
        }
        for each in ids
    ]
    results = [{"role": "tool", "tool_call_id": each, "content": draw(WORDS)} for each in ids]
    return [
        {"role": "assistant", "content": draw(st.just("") | WORDS), "tool_calls": calls},
        *results,
    ]


MESSAGES = st.lists(
    message("user").map(lambda m: [m])
    | message("assistant").map(lambda m: [m])
    | message("system").map(lambda m: [m])
    | calling(),
    min_size=1,
    max_size=6,
).map(lambda groups: [message for group in groups for message in group])
LEAVES = st.fixed_dictionaries(
    {"type": st.sampled_from(["string", "integer", "boolean"])},
    optional={
        "pattern": st.just("^a"),
        "maxLength": st.just(3),
        "description": WORDS,
        "enum": st.just(["a", "b"]),
        "default": st.just("a"),
    },
)
SCHEMAS = st.recursive(
    LEAVES,
    lambda inner: (
        st.fixed_dictionaries(
            {"type": st.just("object"), "properties": st.dictionaries(NAMES, inner, max_size=3)},
            optional={"required": st.just(["path"]), "$defs": st.dictionaries(NAMES, inner)},
        )
        | st.fixed_dictionaries({"type": st.just("array"), "items": inner})
        | st.fixed_dictionaries({"anyOf": st.lists(inner, min_size=1, max_size=3)})
        | st.just({"$ref": "#/$defs/path"})
    ),
    max_leaves=8,
)
OBJECTS = st.dictionaries(NAMES, SCHEMAS, max_size=4).map(
    lambda properties: {"type": "object", "properties": properties, "required": [*properties]}
)
BODIES = st.builds(
    lambda messages, parameters: {
        "model": "m",
        "messages": messages,
        "tools": [{"type": "function", "function": {"name": "t", "parameters": parameters}}],
        "max_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.5,
        "stream_options": {"include_usage": True},
    },
    MESSAGES,
    OBJECTS,
)
ALL = [*REMEDIES.values(), smaller_answer(50)]


def said(body: dict[str, Any]) -> list[str]:
    """Every word of the messages, in no order."""
    words: list[str] = []
    for each in body["messages"]:
        calls = [call["function"] for call in each.get("tool_calls", ())]
        texts = [each["content"], *(f["name"] for f in calls), *(f["arguments"] for f in calls)]
        words += " ".join(texts).split()
    return sorted(words)


@given(BODIES, st.sampled_from(ALL))
def test_a_remedy_done_twice_is_done_once_and_changes_nothing_given(
    body: dict[str, Any], remedy: Remedy
) -> None:
    before = json.dumps(body)
    once = remedy.apply(body)
    assert remedy.apply(once) == once
    assert json.dumps(body) == before


@given(BODIES, st.sampled_from(ALL))
def test_a_remedy_keeps_the_words_and_the_names_of_tools_and_arguments(
    body: dict[str, Any], remedy: Remedy
) -> None:
    changed = remedy.apply(body)
    text = json.dumps(changed)
    assert not [word for word in said(body) if word.strip('{}":,') not in text]
    before, after = (b["tools"][0]["function"] for b in (body, changed))
    assert after["name"] == before["name"]
    assert [*after["parameters"]["properties"]] == [*before["parameters"]["properties"]]
    assert after["parameters"]["required"] == before["parameters"]["required"]


@given(BODIES)
def test_simple_schemas_hold_nothing_that_a_grammar_may_fail_on(body: dict[str, Any]) -> None:
    parameters = REMEDIES["simple_schemas"].apply(body)["tools"][0]["function"]["parameters"]

    def check(schema: dict[str, Any]) -> None:
        assert not {"pattern", "format", "maxLength", "anyOf", "$ref", "$defs"} & {*schema}
        for each in [*schema.get("properties", {}).values(), schema.get("items")]:
            if each:
                check(each)

    check(parameters)


def simplified(schema: dict[str, Any]) -> Any:
    parameters = {"type": "object", "properties": {"a": schema}}
    body = {"tools": [{"function": {"name": "t", "parameters": parameters}}]}
    tool = REMEDIES["simple_schemas"].apply(body)["tools"][0]
    return tool["function"]["parameters"]["properties"]["a"]


def test_what_can_be_null_is_what_it_is_otherwise() -> None:
    assert simplified({"type": ["string", "null"]}) == {"type": "string"}
    choice = {"anyOf": [{"type": "integer", "minimum": 1}, {"type": "null"}], "description": "n"}
    assert simplified(choice) == {"type": "integer", "description": "n"}


def test_a_choice_of_values_is_an_enumeration_and_a_choice_of_schemas_is_free() -> None:
    assert simplified({"oneOf": [{"const": "a"}, {"enum": ["b"]}]}) == {"enum": ["a", "b"]}
    assert simplified({"anyOf": [{"type": "string"}, {"type": "object"}]}) == {}


def test_references_are_followed_also_in_a_circle() -> None:
    parameters = {
        "type": "object",
        "properties": {"tree": {"$ref": "#/$defs/tree"}},
        "$defs": {
            "tree": {
                "type": "object",
                "properties": {"name": {"type": "string"}, "below": {"$ref": "#/$defs/tree"}},
            }
        },
    }
    body = {"tools": [{"function": {"name": "t", "parameters": parameters}}]}
    text = json.dumps(REMEDIES["simple_schemas"].apply(body))
    assert "$ref" not in text
    assert text.count('"name": {"type": "string"}') > 3


def test_the_schema_of_a_reply_keeps_its_choices() -> None:
    schema = {"anyOf": [{"properties": {"path": {"enum": ["a"], "pattern": "^a"}}}]}
    body = {"response_format": {"type": "json_schema", "json_schema": {"schema": schema}}}
    changed = REMEDIES["simple_schemas"].apply(body)["response_format"]["json_schema"]["schema"]
    assert changed == {"anyOf": [{"properties": {"path": {"enum": ["a"]}}}]}


SYSTEM, USER, ANSWER = ({"role": role, "content": role} for role in ("system", "user", "assistant"))
CALL = {
    "role": "assistant",
    "content": "I look.",
    "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "ls", "arguments": '{"a": 1}'}}
    ],
}
RESULT = {"role": "tool", "tool_call_id": "1", "content": "x.py"}


@pytest.mark.parametrize(
    ("words", "messages", "roles"),
    [
        ("System message must be at the beginning.", [USER, SYSTEM], "system user"),
        ("System message must be at the beginning.", [SYSTEM, USER], "user"),
        ("System role not supported", [SYSTEM, USER, ANSWER, USER], "user assistant user"),
        ("Conversation roles must alternate user/assistant", [SYSTEM, USER, USER], "system user"),
        (
            "Conversation roles must alternate user/assistant",
            [SYSTEM, USER, CALL, RESULT, USER],
            "system user assistant user",
        ),
        ("Only user and assistant roles are supported!", [SYSTEM, USER], "user"),
        ("Only user and assistant roles are supported!", [USER, CALL, RESULT],
         "user assistant user"),
        ("Tool role is not supported", [SYSTEM, USER, CALL, RESULT], "system user assistant user"),
        ("Unknown role: tool", [SYSTEM, USER, CALL, RESULT], "system user assistant user"),
        ("Something else", [USER, SYSTEM, USER], "system user user"),
    ],
)  # fmt: skip
def test_the_servers_words_suggest_the_shape(
    words: str, messages: list[dict[str, Any]], roles: str
) -> None:
    mending = Mending()
    body = {"messages": messages}
    assert mending.take(RequestFailed("template", words), body)
    changed = mending.mended(body)["messages"]
    assert " ".join(each["role"] for each in changed) == roles


def test_former_calls_are_text_in_the_form_that_is_read_as_calls() -> None:
    changed = REMEDIES["calls_as_text"].apply({"messages": [USER, CALL, RESULT, USER]})
    assert changed["messages"][1:] == [
        {
            "role": "assistant",
            "content": 'I look.\n<tool_call>\n{"name": "ls", "arguments": {"a": 1}}\n</tool_call>',
        },
        {"role": "user", "content": "<tool_response>\nx.py\n</tool_response>\n\nuser"},
    ]


@pytest.mark.parametrize(
    ("words", "missing", "there"),
    [
        ("Unrecognized request argument supplied: stream_options", "stream_options", "model"),
        ("Unsupported parameter: 'max_tokens' is not supported with this model. Use "
         "'max_completion_tokens' instead.", "max_tokens", "max_completion_tokens"),
        ("Unsupported value: 'temperature' does not support 0.5", "temperature", "top_p"),
        ("`temperature` and `top_p` cannot both be specified", "top_p", "temperature"),
    ],
)  # fmt: skip
def test_an_option_that_is_not_taken_is_left_out_or_renamed(
    words: str, missing: str, there: str
) -> None:
    body: dict[str, Any] = dict.fromkeys(
        ("model", "stream_options", "max_tokens", "temperature", "top_p"), 1
    )
    mending = Mending()
    assert mending.take(RequestFailed("option", words), {**body, "messages": []})
    changed = mending.mended(body)
    assert missing not in changed
    assert there in changed


def test_there_is_nothing_to_mend_in_what_would_stay_the_same() -> None:
    mending = Mending()
    plain = {"messages": [USER], "max_tokens": 10}
    for failed in (
        RequestFailed("template", "roles must alternate"),
        RequestFailed("schema", "failed to parse grammar"),
        RequestFailed("option", "unknown field temperature"),
        RequestFailed("room", "too large", room=50),
        RequestFailed("tools", "does not support tools"),
    ):
        assert mending.take(failed, plain) == ""
    assert mending.mended(plain) == plain


def test_the_same_complaint_after_a_remedy_ends_it_and_another_one_does_not() -> None:
    mending = Mending()
    body = {"messages": [SYSTEM, USER, CALL, RESULT, USER]}
    system = RequestFailed("template", "System role not supported")
    assert mending.take(system, body)
    assert mending.take(system, mending.mended(body)) == ""
    assert mending.take(RequestFailed("template", "roles must alternate"), mending.mended(body))


def test_what_did_not_help_is_forgotten_and_what_helped_is_kept() -> None:
    mending = Mending()
    body = {"messages": [SYSTEM, USER], "max_tokens": 100}
    assert mending.take(RequestFailed("template", "System role not supported"), body)
    mending.begin()
    assert mending.mended(body) == body
    assert mending.take(RequestFailed("template", "System role not supported"), body)
    assert mending.take(RequestFailed("room", "too large", room=50), body)
    assert mending.mended(body)["max_tokens"] == 50
    mending.keep()
    assert mending.mended(body)["messages"] == [{"role": "user", "content": "system\n\nuser"}]
    assert mending.mended(body)["max_tokens"] == 100


def test_only_causes_that_are_mended_have_remedies() -> None:
    for name, cause in CAUSES.items():
        failed = RequestFailed(name, "max_tokens temperature stream_options", room=50)
        assert bool([*suggested(failed)]) == (cause.fixed and name != "tools")
