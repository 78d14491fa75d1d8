"""The values that cross the border of this room."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Message = dict[str, Any]
"""One chat message in the OpenAI shape: role, content, and tool_calls or tool_call_id."""


@dataclass(frozen=True)
class Call:
    """One tool call as the model made it.

    `arguments` is None when what was sent (`raw`) is not a JSON object; `problem` then says why,
    in a sentence for the model.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str
    problem: str = ""


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `estimated` when the server did not say."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Reply:
    """One decoded model reply.

    `error` is None or the class of a reply that must be asked for again: `empty`,
    `truncated_text`, `truncated_tool_call`, `malformed_tool_call`, `call_in_reasoning`;
    `detail` is then a sentence for the model. Calls of a reply with an error are never run.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    detail: str = ""


@dataclass(frozen=True)
class Sampling:
    """What a request asks for; None leaves the server's own default."""

    max_new_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None


@dataclass(frozen=True)
class Timeouts:
    """Seconds: to connect, to the first piece of a reply, and between two pieces of it.

    Each is the longest silence: anything that arrives, a ping too, starts it anew.
    """

    connect: float = 5.0
    first_token: float = 600.0
    idle: float = 120.0


@dataclass(frozen=True)
class RetryNote:
    """A request failed in a way that may pass and is sent again after `wait` seconds.

    Text of the failed try that was already streamed is not part of the answer.
    """

    error_class: str
    message: str
    wait: float
