"""What a model may get slightly wrong, and what it is told about the rest."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.errors import ToolError
from harness.tools.arguments import check
from harness.tools.base import Tool
from harness.tools.toolbox import all_tools

TOOLS: Mapping[str, Tool] = {tool.name: tool for tool in all_tools()}


@pytest.mark.parametrize(
    ("tool", "given", "understood"),
    [
        ("read_file", {"path": "a"}, {"path": "a"}),
        ("read_file", {"path": "a", "start": "3"}, {"path": "a", "start": 3}),
        ("read_file", {"path": "a", "start": " +3 "}, {"path": "a", "start": 3}),
        ("read_file", {"path": "a", "start": 3.0}, {"path": "a", "start": 3}),
        ("read_file", {"path": "a", "start": None}, {"path": "a"}),
        ("read_file", {"filePath": "a", "start_line": 1}, {"path": "a", "start": 1}),
        ("read_file", {"path": 7}, {"path": "7"}),
        ("list_files", {}, {}),
        ("list_files", {"directory": "src"}, {"path": "src"}),
        ("search", {"query": "x", "path": None}, {"pattern": "x"}),
        ("run_shell", {"cmd": "ls"}, {"command": "ls"}),
        (
            "patch_file",
            {"file": "a", "old_string": "b", "new_string": "c"},
            {"path": "a", "old_text": "b", "new_text": "c"},
        ),
        ("write_file", {"path": "a", "text": ""}, {"path": "a", "content": ""}),
    ],
)
def test_lossless_differences_are_mended(
    tool: str, given: dict[str, Any], understood: dict[str, Any]
) -> None:
    assert check(TOOLS[tool], given) == understood


@pytest.mark.parametrize(
    ("tool", "given", "why"),
    [
        ("read_file", {}, "read_file needs 'path'. Call it as read_file(path: string, start: "),
        ("read_file", {"path": None}, "needs 'path'"),
        ("read_file", {"path": ["a"]}, "'path' must be a string, not ['a']"),
        ("read_file", {"path": True}, "'path' must be a string, not True"),
        ("read_file", {"path": "a", "start": "two"}, "'start' must be an integer, not 'two'"),
        ("read_file", {"path": "a", "start": "--3"}, "must be an integer"),
        ("read_file", {"path": "a", "start": "9" * 5000}, "must be an integer"),
        ("read_file", {"path": "a", "start": 1.5}, "must be an integer, not 1.5"),
        ("read_file", {"path": "a", "start": float("inf")}, "must be an integer, not inf"),
        ("read_file", {"path": "a", "start": True}, "must be an integer, not True"),
        ("read_file", {"path": "a", "mode": "r"}, "read_file has no argument 'mode'"),
        ("read_file", {"path": "a", "file": "b"}, "has no argument 'file'"),
        ("remember", {"key": "k", "content": "c", "scope": "all"}, "'workspace' or 'global'"),
        ("write_file", {"path": "a", "content": "x\ud83d"}, "half of a character"),
        ("write_file", {"path": "a", "content": {"k": "v" * 900}}, "must be a string, not {'k'"),
    ],
)
def test_the_rest_is_a_short_sentence(tool: str, given: dict[str, Any], why: str) -> None:
    with pytest.raises(ToolError) as refused:
        check(TOOLS[tool], given)
    assert why in str(refused.value)
    assert len(str(refused.value)) < 300


TEXTS = st.sampled_from(["", "a", "3", " -3 ", "--3", "1e3", "workspace", "é", "\ud800"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=5,
)
KEYS = st.sampled_from(["path", "file", "start", "end", "content", "scope", "key", "timeout", "x"])


@settings(deadline=None)
@given(st.sampled_from(sorted(TOOLS)), st.dictionaries(KEYS, JSON, max_size=4))
def test_any_json_is_understood_or_explained(name: str, given: dict[str, Any]) -> None:
    tool = TOOLS[name]
    try:
        understood = check(tool, given)
    except ToolError:
        return
    properties = tool.parameters["properties"]
    kinds = {"string": str, "integer": int}
    assert set(tool.parameters["required"]) <= set(understood)
    assert all(type(value) is kinds[properties[key]["type"]] for key, value in understood.items())


def test_the_schemas_are_what_the_checks_rely_on() -> None:
    for tool in TOOLS.values():
        schema = tool.schema()
        assert json.loads(json.dumps(schema)) == schema
        parameters = schema["function"]["parameters"]
        assert set(parameters["required"]) <= set(parameters["properties"])
        assert parameters["additionalProperties"] is False
        assert tool.shows in parameters["properties"]
        assert all(p["type"] in ("string", "integer") for p in parameters["properties"].values())


def test_the_model_is_told_of_twelve_tools_in_few_words() -> None:
    assert list(TOOLS) == [
        "list_files",
        "read_file",
        "search",
        "find_definitions",
        "find_references",
        "outline",
        "read_symbol",
        "run_shell",
        "write_file",
        "patch_file",
        "remember",
        "forget",
    ]
    assert len(json.dumps([tool.schema() for tool in TOOLS.values()])) < 6000
