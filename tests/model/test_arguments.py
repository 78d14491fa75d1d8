"""Arguments are fitted to the schema of their tool where nothing is lost."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.arguments import fitted, misfit

SCHEMA = {
    "type": "object",
    "properties": {
        "path": {"type": "string"},
        "start": {"type": "integer"},
        "ratio": {"type": "number"},
        "deep": {"type": "boolean"},
        "paths": {"type": "array"},
        "options": {"type": "object"},
        "limit": {"type": ["integer", "null"]},
        "anything": {},
    },
    "required": ["path"],
}


@pytest.mark.parametrize(
    ("sent", "fits"),
    [
        ({"start": "130"}, {"start": 130}),
        ({"start": 130.0}, {"start": 130}),
        ({"start": "130.0"}, {"start": 130}),
        ({"ratio": "2.0"}, {"ratio": 2.0}),
        ({"deep": "TRUE"}, {"deep": True}),
        ({"arguments": {"path": "a"}}, {"path": "a"}),
        ({"parameters": '{"path": "a"}'}, {"path": "a"}),
        ({"name": "read_file", "arguments": {"path": "a"}}, {"path": "a"}),
        ({"ratio": "0.5"}, {"ratio": 0.5}),
        ({"ratio": "2"}, {"ratio": 2}),
        ({"deep": "true"}, {"deep": True}),
        ({"deep": "False"}, {"deep": False}),
        ({"paths": '["a", "b"]'}, {"paths": ["a", "b"]}),
        ({"options": "{'a': 1}"}, {"options": {"a": 1}}),
        ({"limit": "3"}, {"limit": 3}),
        ({"path": 7}, {"path": "7"}),
        ({"start": None, "path": "a"}, {"path": "a"}),
    ],
)
def test_a_type_is_mended_when_the_value_says_exactly_that(
    sent: dict[str, Any], fits: dict[str, Any]
) -> None:
    assert fitted(SCHEMA, sent) == fits


@pytest.mark.parametrize(
    "sent",
    [
        {"path": "007"},
        {"path": "true"},
        {"path": "[1]"},
        {"path": True},
        {"path": 1.5},
        {"start": "12.5"},
        {"start": "ten"},
        {"start": 1.5},
        {"start": True},
        {"deep": 1},
        {"deep": "yes"},
        {"paths": "a, b"},
        {"paths": '{"a": 1}'},
        {"options": "[1]"},
        {"ratio": "1e999"},
        {"anything": "12"},
        {"path": "a", "arguments": {"start": 3}},
        {"arguments": {"path": "a"}, "parameters": {"path": "b"}},
        {"arguments": "a"},
    ],
)
def test_what_would_be_a_guess_stays_as_it_was_sent(sent: dict[str, Any]) -> None:
    assert fitted(SCHEMA, sent) == sent


@pytest.mark.parametrize("name", ["filePath", "file_path", "file", "Path", "PATH"])
def test_what_others_call_an_argument_is_understood(name: str) -> None:
    assert fitted(SCHEMA, {name: "a"}) == {"path": "a"}


@pytest.mark.parametrize(
    "sent", [{"file": "a", "filename": "b"}, {"path": "a", "file": "b"}, {"src": "a"}]
)
def test_a_name_that_may_mean_two_things_means_nothing(sent: dict[str, Any]) -> None:
    assert fitted(SCHEMA, sent) == sent


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"path": "a"}, ""),
        ({}, "path"),
        ({"path": "a", "src": "b"}, "src"),
        ({"path": "a", "start": "ten"}, "start"),
        ({"path": "a", "limit": None, "anything": [1]}, ""),
    ],
)
def test_the_first_argument_that_does_not_fit_is_named(
    arguments: dict[str, Any], wrong: str
) -> None:
    assert misfit(SCHEMA, arguments) == wrong


ODD: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(["type", "a"]), inner)
    ),
    max_leaves=4,
)


@settings(max_examples=40, deadline=None)
@given(ODD, st.dictionaries(st.sampled_from(["path", "start", "deep", "file", "x"]), ODD))
def test_any_schema_and_any_arguments_are_taken(schema: Any, arguments: dict[str, Any]) -> None:
    for properties in ({"path": schema}, schema):
        made = fitted({"properties": properties, "required": schema}, arguments)
        assert isinstance(misfit({"properties": properties, "required": schema}, made), str)
