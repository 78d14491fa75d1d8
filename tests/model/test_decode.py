import json
import time
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.decode import Decoder, decode
from harness.model.values import Reply


def tool(name: str, *arguments: str) -> dict[str, Any]:
    properties = {argument: {"type": "string"} for argument in arguments}
    schema = {"type": "object", "properties": properties}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [
    tool("read_file", "path", "start"),
    tool("write_file", "path", "content"),
    tool("run_shell", "command"),
    tool("list_files"),
]
CALL = '{"name": "read_file", "arguments": {"path": "auth.py"}}'
HERMES = f"<tool_call>\n{CALL}\n</tool_call>"
XML = "<function=read_file>\n<parameter=path>\nauth.py\n</parameter>\n</function>"


def message(content: str | None = "", finish: str = "stop", **fields: Any) -> dict[str, Any]:
    body = {"role": "assistant", "content": content, **fields}
    return {"choices": [{"index": 0, "message": body, "finish_reason": finish}]}


def said(content: str, finish: str = "stop", **fields: Any) -> Reply:
    return decode(message(content, finish, **fields), TOOLS)


def chunk(finish: str | None = None, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def stream(pieces: list[str]) -> tuple[Reply, str, Decoder]:
    """The reply, and what was shown of its final text while it came."""
    decoder = Decoder(TOOLS)
    shown = ""
    for piece in pieces:
        text = decoder.feed(chunk(content=piece))
        shown = (shown + text)[-decoder.shown :] if decoder.shown else ""
    decoder.feed(chunk("stop"))
    reply = decoder.finish()
    return reply, shown if decoder.shown else "", decoder


def meaning(reply: Reply) -> tuple[Any, ...]:
    """All of a reply but the random ids."""
    calls = [(call.name, call.arguments, call.raw, call.problem) for call in reply.calls]
    return (reply.text, reply.reasoning, calls, reply.finish, reply.error, reply.detail)


def calls(reply: Reply) -> list[tuple[str, Any]]:
    assert reply.error is None, reply.detail
    return [(call.name, call.arguments) for call in reply.calls]


READ = [("read_file", {"path": "auth.py"})]


class TestPlainText:
    def test_an_answer_is_its_text(self) -> None:
        reply = said("The limit is 3.\n")
        assert (reply.text, reply.calls, reply.error, reply.finish) == (
            "The limit is 3.",
            (),
            None,
            "stop",
        )

    def test_content_in_parts_is_joined(self) -> None:
        parts = [
            {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]},
            {"type": "text", "text": "It is "},
            {"type": "text", "text": "3."},
        ]
        reply = decode({"choices": [{"message": {"content": parts}}]}, TOOLS)
        assert (reply.text, reply.reasoning) == ("It is 3.", "hm")

    def test_usage_of_the_server_is_kept_and_null_usage_is_not_usage(self) -> None:
        usage = {"prompt_tokens": 900, "completion_tokens": 40}
        reply = decode([chunk(content="a") | {"usage": usage}, {"usage": None}], TOOLS)
        assert (reply.usage.prompt_tokens, reply.usage.estimated) == (900, False)

    def test_without_usage_the_completion_is_estimated(self) -> None:
        reply = said("one two three four")
        assert reply.usage.estimated
        assert reply.usage.completion_tokens > 0

    def test_other_choices_are_ignored(self) -> None:
        other = {"choices": [{"index": 1, "delta": {"content": "no"}}]}
        assert decode([chunk(content="yes"), other], TOOLS).text == "yes"


class TestReasoning:
    @pytest.mark.parametrize("key", ["reasoning_content", "reasoning", "thinking"])
    def test_reasoning_fields_are_kept_apart(self, key: str) -> None:
        reply = decode(
            [chunk(**{key: "let me "}), chunk(**{key: "see"}), chunk(content="3")], TOOLS
        )
        assert (reply.reasoning, reply.text) == ("let me see", "3")

    def test_a_leading_think_block_is_reasoning(self) -> None:
        reply = said("<think>\noff by one\n</think>\n\nUse >=.")
        assert (reply.reasoning, reply.text) == ("off by one", "Use >=.")

    def test_think_tags_in_code_are_text(self) -> None:
        text = "Split on `<think>` and `</think>`:\n```python\ns.split('</think>')\n```"
        assert said(text).text == text

    def test_a_lone_closing_tag_ends_reasoning(self) -> None:
        reply = said("The user asks.\n</think>\n\nThe bug is there.")
        assert (reply.reasoning, reply.text) == ("The user asks.", "The bug is there.")

    def test_a_thought_is_never_shown_while_it_streams(self) -> None:
        reply, shown, _ = stream(["<th", "ink>sec", "ret</thi", "nk>\n", "ans", "wer"])
        assert (shown, reply.text) == ("answer", "answer")

    @pytest.mark.parametrize("thought", [HERMES, XML, f"```json\n{CALL}\n```"])
    def test_a_call_inside_reasoning_is_not_run(self, thought: str) -> None:
        reply = said("", reasoning_content=f"I need it.\n{thought}")
        assert (reply.error, reply.calls) == ("call_in_reasoning", ())
        assert "tool call" in reply.detail

    def test_a_call_inside_an_open_think_block_is_not_run(self) -> None:
        assert said(f"<think>now\n{HERMES}").error == "call_in_reasoning"

    def test_reasoning_alone_is_empty(self) -> None:
        assert said("", reasoning_content="hm").error == "empty"


class TestTextForms:
    @pytest.mark.parametrize(
        "written",
        [
            HERMES,
            f"<tool_call>\n{XML}\n</tool_call>",
            XML,
            f"{XML}\n</tool_call>",
            f"```json\n{CALL}\n```",
            f"```\n{CALL}\n```",
            f"```json\r\n{CALL}\r\n```\r\n",
            CALL,
            f"[{CALL}]",
            '{"type": "function", "function": '
            '{"name": "read_file", "parameters": {"path": "auth.py"}}}',
            "<tool_call>{'name': 'read_file', 'arguments': {'path': 'auth.py',}}</tool_call>",
        ],
    )
    @pytest.mark.parametrize("prose", ["", "I look at it.\n\n"])
    def test_a_call_that_is_last_counts_and_is_not_shown(self, written: str, prose: str) -> None:
        reply = said(prose + written)
        assert calls(reply) == READ
        assert reply.text == prose.strip()

    def test_two_calls_one_after_the_other_are_two(self) -> None:
        assert calls(said(f"{HERMES}\n{HERMES}")) == READ * 2
        assert calls(said(f"{CALL}\n{CALL}")) == READ * 2
        assert calls(said(f"<tool_call>\n{CALL}\n{CALL}\n</tool_call>")) == READ * 2

    def test_raw_values_keep_markup_entities_and_inner_newlines(self) -> None:
        content = "<p>x &amp; y < z</p>\n# use <parameter=name> tags\n"
        reply = said(
            "<tool_call>\n<function=write_file>\n<parameter=path>\na.html\n</parameter>\n"
            f"<parameter=content>\n{content}\n</parameter>\n</function>\n</tool_call>"
        )
        assert calls(reply) == [("write_file", {"path": "a.html", "content": content})]

    def test_a_missing_closing_parameter_tag_ends_at_the_next_argument(self) -> None:
        reply = said(
            "<function=write_file>\n<parameter=path>\na\n<parameter=content>\nb\n"
            "</parameter>\n</function>"
        )
        assert calls(reply) == [("write_file", {"path": "a", "content": "b"})]

    def test_a_value_that_repeats_a_whole_call_is_not_run(self) -> None:
        inner = "<function=x>\n<parameter=path>\nb\n</parameter>\n</function>"
        reply = said(
            f"<function=write_file>\n<parameter=path>\na\n</parameter>\n<parameter=content>\n{inner}"
            "\n</parameter>\n</function>"
        )
        assert (reply.error, reply.calls) == ("malformed_tool_call", ())

    def test_a_closing_tag_inside_a_json_string_does_not_close(self) -> None:
        arguments = {"path": "a", "content": "x</tool_call>y"}
        call = json.dumps({"name": "write_file", "arguments": arguments})
        reply = said(f"<tool_call>{call}</tool_call>")
        assert calls(reply) == [("write_file", arguments)]

    @pytest.mark.parametrize("written", [f"```json\n{CALL}\n```", CALL])
    def test_json_followed_by_prose_is_an_example(self, written: str) -> None:
        text = f"A call looks so:\n{written}\nThat is all."
        reply = said(text)
        assert (reply.text, reply.calls, reply.error) == (text, (), None)

    @pytest.mark.parametrize("written", [HERMES, XML])
    def test_tagged_markup_followed_by_prose_is_neither_run_nor_shown(self, written: str) -> None:
        reply = said(f"I call it.\n{written}\nThe file says 3.")
        assert (reply.error, reply.calls) == ("malformed_tool_call", ())
        assert "<" not in reply.text

    @pytest.mark.parametrize(
        "text",
        [
            f"Write `<tool_call>{CALL}</tool_call>` to call it",
            f"Write `<tool_call>{CALL}</tool_call>`",
            f"```xml\n{HERMES}\n```",
            f"~~~\n{XML}\n~~~",
            'Use this:\n```json\n{"name": "demo-app", "arguments": {}}\n```',
            '{"name": "read_file", "version": "1.0", "arguments": {}}',
            '{"name": "read_file"}',
            "The <tool_call> tag starts a call.",
        ],
    )
    def test_what_is_no_call_stays_text(self, text: str) -> None:
        reply = said(text)
        assert (reply.text, reply.calls, reply.error) == (text, (), None)

    def test_with_native_calls_leaked_markup_is_dropped_and_not_run(self) -> None:
        native = [{"id": "a1", "function": {"name": "read_file", "arguments": '{"path": "x"}'}}]
        reply = said(f"Reading.\n{HERMES}", tool_calls=native)
        assert calls(reply) == [("read_file", {"path": "x"})]
        assert reply.text == "Reading."

    @pytest.mark.parametrize(
        "text",
        [
            '<tool_call>\n{"name": "run_shell", "arguments": {"command": "rm -rf',
            "<tool_call>",
            "<function=run_shell>\n<parameter=command>\nls",
            '{"name": "run_shell", "arguments": {"command": "rm -rf"',
            '```json\n{"name": "run_shell", "arguments": {"command": "rm -rf"',
            "</tool_call>",
            "read_file\n</function>",
        ],
    )
    def test_markup_that_is_opened_and_not_a_whole_call_is_malformed(self, text: str) -> None:
        reply = said(f"Now I do it.\n{text}")
        assert (reply.error, reply.calls) == ("malformed_tool_call", ())
        assert reply.text.startswith("Now I do it.")
        assert "<" not in reply.text
        assert reply.detail

    @pytest.mark.parametrize(
        "text",
        [
            f"<tool_call>\n{CALL}",
            f"<tool_call>\n{CALL[:-1]}",
            f"```json\n{CALL}",
            CALL[:-1],
            XML.removesuffix("\n</function>"),
            f"{CALL}\n</tool_call>",
        ],
    )
    def test_only_what_closes_around_the_arguments_may_be_missing(self, text: str) -> None:
        assert calls(said(f"Now.\n{text}")) == READ

    def test_a_text_call_of_a_tool_that_is_not_offered_is_told_so(self) -> None:
        reply = said('<tool_call>{"name": "no_such_tool", "arguments": {}}</tool_call>')
        assert (reply.error, reply.calls) == ("unknown_tool", ())
        assert "'no_such_tool'" in reply.detail
        assert "read_file" in reply.detail

    def test_an_unknown_name_among_calls_stops_them_all(self) -> None:
        other = CALL.replace("read_file", "reed_file")
        assert said(f"{CALL}\n{other}").error == "unknown_tool"
        assert said(f"```json\n[{other}, {CALL}]\n```").error == "unknown_tool"

    @pytest.mark.parametrize("tag", ["<tool_call>", "<function=read_file>", "</tool_call>"])
    def test_a_tag_is_spoken_of_in_an_answer_and_hidden_beside_a_call(self, tag: str) -> None:
        text = f"Write {tag} in front of it."
        assert said(text).text == text
        assert said(f"{text}\n{HERMES}").text == "Write   in front of it."
        assert said(f"{text}\n<tool_call>").text == "Write"


class TestErrors:
    @pytest.mark.parametrize("content", [None, "", " \n"])
    def test_nothing_at_all_is_empty(self, content: str | None) -> None:
        reply = decode(message(content), TOOLS)
        assert (reply.text, reply.error) == ("", "empty")

    def test_text_that_stops_at_the_limit_is_truncated(self) -> None:
        reply = said("The reason is", finish="length")
        assert (reply.error, reply.text) == ("truncated_text", "The reason is")

    @pytest.mark.parametrize("arguments", ['{"path": "a", "content": "x', '{"path": "a"}', ""])
    def test_no_call_of_a_reply_cut_at_the_limit_is_run(self, arguments: str) -> None:
        native = [{"id": "a1", "function": {"name": "write_file", "arguments": arguments}}]
        reply = said("", finish="length", tool_calls=native)
        assert (reply.error, reply.calls) == ("truncated_tool_call", ())
        assert "truncated" in reply.detail
        assert "smaller" in reply.detail

    @pytest.mark.parametrize(
        "finish", ["max_tokens", "MAX_TOKENS", "content_filter", "abort", "sensitive", "?"]
    )
    def test_no_call_of_a_reply_that_is_not_whole_is_run(self, finish: str) -> None:
        assert said(HERMES, finish=finish).error == "truncated_tool_call"

    def test_a_complete_text_call_of_a_cut_reply_is_not_run(self) -> None:
        assert said(HERMES, finish="length").error == "truncated_tool_call"

    def test_a_nameless_call_is_malformed(self) -> None:
        reply = said("Now.", tool_calls=[{"id": "a", "function": {"name": "", "arguments": ""}}])
        assert (reply.error, reply.text) == ("malformed_tool_call", "Now.")

    def test_an_announced_call_that_never_came_is_asked_for(self) -> None:
        assert said("I'll read the file first.", finish="tool_calls").error == "empty"
        assert said("It locks after three. Success resets it.", finish="tool_calls").error is None


class TestStreaming:
    def test_markup_split_anywhere_is_never_shown(self) -> None:
        text = f"Reading it.\n{HERMES}"
        for at in range(len(text)):
            reply, shown, _ = stream([text[:at], text[at:]])
            assert calls(reply) == READ
            assert shown == "Reading it."[: len(shown)]

    def test_prose_is_shown_as_it_comes(self) -> None:
        decoder = Decoder(TOOLS)
        assert decoder.feed(chunk(content="one ")) == "one"
        assert decoder.feed(chunk(content="two\n")) == " two"
        assert decoder.feed(chunk(content="three")) == "\nthree"

    def test_code_is_shown_while_it_comes(self) -> None:
        decoder = Decoder(TOOLS)
        decoder.feed(chunk(content="```python\n"))
        assert "x = {" in decoder.feed(chunk(content="x = {1: '<tool_call>'}\ny"))

    def test_decoding_stays_linear(self) -> None:
        content = "".join(f"line {number}\n" for number in range(40_000))
        call = {"name": "write_file", "arguments": {"content": content}}
        text = f"<tool_call>{json.dumps(call)}</tool_call>"
        pieces = [text[at : at + 8] for at in range(0, len(text), 8)]
        started = time.perf_counter()
        stream(pieces)
        assert time.perf_counter() - started < 5


PIECES = st.sampled_from(
    [
        *("<tool_call>", "</tool_call>", "\n", "\n\n", " ", "   ", "prose.", "text ", "é日", "\t"),
        *(CALL, HERMES, XML, "```json\n", "```\n", "```", "`", "``", "~~~\n", "````"),
        *("<function=read_file>", "<parameter=path>", "</parameter>", "</function>", "<function="),
        *("<think>", "</think>", "<thinking>", "</thinking>", "<", "</", "<tool", "[TOOL_CALLS]"),
        *(
            "{",
            "}",
            "[",
            "]",
            "'",
            '"',
            ":",
            '{"name": "write_file"',
            '{"name": "no", "arguments": {}}',
        ),
    ]
)


@given(st.lists(PIECES, max_size=14).map("".join), st.data())
@settings(max_examples=120, deadline=None)
def test_any_split_decodes_to_the_same_and_shows_a_beginning_of_the_text(
    text: str, data: st.DataObject
) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    parts = [text[a:b] for a, b in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    whole = stream([text])[0]
    for pieces in (parts, list(text)):
        reply, shown, decoder = stream(pieces)
        assert meaning(reply) == meaning(whole)
        assert reply.text.startswith(shown)
        assert len(shown) == decoder.shown


@given(st.lists(PIECES, max_size=14).map("".join))
@settings(max_examples=120, deadline=None)
def test_a_call_is_only_ever_what_was_written_out_and_last(text: str) -> None:
    reply = stream([text])[0]
    for call in reply.calls:
        assert call.name in ("read_file", "write_file")
        assert call.arguments is not None
        assert (
            text.rstrip()
            .removesuffix("<think>")
            .rstrip()
            .endswith(
                ("}", "]", "```", "````", "~~~", "</tool_call>", "</function>", "</parameter>")
            )
        )


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                (
                    *("choices", "delta", "message", "content", "tool_calls", "function", "name"),
                    *("id", "arguments", "index", "usage", "prompt_tokens", "completion_tokens"),
                    *("thinking", "finish_reason", "reasoning_content", "text", "function_call"),
                )
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)


@given(st.lists(JSON, max_size=4))
@settings(max_examples=80, deadline=None)
def test_any_payloads_give_a_reply(payloads: list[Any]) -> None:
    assert isinstance(decode(payloads, TOOLS), Reply)


@given(JSON, st.sampled_from(["delta", "message"]))
@settings(max_examples=80, deadline=None)
def test_any_message_gives_a_reply(value: Any, kind: str) -> None:
    for fields in ({"content": value}, {"tool_calls": value}, {"reasoning": value}):
        payload = {"choices": [{kind: fields, "finish_reason": "stop"}]}
        assert isinstance(decode([payload, payload], TOOLS), Reply)


@given(st.sampled_from([HERMES, XML, CALL, f"```json\n{CALL}\n```"]), st.data())
@settings(max_examples=120, deadline=None)
def test_a_mutated_call_never_runs_with_other_arguments_than_it_shows(
    written: str, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(written) - 1))
    mutated = written[:at] + data.draw(st.text(max_size=2)) + written[at + 1 :]
    for call in stream([mutated])[0].calls:
        assert call.name in {"read_file", "write_file", "run_shell", "list_files"}
        for value in leaves(call.arguments or {}):
            assert str(value) in mutated or "\\" in mutated


def leaves(value: Any) -> Iterator[Any]:
    """The texts and numbers inside."""
    inner = value.values() if isinstance(value, dict) else value
    if not isinstance(value, dict | list):
        yield value
        return
    for each in inner:
        yield from leaves(each)
