"""What can go wrong between us and a server: one table of causes, and the line for each.

A cause has an error class (the name that the outside sees), what the user is told, and how the
request is tried again: not at all, after waits, or after a remedy has changed it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

_LONGEST_SAID = 200
# plain strings: compiled when something failed, not at every start
_TAG = r"<[^>]*>"
_TITLE = r"(?is)<title[^>]*>(.*?)</title>"
_UNPRINTABLE = r"[\x00-\x1f\x7f-\x9f]+"

Again = Literal["none", "backoff", "after_fix"]


@dataclass(frozen=True)
class Cause:
    """`what` fills in `{host}`. `waits` are the seconds before each further try; `fixed` tells
    that the request may be changed, by remedies.py or another protocol, and then sent once more."""

    error_class: str
    what: str
    advice: str
    waits: tuple[float, ...] = ()
    fixed: bool = False

    @property
    def again(self) -> Again:
        if self.fixed:
            return "after_fix"
        return "backoff" if self.waits else "none"

    @property
    def most_requests(self) -> int:
        """How often a request that keeps failing in this way is sent."""
        return 1 + len(self.waits) + self.fixed


CAUSES: Mapping[str, Cause] = {
    "refused": Cause(
        "backend_unavailable",
        "cannot connect to {host}",
        "Start it (`ollama serve` or `llama-server -m MODEL.gguf --jinja`), name another one with "
        "`--host URL`, or look around with `mini-coding-agent demo`",
        # who was found a moment ago may just be starting again
        waits=(0.5,),
    ),
    # it had answered requests before
    "gone": Cause(
        "backend_unavailable",
        "cannot connect to {host} any more",
        "Start it again; what was done so far is kept",
        waits=(1.0, 2.0, 4.0),
    ),
    "proxy": Cause(
        "backend_unavailable",
        "the proxy on the way to {host} refused",
        "Set http_proxy or https_proxy again, or name the host in no_proxy",
    ),
    "no_endpoint": Cause(
        "backend_unavailable",
        "there is no chat completions endpoint at {host}",
        "Check --host: it needs an OpenAI-compatible server",
    ),
    "busy": Cause(
        "backend_unavailable",
        "the server at {host} is busy",
        "Try again later",
        waits=(1.0, 3.0),
    ),
    "loading": Cause(
        "model_loading",
        "the server at {host} is still loading the model",
        "Wait until it is ready and try again",
        waits=(1.0, 2.0, 4.0, *[8.0] * 100),
    ),
    "server_error": Cause(
        "server_error",
        "the server at {host} failed",
        "Look at the server's log",
        waits=(0.5,),
    ),
    "bad_body": Cause(
        "server_error",
        "the answer of {host} is no chat completion",
        "Check --host: it needs an OpenAI-compatible server",
    ),
    "tool_parse": Cause(
        "malformed_tool_call",
        "the server at {host} could not read the model's tool call",
        "Send the request again",
        waits=(0.2,),
    ),
    "interrupted": Cause(
        "stream_interrupted",
        "the reply of {host} broke off",
        "Look at the server's log, and try again",
        waits=(0.2,),
    ),
    # a server that hangs from the start rarely heals, and its silence would be doubled
    "timeout": Cause(
        "timeout",
        "no answer from {host}",
        "Raise first_token_timeout in config.toml if the model is this slow",
    ),
    # it was generating: closing the connection frees its slot
    "stalled": Cause(
        "timeout",
        "the reply of {host} stopped",
        "Raise idle_timeout in config.toml if the model is this slow",
        waits=(0.2,),
    ),
    "deadline": Cause(
        "timeout",
        "{host} had not finished when the time was up",
        "Raise --max-seconds",
    ),
    "not_found": Cause(
        "model_not_found",
        "the server at {host} does not have this model",
        "Choose one with --model",
    ),
    "auth": Cause(
        "auth",
        "{host} refused the API key",
        "Set MCA_API_KEY to a key that it accepts",
    ),
    "no_credit": Cause(
        "auth",
        "{host} takes no more requests from this account",
        "Look at its credit, or use another key or server",
    ),
    "overflow": Cause(
        "context_overflow",
        "the conversation is longer than the context of the model at {host}",
        "Use /reset, or start the server with a larger context",
    ),
    "room": Cause(
        "context_overflow",
        "the context of the model at {host} has no room for an answer of this length",
        "Lower --max-new-tokens, use /reset, or start the server with a larger context",
        fixed=True,
    ),
    "template": Cause(
        "template_rejected",
        "the chat template of the model at {host} rejected the messages",
        "Try another template or model",
        fixed=True,
    ),
    "schema": Cause(
        "tool_schema_rejected",
        "the server at {host} rejected the tools' schemas",
        "Update the server, or try another one",
        fixed=True,
    ),
    "tools": Cause(
        "tools_unsupported",
        "the server at {host} takes no tools for this model",
        "Start it with tools (llama-server --jinja; vllm serve --enable-auto-tool-choice "
        "--tool-call-parser NAME), or choose a model that has them",
        fixed=True,
    ),
    "option": Cause(
        "bad_request",
        "the server at {host} does not take an option of the request",
        "Leave it out of the flags and config.toml",
        fixed=True,
    ),
    "refusal": Cause(
        "refusal",
        "the model at {host} refused to answer",
        "Say the request in other words, use /reset, or choose another model",
    ),
    "unknown_stop": Cause(
        "server_error",
        "the reply of {host} ended for a reason that is not known",
        "Update mini-coding-agent, or choose another model",
    ),
    "bad_request": Cause(
        "bad_request",
        "the server at {host} rejected the request",
        "Check --model and --host",
    ),
}


class RequestFailed(Exception):
    """A request that got no usable reply. Stays inside this room.

    `text` is what had been shown of the reply by then; it is no part of an answer.
    """

    def __init__(
        self,
        cause: str,
        said: str = "",
        wait: float | None = None,
        context_length: int | None = None,
        room: int | None = None,
    ) -> None:
        """`said` is what the server or the system said; `wait` seconds it asks us to wait;
        `context_length` and `room` the tokens that fit into the context in all, and into the
        answer."""
        super().__init__(cause)
        self.cause = cause
        self.said = said
        self.wait = wait
        self.context_length = context_length
        self.room = room
        self.text = ""

    @property
    def error_class(self) -> str:
        return CAUSES[self.cause].error_class

    @property
    def may_be_mended(self) -> bool:
        """Whether there are remedies for such a refusal."""
        return CAUSES[self.cause].fixed

    def line(self, host: str, note: str = "") -> str:
        """The one line for the user."""
        return ". ".join(filter(None, (self.what(host), note, CAUSES[self.cause].advice)))

    def what(self, host: str) -> str:
        """What happened, without what to do about it."""
        said = one_line(self.said)
        what = CAUSES[self.cause].what.format(host=host)
        return f"{what}: {said}" if said else what


def one_line(text: str) -> str:
    """A server's words as a short line: no markup, no control characters, about 200 at most."""
    title = re.search(_TITLE, text)
    if title:
        text = title[1]
    elif text.lstrip().startswith("<"):
        text = re.sub(_TAG, " ", text)
    text = " ".join(re.sub(_UNPRINTABLE, " ", text[: 20 * _LONGEST_SAID]).split()).rstrip(". ")
    return text if len(text) <= _LONGEST_SAID else text[: _LONGEST_SAID - 3] + "..."
