"""SmolLM2-135M cannot code. It proves the wire: a real llama.cpp answers our own client."""

import http.client
import json
import os
import signal
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, Places
from harness.errors import ModelFailure
from harness.model.client import Client
from harness.model.gguf import read_model_file
from harness.model.local import LocalServer
from harness.model.protocols.probing import probe
from harness.model.protocols.schema import step_schema
from harness.model.protocols.speaking import Served
from harness.model.values import Asked, Narrowing, Reply, Sampling, Timeouts
from harness.session import Session
from harness.tools.approval import Answer

pytestmark = pytest.mark.realmodel

READ_FILE = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a text file.",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}},
            "required": ["path"],
        },
    },
}


def client(server: LocalServer, most: int = 24) -> Client:
    found = server.discovery()
    return Client(found.server, found.model.name, Sampling(most, 0.0), Timeouts())


def ask(
    server: LocalServer,
    text: str,
    on_text: Callable[[str], None] = lambda _text: None,
    most: int = 24,
    **more: Any,
) -> Reply:
    asked = Asked([{"role": "user", "content": text}], **more)
    return client(server, most).complete(asked, on_text, lambda _note: None)


def get(server: LocalServer, path: str, key: str | None = None) -> tuple[int, Any]:
    address = server.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(address)
    try:
        headers = {"Authorization": f"Bearer {server.key if key is None else key}"}
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    finally:
        connection.close()


def test_what_the_server_tells_is_known(smollm2: LocalServer) -> None:
    found = smollm2.discovery()
    assert (found.server.kind, found.model.name) == ("llama.cpp", smollm2.model.name)
    assert found.model.context_length == 2048
    assert found.model.context_trained == 8192
    assert found.model.tools is False


def test_nobody_without_the_key_is_served(smollm2: LocalServer) -> None:
    assert smollm2.base_url.startswith("http://127.0.0.1:")
    assert get(smollm2, "/props", key="guessed")[0] == 401
    assert smollm2.key not in repr(smollm2.discovery())


def test_a_reply_streams_and_is_counted(smollm2: LocalServer) -> None:
    pieces: list[str] = []
    reply = ask(smollm2, "Say hello.", pieces.append)
    assert len(pieces) > 2
    assert "".join(pieces) == reply.text
    assert not reply.usage.estimated
    assert reply.usage.prompt_tokens > 10
    assert 2 < reply.usage.completion_tokens <= 24


def test_a_schema_is_enforced_on_a_model_that_knows_nothing_of_it(smollm2: LocalServer) -> None:
    narrowing = Narrowing(("read_file",), False, {("read_file", "path"): ("a.py", "b/c.py")})
    schema = {"name": "step", "strict": True, "schema": step_schema([READ_FILE], narrowing)}
    form = {"response_format": {"type": "json_schema", "json_schema": schema}}
    reply = ask(smollm2, "Tell me a story about a cat.", most=60, extra=form)
    step = json.loads(reply.text)
    assert step["tool"] == "read_file"
    assert step["path"] in ("a.py", "b/c.py")


def test_an_overflow_tells_the_context_length(smollm2: LocalServer) -> None:
    with pytest.raises(ModelFailure, match="2048") as failure:
        ask(smollm2, "word " * 4000)
    assert failure.value.error_class == "context_overflow"
    assert failure.value.context_length == 2048


def test_a_stream_that_is_closed_frees_the_slot(smollm2: LocalServer) -> None:
    def interrupt(_text: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ask(smollm2, "Count from 1 to 1000.", interrupt, most=1500)
    deadline = time.monotonic() + 30
    while busy(smollm2):
        assert time.monotonic() < deadline, "the slot is still busy"
        time.sleep(0.02)
    assert ask(smollm2, "Say hello.").text


def busy(server: LocalServer) -> bool:
    return any(slot["is_processing"] for slot in get(server, "/slots")[1])


def test_tools_that_the_template_leaves_out_are_noticed(smollm2: LocalServer) -> None:
    found = smollm2.discovery()
    served = Served(found.server.kind, smollm2.base_url, found.model.name)

    def send(asked: Asked) -> Reply:
        return client(smollm2).complete(asked, lambda _text: None, lambda _note: None)

    assert probe(served, send) is False


def test_what_was_sent_before_is_read_from_the_cache(smollm2: LocalServer) -> None:
    """`cached_tokens` is what llama.cpp's own timings tell of the prompt that it had."""
    story = "The cat sat on the mat and looked at the rain. " * 30
    first = ask(smollm2, story)
    longer = ask(smollm2, f"{story}What did the cat do?")
    assert longer.usage.cached_tokens > 0.9 * first.usage.prompt_tokens - 10
    timings = raw_timings(smollm2, f"{story}What did the cat do then?")
    assert timings["cache_n"] > 0.9 * first.usage.prompt_tokens - 10
    assert timings["prompt_n"] < 40


def raw_timings(server: LocalServer, text: str) -> Mapping[str, Any]:
    body = {"messages": [{"role": "user", "content": text}], "max_tokens": 1}
    address = server.base_url.removeprefix("http://").removesuffix("/v1")
    connection = http.client.HTTPConnection(address)
    try:
        headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), headers)
        timings: Mapping[str, Any] = json.load(connection.getresponse())["timings"]
        return timings
    finally:
        connection.close()


def test_a_whole_turn_reuses_what_it_sent(smollm2_file: Path, workspace: Path, home: Path) -> None:
    """A session with a server of its own. The model is no use, its steps are real ones."""
    options = Options(
        backend="local",
        model=str(smollm2_file),
        max_steps=3,
        max_new_tokens=48,
        temperature=0.0,
        approval="never",
    )
    events: list[Any] = []
    where = Places(home=home, workspace=workspace)
    session = Session(
        options, where, lambda _asked: Answer(False), version="", sinks=[events.append]
    )
    try:
        session.run("What is the value of max_attempts in auth.py?")
    finally:
        session.close("end")
    assert session.connection.protocol[0] == "constrained"
    replies = [event.payload for event in events if event.kind == "model_reply"]
    assert len(replies) >= 2
    for before, after in pairwise(replies):
        assert after["cached_tokens"] >= 0.9 * before["prompt_tokens"]


def test_ctrl_c_stays_ours(smollm2: LocalServer) -> None:
    with pytest.raises(KeyboardInterrupt):
        press_ctrl_c()
    assert ask(smollm2, "Say hello.").text


def press_ctrl_c() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(10)


@pytest.mark.parametrize(
    ("damage", "line"),
    [
        (lambda data: data[: len(data) // 2], "is not within the file bounds"),
        (lambda data: data.replace(b"llama", b"lluma"), "unknown model architecture: 'lluma'"),
    ],
    ids=["cut", "unknown"],
)
def test_a_file_that_cannot_be_loaded_is_one_line(
    smollm2_file: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    damage: Callable[[bytes], bytes],
    line: str,
) -> None:
    bad = tmp_path / "bad.gguf"
    bad.write_bytes(damage(smollm2_file.read_bytes()))
    with pytest.raises(ModelFailure, match=line) as failure, LocalServer(read_model_file(bad)):
        pass
    assert "\n" not in str(failure.value)
    assert capfd.readouterr() == ("", "")
