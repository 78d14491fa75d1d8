"""Answers that are not what they say they are: each ends in one clear line."""

import gzip
import zlib

import pytest
from raw_server import HEAD, Connection, RawServer, delta, free_port, http, sse
from test_client import GOOD, Question

from harness.model.values import Timeouts

PLAIN = b"HTTP/1.1 200 OK\r\nConnection: close\r\n"
REPLY = sse(delta(content="Fine."), delta("stop"))


def compressed(body: bytes, encoding: str, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nConnection: close\r\nContent-Encoding: {encoding}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    "answer",
    [
        compressed(gzip.compress(REPLY), "gzip"),
        compressed(zlib.compress(REPLY), "deflate"),
        compressed(REPLY, "identity"),
        PLAIN + b"Content-Type: text/html\r\n\r\n" + REPLY,
        PLAIN + b"Content-Type: application/json; charset=utf-16\r\n\r\n" + REPLY,
        PLAIN + b"Content-Length: banana\r\n\r\n" + REPLY,
        PLAIN + b"Content-Length: 99999\r\n\r\n" + REPLY,
        PLAIN + b"\r\n" + REPLY,
    ],
    ids=["gzip", "deflate", "identity", "html", "charset", "no length", "long length", "nothing"],
)
def test_a_reply_is_read_whatever_its_headers_say(answer: bytes) -> None:
    with RawServer(answer) as server:
        assert Question().ask(server.url).text == "Fine."


@pytest.mark.parametrize(
    ("answer", "word"),
    [
        (compressed(REPLY, "gzip"), "is not"),
        (compressed(b"\x0b\x02", "br"), "compressed"),
        (compressed(gzip.compress(b"data: " + b"x" * 80_000_000, 1), "gzip"), "64 MiB"),
    ],
    ids=["no gzip", "unknown", "bomb"],
)
def test_a_compressed_body_that_cannot_be_used_is_told(answer: bytes, word: str) -> None:
    with RawServer(answer) as server:
        Question().fail(server.url, "server_error", word, server.url)
    assert len(server.posts) == 1


def test_the_words_of_a_compressed_refusal_are_read() -> None:
    body = gzip.compress(b'{"error":{"message":"maximum context length is 8 tokens"}}')
    with RawServer(compressed(body, "gzip", "400 Bad Request")) as server:
        Question().fail(server.url, "context_overflow", "8 tokens")


def test_a_compressed_flood_of_a_refusal_is_cut() -> None:
    body = gzip.compress(b"no " * 30_000_000)
    with RawServer(compressed(body, "gzip", "400 Bad Request")) as server:
        Question().fail(server.url, "bad_request", "no no no")


def test_a_body_that_is_shorter_than_it_says_has_broken_off() -> None:
    cut = PLAIN + b"Content-Length: 30\r\n\r\n" + sse(delta(content="Half a reply"), done=False)
    with RawServer(cut, GOOD) as server:
        asked = Question()
        assert asked.ask(server.url).text == "Fine."
    assert [note.error_class for note in asked.notes] == ["stream_interrupted"]


def test_headers_without_end_are_cut() -> None:
    many = b"HTTP/1.1 200 OK\r\n" + b"X-More: x\r\n" * 5000 + b"\r\n"
    long = b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * 200_000 + b"\r\n\r\n"
    for answer in (many, long, b"HTTP/1.1 100 Continue\r\n\r\n" * 60_000 + HEAD):
        with RawServer(answer) as server:
            Question().fail(server.url, "server_error", "--host")
        assert len(server.posts) == 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a_redirect_is_told_and_not_followed(status: int) -> None:
    with RawServer(GOOD) as other:
        answer = (
            f"HTTP/1.1 {status} Moved\r\nLocation: {other.url}/x?key=1\r\nContent-Length: 0\r\n\r\n"
        )
        with RawServer(answer.encode()) as server:
            line = Question().fail(
                server.url, "backend_unavailable", f"{other.url}/x", api_key="sk-1"
            )
    assert "key=1" not in line
    assert not other.heads


class TestProxies:
    """They are spoken to as servers are, so the same limits hold."""

    URL = "http://models.example:8000/v1"

    def test_a_proxy_that_wants_a_name_gets_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with RawServer(GOOD) as proxy:
            monkeypatch.setenv("http_proxy", f"http://me:se%20cret@127.0.0.1:{proxy.port}")
            assert Question().ask(self.URL).text == "Fine."
        assert "proxy-authorization: basic bwu6c2ugy3jlda==" in proxy.heads[0].lower()

    def test_a_proxy_that_refuses_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with RawServer(http(407, "<title>Sign in</title>", "text/html")) as proxy:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            Question().fail(self.URL, "backend_unavailable", "proxy", "Sign in")

    @pytest.mark.parametrize("scheme", ["http", "https"])
    def test_a_proxy_that_is_not_there_is_told_apart_from_a_server_that_is_not(
        self, scheme: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(f"{scheme}_proxy", f"http://127.0.0.1:{free_port()}")
        url = self.URL.replace("http", scheme)
        Question().fail(url, "backend_unavailable", "the proxy on the way", "no connection to it")

    def test_a_tunnel_that_is_refused_is_told(self, monkeypatch: pytest.MonkeyPatch) -> None:
        with RawServer(GOOD) as proxy:
            monkeypatch.setenv("https_proxy", f"http://me:secret@127.0.0.1:{proxy.port}")
            line = Question().fail(
                "https://models.example/v1", "backend_unavailable", "proxy", "404"
            )
        assert proxy.heads[0].startswith("CONNECT models.example:443")
        assert "secret" not in line

    def test_a_silent_proxy_is_cut_by_the_limits(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(content="Half"), done=False))
            connection.wait(5)

        with RawServer(play) as proxy:
            monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
            asked = Question()
            asked.fail(self.URL, "timeout", "nothing more", timeouts=Timeouts(2, 9, 0.3))
        assert asked.seconds < 4
