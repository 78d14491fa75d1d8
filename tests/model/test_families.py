"""Each family of calls, as its models write it, and what is not a whole call of it."""

from typing import Any

import pytest

from harness.model.decode import decode
from harness.model.values import Reply


def tool(name: str, *required: str, **types: str) -> dict[str, Any]:
    properties = {key: {"type": kind} for key, kind in types.items()}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return {"type": "function", "function": {"name": name, "parameters": schema}}


TOOLS = [
    tool("read_file", "path", path="string", start="integer"),
    tool("write_file", "path", "content", path="string", content="string"),
    tool("run_tests", paths="array"),
    tool("list_files"),
]
PATH = '{"path": "auth.py"}'
JSON = f'{{"name": "read_file", "arguments": {PATH}}}'
READ = [("read_file", {"path": "auth.py"})]


def said(text: str, finish: str = "stop") -> Reply:
    return decode({"choices": [{"message": {"content": text}, "finish_reason": finish}]}, TOOLS)


def calls(reply: Reply) -> list[tuple[str, Any]]:
    assert reply.error is None, reply.detail
    assert reply.mended or not reply.calls
    return [(call.name, call.arguments) for call in reply.calls]


ONE_READ = {
    "tools": f"<tools>\n[{JSON}]\n</tools>",
    "tool_calls": f"<tool_calls>\n{JSON}\n</tool_calls>",
    "function_call": f"<function_call>{JSON}</function_call>",
    "nemotron": f"<TOOLCALL>[{JSON}]</TOOLCALL>",
    "granite": f"<|tool_call|>[{JSON}]",
    "command": '<|START_ACTION|>[{"tool_call_id": "0", "tool_name": "read_file", "parameters": '
    f"{PATH}}}]<|END_ACTION|>",
    "phi": f"functools[{JSON}]",
    "hermes with a fence in it": f"<tool_call>\n```json\n{JSON}\n```\n</tool_call>",
    "hermes with python in it": "<tool_call>\nread_file(path='auth.py')\n</tool_call>",
    "hermes with the wrapper of the API": '<tool_call>{"type": "function", "function": '
    f'{{"name": "read_file", "arguments": {PATH}}}}}</tool_call>',
    "qwen3-coder": "<tool_call>\n<function=read_file>\n<parameter=path>\nauth.py\n</parameter>\n"
    "</function>\n</tool_call>",
    "qwen3-coder on one line": "<function=read_file><parameter=path>auth.py</parameter></function>",
    "qwen3-coder without its end": "<function=read_file>\n<parameter=path>\nauth.py\n</parameter>",
    "function with an attribute": '<function name="read_file">\n<parameter name="path">auth.py'
    "</parameter>\n</function>",
    "llama 3.1": f"<function=read_file>{PATH}</function>",
    "invoke": '<function_calls>\n<invoke name="read_file">\n<parameter name="path">auth.py'
    "</parameter>\n</invoke>\n</function_calls>",
    "minimax": '<minimax:tool_call>\n<invoke name="read_file">\n<parameter name="path">auth.py'
    "</parameter>\n</invoke>\n</minimax:tool_call>",
    "dsml": '<｜DSML｜function_calls>\n<｜DSML｜invoke name="read_file">\n<｜DSML｜parameter '
    'name="path" string="true">auth.py</｜DSML｜parameter>\n</｜DSML｜invoke>\n'
    "</｜DSML｜function_calls>",
    "glm": "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>auth.py</arg_value>\n"
    "</tool_call>",
    "glm without its end": "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>auth.py"
    "</arg_value>",
    "mistral": f"[TOOL_CALLS]read_file[ARGS]{PATH}",
    "mistral with an id": f"[TOOL_CALLS]read_file[CALL_ID]a1b2c3d4e[ARGS]{PATH}",
    "mistral, older": f"[TOOL_CALLS][{JSON}]",
    "mistral, older, one": f"[TOOL_CALLS] {JSON}",
    "deepseek v3": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read_file\n"
    f"```json\n{PATH}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    "deepseek v3.1": f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>{PATH}"
    "<｜tool▁call▁end｜><｜tool▁calls▁end｜><｜end▁of▁sentence｜>",
    "deepseek without its ends": "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file"
    f"<｜tool▁sep｜>{PATH}",
    "kimi": "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
    f"<|tool_call_argument_begin|>{PATH}<|tool_call_end|><|tool_calls_section_end|>",
    "llama": f'<|python_tag|>{{"name": "read_file", "parameters": {PATH}}}<|eom_id|>',
    "llama, python": '<|python_tag|>read_file.call(path="auth.py")',
    "gemma 4": '<|tool_call>call:read_file{path:<|"|>auth.py<|"|>}<tool_call|>',
    "functiongemma": "<start_function_call>call:read_file{path:<escape>auth.py<escape>}"
    "<end_function_call>",
    "gemma 3": "```tool_code\nprint(default_api.read_file(path='auth.py'))\n```",
    "gemma 3, json": f"```tool_call\n{JSON}\n```",
    "harmony": "<|channel|>commentary to=functions.read_file <|constrain|>json<|message|>"
    f"{PATH}<|call|>",
    "harmony, recipient first": "<|start|>assistant to=functions.read_file<|channel|>commentary "
    f"json<|message|>{PATH}",
    "pythonic": "[read_file(path='auth.py')]",
    "json with other keys": f'{{"tool": "read_file", "args": {PATH}}}',
    "json and the end of a message": f"{JSON}<|im_end|>",
}


@pytest.mark.parametrize("prose", ["", "I look at it.\n", "I look at it.\n\n"])
@pytest.mark.parametrize("text", ONE_READ.values(), ids=ONE_READ)
def test_a_call_is_read_and_not_shown(text: str, prose: str) -> None:
    reply = said(prose + text)
    assert calls(reply) == READ
    assert reply.text == prose.strip()


@pytest.mark.parametrize(
    "name",
    ["mistral", "deepseek v3", "kimi", "gemma 4", "harmony", "llama 3.1", "glm", "dsml"],
)
def test_a_call_may_follow_prose_in_its_line(name: str) -> None:
    reply = said(f"I look at it. {ONE_READ[name]}")
    assert calls(reply) == READ
    assert reply.text == "I look at it."


@pytest.mark.parametrize("text", ONE_READ.values(), ids=ONE_READ)
def test_nothing_is_run_of_a_reply_that_was_cut(text: str) -> None:
    reply = said(text, finish="length")
    assert (reply.error, reply.calls) == ("truncated_tool_call", ())


@pytest.mark.parametrize("text", ONE_READ.values(), ids=ONE_READ)
def test_a_call_in_a_code_span_is_text(text: str) -> None:
    line = text.partition("\n")[0]
    if "`" not in line:
        assert said(f"Write `{line}` to call it.").calls == ()


@pytest.mark.parametrize("text", ONE_READ.values(), ids=ONE_READ)
def test_a_call_with_more_text_behind_it_is_not_run(text: str) -> None:
    reply = said(f"{text}\nThe file says 3.")
    assert reply.calls == ()
    assert reply.error or "The file says 3." in reply.text


@pytest.mark.parametrize("text", ONE_READ.values(), ids=ONE_READ)
def test_a_beginning_of_a_call_runs_with_what_the_whole_call_says_or_not_at_all(text: str) -> None:
    for end in range(len(text)):
        for call in said(text[:end]).calls:
            assert call.error or (call.name, call.arguments) == READ[0]


@pytest.mark.parametrize(
    ("text", "made"),
    [
        (
            "[read_file(path='a', start=-1), run_tests(paths=['a', 'b']), list_files()]",
            [
                ("read_file", {"path": "a", "start": -1}),
                ("run_tests", {"paths": ["a", "b"]}),
                ("list_files", {}),
            ],
        ),
        (
            f"[TOOL_CALLS]read_file[ARGS]{PATH}[TOOL_CALLS]list_files[ARGS]{{}}",
            [*READ, ("list_files", {})],
        ),
        (
            '<|python_tag|>{"name": "list_files", "parameters": {}}; ' + JSON,
            [("list_files", {}), *READ],
        ),
        (
            '<|tool_call>call:read_file{path:<|"|>a{"b"},c<|"|>,start:3}<tool_call|>'
            "<|tool_call>call:run_tests{paths:[<|\"|>x<|\"|>]}<tool_call|>",
            [("read_file", {"path": 'a{"b"},c', "start": 3}), ("run_tests", {"paths": ["x"]})],
        ),
        (
            "<tool_call>run_tests\n<arg_key>paths</arg_key>\n<arg_value>[\"a\"]</arg_value>\n"
            "</tool_call>\n<tool_call>list_files</tool_call>",
            [("run_tests", {"paths": ["a"]}), ("list_files", {})],
        ),
        (
            '<invoke name="read_file">\n<parameter name="path">007</parameter>\n'
            '<parameter name="start">12</parameter>\n</invoke>',
            [("read_file", {"path": "007", "start": 12})],
        ),
        (
            '<｜DSML｜invoke name="run_tests"><｜DSML｜parameter name="paths" string="false">["a"]'
            "</｜DSML｜parameter></｜DSML｜invoke>",
            [("run_tests", {"paths": ["a"]})],
        ),
    ],
)  # fmt: skip
def test_several_calls_and_types(text: str, made: list[tuple[str, Any]]) -> None:
    assert calls(said(text)) == made


@pytest.mark.parametrize(
    "text",
    [
        "[read_file('auth.py')]",
        "[read_file(path=auth.py)]",
        "[read_file(path=open('x').read())]",
        "[read_file(**{'path': 'a'})]",
        "[read_file(path='auth.py'",
        "[TOOL_CALLS]read_file[ARGS]",
        "[TOOL_CALLS]",
        "<|tool_call>call:read_file{path:<|\"|>auth.py",
        "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>auth.py",
        '<invoke name="write_file">\n<parameter name="path">a</parameter>',
        "<|python_tag|>print(open('auth.py').read())",
        "<|channel|>commentary to=functions.read_file<|message|>",
    ],
)  # fmt: skip
def test_what_is_no_whole_call_is_not_run(text: str) -> None:
    reply = said(f"Now.\n{text}")
    assert [call for call in reply.calls if not call.error] == []
    assert reply.error_class in ("malformed_tool_call", "unknown_tool", "invalid_arguments")
    assert "read_file" not in reply.text


def test_of_harmony_the_final_channel_is_the_answer() -> None:
    reply = said(
        "<|channel|>analysis<|message|>Three?<|end|><|start|>assistant<|channel|>final<|message|>"
        "It is **3**.<|return|>"
    )
    assert (reply.text, reply.reasoning, reply.error) == ("It is **3**.", "Three?", None)


def test_of_harmony_thoughts_alone_are_empty() -> None:
    reply = said("<|channel|>analysis<|message|>I should look.<|end|>")
    assert (reply.error, reply.text, reply.reasoning) == ("empty", "", "I should look.")


@pytest.mark.parametrize(
    ("opener", "closer"),
    [("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]"), ("<seed:think>", "</seed:think>")],
)
def test_other_openers_of_thoughts_are_known(opener: str, closer: str) -> None:
    reply = said(f"{opener}Three?{closer}\nIt is 3.")
    assert (reply.text, reply.reasoning) == ("It is 3.", "Three?")


@pytest.mark.parametrize("end", ["<|im_end|>", "<|eot_id|>", "<end_of_turn>", "<|endoftext|>"])
def test_tokens_that_end_a_message_are_not_shown(end: str) -> None:
    assert said(f"It is 3.{end}").text == "It is 3."
    assert said(end).error == "empty"


@pytest.mark.parametrize(
    "text",
    [
        "[1] https://example.org\n[2] see below",
        "[read_file(name) for name in names]",
        "usage: app [OPTIONS] [ARGS]",
        "{\n  'a': 1\n}",
        "a < b <c> d",
        "if x<y: pass",
    ],
)
def test_what_only_looks_like_a_call_is_an_answer(text: str) -> None:
    reply = said(text)
    assert (reply.text, reply.error, reply.calls) == (text, None, ())
