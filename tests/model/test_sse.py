import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.sse import BodyReader, Broken, Chunk, Item, ServerError


def read(data: bytes, size: int = 0) -> tuple[list[Item], BodyReader]:
    reader = BodyReader()
    pieces = [data[at : at + size] for at in range(0, len(data), size)] if size else [data]
    items = [item for piece in pieces for item in reader.feed(piece)]
    return [*items, *reader.finish()], reader


ONE = '{"choices": [], "n": "naïve 日本"}'
ONE_CHUNK = Chunk(json.loads(ONE))


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("space", ["", " "])
@pytest.mark.parametrize("size", [0, 1, 7])
def test_events_are_read_at_any_packet_size(end: str, space: str, size: int) -> None:
    text = f": ping{end}{end}id: 1{end}data:{space}{ONE}{end}{end}data:{space}{ONE}{end}{end}"
    items, reader = read(f"{text}data:{space}[DONE]{end}{end}".encode(), size)
    assert items == [ONE_CHUNK, ONE_CHUNK]
    assert reader.done


def test_a_last_event_needs_no_blank_line() -> None:
    assert read(f"data: {ONE}".encode())[0] == [ONE_CHUNK]


def test_payloads_need_no_blank_line_between_them() -> None:
    assert read(f"data: {ONE}\ndata: {ONE}\n".encode())[0] == [ONE_CHUNK, ONE_CHUNK]


def test_a_payload_over_several_lines_is_one() -> None:
    assert read(b'data: {"choices":\ndata: []}\n\n')[0] == [Chunk({"choices": []})]


@pytest.mark.parametrize(
    "text",
    [
        'event: error\ndata: {"message": "too long"}\n\n',
        'error: {"message": "too long"}\n\n',
        'data: {"error": {"message": "too long"}}\n\n',
        'data: {"object": "error", "message": "too long"}\n\n',
        'data: {"choices": []}\n\n{"error": {"message": "too long"}}\n\n',
        '{"error": {"message": "too long"}}',
    ],
)
def test_errors_inside_a_body_are_seen(text: str) -> None:
    (error,) = [item for item in read(text.encode())[0] if isinstance(item, ServerError)]
    assert "too long" in error.body


def test_an_error_event_does_not_taint_the_next() -> None:
    items, _ = read(f"event: error\ndata: x\n\ndata: {ONE}\n\n".encode())
    assert items == [ServerError("x"), ONE_CHUNK]


def test_a_plain_object_instead_of_a_stream_is_read() -> None:
    items, reader = read(b'\n {"choices": [1]}\n', 3)
    assert items == [Chunk({"choices": [1]})]
    assert reader.done


def test_a_cut_payload_is_broken() -> None:
    assert [type(item) for item in read(b'data: {"choices": [')[0]] == [Broken]
    assert [type(item) for item in read(b'{"choices": [')[0]] == [Broken]


@pytest.mark.parametrize("body", [b"<!doctype html><p>hi", b"Not Found", b"\x00\x01\xff" * 5000])
def test_something_else_is_foreign_and_quoted_short(body: bytes) -> None:
    items, reader = read(body, 100)
    assert (items, reader.kind) == ([], "foreign")
    assert 0 < len(reader.beginning) <= 4096


def test_pings_are_no_items() -> None:
    assert read(b": ping\n\n:\n\ndata:\n\ndata: ping\n\nretry: 5\n\n")[0] == []


@given(st.binary(max_size=300), st.integers(1, 40))
def test_any_bytes_are_read_the_same_at_any_packet_size(data: bytes, size: int) -> None:
    assert read(data, size)[0] == read(data)[0]
    prefixed = b"data: " + data
    assert read(prefixed, size)[0] == read(prefixed)[0]
