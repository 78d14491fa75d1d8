"""Whether a server really shows a model the tools: from what it tells, or from its token counts.

llama.cpp, for one, drops the tools of a request without a word when the model's chat template has
no place for them. The model then never learns that there are any.
"""

from collections.abc import Callable, Mapping
from typing import Any

from harness.errors import ModelFailure
from harness.model.tokens import estimate_tokens
from harness.model.values import Asked, Message, Reply

MAY_DROP_TOOLS = frozenset({"llama.cpp", "lmstudio", "sglang", "jan", "localai", "koboldcpp"})
"""Servers that are asked, once for each model: they run where the user runs them and cost
nothing, may leave tools out, and do not tell."""

_LEAST_TOOLS = 200
"""Tokens: the tools of a request must be this many before its count says anything of them."""
_FEWEST, _MOST = 0.5, 1.15
"""A conversation of an estimated 1000 tokens is between 500 and 1150."""

_PROBED = {
    "type": "function",
    "function": {
        "name": "read_file",
        "description": "Read a text file: numbered lines, and how many there are.",
        "parameters": {
            "type": "object",
            "properties": {
                "path": {"type": "string", "description": "File relative to the root"},
                "start": {"type": "integer", "description": "First line, from 1"},
            },
            "required": ["path"],
        },
    },
}
_LEAST_SHOWN = 20
"""Tokens that this tool takes at least, where it is shown."""

Ask = Callable[[Asked], Reply]


def template_shows_tools(properties: Any) -> bool | None:
    """From the `GET /props` of llama.cpp: whether the chat template has a place for tools."""
    if not isinstance(properties, Mapping):
        return None
    abilities = properties.get("chat_template_caps")
    told = abilities.get("supports_tools") if isinstance(abilities, Mapping) else None
    if isinstance(told, bool):
        return told
    # one that was set apart for tools; else the usual one
    template = properties.get("chat_template_tool_use") or properties.get("chat_template")
    if not isinstance(template, str) or "{" not in template:
        return None
    return "tools" in template


def prompt_grows_with_tools(ask: Ask) -> bool | None:
    """Two tiny requests, one of them with a tool: whether its prompt is longer.

    None when the server does not count, or refuses.
    """
    messages: list[Message] = [{"role": "user", "content": "Hi"}]
    try:
        without = _prompt_tokens(ask(Asked(messages, extra={"max_tokens": 1})))
        if without is None:
            return None
        with_tool = _prompt_tokens(ask(Asked(messages, [_PROBED], extra={"max_tokens": 1})))
    except ModelFailure:
        return None
    return None if with_tool is None else with_tool - without >= _LEAST_SHOWN


def count_shows_tools(asked: Asked, reply: Reply) -> bool | None:
    """What the prompt tokens of a real reply tell; None when they could mean either."""
    if reply.calls and not reply.mended:
        return True
    if reply.usage.estimated or any(message.get("tool_calls") for message in asked.messages):
        return None  # who has made calls knows of the tools: a low count is a prompt that was cut
    conversation = estimate_tokens(list(asked.messages))
    tools = estimate_tokens(list(asked.tools))
    counted = reply.usage.prompt_tokens
    if tools < max(_LEAST_TOOLS, conversation * 0.3):
        return None
    if conversation * _FEWEST <= counted <= conversation * _MOST:
        return False
    return True if counted >= conversation * _FEWEST + tools * _FEWEST else None


def _prompt_tokens(reply: Reply) -> int | None:
    usage = reply.usage
    return None if usage.estimated or usage.prompt_tokens <= 0 else usage.prompt_tokens
