"""Whole turns, gates included, with a model whose context holds only a part of them."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, places
from harness.journal import Event
from harness.model.legal import check
from harness.ooda import prompts
from harness.ooda.turn import Outcome
from harness.resume import replay
from harness.session import Session
from harness.tools.approval import Answer
from tests.cases.wire_rules import RULES, broken
from tests.conftest import PASSWORD_RULES, Agent, call, calls, say
from tests.counting import CountingServer
from tests.ooda.sessions import step, written
from tests.prefix import assert_stable
from tests.strictness import check_requests

CONTEXT = 4096
STEPS = 40
REQUEST = "Tidy up the ledger and the password code."


class Trial:
    """One session of this process with a server of its own."""

    def __init__(self, workspace: Path, server: CountingServer, **options: Any) -> None:
        self.server = server
        self.events: list[Event] = []
        self._open = True
        server.__enter__()
        self.session = Session(
            Options(host=server.base_url, approval="auto", **options),
            places(workspace),
            lambda request: Answer(False, by="mode"),
            version="test",
            sinks=[self.events.append],
        )

    def run(self, request: str = REQUEST) -> Outcome:
        return self.session.run(request)

    def payloads(self, kind: str) -> list[dict[str, Any]]:
        return [dict(event.payload) for event in self.events if event.kind == kind]

    @property
    def cut_notices(self) -> list[str]:
        texts = [notice["text"] for notice in self.payloads("notice")]
        return [text for text in texts if "cut the prompt" in text]

    def close(self) -> None:
        if self._open:
            self._open = False
            self.session.close("end")
            self.server.__exit__(None, None, None)

    def check_all(self) -> None:
        """What must hold of whatever was sent."""
        counts = self.server.counts
        for counted, then in zip(counts, [*counts[1:], 0], strict=True):
            assert counted <= self.server.context or then < counted
        for body in self.server.requests:
            assert check(body["messages"]) == ""
        check_requests(self.server.requests)
        kinds = [{"kind": event.kind} for event in self.events]
        assert_stable(self.server.requests, kinds)


@pytest.fixture
def trial(workspace: Path) -> Iterator[Callable[..., Trial]]:
    """Begins a session with a scripted server, and ends both."""
    begun: list[Trial] = []

    def begin(
        replies: list[dict[str, Any]],
        context: int = CONTEXT,
        beyond: str = "numbers",
        patience: int = 1000,
        says: int | None = None,
        same_ids: bool = False,
        **options: Any,
    ) -> Trial:
        server = CountingServer(
            replies, context, beyond, patience=patience, says=says, same_ids=same_ids
        )
        begun.append(Trial(workspace, server, **options))
        return begun[-1]

    yield begin
    for each in begun:
        each.close()


@pytest.fixture(autouse=True)
def ledger(workspace: Path) -> Path:
    """A module of some ten thousand tokens beside the example."""
    parts = [
        f"def entry_{number}(amount, rate):\n    total = amount * rate\n"
        f"    return total + {number}\n\n"
        for number in range(300)
    ]
    path = workspace / "ledger.py"
    path.write_text("\n".join(parts))
    return path


def script(last: dict[str, Any]) -> list[dict[str, Any]]:
    """Reads, patches, searches and shell commands; then the model is done."""
    replies: list[dict[str, Any]] = [call("read_file", path="auth.py")]
    for number in range(STEPS - 2):
        start = number * 20 + 1
        if number % 4 == 0:
            replies.append(call("read_file", path="ledger.py", start=start))
        elif number % 4 == 1:
            old = f"return total + {number}\n"
            new = f"return total + {number} + 0\n"
            replies.append(call("patch_file", path="ledger.py", old_text=old, new_text=new))
        elif number % 4 == 2:
            replies.append(call("search", pattern=f"entry_{number}"))
        else:
            replies.append(call("run_shell", command=f"sed -n {start},{start + 60}p ledger.py"))
    return [*replies, last, say("Done.")]


def lockout(limit: int, before: int = 3) -> dict[str, Any]:
    wanted = {"old_text": f"max_attempts = {before}", "new_text": f"max_attempts = {limit}"}
    return call("patch_file", path="auth.py", **wanted)


def test_forty_steps_in_four_thousand_tokens_with_a_failing_gate_end_verified(
    trial: Callable[..., Trial], entries: Callable[..., Path]
) -> None:
    entries(PASSWORD_RULES)
    replies = [*script(lockout(5)), call("read_file", path="auth.py"), lockout(3, 5), say("Done.")]
    run = trial(replies, context_length=CONTEXT)
    outcome = run.run()
    assert outcome.kind == "verified", outcome
    assert outcome.steps == len(replies)
    assert max(run.server.counts) <= CONTEXT
    assert run.payloads("compacted")
    run.check_all()
    for body in run.server.requests:
        sent = json.dumps(body["messages"])
        assert REQUEST in sent
        assert PASSWORD_RULES["content"] in sent
    after_the_verdict = run.server.requests[-3:]
    for body in after_the_verdict:
        told = "\n".join(message["content"] for message in body["messages"])
        assert prompts.NOT_ACCEPTED in told
        assert "test_lockout_after_max_attempts" in told


@pytest.mark.parametrize("beyond", ["numbers", "words", "empty", "silent"])
def test_a_context_that_nobody_tells_of_is_learned_and_kept_to(
    trial: Callable[..., Trial], beyond: str
) -> None:
    run = trial(script(call("read_file", path="auth.py")), beyond=beyond)
    outcome = run.run()
    assert outcome.kind == "verified", outcome
    assert "ledger.py" in outcome.changed
    over = [counted for counted in run.server.counts if counted > CONTEXT]
    assert 1 <= len(over) <= 3, run.server.counts
    assert len(run.cut_notices) == (beyond in ("empty", "silent"))
    if beyond != "silent":
        run.check_all()


def said_in(protocol: str, reply: dict[str, Any]) -> dict[str, Any]:
    """A reply as a model gives it in a protocol."""
    made = [(each["name"], each["arguments"]) for each in reply.get("calls", ())]
    if protocol == "constrained":
        return step(*made[0][:1], **made[0][1]) if made else step("answer", text=reply["text"])
    return written(*made[0][:1], **made[0][1]) if made else reply


@pytest.mark.parametrize("protocol", ["constrained", "text"])
@pytest.mark.parametrize("told", [True, False])
def test_forty_steps_in_four_thousand_tokens_in_the_other_protocols(
    trial: Callable[..., Trial], protocol: str, told: bool
) -> None:
    replies = [*script(lockout(5)), call("read_file", path="auth.py"), lockout(3, 5), say("Done.")]
    given = [said_in(protocol, reply) for reply in replies]
    run = trial(given, protocol=protocol, context_length=CONTEXT if told else None)
    outcome = run.run()
    assert (outcome.kind, outcome.steps) == ("verified", len(replies)), outcome
    assert len([counted for counted in run.server.counts if counted > CONTEXT]) <= (not told)
    assert run.payloads("compacted")
    assert all(result["ok"] for result in run.payloads("tool_result"))
    assert not any(broken(body, RULES) for body in run.server.requests)
    assert all(REQUEST in json.dumps(body["messages"]) for body in run.server.requests)
    run.check_all()


def test_without_ooda_the_conversation_is_kept_within_the_context_too(
    trial: Callable[..., Trial],
) -> None:
    run = trial(script(lockout(5)), context_length=CONTEXT, ooda=False)
    assert run.run().kind == "answered"
    assert max(run.server.counts) <= CONTEXT
    assert run.payloads("compacted")
    run.check_all()


def test_a_context_of_usual_size_is_not_compacted(trial: Callable[..., Trial]) -> None:
    replies = [*script(say("Done."))[:12], say("Done.")]
    run = trial(replies, context=65_536, context_length=65_536)
    assert run.run().kind == "verified"
    assert not run.payloads("compacted")
    run.check_all()


def test_compactions_are_seldom_where_there_is_some_room(trial: Callable[..., Trial]) -> None:
    run = trial(script(call("read_file", path="auth.py")), context=12_288, context_length=12_288)
    assert run.run().kind == "verified"
    done = run.payloads("compacted")
    assert 1 <= len(done) <= 6
    assert all(each["after"] <= 0.65 * each["before"] for each in done)


def test_a_huge_result_is_cut_to_fit_and_says_how_to_see_the_rest(
    trial: Callable[..., Trial], workspace: Path
) -> None:
    (workspace / "long.txt").write_text("".join(f"line {n} of many\n" for n in range(2000)))
    replies = [
        calls(
            call("read_file", path="long.txt"),
            call("run_shell", command="cat long.txt"),
            call("search", pattern="of many"),
        ),
        say("Done."),
    ]
    run = trial(replies, context_length=CONTEXT)
    assert run.run().kind == "answered"
    read, shell, search = (result["text"] for result in run.payloads("tool_result"))
    assert "read_file with start=" in read
    assert "run it again with less output" in shell
    assert "call search again for less at once" in search
    for text in (read, shell, search):
        assert len(text) < 2000
        assert "left out to fit the context" in text
    assert "   1  line 0 of many" in read
    assert read.endswith("line 399 of many")
    assert max(run.server.counts) <= CONTEXT


@pytest.mark.parametrize("request_text", [REQUEST, "Look at this: " + "word " * 6000])
def test_a_request_that_cannot_fit_is_not_sent_and_told_in_one_line(
    trial: Callable[..., Trial], request_text: str
) -> None:
    length = 1024 if request_text == REQUEST else CONTEXT
    run = trial([say("Never.")], context_length=length)
    outcome = run.run(request_text)
    assert (outcome.kind, outcome.exit_code) == ("model_error", 4)
    assert f"context of {length:,} tokens" in outcome.message
    assert "\n" not in outcome.message
    assert run.server.requests == []


LISTING = "".join(f"def helper_{n}(value):\n    return value * {n} + 1\n\n" for n in range(120))


@pytest.mark.parametrize(
    "reply",
    [
        call("write_file", path="helpers.txt", content=LISTING),
        {**call("read_file", path="auth.py"), "text": LISTING},
        say(LISTING, finish="length"),
        say("I check the tests again. " * 400),
    ],
    ids=["a file", "words beside a call", "a cut reply", "a reply that repeats itself"],
)
def test_a_reply_that_fills_the_context_is_not_the_end_of_the_turn(
    trial: Callable[..., Trial], workspace: Path, reply: dict[str, Any]
) -> None:
    run = trial([reply, call("read_file", path="test_auth.py"), say("Done.")], context_length=4096)
    outcome = run.run("Look at it.")
    assert outcome.kind in ("verified", "answered"), outcome
    assert len(run.server.requests) == 3
    assert max(run.server.counts) <= CONTEXT
    run.check_all()
    if outcome.changed:
        assert (workspace / "helpers.txt").read_text() == LISTING


def test_a_gap_that_a_compaction_left_is_not_written_into_a_file(
    trial: Callable[..., Trial], workspace: Path
) -> None:
    before = (workspace / "auth.py").read_text()
    gap = "... 4,000 characters left out to fit the context ..."
    run = trial([call("write_file", path="auth.py", content=f"import os\n{gap}\n"), say("Done.")])
    run.run()
    assert "placeholder" in run.payloads("tool_result")[0]["text"]
    assert (workspace / "auth.py").read_text() == before


def test_after_a_request_that_did_not_fit_the_session_goes_on(trial: Callable[..., Trial]) -> None:
    run = trial([say("Hello.")], context_length=CONTEXT)
    assert run.run("word " * 6000).kind == "model_error"
    assert run.run("Hello?").kind == "answered"
    (body,) = run.server.requests
    assert "asked: word word" in body["messages"][1]["content"]
    assert check(body["messages"]) == ""


def test_a_server_that_refuses_whatever_is_sent_is_asked_three_times_with_less_each_time(
    trial: Callable[..., Trial],
) -> None:
    replies = [call("read_file", path="ledger.py", start=n) for n in (1, 100, 200)]
    run = trial(replies, context=100_000, beyond="words", patience=3)
    outcome = run.run()
    assert outcome.kind == "model_error"
    assert "does not fit into the model's context" in outcome.message
    counts = run.server.counts[3:]
    assert 2 <= len(counts) <= 3
    assert counts == sorted(set(counts), reverse=True)


@pytest.mark.parametrize("says", [0, 3000, 10**9])
def test_a_server_that_counts_nonsense_does_no_harm(trial: Callable[..., Trial], says: int) -> None:
    replies = [call("read_file", path="ledger.py", start=n * 30 + 1) for n in range(6)]
    run = trial([*replies, lockout(3), say("Done.")], context=100_000, says=says)
    assert run.run().kind == "answered"
    assert len(run.cut_notices) == (says == 3000)
    assert len(run.server.requests) == len(replies) + 2


def test_a_broken_conversation_is_mended_and_never_sent(trial: Callable[..., Trial]) -> None:
    run = trial([say("Hello.")])
    history = run.session._history
    call_without_result = {"id": "", "type": "function", "function": {"name": "f", "arguments": ""}}
    broken = [
        {"role": "user", "content": None},
        {"role": "user", "content": "again"},
        {"role": "assistant", "content": None, "tool_calls": [call_without_result]},
    ]
    history.replace([*history.messages(), *broken])
    assert run.run("Hello?").kind == "answered"
    (body,) = run.server.requests
    assert check(body["messages"]) == ""
    (notice,) = run.payloads("notice")
    assert notice["text"] == (
        "the conversation was mended before it was sent: "
        "the content of a message with the role 'user' is no text"
    )


def test_the_code_beside_a_request_leaves_room_in_a_small_context(
    trial: Callable[..., Trial],
) -> None:
    sizes = []
    for length in (None, CONTEXT):
        run = trial([say("Hello.")], context=100_000, context_length=length)
        run.run("How does the lockout of the password code work?")
        sizes.append(sum(pick["tokens"] for pick in run.payloads("context")[0]["picks"]))
    assert sizes[0] > sizes[1]
    assert sizes[1] <= 400


def test_a_resumed_session_goes_on_with_the_compacted_conversation(
    trial: Callable[..., Trial], workspace: Path, home: Path, agent: Agent
) -> None:
    run = trial(script(call("read_file", path="auth.py")), context_length=CONTEXT)
    run.run()
    run.close()
    again = agent.run("--resume", "latest", "And now?")
    assert again.code == 0, again.err
    sent = again.requests[0]["messages"]
    before = run.server.requests[-1]["messages"]
    assert any(message["content"].startswith(prompts.STEPS_SO_FAR) for message in before)
    assert sent[: len(before)] == before
    assert check(sent) == ""


def test_resuming_at_any_point_gives_what_was_sent_also_where_ids_come_again(
    trial: Callable[..., Trial],
) -> None:
    run = trial(script(say("Done.")), context_length=CONTEXT, same_ids=True)
    run.run()
    assert run.payloads("compacted")
    asked = [at for at, event in enumerate(run.events) if event.kind == "model_request"]
    for at, body in zip(asked, run.server.requests, strict=True):
        system = body["messages"][0]["content"]
        assert replay(run.events[:at], system).messages() == body["messages"]
    ids = [made["id"] for made in run.payloads("tool_call")]
    assert len(set(ids)) == len(ids)


def test_memory_shows_how_much_of_the_context_is_used(trial: Callable[..., Trial]) -> None:
    run = trial([say("Hello.")], context_length=CONTEXT)
    run.run("Hello?")
    assert dict(run.session.memory())["context"].endswith("tokens of 4,096")
    unknown = trial([say("Hello.")])
    assert "not known" in dict(unknown.session.memory())["context"]
