"""Asking with bare sockets: whatever is on the other side, we get away."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from raw_server import free_port, http
from served_routes import routes_at

from harness.model.failures import RequestFailed
from harness.model.probe import MOST_BYTES, Answer, at_once, exchange, in_order, listening

Play = Callable[[socket.socket, threading.Event], None]


@contextmanager
def playing(play: Play) -> Iterator[str]:
    """A server that does one thing with each connection, for as long as the test lasts."""
    over = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    threads: list[threading.Thread] = []

    def serve(sock: socket.socket) -> None:
        with sock, suppress(OSError):
            play(sock, over)

    def accept() -> None:
        with suppress(OSError):
            while True:
                sock, _ = listener.accept()
                threads.append(threading.Thread(target=serve, args=(sock,)))
                threads[-1].start()

    accepting = threading.Thread(target=accept)
    accepting.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/x"
    finally:
        over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for thread in (accepting, *threads):
            thread.join()


def saying(data: bytes, hold: bool = False) -> Play:
    def play(sock: socket.socket, over: threading.Event) -> None:
        sock.recv(65536)
        sock.sendall(data)
        if hold:
            over.wait()

    return play


def endless(piece: bytes, head: bytes = b"", pause: float = 0) -> Play:
    def play(sock: socket.socket, over: threading.Event) -> None:
        sock.sendall(head)
        while not over.wait(pause):
            sock.sendall(piece)

    return play


HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"


@pytest.mark.parametrize(
    ("sent", "body"),
    [
        (http(200, "{}"), b"{}"),
        (http(200, "{}") + b"more", b"{}more"),
        (HEAD + b"Content-Length: 2\r\n\r\n{}", b"{}"),
        (CHUNKED + b"1;x=y\r\n{\r\n1\r\n}\r\n0\r\n\r\n", b"{}"),
        (CHUNKED + b"0\r\n\r\n", b""),
    ],
    ids=range(5),
)
def test_an_answer_is_whole_when_it_says_so(sent: bytes, body: bytes) -> None:
    with playing(saying(sent, hold=True)) as url:
        assert exchange(url, {}, 30).body == body


def test_without_a_length_the_end_of_the_connection_ends_the_answer() -> None:
    with playing(saying(HEAD + b"Server: x y\r\n\r\nabc")) as url:
        assert exchange(url, {}, 30) == Answer(200, b"abc", "x y")


@pytest.mark.parametrize(
    "play",
    [
        lambda _sock, over: over.wait(),
        endless(b"X-Pad: 1\r\n", HEAD),
        endless(b"x" * 65536, HEAD + b"\r\n"),
        endless(b"x", HEAD + b"Content-Length: 99999999999999\r\n\r\n", pause=0.01),
        endless(b"H", pause=0.01),
        endless(b"1\r\nx\r\n" * 1000, CHUNKED),
        saying(CHUNKED + b"5\r\nabcde\r\n", hold=True),
        saying(b""),
        saying(b"SSH-2.0-OpenSSH_9.6\r\n"),
        saying(b"HTTP/1.1 abc\r\n\r\n"),
        saying(b"HTTP/1.1\r\n\r\n"),
        saying(CHUNKED + b"zz\r\nabc"),
        saying(HEAD + b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n"),
    ],
    ids=range(13),
)
def test_what_is_no_answer_is_given_up(play: Play) -> None:
    with playing(play) as url, pytest.raises(RequestFailed) as caught:
        exchange(url, {}, 0.25)
    assert caught.value.cause == "bad_body"


@pytest.mark.parametrize("chunks", [b"-5\r\nabc\r\n" * 1000, b"1\r\nx\r\n" * 400_000], ids=range(2))
def test_chunks_of_any_size_are_put_together_or_left_out(chunks: bytes) -> None:
    with playing(saying(CHUNKED + chunks)) as url:
        answer = exchange(url, {}, 60)
    assert answer.status == 200
    assert set(answer.body) <= {ord("x")}


def test_too_much_is_not_read() -> None:
    play = saying(HEAD + b"\r\n" + b"x" * (MOST_BYTES + 1))
    with playing(play) as url, pytest.raises(RequestFailed) as caught:
        exchange(url, {}, 60)
    assert "MiB" in caught.value.said


def test_nobody_there_is_refused() -> None:
    with pytest.raises(RequestFailed) as caught:
        exchange(f"http://127.0.0.1:{free_port()}/", {}, 5)
    assert caught.value.cause == "refused"


def test_a_body_makes_it_a_post() -> None:
    with routes_at({"POST /api/show": {"ok": True}}) as served:
        url = served.url.replace("/v1", "/api/show?x=1")
        answer = exchange(url, {"Authorization": "Bearer k"}, 30, json.dumps({"model": "ü"}))
    line, head, body = served.asked[0]
    assert (line, json.loads(body)) == ("POST /api/show?x=1", {"model": "ü"})
    assert (head["Authorization"], head["Content-Type"]) == ("Bearer k", "application/json")
    assert answer.json() == {"ok": True}


def test_of_several_questions_the_unanswered_ones_are_left_out() -> None:
    with playing(lambda _sock, over: over.wait()) as silent, routes_at({}) as served:
        nobody = f"http://127.0.0.1:{free_port()}/"
        urls = [silent, nobody, *(f"{served.url}?{number}" for number in range(20))]
        answers = at_once(lambda url: exchange(url, {}, 5 if served.url in url else 0.2), urls, 60)
    assert list(map(urls.index, sorted(answers, key=urls.index))) == list(range(2, 22))


def test_who_has_seen_enough_need_not_wait_for_the_rest() -> None:
    with playing(lambda _sock, over: over.wait()) as silent, routes_at({}) as served:
        answers = in_order(lambda url: exchange(url, {}, 600), [served.url, silent], 600)
        url, answer = next(answers)
    assert (url, answer.status) == (served.url, 404)


def test_nothing_holds_longer_than_asked() -> None:
    with playing(lambda _sock, over: over.wait()) as silent:
        urls = [f"{silent}?{number}" for number in range(100)]
        assert at_once(lambda url: exchange(url, {}, 0.3), urls, 0.2) == {}


def test_open_ports_are_told_from_closed_and_from_full_ones() -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=64) as open_one, full() as port:
        there = open_one.getsockname()[1]
        assert listening([free_port(), port, there]) == (there,)


@contextmanager
def full() -> Iterator[int]:
    """A port that lets nobody in: what has come waits to be accepted, for ever."""
    with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
        port = listener.getsockname()[1]
        waiting = []
        for _ in range(4):
            sock = socket.socket()
            sock.setblocking(False)
            sock.connect_ex(("127.0.0.1", port))
            waiting.append(sock)
        yield port
        for sock in waiting:
            sock.close()
