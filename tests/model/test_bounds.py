"""One request is bounded in time and size, wherever in its answer the server dawdles or floods."""

import json
import time
from collections.abc import Callable

import pytest
from raw_server import HEAD, Connection, RawServer, delta, http, sse
from test_client import GOOD, Question

pytestmark = pytest.mark.usefixtures("warm")

CHUNKED = HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked")
FLOOD = 100 * 1024 * 1024


def dawdle(connection: Connection, start: bytes, piece: bytes) -> None:
    """Send `piece` again and again, for longer than any test waits."""
    connection.send(start)
    for _ in range(200):
        connection.send(piece)
        connection.wait(0.05)


def flood(start: bytes, piece: bytes) -> Callable[[Connection], None]:
    def play(connection: Connection) -> None:
        connection.send(start)
        for _ in range(FLOOD // len(piece)):
            connection.send(piece)

    return play


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        pytest.param(b"", b"HTTP/1.1 100 Continue\r\n\r\n", id="interim answers"),
        pytest.param(b"HTTP/1.1 200 ", b"O", id="status line"),
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Slow: ", b"x", id="header"),
        pytest.param(CHUNKED + b"5;", b"x", id="chunk size"),
    ],
)
def test_an_answer_that_comes_drop_by_drop_is_cut_by_the_deadline(
    start: bytes, piece: bytes
) -> None:
    asked = Question()
    with RawServer(lambda connection: dawdle(connection, start, piece)) as server:
        deadline = time.monotonic() + 1
        asked.fail(server.url, "timeout", "--max-seconds", deadline=deadline)
    assert asked.seconds < 5
    assert server.posts


def test_an_error_whose_words_never_end_is_told_without_a_deadline() -> None:
    start = b"HTTP/1.1 400 X\r\n\r\nmodel 'm' not found"
    asked = Question()
    with RawServer(lambda connection: dawdle(connection, start, b".")) as server:
        asked.fail(server.url, "model_not_found", "not found")


def test_a_finished_reply_is_not_held_up_by_its_trailers() -> None:
    reply = sse(delta(content="Fine."), delta("stop"), done=False)
    start = CHUNKED + f"{len(reply):x}\r\n".encode() + reply + b"\r\n0\r\n"
    asked = Question()
    with RawServer(lambda connection: dawdle(connection, start, b"X-Slow: x\r\n")) as server:
        assert asked.ask(server.url).text == "Fine."
    assert asked.seconds < 6


@pytest.mark.parametrize(
    ("start", "piece"),
    [
        pytest.param(
            HEAD, sse({"choices": [], "padding": "x" * 60_000}, done=False), id="endless stream"
        ),
        pytest.param(HEAD + b"data: ", b"x" * 65_536, id="endless line"),
        pytest.param(http(200, "").split(b"Content-Length")[0] + b'\r\n{"a": "', b"x" * 65_536,
                     id="endless object"),
        pytest.param(HEAD, b" " * 65_536, id="endless nothing"),
        pytest.param(CHUNKED, b"10000\r\n:" + b"x" * 65_535 + b"\r\n", id="endless comment"),
    ],
)  # fmt: skip
def test_a_reply_without_end_is_cut_at_a_size(start: bytes, piece: bytes) -> None:
    asked = Question()
    with RawServer(flood(start, piece), GOOD) as server:
        asked.fail(server.url, "server_error", "longer than 64 MiB", server.url)
    assert len(server.posts) == 1


def test_a_flood_after_the_finish_does_no_harm() -> None:
    reply = HEAD + sse(delta(content="Fine."), delta("stop"), done=False)
    with RawServer(flood(reply, b": ping" * 10_000)) as server:
        assert Question().ask(server.url).text == "Fine."


def test_a_long_reply_is_read_whole() -> None:
    text = " ".join(map(str, range(1_200_000)))
    body = {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}
    with RawServer(http(200, json.dumps(body))) as server:
        assert Question().ask(server.url).text == text
