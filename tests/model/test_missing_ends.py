"""Calls in the text whose ends are missing or written wrong."""

import pytest
from test_families import JSON, READ, calls, said

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
