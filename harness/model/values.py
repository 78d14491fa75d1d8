"""The values that cross the border of this room."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from harness.model.reading import ReplyDecoder

Message = dict[str, Any]
"""One chat message in the OpenAI shape: role, content, and tool_calls or tool_call_id."""


Protocol = Literal["native", "constrained", "text"]
"""How a model says what it does: tool calls of the API, one JSON object that the server enforces,
or calls written into its text."""


@dataclass(frozen=True)
class Narrowing:
    """What the next step may be. `tools` are the names that are offered; `answer` tells whether
    the request may be answered now; `values` are the only ones an argument of a tool may have,
    best first, by tool and argument."""

    tools: tuple[str, ...]
    answer: bool = True
    values: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class Known:
    """What is known of a request when its reply is read, in tokens: the context of the model, an
    estimate of the prompt, and how many were asked for at most."""

    context_length: int | None = None
    estimated_prompt_tokens: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True)
class Asked:
    """One request for a reply. `tools` are all there are, as the OpenAI API has them; `deadline`
    is a time of time.monotonic(); `narrow` works out what the next step may be, for protocols that
    can hold a model to it; `due` gives what to tell the model when a call was due where it replied
    with this text alone, or "".

    `known` is what the one who asks knows of the limits, for reading the reply.

    What a protocol makes of a request holds further fields of its body in `extra`, and may have
    its reply decoded by something else than a Decoder for `tools`.
    """

    messages: Sequence[Message]
    tools: Sequence[Mapping[str, Any]] = ()
    deadline: float | None = None
    narrow: Callable[[], Narrowing] | None = None
    due: Callable[[str], str] | None = None
    known: Known = field(default_factory=Known)
    extra: Mapping[str, Any] = field(default_factory=dict)
    decoder: "Callable[[Known], ReplyDecoder] | None" = None


@dataclass(frozen=True)
class Call:
    """One tool call as the model made it.

    `arguments` have the names and types of the tool's schema where nothing was lost by that; they
    are None when what was sent (`raw`) is not a JSON object; `problem` then says why, in a
    sentence for the model. `error` is the class of what is wrong with the call:
    `malformed_tool_call`, `unknown_tool` or `invalid_arguments`. `mended` tells that it was found
    in the text of the reply, or its arguments repaired.
    """

    id: str
    name: str
    arguments: Mapping[str, Any] | None
    raw: str
    problem: str = ""
    error: str | None = None
    mended: bool = False


@dataclass(frozen=True)
class Usage:
    """Tokens of one request; `estimated` when the server did not say. Of the prompt's tokens the
    server says that it had `cached_tokens` in its cache and put `cache_write_tokens` there. `cost`
    is in US dollars, None where no price is known."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    estimated: bool = True
    cached_tokens: int = 0
    cache_write_tokens: int = 0
    cost: float | None = None

    @property
    def total(self) -> int:
        return self.prompt_tokens + self.completion_tokens


@dataclass(frozen=True)
class Reply:
    """One decoded model reply.

    `error` is None or the class of a reply that must be asked for again: `empty`,
    `truncated_text`, `truncated_tool_call`, `malformed_tool_call`, `unknown_tool`,
    `call_in_reasoning`, `repetition`, `context_overflow`; `detail` is then a sentence for the
    model. Calls of a reply with an error are never run. `finish` is `tool_calls` or `stop` for one
    without, whatever the server called it; else the server's word, `length` at the limit.
    `mended` tells that a call had to be found in the text, or its arguments to be repaired;
    `truncated_prompt` that the server saw far less of the prompt than was sent.
    """

    text: str = ""
    reasoning: str = ""
    calls: tuple[Call, ...] = ()
    finish: str | None = None
    usage: Usage = field(default_factory=Usage)
    error: str | None = None
    detail: str = ""
    mended: bool = False
    truncated_prompt: bool = False

    @property
    def error_class(self) -> str | None:
        """What is wrong with the reply or with one of its calls, under the outside's names."""
        error = self.error or next((call.error for call in self.calls if call.error), None)
        return "empty" if error == "call_in_reasoning" else error


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
