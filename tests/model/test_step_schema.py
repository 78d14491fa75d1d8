"""The schema of the next step: what it lets through and what not."""

from collections.abc import Mapping
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.protocols.schema import step_schema, wrapped
from harness.model.values import Narrowing
from harness.tools.toolbox import all_tools

TOOLS = [tool.schema() for tool in all_tools()]
NAMES = [tool.name for tool in all_tools()]
PATHS = ("auth.py", "test_auth.py", "pkg/ä b.py")
KINDS: Mapping[str, type | tuple[type, ...]] = {"string": str, "integer": int, "null": type(None)}


def fits(value: Any, schema: Mapping[str, Any]) -> bool:
    """Whether a value is what the schema describes, which has to keep to the few words that every
    server can enforce."""
    assert schema.keys() <= {
        "type", "anyOf", "enum", "properties", "required", "additionalProperties",
    }  # fmt: skip
    if "anyOf" in schema:
        return any(fits(value, each) for each in schema["anyOf"])
    if schema["type"] != "object":
        good = isinstance(value, KINDS[schema["type"]]) and not isinstance(value, bool)
        return good and value in schema.get("enum", [value])
    properties = schema["properties"]
    return (
        isinstance(value, dict)
        and set(schema["required"]) <= set(value) <= set(properties)
        and schema["additionalProperties"] is False
        and all(fits(each, properties[key]) for key, each in value.items())
    )


NARROWINGS = st.builds(
    Narrowing,
    st.lists(st.sampled_from([*NAMES, "unknown"]), unique=True).map(tuple),
    st.booleans(),
    st.dictionaries(
        st.sampled_from([("read_file", "path"), ("patch_file", "path"), ("search", "path")]),
        st.lists(st.sampled_from(PATHS), min_size=1, unique=True).map(tuple),
    ),
)


@st.composite
def steps(draw: st.DrawFn) -> dict[str, Any]:
    """A call of a tool with arguments that fit, or nearly; or an answer."""
    name = draw(st.sampled_from([*NAMES, "answer", "unknown"]))
    if name in ("answer", "unknown"):
        return {"tool": name, "text": draw(st.text(max_size=3))}
    (tool,) = [tool for tool in all_tools() if tool.name == name]
    step: dict[str, Any] = {"tool": name}
    for argument, schema in tool.parameters["properties"].items():
        if argument not in tool.parameters["required"] and draw(st.booleans()):
            continue
        values: Any = st.integers() if schema["type"] == "integer" else st.sampled_from(PATHS)
        if "enum" in schema:
            values = st.sampled_from([*schema["enum"], "elsewhere"])
        step[argument] = draw(values)
    return step


@settings(max_examples=60)
@given(NARROWINGS, steps())
def test_a_step_fits_exactly_when_it_is_allowed(narrowing: Narrowing, step: dict[str, Any]) -> None:
    name = step["tool"]
    offered = [each for each in narrowing.tools if each in NAMES]
    if name == "answer":
        allowed = narrowing.answer or not offered
    else:
        values = {
            argument: narrowing.values.get((name, argument), (value,))
            for argument, value in step.items()
            if argument != "tool"
        }
        allowed = name in offered and all(step[each] in values[each] for each in values)
        allowed = allowed and step.get("scope", "global") in ("workspace", "global")
    assert fits(step, step_schema(TOOLS, narrowing)) is allowed
    strict = wrapped(step_schema(TOOLS, narrowing))
    assert fits({"step": _with_nulls(step)}, strict) is allowed


def _with_nulls(step: dict[str, Any]) -> dict[str, Any]:
    """As strict servers have it: what is left out is null."""
    known = [tool.parameters["properties"] for tool in all_tools() if tool.name == step["tool"]]
    return {**{name: None for each in known for name in each}, **step}


@settings(max_examples=20)
@given(NARROWINGS)
def test_the_tool_is_decided_first_and_something_is_always_left(narrowing: Narrowing) -> None:
    schema = step_schema(TOOLS, narrowing)
    assert schema["anyOf"]
    for choice in schema["anyOf"]:
        names = list(choice["properties"])
        assert names[0] == "tool"
        assert choice["required"] == names[: len(choice["required"])]
        assert len(choice["properties"]["tool"]["enum"]) == 1


def test_without_narrowing_every_tool_and_the_answer_fit() -> None:
    schema = step_schema(TOOLS)
    words = [choice["properties"]["tool"]["enum"][0] for choice in schema["anyOf"]]
    assert words == [*NAMES, "answer"]
    assert fits({"tool": "read_file", "path": "no/such"}, schema)
    assert not fits({"tool": "read_file", "path": "a", "more": 1}, schema)
    assert not fits({"tool": "read_file"}, schema)


def test_the_strict_form_requires_every_property() -> None:
    schema = wrapped(step_schema(TOOLS))
    assert schema["required"] == ["step"]
    assert schema["type"] == "object"
    for choice in schema["properties"]["step"]["anyOf"]:
        assert choice["required"] == list(choice["properties"])
