import json
from typing import Any

import pytest

from harness.model.decode import Decoder, decode
from harness.model.offer import Offer
from harness.model.values import Call

TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": name,
            "parameters": {"type": "object", "properties": {key: {} for key in keys}},
        },
    }
    for name, keys in {
        "read_file": ["path"],
        "write_file": ["path", "content"],
        "run_shell": ["command"],
        "list_files": [],
    }.items()
]


def piece(arguments: Any = None, **fields: Any) -> dict[str, Any]:
    name = fields.pop("name", None)
    function = {"name": name, "arguments": arguments}
    return {**fields, "function": {k: v for k, v in function.items() if v is not None}}


def streamed(*deltas: list[dict[str, Any]]) -> tuple[Call, ...]:
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": delta}}]} for delta in deltas]
    reply = decode([*chunks, {"choices": [{"delta": {}, "finish_reason": "tool_calls"}]}], TOOLS)
    assert reply.error is None, reply.detail
    ids = [call.id for call in reply.calls]
    assert all(ids)
    assert len(set(ids)) == len(ids)
    return reply.calls


def whole(*calls: dict[str, Any]) -> tuple[Call, ...]:
    message = {"content": None, "tool_calls": list(calls)}
    return decode({"choices": [{"message": message, "finish_reason": "tool_calls"}]}, TOOLS).calls


def made(calls: tuple[Call, ...]) -> list[tuple[str, Any]]:
    return [(call.name, call.arguments) for call in calls]


def test_interleaved_pieces_are_sorted_by_index() -> None:
    calls = streamed(
        [piece("", index=0, id="a", name="read_file")],
        [piece("", index=1, id="b", name="run_shell")],
        [piece('{"path": ', index=0)],
        [piece('{"command": "ls', index=1)],
        [piece('"a"}', index=0), piece(' x"}', index=1)],
    )
    assert made(calls) == [("read_file", {"path": "a"}), ("run_shell", {"command": "ls x"})]
    assert [call.id for call in calls] == ["a", "b"]


def test_a_new_id_at_a_used_index_is_a_new_call() -> None:
    calls = streamed(
        [piece('{"path": "a"}', index=0, id="q1", name="read_file")],
        [piece('{"path": "b"}', index=0, id="q2", name="read_file")],
    )
    assert made(calls) == [("read_file", {"path": "a"}), ("read_file", {"path": "b"})]


@pytest.mark.parametrize("index", [{"index": 0}, {}])
def test_without_ids_a_complete_call_is_followed_by_the_next(index: dict[str, int]) -> None:
    calls = streamed(
        [piece('{"path": "a"}', **index, name="read_file")],
        [piece('{"path": "b"}', **index, name="read_file")],
        [piece("", **index, name="list_files")],
        [piece('{"command": "ls"}', **index, name="run_shell")],
    )
    assert made(calls) == [
        ("read_file", {"path": "a"}),
        ("read_file", {"path": "b"}),
        ("list_files", {}),
        ("run_shell", {"command": "ls"}),
    ]


@pytest.mark.parametrize("fields", [{"id": "s", "index": 0}, {"id": "s"}, {"index": 0}])
def test_a_name_repeated_in_each_piece_is_one_call(fields: dict[str, Any]) -> None:
    calls = streamed(
        [piece('{"pa', name="read_file", **fields)],
        [piece('th": "a', name="read_file", **fields)],
        [piece('.py"}', name="read_file", **fields)],
    )
    assert made(calls) == [("read_file", {"path": "a.py"})]


def test_pieces_with_a_wrong_or_no_index_go_to_the_last_call() -> None:
    calls = streamed(
        [piece('{"pa', index=0, id="a", name="read_file")],
        [piece('th": ', index=7)],
        [piece('"a"}')],
    )
    assert made(calls) == [("read_file", {"path": "a"})]


def test_a_call_sent_twice_under_one_id_is_one_call() -> None:
    again = piece('{"command": "make"}', index=0, id="a", name="run_shell")
    assert made(streamed([again], [again])) == [("run_shell", {"command": "make"})]


def test_a_new_id_in_each_piece_is_one_call_as_long_as_the_name_is_not_repeated() -> None:
    calls = streamed(
        [piece('{"pa', index=0, id="a", name="read_file")],
        [piece('th": "a"}', index=0, id="b")],
    )
    assert made(calls) == [("read_file", {"path": "a"})]


def test_repeated_and_missing_ids_are_replaced() -> None:
    calls = whole(
        piece('{"path": "a"}', id="x", name="read_file"),
        piece('{"path": "b"}', id="x", name="read_file"),
        piece('{"path": "c"}', id="", name="read_file"),
        piece('{"path": "d"}', name="read_file"),
    )
    assert [call.arguments for call in calls] == [{"path": p} for p in "abcd"]
    assert len({call.id for call in calls}) == 4
    assert calls[0].id == "x"


def test_ids_of_the_conversation_are_not_repeated() -> None:
    decoder = Decoder(TOOLS, used={"call_0"})
    calls = [piece('{"path": "a"}', id="call_0", name="read_file")]
    decoder.feed({"choices": [{"message": {"tool_calls": calls}}]})
    assert decoder.finish().calls[0].id != "call_0"


@pytest.mark.parametrize(
    "arguments",
    [{"path": "a"}, '{"path": "a"}', '"{\\"path\\": \\"a\\"}"', [{"path": "a"}], "{'path': 'a'}"],
)
def test_arguments_may_be_an_object_or_a_text(arguments: Any) -> None:
    assert whole(piece(arguments, name="read_file"))[0].arguments == {"path": "a"}
    assert streamed([piece(arguments, name="read_file", index=0)])[0].arguments == {"path": "a"}


@pytest.mark.parametrize("arguments", [None, "", " "])
def test_no_arguments_are_an_empty_object(arguments: Any) -> None:
    assert whole(piece(arguments, name="list_files"))[0].arguments == {}


def test_arguments_that_are_no_object_are_quoted_back() -> None:
    (call,) = whole(piece("ls -R", name="run_shell"))
    assert (call.arguments, call.raw) == (None, "ls -R")
    assert "JSON object: 'ls -R'" in call.problem
    assert "command" in call.problem


def test_long_bad_arguments_are_quoted_short() -> None:
    (call,) = whole(piece("ls -R a; " * 500, name="run_shell"))
    assert len(call.problem) < 600


def test_an_old_function_call_is_a_call() -> None:
    message = {"function_call": {"name": "read_file", "arguments": json.dumps({"path": "a"})}}
    calls = decode({"choices": [{"message": message}]}, TOOLS).calls
    assert made(calls) == [("read_file", {"path": "a"})]


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("read_file", "read_file"),
        ("Read_File", "read_file"),
        ("functions.read_file", "read_file"),
        (" read_file\n", "read_file"),
        ("toolbox.web.answer", "toolbox.web.answer"),
    ],
)
def test_spellings_of_an_offered_name_are_resolved(sent: str, name: str) -> None:
    assert Offer(TOOLS).resolve(sent) == name


def test_a_spelling_that_two_tools_share_is_left_alone() -> None:
    tools = [{"function": {"name": "Go"}}, {"function": {"name": "go"}}]
    assert Offer(tools).resolve("GO") == "GO"


@pytest.mark.parametrize(
    ("sent", "name"),
    [
        ("default_api.read_file", "read_file"),
        ("functions.read_file:0", "read_file"),
        ("readFile", "read_file"),
        ("read-file", "read_file"),
        ("read_file()", "read_file"),
        ("read_file<|channel|>commentary", "read_file"),
        ("read_files", "read_files"),
    ],
)
def test_what_servers_and_templates_put_around_a_name_is_taken_off(sent: str, name: str) -> None:
    assert Offer(TOOLS).resolve(sent) == name


def test_what_is_wrong_with_a_call_has_a_class() -> None:
    tools = [typed(path="string", start="integer")]
    message = {
        "tool_calls": [
            piece("ls", name="read_file"),
            piece("{}", name="web.answer"),
            piece("{}", name="read_file"),
            piece('{"path": "a", "start": "soon"}', name="read_file"),
            piece('{"path": "a"}', name="read_file"),
        ]
    }
    reply = decode({"choices": [{"message": message}]}, tools)
    assert [call.error for call in reply.calls] == [
        "malformed_tool_call",
        "unknown_tool",
        "invalid_arguments",
        "invalid_arguments",
        None,
    ]
    assert (reply.error, reply.error_class) == (None, "malformed_tool_call")


def typed(**types: str) -> dict[str, Any]:
    properties = {name: {"type": kind} for name, kind in types.items()}
    schema = {"type": "object", "properties": properties, "required": ["path"]}
    return {"type": "function", "function": {"name": "read_file", "parameters": schema}}


def test_repaired_arguments_are_told_of() -> None:
    assert not whole(piece('{"path": "a"}', name="read_file"))[0].mended
    assert not whole(piece({"path": "a"}, name="read_file"))[0].mended
    assert whole(piece('{"path": "a",}', name="read_file"))[0].mended


def test_interleaved_calls_without_number_cost_no_more_than_their_length() -> None:
    deltas = [
        [piece("", index=at, id=f"c{at}", name="read_file") for at in range(100)],
        *[[piece(part, index=at) for at in range(100)] for part in ('{"path": ', '"a"}')],
    ]
    assert made(streamed(*deltas)) == [("read_file", {"path": "a"})] * 100
