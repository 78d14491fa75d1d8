import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from raw_server import HEAD, Connection, RawServer, delta, free_port, http, sse

from harness.errors import ModelFailure
from harness.model.client import Client
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.model.servers import Server
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts

MESSAGES: list[dict[str, Any]] = [
    {"role": "system", "content": "s"},
    {"role": "user", "content": "go – 日本"},
]
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": "read_file",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}},
        },
    }
]
GOOD = HEAD + sse(delta(content="Fine."), delta("stop"))


@dataclass
class Question:
    """What one request gave."""

    shown: list[str] = field(default_factory=list)
    notes: list[RetryNote] = field(default_factory=list)
    seconds: float = 0.0

    def ask(self, url: str, timeouts: Timeouts | None = None, **more: Any) -> Reply:
        client = Client(
            Server("openai", url, api_key=more.get("api_key")),
            more.get("model", "m"),
            more.get("sampling", Sampling()),
            timeouts or Timeouts(2, 5, 5),
        )
        started = time.monotonic()
        try:
            return client.complete(
                Asked(MESSAGES, more.get("tools", TOOLS), more.get("deadline")),
                self.shown.append,
                self.notes.append,
            )
        finally:
            self.seconds = time.monotonic() - started

    def fail(self, url: str, error_class: str, *words: str, **more: Any) -> str:
        with pytest.raises(ModelFailure) as caught:
            self.ask(url, **more)
        line = str(caught.value)
        assert caught.value.error_class == error_class, line
        assert "\n" not in line
        assert len(line) < 700
        for word in words:
            assert word in line
        return line


def script(*replies: dict[str, Any]) -> Script:
    return Script.from_json({"replies": list(replies)})


def test_text_is_streamed_and_the_calls_come_with_the_reply() -> None:
    asked = Question()
    reply = {"text": "I look at it.", "calls": [{"name": "read_file", "arguments": {"path": "a"}}]}
    with ScriptedServer(script(reply)) as server:
        got = asked.ask(server.base_url)
    assert asked.shown == ["I", " look", " at", " it."]
    assert [(call.name, call.arguments) for call in got.calls] == [("read_file", {"path": "a"})]
    assert got.finish == "tool_calls"
    assert not got.usage.estimated


def test_a_call_written_as_text_is_decoded_and_not_shown() -> None:
    asked = Question()
    text = 'Look.\n<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
    with ScriptedServer(script({"text": text})) as server:
        got = asked.ask(server.base_url)
    assert "".join(asked.shown) == "Look."
    assert len(got.calls) == 1


def test_held_back_text_that_was_no_call_is_shown_at_the_end() -> None:
    asked = Question()
    with ScriptedServer(script({"text": 'Like {"a": 1}.\n{"name": "x"}'})) as server:
        got = asked.ask(server.base_url)
    assert "".join(asked.shown) == got.text == 'Like {"a": 1}.\n{"name": "x"}'


def test_the_request_holds_what_was_asked_for_and_nothing_else() -> None:
    with ScriptedServer(script({"text": "ok"})) as server:
        Question().ask(server.base_url, sampling=Sampling(100, 0.5, 0.9), model="qwen")
        Question().ask(server.base_url, tools=[])
    full, bare = server.requests
    assert full == {
        "model": "qwen",
        "messages": MESSAGES,
        "tools": TOOLS,
        "max_tokens": 100,
        "temperature": 0.5,
        "top_p": 0.9,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    assert set(bare) == {"model", "messages", "stream", "stream_options"}


@pytest.mark.parametrize("status", [200, 500])
def test_headers_may_hold_any_bytes(status: int) -> None:
    answer = http(status, "{}").replace(
        b"\r\n", b"\r\nX-Powered-By: caf\xc3\xa9\r\nRetry-After: \xff\r\n", 1
    )
    asked = Question()
    with RawServer(answer) as server:
        asked.fail(server.url, "server_error", "")


def test_usage_is_estimated_when_the_server_does_not_say() -> None:
    with RawServer(GOOD) as server:
        usage = Question().ask(server.url).usage
    assert usage.estimated
    assert usage.prompt_tokens > 20
    assert usage.completion_tokens > 0


def test_the_key_is_sent_when_there_is_one() -> None:
    with RawServer(GOOD) as server:
        Question().ask(server.url, api_key="sk-1")
        Question().ask(server.url)
    assert "bearer sk-1" in server.heads[0].lower()
    assert "sk-1" not in server.heads[1]


def test_loopback_traffic_goes_to_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{free_port()}")
    with RawServer(GOOD) as server:
        assert Question().ask(server.url).text == "Fine."


def test_a_proxy_carries_what_is_not_loopback(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer(GOOD) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert Question().ask("http://models.example:8000/v1").text == "Fine."
    assert proxy.heads[0].startswith("POST http://models.example:8000/v1/chat/completions")


class TestStreams:
    def test_a_plain_object_in_answer_to_a_stream_is_read(self) -> None:
        body = {"choices": [{"message": {"content": "Fine."}, "finish_reason": "stop"}]}
        with RawServer(http(200, json.dumps(body))) as server:
            asked = Question()
            assert asked.ask(server.url).text == "Fine."
        assert asked.shown == ["Fine."]

    def test_a_stream_may_end_without_done(self) -> None:
        with RawServer(HEAD + sse(delta(content="Fine."), delta("stop"), done=False)) as server:
            assert Question().ask(server.url).text == "Fine."

    def test_a_stream_may_end_without_a_finish_reason(self) -> None:
        with RawServer(HEAD + sse(delta(content="Fine."))) as server:
            assert Question().ask(server.url).text == "Fine."

    def test_nothing_is_waited_for_after_done(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(GOOD)
            connection.wait(5)

        asked = Question()
        with RawServer(play) as server:
            asked.ask(server.url)
        assert asked.seconds < 4

    def test_a_finished_stream_that_is_never_closed_costs_a_moment(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(content="Fine."), delta("stop"), done=False))
            for _ in range(40):
                connection.send(b": ping\n\n")
                connection.wait(0.2)

        asked = Question()
        with RawServer(play) as server:
            assert asked.ask(server.url).text == "Fine."
        assert asked.seconds < 4

    def test_a_reset_after_the_finish_reason_does_no_harm(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(content="Fine."), delta("stop"), done=False))
            connection.wait(0.2)
            connection.reset()

        with RawServer(play) as server:
            assert Question().ask(server.url).text == "Fine."

    def test_chunked_bodies_split_inside_a_character_are_read(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD.replace(b"Connection: close", b"Transfer-Encoding: chunked"))
            body = sse(delta(content="naïve 日本"), delta("stop"))
            for at in range(0, len(body), 11):
                piece = body[at : at + 11]
                connection.send(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            connection.send(b"0\r\n\r\n")

        with RawServer(play) as server:
            assert Question().ask(server.url).text == "naïve 日本"


def cut_in_the_middle(connection: Connection) -> None:
    started = delta(tool_calls=[{"index": 0, "id": "a", "function": {"name": "read_file"}}])
    more = delta(tool_calls=[{"index": 0, "function": {"arguments": '{"path": "a"}'}}])
    connection.send(HEAD + sse(delta(content="Look"), started, more, done=False))


def reset_in_the_middle(connection: Connection) -> None:
    cut_in_the_middle(connection)
    connection.wait(0.1)
    connection.reset()


def hang_up_at_once(connection: Connection) -> None:
    connection.send(b"")


def cut_payload(connection: Connection) -> None:
    connection.send(HEAD + b'data: {"choices": [{"delta": {"content": "hal\n\ndata: [DONE]\n\n')


class TestInterruptedStreams:
    @pytest.mark.parametrize(
        "play", [cut_in_the_middle, reset_in_the_middle, hang_up_at_once, cut_payload]
    )
    def test_a_reply_that_breaks_off_is_asked_for_once_more(
        self, play: Callable[[Connection], None]
    ) -> None:
        asked = Question()
        with RawServer(play, GOOD) as server:
            assert asked.ask(server.url).text == "Fine."
        assert [note.error_class for note in asked.notes] == ["stream_interrupted"]
        with RawServer(play) as server:
            asked.fail(server.url, "stream_interrupted", server.url)
        assert len(server.posts) == 2


class TestFailures:
    def test_nobody_listens(self) -> None:
        asked = Question()
        port = free_port()
        asked.fail(f"http://127.0.0.1:{port}/v1", "backend_unavailable", "connect", str(port))
        assert [note.wait for note in asked.notes] == [0.5]

    def test_a_name_that_does_not_exist(self) -> None:
        Question().fail("http://no-such-host.invalid:1/v1", "backend_unavailable", "no-such-host")

    def test_https_where_http_is_spoken(self) -> None:
        with RawServer(GOOD) as server:
            url = server.url.replace("http:", "https:")
            Question().fail(url, "backend_unavailable", url, timeouts=Timeouts(0.5, 5, 5))

    def test_a_model_name_that_is_no_text_can_be_sent(self) -> None:
        with RawServer(GOOD) as server:
            assert Question().ask(server.url, model="qwen\udcff").text == "Fine."

    @pytest.mark.parametrize("kind", ["text/html", "text/event-stream"])
    def test_a_web_page_is_no_completion(self, kind: str) -> None:
        page = "<!doctype html><html><title>Router login</title>" + "<p>x</p>\n" * 9000
        with RawServer(http(200, page, kind)) as server:
            Question().fail(server.url, "server_error", "Router login", "--host")
        assert len(server.posts) == 1

    @pytest.mark.parametrize("body", ['{"hello": "world"}', "[1, 2]", "OK"])
    def test_another_service_is_no_completion(self, body: str) -> None:
        with RawServer(http(200, body)) as server:
            Question().fail(server.url, "server_error", "--host")
        assert len(server.posts) == 1

    @pytest.mark.parametrize("data", [b"\x00\xff\x17garbage" * 100, b"SSH-2.0-OpenSSH_9.6\r\n"])
    def test_a_port_that_does_not_speak_http(self, data: bytes) -> None:
        with RawServer(data) as server:
            Question().fail(server.url, "server_error", "HTTP")
        assert len(server.posts) == 1

    def test_garbage_where_a_stream_was_announced(self) -> None:
        with RawServer(HEAD + bytes(range(256)) * 50) as server:
            Question().fail(server.url, "server_error")

    @pytest.mark.parametrize(
        ("answer", "error_class", "posts", "words"),
        [
            (http(401, '{"error":{"message":"Unauthorized"}}'), "auth", 1, "MCA_API_KEY"),
            (http(404, '{"detail":"Not Found"}'), "backend_unavailable", 1, "--host"),
            (http(400, '{"error":"maximum context length is 8"}'), "context_overflow", 1, "8"),
            (http(500, '{"error":{"message":"boom"}}'), "server_error", 2, "boom"),
            (http(500, '{"error":"roles must alternate"}'), "template_rejected", 2, "template"),
            (
                http(400, '{"error":"failed to parse grammar"}'),
                "tool_schema_rejected",
                1,
                "schemas",
            ),
            (http(400, '{"error":"m does not support tools"}'), "tools_unsupported", 1, "--jinja"),
            (http(400, '{"error":"bad temperature"}'), "bad_request", 1, "temperature"),
            (http(402, "{}"), "auth", 1, "credit"),
            (http(407, "{}"), "backend_unavailable", 1, "proxy"),
            (
                b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n",
                "backend_unavailable",
                1,
                "--host",
            ),
        ],
    )
    def test_each_error_has_its_class_its_line_and_its_retries(
        self, answer: bytes, error_class: str, posts: int, words: str
    ) -> None:
        with RawServer(answer) as server:
            Question().fail(server.url, error_class, words, server.url)
        assert len(server.posts) == posts

    def test_an_error_inside_a_stream_keeps_the_text_and_ends_the_try(self) -> None:
        failing = HEAD + sse(delta(content="Half"), {"error": {"message": "cuda", "code": 500}})
        asked = Question()
        with RawServer(failing, GOOD) as server:
            assert asked.ask(server.url).text == "Fine."
        assert asked.shown == ["Half", "Fine."]
        assert [note.error_class for note in asked.notes] == ["server_error"]

    def test_an_unknown_model_is_told_with_those_there_are(self) -> None:
        missing = {"status": 404, "body": '{"error":{"message":"model \'x\' not found"}}'}
        with ScriptedServer(script(missing)) as server:
            Question().fail(server.base_url, "model_not_found", "scripted-qwen", "--model")
        assert len(server.requests) == 1

    def test_a_tool_call_the_server_could_not_parse_goes_back_to_the_model(self) -> None:
        broken = http(500, '{"error":{"message":"Failed to parse input at pos 1: <tool_call>"}}')
        asked = Question()
        with RawServer(broken) as server:
            reply = asked.ask(server.url)
        assert (reply.error, reply.calls) == ("malformed_tool_call", ())
        assert "pos 1" in reply.detail
        assert len(server.posts) == 2

    def test_a_busy_server_is_asked_again_after_the_wait_it_names(self) -> None:
        busy = http(503, "{}").replace(b"Content-Length", b"Retry-After: 0.1\r\nContent-Length")
        asked = Question()
        with RawServer(busy, busy, GOOD) as server:
            assert asked.ask(server.url).text == "Fine."
        assert [note.wait for note in asked.notes] == [0.1, 0.1]
        with RawServer(busy) as server:
            asked.fail(server.url, "backend_unavailable", "busy")
        assert len(server.posts) == 3

    def test_a_wait_may_be_named_as_a_date(self) -> None:
        past = b"Retry-After: Wed, 21 Oct 2015 07:28:00 GMT\r\nContent-Length"
        busy = http(429, "{}").replace(b"Content-Length", past)
        asked = Question()
        with RawServer(busy, GOOD) as server:
            assert asked.ask(server.url).text == "Fine."
        assert [note.wait for note in asked.notes] == [0.0]

    def test_a_wait_of_minutes_is_not_waited(self) -> None:
        busy = http(429, "{}").replace(b"Content-Length", b"Retry-After: 120\r\nContent-Length")
        asked = Question()
        with RawServer(busy) as server:
            asked.fail(server.url, "backend_unavailable")
        assert asked.seconds < 4


@pytest.mark.usefixtures("warm")
class TestPatience:
    def test_silence_before_the_first_token_has_its_own_limit(self) -> None:
        asked = Question()
        with RawServer(lambda connection: connection.wait(5)) as server:
            asked.fail(server.url, "timeout", "0.3 s", timeouts=Timeouts(2, 0.3, 9))
        assert asked.seconds < 4
        assert len(server.posts) == 1

    def test_silence_between_tokens_has_its_own_limit(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(content="Half"), done=False))
            connection.wait(5)

        asked = Question()
        with RawServer(play) as server:
            asked.fail(server.url, "timeout", "nothing more", timeouts=Timeouts(2, 9, 0.3))
        assert asked.shown == ["Half", "Half"]
        assert [note.error_class for note in asked.notes] == ["timeout"]
        assert asked.seconds < 4

    def test_pings_count_as_life(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD)
            for _ in range(5):
                connection.wait(0.2)
                connection.send(b":\n\n")
            connection.send(sse(delta(content="Fine."), delta("stop")))

        with RawServer(play) as server:
            assert Question().ask(server.url, Timeouts(2, 0.5, 0.5)).text == "Fine."

    def test_a_slow_prompt_after_the_first_empty_chunk_is_not_idle(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(role="assistant", content=None), done=False))
            connection.wait(0.6)
            connection.send(sse(delta(content="Fine."), delta("stop")))

        with RawServer(play) as server:
            assert Question().ask(server.url, Timeouts(2, 5, 0.2)).text == "Fine."

    @pytest.mark.parametrize("ping", [b": ping\n\n", sse(delta(content="and "), done=False)])
    def test_an_endless_stream_is_cut_by_the_deadline(self, ping: bytes) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD)
            while True:
                connection.send(ping)
                connection.wait(0.02)

        asked = Question()
        with RawServer(play) as server:
            asked.fail(server.url, "timeout", "--max-seconds", deadline=time.monotonic() + 0.4)
        assert 0.3 < asked.seconds < 4

    def test_a_silent_server_is_cut_by_the_deadline(self) -> None:
        asked = Question()
        with RawServer(lambda connection: connection.wait(5)) as server:
            asked.fail(server.url, "timeout", "--max-seconds", deadline=time.monotonic() + 0.3)
        assert asked.seconds < 4

    def test_no_request_is_sent_after_the_deadline(self) -> None:
        with RawServer(GOOD) as server:
            Question().fail(server.url, "timeout", deadline=time.monotonic() - 1)
        assert not server.posts

    def test_no_retry_begins_that_the_deadline_would_cut(self) -> None:
        asked = Question()
        with RawServer(http(503, '{"error":"Loading model"}')) as server:
            asked.fail(server.url, "model_loading", deadline=time.monotonic() + 1)
        assert not asked.notes
        assert len(server.posts) == 1

    def test_a_reply_that_is_given_up_is_hung_up_on(self) -> None:
        noticed: list[bool] = []

        def play(connection: Connection) -> None:
            connection.send(HEAD + sse(delta(content="Half"), done=False))
            noticed.append(connection.hung_up(3))

        with RawServer(play) as server:
            Question().fail(server.url, "timeout", timeouts=Timeouts(2, 9, 0.2))
        assert noticed == [True, True]
