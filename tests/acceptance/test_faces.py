"""ACCEPTANCE 24, 26 and 32: a server that fails, the conversation, and what goes where."""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pexpect
import pytest

from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.model.servers import look_around
from tests.conftest import Agent, call, say
from tests.prefix import assert_stable, journalled
from tests.strictness import check_requests

PATCH = call(
    "patch_file",
    path="auth.py",
    old_text="self.max_attempts = 3",
    new_text="self.max_attempts = 5",
)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def raw_server(answer: bytes | None) -> Iterator[str]:
    """A server which sends `answer` to whatever is asked and hangs up; None: never answers."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(8)
    kept: list[socket.socket] = []
    stop = threading.Event()

    def serve() -> None:
        listener.settimeout(0.1)
        while not stop.is_set():
            try:
                peer, _ = listener.accept()
            except TimeoutError:
                continue
            peer.settimeout(2)
            peer.recv(65536)
            if answer is None:
                kept.append(peer)
                continue
            peer.sendall(answer)
            peer.close()

    thread = threading.Thread(target=serve)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        stop.set()
        thread.join()
        for peer in (*kept, listener):
            peer.close()


def http(status: str, body: str, content_type: str = "application/json") -> bytes:
    data = body.encode()
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {len(data)}\r\n"
        "Connection: close\r\n\r\n"
    )
    return head.encode() + data


OVERFLOW = (
    '{"error":{"code":400,"message":"the request exceeds the available context size (4096)",'
    '"type":"exceed_context_size_error","n_prompt_tokens":9000,"n_ctx":4096}}'
)
FAILURES = {
    "html": http("200 OK", "<html><body>Login</body></html>", "text/html"),
    "not found": http("404 Not Found", '{"error":{"message":"model \'m\' not found"}}'),
    "overflow": http("400 Bad Request", OVERFLOW),
    "server error": http("500 Internal Server Error", '{"error":{"message":"out of memory"}}'),
    "dropped": b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: {",
    "nothing": b"",
}


@pytest.mark.parametrize("failure", FAILURES)
def test_24_a_failing_server_is_one_clear_line(agent: Agent, failure: str) -> None:
    with raw_server(FAILURES[failure]) as host:
        run = agent.run_plain(
            "--host", host, "--model", "m", "--cwd", str(agent.workspace), "Do it."
        )
    assert run.code == 4, run.err
    assert "Traceback" not in run.err
    assert "model_error" in run.last_line
    assert run.out.count("\n") <= 1


def test_24_a_refused_connection_is_one_line(agent: Agent) -> None:
    host = f"http://127.0.0.1:{free_port()}"
    run = agent.run_plain("--host", host, "--cwd", str(agent.workspace), "Do it.")
    assert run.code == 4
    assert len(run.err.strip().splitlines()) == 1
    for word in (host, "ollama serve", "--host", "mini-coding-agent demo"):
        assert word in run.err
    assert run.out == ""


def test_24_no_server_names_what_was_tried_and_what_would_help(agent: Agent) -> None:
    if any(place.listening for place in look_around()):
        pytest.skip("something listens on a model server's port here")
    run = agent.run_plain("--cwd", str(agent.workspace), "Do it.")
    assert run.code == 4
    assert len(run.err.strip().splitlines()) == 1
    for word in ("ollama serve", "--host", "mini-coding-agent demo"):
        assert word in run.err


def test_24_a_server_that_never_answers_is_a_timeout(agent: Agent) -> None:
    with raw_server(None) as host:
        run = agent.run_plain(
            "--host", host, "--model", "m", "--cwd", str(agent.workspace), "Do it.",
            env={"MCA_FIRST_TOKEN_TIMEOUT": "1", "MCA_IDLE_TIMEOUT": "1"},
        )  # fmt: skip
    assert run.code == 4, run.err
    assert len(run.err.strip().splitlines()) <= 4


def test_24_the_conversation_lives_on_after_an_error(agent: Agent) -> None:
    replies = [
        {"status": 404, "body": '{"error":{"message":"model not found"}}'},
        say("Hello again."),
    ]
    run = agent.run(replies=replies, stdin="first\nsecond\n")
    assert run.code == 0
    assert "model_error" in run.err
    assert "Hello again." in run.out


def spawn(agent: Agent, host: str, *flags: str) -> "pexpect.spawn[str]":
    command = agent.command("--host", host, "--cwd", str(agent.workspace), *flags)
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100", "LINES": "30"}
    return pexpect.spawn(
        command[0], command[1:], env=env, encoding="utf-8", timeout=20, dimensions=(30, 100)
    )


@contextmanager
def scripted(*replies: dict[str, Any]) -> Iterator[ScriptedServer]:
    with ScriptedServer(Script.from_json({"replies": list(replies)})) as server:
        yield server
        assert_stable(server.requests, journalled(Path(os.environ["HOME"]), 0.0))
        check_requests(server.requests)


def await_request(server: ScriptedServer) -> None:
    """Until the program waits for the model."""
    until = time.monotonic() + 30
    while not server.requests:
        assert time.monotonic() < until, "no request came"
        time.sleep(0.02)


def test_24_ctrl_c_in_a_request_returns_to_the_prompt_and_twice_leaves(
    agent: Agent, home: Path
) -> None:
    with scripted({"text": "late", "delay": 60}) as server:
        child = spawn(agent, server.base_url)
        child.expect("/help")
        child.sendline("hello there")
        await_request(server)
        child.sendintr()
        child.expect("interrupted")
        time.sleep(2.2)
        child.sendline("/session")
        child.expect("journal")
        child.sendintr()
        time.sleep(0.3)
        child.sendintr()
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 130
    journals = list(home.rglob("sessions/*.jsonl"))
    assert len(journals) == 1
    text = journals[0].read_text()
    assert "hello there" in text
    assert '"kind":"interrupted"' in text


def test_24_ctrl_c_ends_a_one_shot_with_130(agent: Agent) -> None:
    with scripted({"text": "late", "delay": 60}) as server:
        command = agent.command("--host", server.base_url, "--cwd", str(agent.workspace), "Do it.")
        child = subprocess.Popen(command, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        await_request(server)
        child.send_signal(signal.SIGINT)
        _, err = child.communicate(timeout=10)
    assert child.returncode == 130
    assert b"Traceback" not in err


def test_26_help_lists_every_command_and_unknown_ones_stay_here(agent: Agent) -> None:
    run = agent.run(stdin="/help\n/rulez\n")
    assert run.code == 0
    commands = "/help /rules /memory /knowledge /session /reset /diff /exit /quit".split()
    for command in commands:
        assert command in run.out + run.err
    assert "/rulez" in run.out + run.err
    assert run.requests == []


def test_26_rules_show_facts_rules_and_gates_and_the_proof(agent: Agent) -> None:
    stdin = "change it\n/rules\n/rules why verify_gate('run_tests')\n/reset\n/rules\n"
    run = agent.run("--approval", "auto", "--max-attempts", "1", stdin=stdin,
                    replies=[PATCH, say("Done.")])  # fmt: skip
    shown = run.out + run.err
    assert run.code == 0
    for text in ("test_covers('test_auth.py', 'auth.py')", "tdd_gate", "verify_gate('run_tests')"):
        assert text in shown
    assert shown.count("file_modified('auth.py')") >= 2
    after_reset = shown.rsplit("tdd_gate", 1)[-1]
    assert "verify_gate('run_tests')\n" not in after_reset


def test_26_without_ooda_rules_say_so(agent: Agent) -> None:
    run = agent.run("--no-ooda", stdin="/rules\n")
    assert "--no-ooda" in run.out + run.err


def test_26_end_of_input_and_exit_leave_with_0(agent: Agent) -> None:
    assert agent.run(stdin="").code == 0
    assert agent.run(stdin="/exit\nnot sent\n").requests == []


def test_26_at_a_real_terminal(agent: Agent, workspace: Path) -> None:
    with scripted(PATCH, say("All done here."), say("Second answer.")) as server:
        child = spawn(agent, server.base_url, "--max-attempts", "1")
        child.expect("/help")
        child.sendline("raise the limit")
        child.expect("max_attempts = 5")
        child.expect("once")
        child.sendline("y")
        child.expect("patch_file")
        child.expect("All done here.")
        child.expect("run_tests")
        child.expect("failed")
        child.sendline("/diff")
        child.expect("self.max_attempts = 5")
        child.sendline("/exit")
        child.expect(pexpect.EOF)
        child.close()
    assert child.exitstatus == 0
    assert "self.max_attempts = 5" in (workspace / "auth.py").read_text()


def test_32_standard_output_holds_the_answer_alone(agent: Agent) -> None:
    run = agent.run("--trace", "Hello.", replies=[say("The answer.")])
    assert run.out == "The answer.\n"
    assert "[facts]" in run.err


def test_32_json_lines_are_the_journal(agent: Agent, home: Path) -> None:
    run = agent.run("--approval", "auto", "--json", "Do it.", replies=[PATCH, say("Done.")])
    events = run.events()
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["schema"] for event in events} == {1}
    kinds = {event["kind"] for event in events}
    assert kinds >= {
        "session_started", "turn_started", "context", "facts", "derived", "model_request",
        "model_reply", "tool_call", "tool_result", "gates_due", "verdict", "outcome",
    }  # fmt: skip
    journal = next(home.rglob("sessions/*.jsonl"))
    assert journal.read_text().splitlines() == run.out.splitlines()
    assert journal.stat().st_mode & 0o777 == 0o600


def test_32_plain_pipes_get_no_colour_and_a_failure_has_its_own_glyph(agent: Agent) -> None:
    run = agent.run("--approval", "auto", "--max-attempts", "1", "Do it.",
                    replies=[PATCH, say("Done.")])  # fmt: skip
    assert "\x1b" not in run.err + run.out
    lines = run.err.splitlines()
    passed = next(line for line in lines if "syntax_check" in line)
    failed = next(line for line in lines if "run_tests" in line)
    assert passed.strip()[0] != failed.strip()[0]


def test_32_at_forty_columns(agent: Agent) -> None:
    env = {"COLUMNS": "40", "NO_COLOR": "1"}
    run = agent.run("--approval", "auto", "Do it.", replies=[PATCH, say("Done.")], env=env)
    tool_lines = [line for line in run.err.splitlines() if "patch_file" in line]
    assert tool_lines
    assert all(len(line) <= 40 for line in tool_lines)


def test_32_control_sequences_never_reach_the_terminal(agent: Agent) -> None:
    evil = say("before \x1b]0;title\x07\x1b[2J after")
    with scripted(evil) as server:
        child = spawn(agent, server.base_url)
        child.expect("/help")
        child.sendline("hello")
        child.expect("after")
        assert "\x1b]0;title" not in child.before
        assert "\x1b[2J after" not in child.before + child.after
        child.expect("answered")
        child.sendline("/exit")
        child.expect(pexpect.EOF)
        child.close()
