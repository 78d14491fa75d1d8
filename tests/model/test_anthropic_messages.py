"""Anthropic's Messages API, over real HTTP on loopback."""

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest
from anthropic.types import RawMessageStreamEvent
from anthropic_double import HEAD, check, error, events, stream, text, thought, use
from pydantic import TypeAdapter
from raw_server import Connection, RawServer, free_port, http
from test_client import MESSAGES, TOOLS

from harness.errors import ModelFailure
from harness.model.providers.anthropic import Anthropic
from harness.model.providers.anthropic_errors import failure
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts

GOOD = stream(*events(text("Fine.")))
FAST = Timeouts(connect=2, first_token=5, idle=5)


@dataclass
class Question:
    """What one request gave."""

    shown: list[str] = field(default_factory=list)
    notes: list[RetryNote] = field(default_factory=list)
    client: Anthropic | None = None

    def ask(self, url: str, messages: list[dict[str, Any]] = MESSAGES, **more: Any) -> Reply:
        self.client = self.client or Anthropic(
            "claude-test",
            more.get("sampling", Sampling()),
            more.get("timeouts", FAST),
            api_key=more.get("api_key", "sk-ant-1"),
            host=url,
        )
        asked = Asked(messages, more.get("tools", TOOLS), more.get("deadline"))
        return self.client.complete(asked, self.shown.append, self.notes.append)

    def fail(self, url: str, error_class: str, *words: str, **more: Any) -> ModelFailure:
        with pytest.raises(ModelFailure) as caught:
            self.ask(url, **more)
        assert caught.value.error_class == error_class
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert "\n" not in str(caught.value)
        return caught.value


def reply_to(*sent: dict[str, Any], **more: Any) -> tuple[Reply, Question]:
    question = Question()
    with RawServer(stream(*sent)) as server:
        return question.ask(server.url, **more), question


def test_the_doubles_events_are_those_of_the_sdks_own_types() -> None:
    adapter: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    for event in events(thought("hm"), text("Hello."), use("toolu_1", "read_file", path="a")):
        if event["type"] != "ping":
            assert adapter.validate_python(event).type == event["type"]


def test_text_is_streamed_and_the_calls_come_with_the_reply() -> None:
    got, question = reply_to(
        *events(
            text("I look at both."),
            use("toolu_1", "read_file", path="a.py"),
            use("toolu_2", "read_file", path="b.py"),
            stop="tool_use",
        )
    )
    assert len(question.shown) > 1
    assert "".join(question.shown) == got.text == "I look at both."
    assert [(call.id, call.name, call.arguments) for call in got.calls] == [
        ("toolu_1", "read_file", {"path": "a.py"}),
        ("toolu_2", "read_file", {"path": "b.py"}),
    ]
    assert got.finish == "tool_calls"
    assert got.error is None


def test_the_request_is_one_that_the_api_accepts() -> None:
    with RawServer(GOOD) as server:
        Question().ask(server.url, sampling=Sampling(100, 0.5, 0.9))
        Question().ask(server.url, tools=[])
    full, bare = server.posts
    check(full)
    check(bare)
    assert full["system"][0]["text"] == "s"
    assert full["messages"][0]["content"][0]["text"] == "go – 日本"
    assert full["tools"][0]["input_schema"] == TOOLS[0]["function"]["parameters"]
    assert (full["max_tokens"], full["temperature"], full["top_p"]) == (100, 0.5, 0.9)
    assert bare["max_tokens"] == 16384
    assert "tools" not in bare
    head = server.heads[0].lower()
    assert head.startswith("post /v1/messages http")
    assert "anthropic-version: " in head
    assert "sk-ant-1" in head


def test_usage_is_the_whole_prompt_and_tells_what_the_cache_did() -> None:
    counts = {
        "input_tokens": 7,
        "cache_read_input_tokens": 1000,
        "cache_creation_input_tokens": 200,
    }
    got, _ = reply_to(*events(text("Fine."), usage=counts, output_tokens=42))
    usage = got.usage
    assert (usage.prompt_tokens, usage.completion_tokens) == (1207, 42)
    assert (usage.cached_tokens, usage.cache_write_tokens) == (1000, 200)
    assert not usage.estimated


def test_a_prompt_of_no_tokens_was_not_counted() -> None:
    got, _ = reply_to(*events(text("Fine."), usage={"input_tokens": 0}, output_tokens=0))
    assert got.usage.estimated
    assert got.usage.prompt_tokens > 0


def test_thinking_is_kept_apart_and_sent_back_with_its_calls_alone() -> None:
    sent = events(
        thought("The limit is in auth.py.", "signed"),
        use("toolu_1", "read_file", path="auth.py"),
        stop="tool_use",
    )
    question = Question()
    later = [
        *MESSAGES,
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"id": "toolu_1", "function": {"name": "read_file", "arguments": "{}"}}],
        },
        {"role": "tool", "tool_call_id": "toolu_1", "content": "x = 1"},
    ]
    with RawServer(stream(*sent), GOOD) as server:
        got = question.ask(server.url)
        question.ask(server.url, later)
    assert got.reasoning == "The limit is in auth.py."
    assert got.text == ""
    assert question.shown == ["Fine."]
    check(server.posts[1])
    first, second = server.posts[1]["messages"][1]["content"]
    assert first == {
        "type": "thinking",
        "thinking": "The limit is in auth.py.",
        "signature": "signed",
    }
    assert second["type"] == "tool_use"


def test_a_message_in_one_piece_is_read_too() -> None:
    body = {
        "type": "message",
        "content": [text("Fine."), use("t", "read_file", path="a")],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 2},
    }
    question = Question()
    with RawServer(http(200, json.dumps(body))) as server:
        got = question.ask(server.url)
    assert (got.text, got.calls[0].arguments) == ("Fine.", {"path": "a"})
    assert got.usage.total == 5


@pytest.mark.parametrize(
    ("content", "said"),
    [("Fine.", "Fine."), ([None, text("Fine.")], "Fine."), ({"a": 1}, ""), (None, ""), (["x"], "")],
)
def test_a_message_of_another_shape_does_no_harm(content: Any, said: str) -> None:
    body = {"type": "message", "content": content, "stop_reason": "end_turn"}
    question = Question()
    with RawServer(http(200, json.dumps(body))) as server:
        assert question.ask(server.url).text == said


def test_nulls_are_not_shown() -> None:
    delta = {"type": "text_delta", "text": None}
    sent = events(text("Fine."))
    sent.insert(3, {"type": "content_block_delta", "index": 0, "delta": delta})
    got, _ = reply_to(*sent)
    assert got.text == "Fine."


class TestStopReasons:
    @pytest.mark.parametrize("stop", ["end_turn", "stop_sequence"])
    def test_an_ended_turn_is_an_answer(self, stop: str) -> None:
        got, _ = reply_to(*events(text("Fine."), stop=stop))
        assert (got.finish, got.error) == ("stop", None)

    @pytest.mark.parametrize("stop", ["max_tokens", "pause_turn"])
    def test_a_reply_that_is_not_whole_is_never_done(self, stop: str) -> None:
        got, _ = reply_to(*events(text("I begin by"), stop=stop))
        assert got.error == "truncated_text"
        call, _ = reply_to(*events(use("t", "read_file", path="a"), stop=stop))
        assert call.error == "truncated_tool_call"
        assert not call.calls

    def test_a_refusal_ends_the_turn_and_says_why(self) -> None:
        details = {"type": "refusal", "category": "cyber", "explanation": "It may do harm."}
        with RawServer(stream(*events(stop="refusal", details=details))) as server:
            Question().fail(server.url, "refusal", "It may do harm", "other words")
        assert len(server.posts) == 1

    def test_a_full_context_is_an_overflow_that_tells_the_length(self) -> None:
        sent = events(
            text("I begin"),
            stop="model_context_window_exceeded",
            usage={"input_tokens": 199_000},
            output_tokens=1_000,
        )
        with RawServer(stream(*sent)) as server:
            # the counts of the event that ends the reply are the last ones
            failed = Question().fail(server.url, "context_overflow")
        assert failed.context_length == 200_000

    def test_a_reason_that_is_not_known_is_an_error(self) -> None:
        with RawServer(stream(*events(text("Fine."), stop="tea_break"))) as server:
            Question().fail(server.url, "server_error", "'tea_break'")

    @pytest.mark.parametrize("stop", [{"a": 1}, ["end_turn"], 7])
    def test_a_reason_that_is_no_word_is_not_known_either(self, stop: Any) -> None:
        with RawServer(stream(*events(text("Fine."), stop=stop))) as server:
            Question().fail(server.url, "server_error", "not known")

    @pytest.mark.parametrize("stop", ["none", "missing"])
    def test_an_end_without_a_reason_is_no_answer(self, stop: str) -> None:
        sent = events(text("Fine."), stop=None)
        if stop == "missing":
            del sent[-2]
        with RawServer(stream(*sent)) as server:
            Question().fail(server.url, "stream_interrupted", "without a reason")
        assert len(server.posts) == 2

    def test_no_reason_at_all_is_a_reply_that_broke_off(self) -> None:
        with RawServer(stream(*events(text("Fine."))[:-2]), GOOD) as server:
            question = Question()
            assert question.ask(server.url).text == "Fine."
        assert [note.error_class for note in question.notes] == ["stream_interrupted"]


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "kind", "message", "error_class", "words"),
        [
            (401, "authentication_error", "invalid x-api-key", "auth", "ANTHROPIC_API_KEY"),
            (403, "permission_error", "no access", "auth", "no access"),
            (404, "not_found_error", "model: claude-x", "model_not_found", "--model"),
            (400, "invalid_request_error", "messages: at least one", "bad_request", "at least"),
            (400, "invalid_request_error", "Your credit balance is too low", "auth", "credit"),
            (402, "billing_error", "pay first", "auth", "pay first"),
            (
                400,
                "invalid_request_error",
                "tools.0.custom.input_schema: JSON schema is invalid",
                "tool_schema_rejected",
                "input_schema",
            ),
        ],
    )
    def test_what_does_not_pass_by_itself_is_told_at_once(
        self, status: int, kind: str, message: str, error_class: str, words: str
    ) -> None:
        with RawServer(error(status, kind, message)) as server:
            Question().fail(server.url, error_class, words)
        assert len(server.posts) == 1

    @pytest.mark.parametrize(
        ("status", "kind", "error_class"),
        [
            (429, "rate_limit_error", "backend_unavailable"),
            (529, "overloaded_error", "backend_unavailable"),
            (500, "api_error", "server_error"),
        ],
    )
    def test_what_may_pass_is_asked_again_after_the_wait_that_was_asked_for(
        self, status: int, kind: str, error_class: str
    ) -> None:
        question = Question()
        with RawServer(error(status, kind, "not now", retry_after="0.01"), GOOD) as server:
            assert question.ask(server.url).text == "Fine."
        assert [(note.error_class, note.wait) for note in question.notes] == [(error_class, 0.01)]

    @pytest.mark.parametrize(
        ("message", "length"),
        [
            ("prompt is too long: 208310 tokens > 200000 maximum", 200_000),
            ("prompt is too long", None),
            ("input length and `max_tokens` exceed context limit: 199900 + 8000 > 200000", 200_000),
        ],
    )
    def test_an_overflow_tells_the_context_length(self, message: str, length: int | None) -> None:
        with RawServer(error(400, "invalid_request_error", message)) as server:
            failed = Question().fail(server.url, "context_overflow")
        assert failed.context_length == length
        assert len(server.posts) == 1

    def test_a_model_with_shorter_replies_is_asked_for_less_from_then_on(self) -> None:
        refused = error(
            400,
            "invalid_request_error",
            "max_tokens: 16384 > 8192, which is the maximum allowed number of output tokens",
        )
        question = Question()
        with RawServer(refused, GOOD) as server:
            assert question.ask(server.url).text == "Fine."
            question.ask(server.url)
        assert [post["max_tokens"] for post in server.posts] == [16384, 8192, 8192]
        assert "8192" in question.notes[0].message

    def test_room_that_is_short_in_one_request_is_short_in_that_one_only(self) -> None:
        full = "input length and `max_tokens` exceed context limit: 190000 + 16384 > 200000"
        question = Question()
        with RawServer(error(400, "invalid_request_error", full), GOOD) as server:
            question.ask(server.url)
            question.ask(server.url)
        assert [post["max_tokens"] for post in server.posts] == [16384, 10_000, 16384]

    def test_an_error_inside_the_stream_is_asked_again(self) -> None:
        overloaded = {
            "type": "error",
            "error": {"type": "api_error", "message": "Internal server error"},
        }
        begun = stream(*events(text("Half an ans"))[:4], overloaded)
        question = Question()
        with RawServer(begun, GOOD) as server:
            assert question.ask(server.url).text == "Fine."
        assert [note.error_class for note in question.notes] == ["server_error"]

    def test_a_key_that_is_quoted_is_not_shown(self) -> None:
        key = "sk-ant-api03-secret-0123456789"
        with RawServer(error(401, "authentication_error", f"invalid key {key}")) as server:
            failed = Question().fail(server.url, "auth", "invalid key ***", api_key=key)
        assert "secret" not in str(failed)

    def test_a_reply_that_repeats_itself_is_not_read_to_the_end(self) -> None:
        sent = events(text("@" * 60_000), output_tokens=60_000)
        with RawServer(stream(*sent)) as server:
            got = Question().ask(server.url)
        assert got.error == "repetition"
        assert got.usage.prompt_tokens == 10
        assert 0 < got.usage.completion_tokens < 60_000
        assert got.usage.estimated

    def test_a_web_page_is_no_message(self) -> None:
        with RawServer(http(200, "<html><title>Login</title></html>", "text/html")) as server:
            Question().fail(server.url, "server_error", "Login", "--host")

    @pytest.mark.parametrize("body", ['{"hello": "world"}', "[1]", "{"])
    def test_another_service_is_no_message(self, body: str) -> None:
        with RawServer(http(200, body)) as server:
            Question().fail(server.url, "server_error", "--host")

    def test_nobody_listens(self) -> None:
        Question().fail(f"http://127.0.0.1:{free_port()}", "backend_unavailable", "cannot connect")

    @pytest.mark.parametrize("body", ["", "x", "{}", '{"error": 1}', '{"error": {"type": []}}'])
    def test_any_body_of_an_error_is_a_failure_of_some_kind(self, body: str) -> None:
        assert failure(500, body).error_class == "server_error"


class TestLimits:
    def slow(self, *parts: bytes) -> Callable[[Connection], None]:
        def play(connection: Connection) -> None:
            for part in parts:
                connection.send(part)
            connection.wait(10)

        return play

    def test_silence_before_the_first_token(self) -> None:
        with RawServer(self.slow(HEAD)) as server:
            Question().fail(server.url, "timeout", timeouts=Timeouts(2, 0.2, 5))

    def test_silence_between_tokens(self) -> None:
        begun = stream(*events(text("Half an answer"))[:5])
        with RawServer(self.slow(begun)) as server:
            Question().fail(server.url, "timeout", timeouts=Timeouts(2, 5, 0.2))

    def test_pings_are_life(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD)
            for _ in range(5):
                connection.send(b'event: ping\ndata: {"type": "ping"}\n\n')
                connection.wait(0.15)
            connection.send(GOOD.removeprefix(HEAD))

        with RawServer(play) as server:
            assert Question().ask(server.url, timeouts=Timeouts(2, 0.6, 0.6)).text == "Fine."
