"""Native calls of servers that stream them in their own way."""

from typing import Any

import pytest

from harness.model.decode import decode

TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {"path": {}}, "required": required},
        },
    }
    for name, required in {"read_file": ["path"], "list_files": []}.items()
]
READ = [("read_file", {"path": "a"})]


def made(*deltas: dict[str, Any]) -> list[tuple[str, Any]]:
    chunks = [{"choices": [{"index": 0, "delta": delta}]} for delta in deltas]
    reply = decode([*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}], TOOLS)
    assert reply.error is None, reply.detail
    return [(call.name, call.arguments) for call in reply.calls]


def piece(name: str | None, arguments: Any, call_id: str | None = None) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    return {"tool_calls": [{"index": 0, "id": call_id, "function": function}]}


@pytest.mark.parametrize(
    "pieces",
    [
        [("read", "", "a"), ("_file", "", None), (None, '{"path": "a"}', None)],
        [("read", '{"pa', "a"), ("_file", 'th": "a"}', None)],
        [("rea", "", "a"), ("read_file", "", "a"), ("read_file", '{"path": "a"}', "a")],
    ],
)
def test_a_name_may_come_in_pieces(pieces: list[tuple[str, Any, str]]) -> None:
    assert made(*(piece(*each) for each in pieces)) == READ


@pytest.mark.parametrize(
    "arguments",
    [
        ['{"pa', '{"path": "a', '{"path": "a"}'],
        ['{"pa', '{"path": "a"}', '{"path": "a"}'],
        ['{"path":', ' "a"}', '{"path": "a"}'],
    ],
)
@pytest.mark.parametrize("name", ["read_file", None])
def test_arguments_may_come_whole_again_and_again(arguments: list[str], name: str | None) -> None:
    first = piece("read_file", "", "a")
    assert made(first, *(piece(name, each, "a") for each in arguments)) == READ


def test_an_empty_object_may_come_first() -> None:
    pieces = [piece("read_file", "{}", "a"), piece(None, '{"path": "a"}')]
    assert made(*pieces) == READ


def test_every_piece_may_have_an_id_of_its_own() -> None:
    pieces = ["", '{"path": ', '"a"}']
    assert made(*(piece("read_file", each, f"c{at}") for at, each in enumerate(pieces))) == READ


def test_calls_with_ids_of_their_own_are_two_all_the_same() -> None:
    calls = [piece("read_file", f'{{"path": "{path}"}}', path) for path in "ab"]
    assert made(*calls) == [*READ, ("read_file", {"path": "b"})]
    empty = [piece("list_files", "", "a"), piece("list_files", '{"path": "a"}', "b")]
    assert made(*empty) == [("list_files", {}), ("list_files", {"path": "a"})]


def test_a_function_call_may_repeat_its_name() -> None:
    pieces = [{"name": "read_file", "arguments": each} for each in ('{"pa', 'th": "a"}')]
    assert made(*({"function_call": each} for each in pieces)) == READ


@pytest.mark.parametrize("nothing", ["null", "None", '""', "[]", " "])
def test_no_arguments_may_be_written_in_many_ways(nothing: str) -> None:
    assert made(piece("list_files", nothing, "a")) == [("list_files", {})]


@pytest.mark.parametrize(
    "name", ["read_fileread_file", '"read_file"', "mcp__files__read_file", "function=read_file"]
)
def test_a_name_may_have_something_around_it(name: str) -> None:
    assert made(piece(name, '{"path": "a"}', "a")) == READ
