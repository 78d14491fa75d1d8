"""Which protocol a model is asked in: what changes it, and what is remembered."""

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from raw_server import RawServer, delta, http, sse

from harness.errors import ConfigError, ModelFailure
from harness.model.client import Client
from harness.model.protocols.choosing import Choice
from harness.model.protocols.evidence import template_shows_tools
from harness.model.protocols.memory import Known, Memory
from harness.model.protocols.speaking import Served, Speaker, speaker
from harness.model.servers import Server
from harness.model.values import Asked, Narrowing, Reply, Sampling, Timeouts
from harness.tools.toolbox import all_tools

TOOLS = [tool.schema() for tool in all_tools()]
MESSAGES = [
    {"role": "system", "content": "You are an agent. " * 20},
    {"role": "user", "content": "Change the limit to 5."},
]
HERMES = '<tool_call>\n{"name": "read_file", "arguments": {"path": "auth.py"}}\n</tool_call>'
STEP = '{"tool": "read_file", "path": "auth.py"}'


def saying(content: str, prompt: int = 0) -> bytes:
    """A whole reply; `prompt` are the prompt's tokens as the server counts them."""
    usage = {"prompt_tokens": prompt, "completion_tokens": 5}
    counted = [{"choices": [], "usage": usage}] if prompt else []
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
    return head + sse(delta(content=content), delta("stop"), *counted)


REFUSED = http(400, '{"error": {"message": "response_format is not supported"}}')
NO_TOOLS = http(400, '{"error": {"message": "this model does not support tools"}}')


class Talk:
    """A model at a server, and all that was told of its protocol."""

    def __init__(
        self,
        server: RawServer,
        wanted: str = "auto",
        kind: str = "vllm",
        memory: Memory | None = None,
        shows_tools: bool | None = True,
    ) -> None:
        self.server = server
        self.told: list[tuple[str, str]] = []
        client = Client(Server(kind, server.url), "m", Sampling(), Timeouts())
        served = Served(kind, server.url, "m", shows_tools)
        self.speaker: Speaker = speaker(client, served, wanted, memory, self._tell)

    def _tell(self, protocol: str, why: str) -> None:
        self.told.append((protocol, why))

    def ask(self, **more: Any) -> Reply:
        return self.speaker.complete(
            Asked(MESSAGES, TOOLS, **more), lambda text: None, lambda note: None
        )

    @property
    def ways(self) -> list[str]:
        """The protocol of each request that came."""
        return [way_of(body) for body in self.server.posts]


def way_of(body: dict[str, Any]) -> str:
    if "tools" in body:
        return "native"
    return "constrained" if "response_format" in body else "text"


@contextmanager
def talking(*plays: bytes, **more: Any) -> Iterator[Talk]:
    with RawServer(*plays) as server:
        yield Talk(server, **more)


def test_two_calls_that_had_to_be_found_in_the_text_are_enough() -> None:
    with talking(saying(HERMES), saying(HERMES), saying(STEP)) as talk:
        replies = [talk.ask() for _ in range(3)]
        assert talk.ways == ["native", "native", "constrained"]
    for reply in replies:
        assert [call.name for call in reply.calls] == ["read_file"]
    assert [reply.mended for reply in replies] == [True, True, False]
    ((protocol, why),) = talk.told
    assert protocol == "constrained"
    assert "repaired" in why


def test_prose_where_a_call_was_due_counts_and_is_told() -> None:
    with talking(saying("I will change it."), saying(""), saying(STEP)) as talk:
        reply = talk.ask(due=lambda text: "Call a tool.")
        assert (reply.error, reply.detail) == ("call_missing", "Call a tool.")
        assert talk.ask(due=lambda text: "").error == "empty"
        assert talk.ask().calls
        assert talk.ways == ["native", "native", "constrained"]
    assert "prose where a call was due, empty" in talk.told[0][1]


def test_a_server_that_ignores_the_schema_is_asked_for_text() -> None:
    with talking(*[saying(HERMES)] * 5) as talk:
        replies = [talk.ask() for _ in range(5)]
        assert talk.ways == ["native", "native", "constrained", "constrained", "text"]
    assert all(reply.calls for reply in replies)
    assert [protocol for protocol, _ in talk.told] == ["constrained", "text"]


def test_a_server_that_refuses_the_schema_is_asked_for_text_at_once() -> None:
    with talking(NO_TOOLS, REFUSED, saying(HERMES), saying(HERMES)) as talk:
        assert talk.ask().calls
        assert talk.ways == ["native", "constrained", "text"]
        talk.ask()
        assert talk.ways[3:] == ["text"]
    assert [protocol for protocol, _ in talk.told] == ["text"]


def test_a_server_without_tools_for_the_model_is_asked_for_steps_at_once() -> None:
    with talking(NO_TOOLS, saying(STEP)) as talk:
        assert talk.ask().calls
        assert talk.ways == ["native", "constrained"]
    assert talk.told == [("constrained", "its server refused the other way (tools_unsupported)")]


def test_clean_calls_make_up_for_trouble() -> None:
    choice = Choice("auto", None, "m", lambda protocol, why: None)
    clean = Reply(calls=_call())
    for trouble in (Reply(error="empty"), Reply(calls=_call(), mended=True)):
        choice.heard(trouble, lambda: None)
        for _ in range(10):
            choice.heard(clean, lambda: None)
    assert choice.protocol == "native"
    choice.heard(Reply(error="empty"), lambda: None)
    choice.heard(Reply(error="empty"), lambda: None)
    assert choice.protocol == "constrained"


def _call() -> Any:
    from harness.model.values import Call

    return (Call("1", "list_files", {}, "{}"),)


@pytest.mark.parametrize("wanted", ["native", "constrained", "text"])
def test_what_was_asked_for_by_name_is_never_changed(wanted: str, tmp_path: Path) -> None:
    memory = Memory(tmp_path / "models.json")
    with talking(*[saying("")] * 4, wanted=wanted, memory=memory) as talk:
        for _ in range(4):
            assert talk.ask().error == "empty"
        assert set(talk.ways) == {wanted}
    assert not talk.told
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("wanted", "answer", "hint"),
    [("native", NO_TOOLS, "--protocol auto"), ("constrained", REFUSED, "--protocol text")],
)
def test_a_refusal_of_what_was_asked_for_names_another_way(
    wanted: str, answer: bytes, hint: str
) -> None:
    with talking(answer, wanted=wanted) as talk:
        with pytest.raises(ModelFailure, match=hint):
            talk.ask()
        assert len(talk.ways) == 1


def test_a_provider_with_calls_of_its_own_takes_no_other_protocol() -> None:
    served = Served("anthropic", "https://x", "m")
    with pytest.raises(ConfigError, match="anthropic"):
        speaker(None, served, "text", None, lambda protocol, why: None)  # type: ignore[arg-type]
    assert speaker(None, served, "auto", None, lambda p, w: None).choice.protocol == "native"  # type: ignore[arg-type]


class TestEnforcement:
    def test_the_schema_is_narrowed_for_each_step(self) -> None:
        narrowing = Narrowing(("read_file",), False, {("read_file", "path"): ("auth.py",)})
        with talking(saying(STEP), wanted="constrained") as talk:
            talk.ask(narrow=lambda: narrowing)
            body = talk.server.posts[0]
        asked = body["response_format"]
        assert (asked["type"], asked["json_schema"]["strict"]) == ("json_schema", True)
        (choice,) = asked["json_schema"]["schema"]["anyOf"]
        assert choice["properties"]["path"] == {"type": "string", "enum": ["auth.py"]}
        assert body["chat_template_kwargs"] == {"enable_thinking": False}

    def test_an_unknown_server_gets_no_field_but_the_usual_one(self) -> None:
        with talking(saying(STEP), wanted="constrained", kind="openai") as talk:
            talk.ask()
            assert "chat_template_kwargs" not in talk.server.posts[0]

    def test_narrowing_is_not_worked_out_where_nothing_can_be_held_to_it(self) -> None:
        def never() -> Narrowing:
            raise AssertionError

        for wanted, content in (("native", HERMES), ("text", HERMES)):
            with talking(saying(content), wanted=wanted) as talk:
                assert talk.ask(narrow=never).calls

    def test_a_step_that_was_cut_is_not_run(self) -> None:
        cut = sse(delta(content=STEP), delta("length"))
        head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
        with talking(head + cut, wanted="constrained") as talk:
            reply = talk.ask()
        assert reply.error == "truncated_tool_call"
        assert not reply.calls


class TestEvidence:
    def test_an_unknown_server_is_asked_nothing_extra(self) -> None:
        for kind in ("openai", "scripted", "vllm", "ollama"):
            with talking(saying("Fine."), kind=kind, shows_tools=None) as talk:
                assert talk.ask().text == "Fine."
                assert talk.ways == ["native"]

    def test_two_tiny_requests_find_out_whether_tools_are_shown(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path / "models.json")
        plays = [saying("", 20), saying("", 20), saying(STEP, 300)]
        with talking(*plays, kind="lmstudio", shows_tools=None, memory=memory) as talk:
            assert talk.ask().calls
            first, second, third = talk.server.posts
        assert first["max_tokens"] == second["max_tokens"] == 1
        assert ("tools" in first, "tools" in second) == (False, True)
        assert way_of(third) == "constrained"
        assert talk.told == [("constrained", "its server does not show it the tools")]

    def test_they_are_sent_once_for_each_model(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path / "models.json")
        shown = [saying("", 20), saying("", 150), saying("Fine.", 2000)]
        with talking(*shown, kind="lmstudio", shows_tools=None, memory=memory) as talk:
            talk.ask()
            talk.ask()
            assert len(talk.server.posts) == 4
        with talking(saying("Fine."), kind="lmstudio", shows_tools=None, memory=memory) as talk:
            talk.ask()
            assert talk.ways == ["native"]

    def test_what_the_server_tells_of_a_model_needs_no_request(self) -> None:
        with talking(saying(STEP), kind="ollama", shows_tools=False) as talk:
            assert talk.ask().calls
            assert talk.ways == ["constrained"]

    def test_a_count_without_the_tools_needs_no_second_trouble(self) -> None:
        conversation = len(json.dumps(MESSAGES)) // 4
        with talking(saying(HERMES, conversation), saying(STEP), shows_tools=None) as talk:
            talk.ask()
            talk.ask()
            assert talk.ways == ["native", "constrained"]

    def test_a_low_count_where_tools_were_shown_is_a_prompt_that_was_cut(self) -> None:
        conversation = len(json.dumps(MESSAGES)) // 4
        with talking(saying(HERMES, conversation), saying("Fine.")) as talk:
            talk.ask()
            talk.ask()
            assert talk.ways == ["native", "native"]

    @pytest.mark.parametrize(
        ("properties", "shows"),
        [
            ({"chat_template": "{% for m in messages %}{{ m.content }}{% endfor %}"}, False),
            ({"chat_template": "{% if tools %}{{ tools }}{% endif %}{{ messages }}"}, True),
            ({"chat_template": "{{ messages }}", "chat_template_tool_use": "{{ tools }}"}, True),
            ({"chat_template": "tools", "chat_template_caps": {"supports_tools": False}}, False),
            ({"chat_template": "..."}, None),
            ({}, None),
            (None, None),
        ],
    )
    def test_a_chat_template_has_a_place_for_tools_or_not(
        self, properties: Any, shows: bool | None
    ) -> None:
        assert template_shows_tools(properties) is shows


class TestMemory:
    def test_a_model_begins_with_what_is_remembered_of_it(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path / "deep" / "models.json")
        with talking(saying(HERMES), memory=memory) as talk:
            talk.ask()
            talk.ask()
        path = tmp_path / "deep" / "models.json"
        assert path.stat().st_mode & 0o777 == 0o600
        with talking(saying(STEP), memory=Memory(path)) as talk:
            talk.ask()
            assert talk.ways == ["constrained"]
        assert not talk.told

    def test_nothing_is_written_while_all_is_well(self, tmp_path: Path) -> None:
        with talking(saying("Fine."), memory=Memory(tmp_path / "models.json")) as talk:
            talk.ask()
        assert not list(tmp_path.iterdir())

    def test_a_script_is_not_remembered(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path / "models.json")
        with talking(saying(HERMES), kind="scripted", memory=memory) as talk:
            talk.ask()
            talk.ask()
        assert talk.told
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(
        "text",
        ["{", "[]", '{"schema": 2, "models": {}}', '{"schema": 1, "models": []}', "\xff", ""],
    )
    def test_a_damaged_file_is_told_once_and_begun_anew(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "models.json"
        path.write_bytes(text.encode("latin-1"))
        memory = Memory(path)
        assert memory.get("m") is None
        (told,) = memory.complaints()
        assert "models.json" in told
        memory.put("m", Known("text", "why"))
        assert memory.complaints() == ()
        known = Memory(path).get("m")
        assert known is not None
        assert known.protocol == "text"

    @pytest.mark.parametrize(
        "record",
        [
            {"protocol": "telepathy", "at": time.time()},
            {"protocol": "text", "at": "now"},
            {"protocol": "text"},
            {"protocol": "text", "at": time.time() - 40 * 24 * 3600},
            {"protocol": "text", "at": time.time() + 3600},
            {"protocol": "text", "at": 10**400},
            {"protocol": ["text"], "at": time.time()},
            "text",
        ],
    )
    def test_what_is_odd_or_old_counts_as_unknown(self, tmp_path: Path, record: Any) -> None:
        path = tmp_path / "models.json"
        path.write_text(json.dumps({"schema": 1, "models": {"m": record}}))
        memory = Memory(path)
        assert memory.get("m") is None
        assert memory.complaints() == ()

    def test_a_reason_is_shown_as_plain_text(self, tmp_path: Path) -> None:
        path = tmp_path / "models.json"
        record = {"protocol": "text", "why": "\ud800\x1b[31mslow\n", "at": time.time()}
        path.write_text(json.dumps({"schema": 1, "models": {"m": record}}))
        known = Memory(path).get("m")
        assert known is not None
        assert known.why == "[31mslow"

    def test_the_file_stays_small(self, tmp_path: Path) -> None:
        memory = Memory(tmp_path / "models.json")
        models = {f"m{number}": {"protocol": "text", "at": 1} for number in range(500)}
        (tmp_path / "models.json").write_text(json.dumps({"schema": 1, "models": models}))
        memory.put("new", Known("text"))
        kept = json.loads((tmp_path / "models.json").read_text())["models"]
        assert len(kept) == 200
        assert "new" in kept

    def test_a_place_that_cannot_be_written_is_said(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        memory = Memory(tmp_path / "file" / "models.json")
        memory.put("m", Known("text"))
        assert "cannot be written" in memory.complaints()[0]
