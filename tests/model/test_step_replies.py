"""Reading replies that should be one step, and what they are when they are not."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.model.protocols import steps
from harness.model.protocols.reading import StepDecoder
from harness.model.protocols.streaming import AnswerStream
from harness.model.values import Reply
from harness.tools.toolbox import all_tools

TOOLS = [tool.schema() for tool in all_tools()]
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=40)


def read(*pieces: str, finish: str = "stop", **more: Any) -> tuple[Reply, str]:
    """The reply whose content came in these pieces, and the text that was shown meanwhile."""
    decoder = StepDecoder(TOOLS)
    shown = []
    for piece in pieces:
        chunk = {"choices": [{"index": 0, "delta": {"content": piece, **more}}]}
        shown.append(decoder.feed(chunk))
    end = decoder.feed({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
    reply = decoder.finish()
    assert len("".join(shown)) == decoder.shown
    assert not end
    return reply, "".join(shown)


def test_a_step_is_a_call() -> None:
    reply, shown = read('{"tool": "read_file", ', '"path": "auth.py"}')
    (call,) = reply.calls
    assert (call.name, call.arguments) == ("read_file", {"path": "auth.py"})
    assert json.loads(call.raw) == call.arguments
    assert call.id
    assert (reply.text, reply.error, reply.mended, shown) == ("", None, False, "")


def test_an_answer_is_shown_while_it_arrives() -> None:
    reply, shown = read('{"tool": "answer", "text": "The li', "mit is \\", "n 5\\u00e4.", '"}')
    assert (reply.text, reply.calls, reply.error) == ("The limit is \n 5ä.", (), None)
    assert shown == reply.text


@settings(max_examples=60)
@given(TEXTS, st.data())
def test_what_is_shown_is_the_beginning_of_the_answer(text: str, data: st.DataObject) -> None:
    written = steps.written("answer", {"text": text})
    if data.draw(st.booleans()):
        written = json.dumps(json.loads(written))  # with escapes for all that is not ASCII
    stream = AnswerStream()
    shown = ""
    at = 0
    while at < len(written):
        step = data.draw(st.integers(1, 5))
        shown += stream.feed(written[at : at + step])
        at += step
        assert text.strip().startswith(shown)
    assert shown == text.strip()


@settings(max_examples=40)
@given(TEXTS)
def test_content_may_hold_anything(text: str) -> None:
    content = f"{text}<tool_call>\n</think>```json\n{text}"
    written = steps.written("write_file", {"path": "a.md", "content": content})
    reply, shown = read(written)
    assert [call.arguments for call in reply.calls] == [{"path": "a.md", "content": content}]
    assert not reply.mended
    assert not shown


def test_thoughts_before_the_step_are_thoughts() -> None:
    reply, _ = read("<think>hm</think>\n", '{"tool": "list_files"}')
    assert [call.name for call in reply.calls] == ["list_files"]
    assert reply.reasoning == "hm"


def test_null_is_an_argument_that_was_left_out() -> None:
    step = {"tool": "read_file", "path": "a", "start": None, "end": None}
    reply, _ = read(json.dumps({"step": step}))
    assert [call.arguments for call in reply.calls] == [{"path": "a"}]
    assert not reply.mended


@pytest.mark.parametrize(
    "cut", ['{"tool": "write_file", "path": "a", "content": "x = ', '{"tool": "list_files"}']
)
def test_nothing_is_run_of_a_reply_that_met_the_limit(cut: str) -> None:
    reply, _ = read(cut, finish="length")
    assert reply.error == "truncated_tool_call"
    assert not reply.calls
    assert "length" in reply.detail


def test_an_answer_that_met_the_limit_is_no_answer() -> None:
    reply, shown = read('{"tool": "answer", "text": "The limit', finish="length")
    assert (reply.error, reply.text, shown) == ("truncated_text", "The limit", "The limit")


@pytest.mark.parametrize("text", ['{"tool": "answer", "text": " "}', '{"tool": "answer"}'])
def test_an_empty_answer_is_none(text: str) -> None:
    assert read(text)[0].error == "empty"


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"tool": "read_file", "path": "a.py"}\n```',
        '{"tool": "read_file", "arguments": {"path": "a.py"}}',
        "{'tool': 'read_file', 'path': 'a.py',}",
        '<tool_call>\n{"name": "read_file", "arguments": {"path": "a.py"}}\n</tool_call>',
    ],
)
def test_calls_in_other_forms_are_read_and_counted_as_mended(text: str) -> None:
    reply, _ = read(text)
    assert [(call.name, call.arguments) for call in reply.calls] == [
        ("read_file", {"path": "a.py"})
    ]
    assert reply.mended


def test_prose_is_an_answer_that_had_to_be_mended() -> None:
    reply, _ = read("The limit is 5.")
    assert (reply.text, reply.error, reply.mended) == ("The limit is 5.", None, True)


@pytest.mark.parametrize("text", ['{"tool": "read_file", "path": ', '{"path": "a.py"}', "{}"])
def test_an_object_that_is_no_step_is_asked_for_again(text: str) -> None:
    reply, _ = read(text)
    assert reply.error == "malformed_tool_call"
    assert not reply.calls
    assert '{"tool": "read_file"' in reply.detail


@given(
    st.text(max_size=60) | st.recursive(st.none() | st.text() | st.integers(), st.lists).map(str)
)
def test_any_reply_is_a_value(text: str) -> None:
    reply, shown = read(*text)
    assert reply.text.startswith(shown)
    assert reply.error or reply.calls or reply.text


@pytest.mark.parametrize("chunk", [{}, {"choices": None}, {"choices": [{"delta": None}]}, [], "x"])
def test_odd_chunks_do_no_harm(chunk: Any) -> None:
    decoder = StepDecoder(TOOLS)
    assert decoder.feed(chunk) == ""
    assert decoder.finish().error == "empty"


def test_of_an_answer_nothing_is_kept_behind_what_is_no_escape() -> None:
    stream = AnswerStream()
    assert stream.feed('{"tool": "answer", "text": "It is ') == "It is"
    assert stream.feed("\\x41" + "a" * 20) == ""
    assert stream.feed(' 3."') == ""
