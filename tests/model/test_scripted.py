import json
import threading
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from harness.model.decode import decode
from harness.model.script import Script
from harness.model.scripted import ScriptedServer

ROOT = Path(__file__).parents[2]
BODY: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "go"}]}


def send(server: ScriptedServer, body: Any, path: str = "/chat/completions") -> tuple[int, str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(server.base_url + path, data=data)
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def payloads(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line]
    assert lines[-1] == "[DONE]"
    return [json.loads(line) for line in lines[:-1]]


def serve(*replies: dict[str, Any], **more: Any) -> ScriptedServer:
    return ScriptedServer(Script.from_json({"replies": list(replies), **more}))


def test_a_streamed_and_a_whole_reply_say_the_same() -> None:
    reply = {
        "text": "I look\nat  it, naïvely.",
        "reasoning": "hm, let me see",
        "calls": [{"name": "f", "arguments": {"a": "x y  z\n" * 20}}, {"name": "g"}],
    }
    with serve(reply) as server:
        streamed = decode(payloads(send(server, {**BODY, "stream": True})[1]), [])
        whole = decode(json.loads(send(server, BODY)[1]), [])
    assert (streamed.text, streamed.reasoning) == (whole.text, whole.reasoning)
    assert [(c.name, c.arguments) for c in streamed.calls] == [
        (c.name, c.arguments) for c in whole.calls
    ]
    assert streamed.finish == "tool_calls"


def test_deltas_are_small() -> None:
    with serve({"text": "a" * 1000}) as server:
        chunks = payloads(send(server, {**BODY, "stream": True})[1])
    assert max(len(c["choices"][0]["delta"].get("content", "")) for c in chunks) <= 12


def test_a_longer_prompt_costs_more_tokens() -> None:
    options = {"stream": True, "stream_options": {"include_usage": True}}
    long = {"messages": [{"role": "user", "content": "x" * 4000}]}
    with serve({"text": "ok"}) as server:
        short_usage = payloads(send(server, {**BODY, **options})[1])[-1]["usage"]
        long_usage = payloads(send(server, {**long, **options})[1])[-1]["usage"]
        without = payloads(send(server, {**BODY, "stream": True})[1])
    assert long_usage["prompt_tokens"] > short_usage["prompt_tokens"] + 1000
    assert not any("usage" in chunk for chunk in without)


def test_replies_come_in_order_and_the_last_repeats() -> None:
    with serve({"text": "one"}, {"text": "two"}) as server:
        texts = [decode(json.loads(send(server, BODY)[1]), []).text for _ in range(3)]
        assert server.requests == [BODY] * 3
    assert texts == ["one", "two", "two"]


def test_a_script_may_end_in_an_error() -> None:
    with serve({"text": "one"}, after_last="error") as server:
        send(server, BODY)
        status, body = send(server, BODY)
    assert status == 400
    assert "1 replies and this is request 2" in body


def test_call_ids_are_unique_over_the_session() -> None:
    with serve({"calls": [{"name": "f"}, {"name": "f"}]}) as server:
        replies = [decode(json.loads(send(server, BODY)[1]), []) for _ in range(2)]
    assert len({call.id for reply in replies for call in reply.calls}) == 4


def test_errors_have_their_status_and_body() -> None:
    with serve({"status": 503, "body": '{"error": "Loading model"}'}, {"status": 500}) as server:
        assert send(server, BODY) == (503, '{"error": "Loading model"}')
        assert send(server, BODY)[0] == 500
        assert send(server, b"no json")[0] == 400
        assert send(server, BODY, "/nothing")[0] == 404
        assert len(server.requests) == 2


def test_raw_chunks_are_sent_as_they_are() -> None:
    chunks = [{"choices": []}, "{broken", "[DONE]"]
    with serve({"chunks": chunks}) as server:
        text = send(server, {**BODY, "stream": True})[1]
    assert text == 'data: {"choices": []}\n\ndata: {broken\n\ndata: [DONE]\n\n'


def test_a_server_stops_in_the_middle_of_a_delay() -> None:
    with serve({"delay": 60}) as server:
        thread = threading.Thread(target=send, args=(server, BODY))
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        started = time.monotonic()
    thread.join(6)
    assert not thread.is_alive()
    assert time.monotonic() - started < 5


def test_the_script_in_the_documentation_is_one(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "model.md").read_text(encoding="utf-8")
    example = page.split("```json script\n")[1].split("```")[0]
    assert len(Script.from_json(json.loads(example)).replies) > 1
