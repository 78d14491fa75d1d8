"""Amazon Bedrock's Converse API, over real HTTP on loopback, held against botocore's own model."""

import json
from dataclasses import dataclass, field
from typing import Any

import pytest
from bedrock_double import HEAD, check, error, events, frame, stream, text, thought, use
from raw_server import Connection, RawServer, free_port, http
from test_client import MESSAGES, TOOLS

from harness.errors import ConfigError, ModelFailure
from harness.model.providers.bedrock import Bedrock
from harness.model.providers.bedrock_errors import failure
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts

GOOD = stream(*events(text("Fine.")))
FAST = Timeouts(connect=2, first_token=5, idle=5)
CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"


@pytest.fixture(autouse=True)
def signed_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """Credentials of the environment, and nothing that is looked for elsewhere."""
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wJalrXUtnFEMI")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")


@dataclass
class Question:
    """What one request gave."""

    model: str = CLAUDE
    shown: list[str] = field(default_factory=list)
    notes: list[RetryNote] = field(default_factory=list)
    client: Bedrock | None = None

    def ask(self, port: int, messages: list[dict[str, Any]] = MESSAGES, **more: Any) -> Reply:
        self.client = self.client or Bedrock(
            self.model,
            more.get("sampling", Sampling()),
            more.get("timeouts", FAST),
            host=f"http://127.0.0.1:{port}",
            region="eu-west-1",
        )
        asked = Asked(messages, more.get("tools", TOOLS), more.get("deadline"))
        return self.client.complete(asked, self.shown.append, self.notes.append)

    def fail(self, port: int, error_class: str, *words: str, **more: Any) -> ModelFailure:
        with pytest.raises(ModelFailure) as caught:
            self.ask(port, **more)
        assert caught.value.error_class == error_class
        assert all(word in str(caught.value) for word in words), str(caught.value)
        assert "\n" not in str(caught.value)
        return caught.value


def reply_to(*sent: dict[str, Any], **more: Any) -> tuple[Reply, Question]:
    question = Question()
    with RawServer(stream(*sent)) as server:
        return question.ask(server.port, **more), question


def with_model(server: RawServer) -> dict[str, Any]:
    """The last request as botocore was given it."""
    return {"modelId": CLAUDE, **server.posts[-1]}


def test_text_is_streamed_and_the_calls_come_with_the_reply() -> None:
    got, question = reply_to(
        *events(
            text("I look at both."),
            use("tooluse_1", "read_file", path="a.py"),
            use("tooluse_2", "read_file", path="b.py"),
            stop="tool_use",
        )
    )
    assert len(question.shown) > 1
    assert "".join(question.shown) == got.text == "I look at both."
    assert [(call.id, call.name, call.arguments) for call in got.calls] == [
        ("tooluse_1", "read_file", {"path": "a.py"}),
        ("tooluse_2", "read_file", {"path": "b.py"}),
    ]
    assert got.finish == "tool_calls"


def test_the_request_is_one_that_the_service_accepts() -> None:
    with RawServer(GOOD) as server:
        Question().ask(server.port, sampling=Sampling(100, 0.5, 0.9))
        check(with_model(server))
        Question().ask(server.port, tools=[])
        check(with_model(server))
    full, bare = server.posts
    assert full["inferenceConfig"] == {"maxTokens": 100, "temperature": 0.5, "topP": 0.9}
    assert full["toolConfig"]["tools"][0]["toolSpec"]["description"] == "read_file"
    assert "toolConfig" not in bare
    assert "inferenceConfig" not in bare
    head = server.heads[0]
    assert f"/model/{CLAUDE.replace(':', '%3A')}/converse-stream HTTP" in head
    assert "/eu-west-1/bedrock/aws4_request" in head


def test_a_bearer_token_does_not_travel_unencrypted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "bedrock-key-1")
    with RawServer(GOOD) as server:
        failed = Question().fail(server.port, "auth", "HTTPS")
    assert not server.heads
    assert "bedrock-key-1" not in str(failed)


def test_usage_is_the_whole_prompt_and_tells_what_the_cache_did() -> None:
    counts = {"inputTokens": 7, "cacheReadInputTokens": 1000, "cacheWriteInputTokens": 200}
    got, _ = reply_to(*events(text("Fine."), usage=counts | {"outputTokens": 42}))
    assert (got.usage.prompt_tokens, got.usage.completion_tokens) == (1207, 42)
    assert (got.usage.cached_tokens, got.usage.cache_write_tokens) == (1000, 200)


@pytest.mark.parametrize("metadata", [{}, {"usage": {}}, {"usage": {"inputTokens": 0}}])
def test_what_was_not_counted_is_estimated_and_not_nothing(metadata: dict[str, Any]) -> None:
    sent = events(text("Fine."))[:-1]
    question = Question()
    with RawServer(stream(*sent) + frame("metadata", metadata)) as server:
        usage = question.ask(server.port).usage
    assert usage.estimated
    assert usage.prompt_tokens > 0


@pytest.mark.parametrize(
    "odd",
    [
        frame("contentBlockDelta", {"delta": {"text": "x"}}),
        frame("contentBlockDelta", {"contentBlockIndex": 0}),
        frame("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"name": "f"}}}),
    ],
)
def test_events_of_another_shape_are_a_reply_that_broke_off(odd: bytes) -> None:
    with RawServer(HEAD + odd) as server:
        Question().fail(server.port, "stream_interrupted", "unknown shape")
    assert len(server.posts) == 2


def test_reasoning_is_kept_apart_and_sent_back_with_its_calls_alone() -> None:
    sent = events(
        thought("The limit is in auth.py.", "signed"),
        use("tooluse_1", "read_file", path="auth.py"),
        stop="tool_use",
    )
    entry = {"id": "tooluse_1", "function": {"name": "read_file", "arguments": "{}"}}
    later = [
        *MESSAGES,
        {"role": "assistant", "content": "", "tool_calls": [entry]},
        {"role": "tool", "tool_call_id": "tooluse_1", "content": "x = 1"},
    ]
    question = Question()
    with RawServer(stream(*sent), GOOD) as server:
        got = question.ask(server.port)
        question.ask(server.port, later)
        check(with_model(server))
    assert got.reasoning == "The limit is in auth.py."
    signed = {"text": "The limit is in auth.py.", "signature": "signed"}
    assert server.posts[1]["messages"][1]["content"][0] == {
        "reasoningContent": {"reasoningText": signed}
    }


def test_a_call_written_as_text_is_decoded_and_not_shown() -> None:
    said = 'Look.\n<tool_call>{"name": "read_file", "arguments": {"path": "a"}}</tool_call>'
    got, question = reply_to(*events(text(said)))
    assert got.calls[0].arguments == {"path": "a"}
    assert "".join(question.shown).strip() == got.text == "Look."


@pytest.mark.parametrize(("model", "cached"), [(CLAUDE, True), ("qwen.qwen3-32b-v1:0", False)])
def test_cache_points_are_for_models_that_take_them(model: str, cached: bool) -> None:
    with RawServer(GOOD) as server:
        Question(model).ask(server.port)
    assert ("cachePoint" in json.dumps(server.posts[0])) is cached


def test_a_model_without_a_cache_is_asked_again_without_cache_points() -> None:
    message = "You invoked an unsupported model or your request did not allow prompt caching."
    question = Question()
    with RawServer(error(403, "AccessDeniedException", message), GOOD) as server:
        assert question.ask(server.port).text == "Fine."
        question.ask(server.port)
    assert ["cachePoint" in json.dumps(post) for post in server.posts] == [True, False, False]


def test_a_model_that_cannot_stream_its_calls_is_asked_without_streaming() -> None:
    message = "This model doesn't support tool use in streaming mode."
    whole = {
        "output": {"message": {"role": "assistant", "content": [text("A"), use("t", "read_file")]}},
        "stopReason": "tool_use",
        "usage": {"inputTokens": 3, "outputTokens": 2, "totalTokens": 5},
        "metrics": {"latencyMs": 1},
    }
    question = Question()
    refused = error(400, "ValidationException", message)
    with RawServer(refused, http(200, json.dumps(whole))) as server:
        got = question.ask(server.port)
        question.ask(server.port)
    assert (got.text, got.calls[0].name, got.usage.total) == ("A", "read_file", 5)
    assert [head.split()[1].rpartition("/")[2] for head in server.heads] == [
        "converse-stream",
        "converse",
        "converse",
    ]


class TestStopReasons:
    @pytest.mark.parametrize("stop", ["end_turn", "stop_sequence"])
    def test_an_ended_turn_is_an_answer(self, stop: str) -> None:
        got, _ = reply_to(*events(text("Fine."), stop=stop))
        assert (got.finish, got.error) == ("stop", None)

    def test_a_reply_that_is_not_whole_is_never_done(self) -> None:
        got, _ = reply_to(*events(text("I begin by"), stop="max_tokens"))
        assert got.error == "truncated_text"

    @pytest.mark.parametrize("stop", ["malformed_tool_use", "malformed_model_output"])
    def test_output_that_is_malformed_goes_back_to_the_model(self, stop: str) -> None:
        question = Question()
        with RawServer(stream(*events(text("x"), stop=stop))) as server:
            assert question.ask(server.port).error == "malformed_tool_call"
        assert [note.error_class for note in question.notes] == ["malformed_tool_call"]

    @pytest.mark.parametrize("stop", ["guardrail_intervened", "content_filtered"])
    def test_a_refusal_ends_the_turn(self, stop: str) -> None:
        with RawServer(stream(*events(text("Sorry."), stop=stop))) as server:
            Question().fail(server.port, "refusal")
        assert len(server.posts) == 1

    def test_a_full_context_is_an_overflow_that_tells_the_length(self) -> None:
        counts = {"inputTokens": 199_000, "outputTokens": 1_000}
        sent = events(text("x"), stop="model_context_window_exceeded", usage=counts)
        with RawServer(stream(*sent)) as server:
            assert Question().fail(server.port, "context_overflow").context_length == 200_000

    def test_a_reason_that_is_not_known_is_an_error(self) -> None:
        unknown = frame("messageStop", {"stopReason": "tea_break"})
        with RawServer(stream(*events(text("Fine."))[:-2]) + unknown) as server:
            Question().fail(server.port, "server_error", "'tea_break'")

    def test_no_reason_at_all_is_a_reply_that_broke_off(self) -> None:
        question = Question()
        with RawServer(stream(*events(text("Fine."))[:-2]), GOOD) as server:
            assert question.ask(server.port).text == "Fine."
        assert [note.error_class for note in question.notes] == ["stream_interrupted"]

    def test_a_reply_that_ended_is_whole_although_its_counts_are_missing(self) -> None:
        got, _ = reply_to(*events(text("Fine."))[:-1])
        assert got.text == "Fine."
        assert got.usage.estimated
        assert got.usage.prompt_tokens > 0


class TestErrors:
    @pytest.mark.parametrize(
        ("status", "code", "message", "error_class", "words"),
        [
            (403, "AccessDeniedException", "no access to the model", "auth", "no access"),
            (403, "UnrecognizedClientException", "The security token is invalid", "auth", "AWS"),
            (403, "ExpiredTokenException", "The token is expired", "auth", "expired"),
            (404, "ResourceNotFoundException", "no such model", "model_not_found", "--model"),
            (
                400,
                "ValidationException",
                "The provided model identifier is invalid.",
                "model_not_found",
                "identifier",
            ),
            (
                400,
                "ValidationException",
                "Invocation of model ID x with on-demand throughput isn't supported.",
                "model_not_found",
                "inference profile",
            ),
            (400, "ValidationException", "This is wrong.", "bad_request", "This is wrong"),
            (
                400,
                "ValidationException",
                "This model doesn't support tool use.",
                "tools_unsupported",
                "another model",
            ),
            (
                400,
                "ValidationException",
                "The value at toolConfig.tools.0.toolSpec.inputSchema is invalid.",
                "tool_schema_rejected",
                "inputSchema",
            ),
        ],
    )
    def test_what_does_not_pass_by_itself_is_told_at_once(
        self, status: int, code: str, message: str, error_class: str, words: str
    ) -> None:
        with RawServer(error(status, code, message)) as server:
            Question().fail(server.port, error_class, words)
        assert len(server.posts) == 1

    @pytest.mark.parametrize(
        ("message", "length"),
        [
            ("Input is too long for requested model.", None),
            ("The model returned: prompt is too long: 205000 tokens > 200000 maximum", 200_000),
            ("This model's maximum context length is 8192 tokens.", 8192),
        ],
    )
    def test_an_overflow_tells_the_context_length(self, message: str, length: int | None) -> None:
        with RawServer(error(400, "ValidationException", message)) as server:
            failed = Question().fail(server.port, "context_overflow")
        assert failed.context_length == length
        assert len(server.posts) == 1

    @pytest.mark.parametrize(
        ("code", "error_class"),
        [
            ("modelStreamErrorException", "stream_interrupted"),
            ("internalServerException", "server_error"),
        ],
    )
    def test_an_exception_inside_the_stream_is_asked_again(
        self, code: str, error_class: str
    ) -> None:
        begun = stream(*events(text("Half an answer"))[:3], {code: {"message": "Try later."}})
        question = Question()
        with RawServer(begun, GOOD) as server:
            assert question.ask(server.port).text == "Fine."
        assert [note.error_class for note in question.notes] == [error_class]

    def test_a_call_that_the_service_could_not_read_goes_back_to_the_model(self) -> None:
        message = "Model produced invalid sequence as part of ToolUse."
        failed = stream({"modelStreamErrorException": {"message": message}})
        with RawServer(failed) as server:
            got = Question().ask(server.port)
        assert got.error == "malformed_tool_call"
        assert "invalid sequence" in got.detail

    def test_a_damaged_stream_is_asked_for_again(self) -> None:
        question = Question()
        with RawServer(GOOD[:-60] + bytes(60), GOOD) as server:
            assert question.ask(server.port).text == "Fine."

    def test_a_web_page_is_no_reply(self) -> None:
        page = http(200, "<html><title>Login</title></html>" * 20, "text/html")
        with RawServer(page) as server:
            Question().fail(server.port, "server_error", "Login", "--host")

    @pytest.mark.parametrize(
        ("code", "status", "error_class"),
        [
            ("ThrottlingException", 429, "backend_unavailable"),
            ("ServiceUnavailableException", 503, "backend_unavailable"),
            ("throttlingException", 200, "backend_unavailable"),
            ("ModelNotReadyException", 429, "model_loading"),
            ("ModelTimeoutException", 408, "server_error"),
            ("ModelErrorException", 424, "server_error"),
            ("InvalidSignatureException", 403, "auth"),
            ("", 503, "backend_unavailable"),
            ("", 500, "server_error"),
            ("NewException", 400, "bad_request"),
        ],
    )
    def test_every_code_is_a_failure_of_some_kind(
        self, code: str, status: int, error_class: str
    ) -> None:
        assert failure(code, "Not now.", status).error_class == error_class

    def test_nobody_listens(self) -> None:
        Question().fail(free_port(), "backend_unavailable", "cannot connect", "AWS_REGION")

    def test_nobody_is_signed_in(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID")
        monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        with RawServer(GOOD) as server:
            Question().fail(server.port, "auth", "credentials", "aws sso login")
        assert not server.posts


class TestWhere:
    def test_without_a_region_nothing_is_asked(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
    ) -> None:
        monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
        monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
        with pytest.raises(ConfigError, match="AWS_REGION"):
            Bedrock(CLAUDE, Sampling(), FAST)

    def test_a_profile_that_does_not_exist_is_one_line(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("AWS_PROFILE", "no-such-profile")
        with pytest.raises(ConfigError, match="no-such-profile"):
            Bedrock(CLAUDE, Sampling(), FAST, region="eu-west-1")

    def test_the_address_is_the_regions_own(self) -> None:
        host = Bedrock(CLAUDE, Sampling(), FAST, region="eu-west-1").host
        assert host == "https://bedrock-runtime.eu-west-1.amazonaws.com"


class TestLimits:
    def test_silence_before_the_first_token(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(HEAD)
            connection.wait(10)

        with RawServer(play) as server:
            Question().fail(server.port, "timeout", timeouts=Timeouts(2, 0.2, 5))

    def test_silence_between_tokens(self) -> None:
        def play(connection: Connection) -> None:
            connection.send(stream(*events(text("Half an answer"))[:3]))
            connection.wait(10)

        with RawServer(play) as server:
            Question().fail(server.port, "timeout", timeouts=Timeouts(2, 5, 0.2))
