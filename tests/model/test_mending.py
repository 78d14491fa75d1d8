"""A request that a server refuses for its shape is changed, sent once more, and sent so later."""

import json
import time

import pytest
from raw_server import HEAD, Connection, RawServer, delta, http, sse
from test_client import GOOD, MESSAGES, TOOLS

from harness.errors import ModelFailure
from harness.model.client import Client
from harness.model.servers import Server
from harness.model.values import Asked, Message, Reply, RetryNote, Sampling, Timeouts


class Talk:
    """Several requests of one client."""

    def __init__(self, server: RawServer, sampling: Sampling | None = None, key: str = "") -> None:
        timeouts = Timeouts(2, 5, 5)
        place = Server("openai", server.url, api_key=key or None)
        self._client = Client(place, "m", sampling or Sampling(), timeouts)
        self.notes: list[RetryNote] = []
        self.shown: list[str] = []

    def ask(self, messages: list[Message] = MESSAGES, seconds: float = 60) -> Reply:
        asked = Asked(messages, TOOLS, time.monotonic() + seconds)
        return self._client.complete(asked, self.shown.append, self.notes.append)


def refusal(message: str, status: int = 400) -> bytes:
    return http(status, json.dumps({"error": {"message": message}}))


def test_a_shape_that_helped_is_told_once_and_used_from_then_on() -> None:
    with RawServer(refusal("System role not supported", 500), GOOD) as server:
        talk = Talk(server)
        assert talk.ask().text == "Fine."
        assert talk.ask().text == "Fine."
    roles = [[message["role"] for message in post["messages"]] for post in server.posts]
    assert roles == [["system", "user"], ["user"], ["user"]]
    assert [(note.error_class, note.wait) for note in talk.notes] == [("template_rejected", 0.0)]
    assert "beginning of the first user message" in talk.notes[0].message


def test_a_shape_that_did_not_help_is_not_kept() -> None:
    with RawServer(refusal("System role not supported", 500)) as server:
        talk = Talk(server)
        for _ in range(2):
            with pytest.raises(ModelFailure, match="System role not supported"):
                talk.ask()
    roles = [[message["role"] for message in post["messages"]] for post in server.posts]
    assert roles == [["system", "user"], ["user"]] * 2


def test_a_server_that_needs_two_changes_gets_both() -> None:
    system, roles = refusal("System role not supported"), refusal("roles must alternate")
    call = {"id": "1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}
    messages: list[Message] = [
        *MESSAGES,
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "1", "content": "x"},
    ]
    with RawServer(system, roles, GOOD) as server:
        assert Talk(server).ask(messages).text == "Fine."
    assert [m["role"] for m in server.posts[-1]["messages"]] == ["user", "assistant", "user"]


UNKNOWN_FIELD = {"loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}


@pytest.mark.parametrize(
    "refused",
    [
        refusal("Unrecognized request argument: stream_options"),
        pytest.param(http(422, json.dumps({"detail": [UNKNOWN_FIELD]})), id="FastAPI"),
    ],
)
def test_an_old_server_is_asked_without_stream_options(refused: bytes) -> None:
    with RawServer(refused, GOOD) as server:
        talk = Talk(server)
        talk.ask()
        talk.ask()
    assert ["stream_options" in post for post in server.posts] == [True, False, False]


def test_an_answer_that_has_no_room_is_made_shorter_for_this_request_alone() -> None:
    words = (
        "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens "
        "(5000 in the messages, 4000 in the completion)."
    )
    with RawServer(refusal(words), GOOD) as server:
        talk = Talk(server, Sampling(max_new_tokens=4000))
        talk.ask()
        talk.ask()
    assert [post["max_tokens"] for post in server.posts] == [4000, 3176, 4000]


def test_an_overflow_is_never_sent_again_and_tells_the_context() -> None:
    words = "request (9000 tokens) exceeds the available context size (8192 tokens)"
    with RawServer(refusal(words)) as server, pytest.raises(ModelFailure) as caught:
        Talk(server).ask()
    assert (caught.value.error_class, caught.value.context_length) == ("context_overflow", 8192)
    assert len(server.posts) == 1


QUOTED = "Failed to parse input at pos 9: "


def test_a_whole_call_in_the_error_is_the_reply() -> None:
    call = '<tool_call>\n{"name": "read_file", "arguments": {"path": "a"}}\n</tool_call>'
    with RawServer(refusal(QUOTED + call, 500)) as server:
        talk = Talk(server)
        reply = talk.ask()
    assert [(each.name, each.arguments) for each in reply.calls] == [("read_file", {"path": "a"})]
    assert reply.mended
    assert reply.error is None
    assert not talk.shown
    assert len(server.posts) == 1


@pytest.mark.parametrize(
    "quoted",
    [
        '<tool_call>\n{"name": "read_file", "argum',
        '<tool_call>\n{"name": "format_disk", "arguments": {}}\n</tool_call>',
        "no call at all",
        "",
    ],
)
def test_anything_less_is_asked_for_once_more_and_then_of_the_model(quoted: str) -> None:
    with RawServer(refusal(QUOTED + quoted, 500)) as server:
        reply = Talk(server).ask()
    assert (reply.error, reply.calls) == ("malformed_tool_call", ())
    assert len(server.posts) == 2


def test_text_that_was_shown_of_a_broken_reply_goes_with_the_failure() -> None:
    cut = HEAD + sse(delta(content="Writing the file."), done=False)
    with RawServer(cut) as server, pytest.raises(ModelFailure) as caught:
        Talk(server).ask()
    assert (caught.value.error_class, caught.value.text) == (
        "stream_interrupted",
        "Writing the file.",
    )


def test_a_server_that_goes_away_is_waited_for_only_if_it_had_been_there() -> None:
    with RawServer(GOOD) as server:
        talk = Talk(server)
        talk.ask()
    with pytest.raises(ModelFailure, match="any more") as caught:
        talk.ask(seconds=2.5)
    assert caught.value.error_class == "backend_unavailable"
    assert [note.wait for note in talk.notes] == [1.0]


def test_a_model_is_waited_for_until_the_server_says_that_it_is_there() -> None:
    loading = refusal("Loading model", 503)
    loading = loading.replace(b"Content-Length", b"Retry-After: 4\r\nContent-Length")

    def play(connection: Connection) -> None:
        connection.send(loading)
        connection.wait(0.5)
        server.health = 200

    server = RawServer(play, GOOD)
    server.health = 503
    with server:
        talk = Talk(server)
        started = time.monotonic()
        assert talk.ask().text == "Fine."
    assert time.monotonic() - started < 3.5
    assert [(note.error_class, note.wait) for note in talk.notes] == [("model_loading", 4.0)]


def test_a_server_that_is_always_well_is_not_believed_to_have_loaded() -> None:
    server = RawServer(refusal("Loading model", 503), GOOD)
    server.health = 200
    with server:
        talk = Talk(server)
        assert talk.ask(seconds=30).text == "Fine."
    # asked once, and then the whole wait was waited
    assert sum("/health" in head for head in server.heads) == 1


def test_a_key_that_a_server_quotes_is_told_to_nobody() -> None:
    key = "sk-secret-0123456789"
    quoting = refusal(f"Loading model for {key[:12]}: {key}", 503)
    quoting = quoting.replace(b"Content-Length", b"Retry-After: 0\r\nContent-Length")
    with RawServer(quoting, refusal(f"Incorrect API key provided: {key}", 401)) as server:
        talk = Talk(server, key=key)
        with pytest.raises(ModelFailure) as caught:
            talk.ask()
    told = str(caught.value) + "".join(note.message for note in talk.notes)
    assert "sk-secre" not in told
    assert told.count("***") == 3


def test_a_tool_call_that_quotes_the_key_is_told_to_the_model_without_it() -> None:
    key = "sk-secret-0123456789"
    with RawServer(refusal(f"{QUOTED}<tool_call>{key}", 500)) as server:
        reply = Talk(server, key=key).ask()
    assert "sk-secre" not in reply.detail
