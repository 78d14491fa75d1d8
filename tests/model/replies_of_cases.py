"""The replies of the wire cases, and others of their kind, as material to damage."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WIRE = Path(__file__).resolve().parent.parent / "wire"


@dataclass(frozen=True)
class Told:
    """The text of a reply, and the tools that were offered."""

    name: str
    text: str
    tools: tuple[dict[str, Any], ...]


ALSO = (
    "<tool_call>read_file\n<arg_key>path</arg_key>\n<arg_value>auth.py</arg_value>\n</tool_call>",
    '<|tool_call>call:read_file{path:<|"|>auth.py<|"|>,start:3}<tool_call|>',
    "<start_function_call>call:read_file{path:<escape>a<escape>}<end_function_call>",
    "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read_file<｜tool▁sep｜>"
    '{"path": "a"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.read_file:0"
    '<|tool_call_argument_begin|>{"path": "a"}<|tool_call_end|><|tool_calls_section_end|>',
    '<|python_tag|>{"name": "read_file", "parameters": {"path": "a"}}',
    '<function_calls>\n<invoke name="read_file">\n<parameter name="path">a</parameter>\n</invoke>\n'
    "</function_calls>",
    '[TOOL_CALLS][{"name": "read_file", "arguments": {"path": "a"}}]',
    "```tool_code\nread_file(path='a')\n```",
    '<function=read_file>{"path": "a"}</function>',
)


def told() -> list[Told]:
    """Every text that a case of the decode layer tells, in the order of their names."""
    paths = [
        path for folder in ("cases", "more") for path in sorted((WIRE / folder).glob("*.json"))
    ]
    found = [each for path in paths if (each := _told(path))]
    tools = found[0].tools
    more = [Told(f"also {at}", f"Let me look.\n{text}", tools) for at, text in enumerate(ALSO)]
    return [*found, *more]


def _told(path: Path) -> Told | None:
    case = json.loads(path.read_text())
    if case["layer"] != "decode" or case["kind"] == "loop":
        return None
    text = _content(case)
    schemas = case["tool_schemas"]
    tools = tuple(
        {"type": "function", "function": {"name": name, "parameters": schemas.get(name, {})}}
        for name in case["tools_offered"]
    )
    return Told(case["id"], text, tools) if text else None


def _content(case: dict[str, Any]) -> str:
    if "response" in case:
        content = case["response"]["choices"][0]["message"].get("content")
        return content if isinstance(content, str) else ""
    chunks = [json.loads(chunk) for chunk in case["chunks"] if chunk != "[DONE]"]
    deltas = [choice["delta"] for chunk in chunks for choice in chunk["choices"]]
    return "".join(delta.get("content") or "" for delta in deltas)
