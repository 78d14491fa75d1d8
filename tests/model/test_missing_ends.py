"""Calls in the text whose ends are missing or written wrong."""

import pytest
from test_families import JSON, PATH, READ, calls, said

PARAMETER = "<parameter=path>\n{}\n</parameter>\n"


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{JSON}\n<tool_call>\n{JSON.replace('auth', 'b')}\n</tool_call>",
        "<function=read_file>\n"
        + PARAMETER.format("auth.py")
        + "<function=read_file>\n"
        + PARAMETER.format("b.py")
        + "</function>",
        '<invoke name="read_file">\n<parameter name="path">auth.py</parameter>\n'
        '<invoke name="read_file">\n<parameter name="path">b.py</parameter>\n</invoke>',
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>auth.py</arg_value>\n"
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>b.py</arg_value>\n</tool_call>",
    ],
)
def test_the_next_call_ends_one_whose_end_is_missing(text: str) -> None:
    assert calls(said(text)) == [*READ, ("read_file", {"path": "b.py"})]


@pytest.mark.parametrize(
    "text",
    [
        f"<tool_call>\n{JSON}\n<tool_call>",
        "<function=read_file>\n<parameter=path>\nauth.py\n</path>\n</function>",
        "<tool_call>\n<function=read_file>\n<parameter=path>\nauth.py\n</tool_call>",
        "<function=read_file>\r\n<parameter=path>\r\nauth.py\r\n</parameter>\r\n</function>",
        '<invoke name="read_file">\n<parameter name="path">auth.py\n</invoke>',
        "<tool_code>\nprint(default_api.read_file(path='auth.py'))\n</tool_code>",
    ],
)
def test_an_end_may_be_written_wrong(text: str) -> None:
    assert calls(said(text)) == READ


def test_of_glm_a_value_may_end_at_the_next_argument() -> None:
    text = (
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>a\n"
        "<arg_key>start</arg_key>\n<arg_value>3</arg_value>\n</tool_call>"
    )
    assert calls(said(text)) == [("read_file", {"path": "a", "start": 3})]


def test_a_call_inside_of_a_larger_json_answer_is_a_part_of_it() -> None:
    text = '{\n  "messages": [\n    ' + JSON + ",\n    " + JSON + "\n  ]\n}"
    reply = said(text)
    assert (reply.text, reply.calls, reply.error) == (text, (), None)


@pytest.mark.parametrize(
    "text",
    [
        "analysis<|message|>No.<|end|><|start|>assistant<|channel|>commentary "
        f"to=functions.read_file <|constrain|>json<|message|>{PATH}<|call|>",
        f"commentary to=functions.read_file<|message|>{PATH}",
        f"<tool_call>read_file\n{PATH}\n</tool_call>",
        f"<tool_call>read_file\n```json\n{PATH}\n```\n</tool_call>",
        '<|tool_call>call:read_file{path:<|"|>auth.py<|"|>}<tool_call|><|tool_response>',
        f'{{"function_name": "read_file", "arguments": {PATH}}}',
        f'{{"action": "read_file", "action_input": {PATH}}}',
        f'{{"tool": "read_file", "tool_input": {PATH}}}',
    ],
)
def test_other_ways_to_write_the_same(text: str) -> None:
    assert calls(said(text)) == READ


@pytest.mark.parametrize(
    "text",
    [
        "final<|message|>It is 3.<|return|>",
        "analysis<|message|>Three?<|end|><|start|>assistant<|channel|>final<|message|>It is 3.",
    ],
)
def test_of_harmony_the_first_token_may_be_lost(text: str) -> None:
    reply = said(text)
    assert (reply.text, reply.error) == ("It is 3.", None)


@pytest.mark.parametrize("text", ["final answer: 3", "analysis to follow", "commentary: none"])
def test_words_that_are_names_of_channels_are_words(text: str) -> None:
    reply = said(text)
    assert (reply.text, reply.error) == (text, None)


@pytest.mark.parametrize(
    "text",
    [
        '[TOOL_CALLS]write_file[ARGS]{"path": "a", "content": "x\ny"}',
        '<｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{"path": "a", "content": "x\ny"}',
    ],
)
def test_lines_in_strings_are_mended_without_an_end_too(text: str) -> None:
    assert calls(said(text)) == [("write_file", {"path": "a", "content": "x\ny"})]


@pytest.mark.parametrize("digits", [str(7**1000), hex(7**6000), str(-(7**1000))])
def test_a_number_that_no_json_carries_is_no_argument(digits: str) -> None:
    reply = said(f"[read_file(path='a', start={digits})]")
    assert (reply.calls, reply.error) == ((), "malformed_tool_call")
