"""What can go wrong between us and a server: one table of causes, and the line for each.

A cause has an error class (the name that the outside sees), a bound on how often the request is
sent in all, and what the user can do next.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

_LONGEST_SAID = 200
# plain strings: compiled when something failed, not at every start
_TAG = r"<[^>]*>"
_TITLE = r"(?is)<title[^>]*>(.*?)</title>"
_UNPRINTABLE = r"[\x00-\x1f\x7f-\x9f]+"


@dataclass(frozen=True)
class Cause:
    """`waits` are the seconds before each further try; `what` fills in `{host}`."""

    error_class: str
    what: str
    advice: str
    waits: tuple[float, ...] = ()


CAUSES: Mapping[str, Cause] = {
    "refused": Cause(
        "backend_unavailable",
        "cannot connect to {host}",
        "Start it (`ollama serve` or `llama-server -m MODEL.gguf --jinja`), name another one with "
        "`--host URL`, or look around with `mini-coding-agent demo`",
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
        waits=(1.0, 3.0),
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
    "timeout": Cause(
        "timeout",
        "no answer from {host}",
        "Raise first_token_timeout or idle_timeout in config.toml if the model is this slow",
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
    "overflow": Cause(
        "context_overflow",
        "the conversation is longer than the context of the model at {host}",
        "Use /reset, or start the server with a larger context",
    ),
    "template": Cause(
        "template_rejected",
        "the chat template of the model at {host} rejected the messages",
        "Try another template or model",
    ),
    "schema": Cause(
        "tool_schema_rejected",
        "the server at {host} rejected the tools' schemas",
        "Update the server, or try another one",
    ),
    "tools": Cause(
        "tools_unsupported",
        "the server at {host} takes no tools for this model",
        "Start it with tools (llama-server --jinja; vllm serve --enable-auto-tool-choice "
        "--tool-call-parser NAME), or choose a model that has them",
    ),
    "bad_request": Cause(
        "bad_request",
        "the server at {host} rejected the request",
        "Check --model and --host",
    ),
}


class RequestFailed(Exception):
    """A request that got no usable reply. Stays inside this room."""

    def __init__(self, cause: str, said: str = "", wait: float | None = None) -> None:
        """`said` is what the server or the system said; `wait` seconds it asks us to wait."""
        super().__init__(cause)
        self.cause = cause
        self.said = said
        self.wait = wait

    @property
    def error_class(self) -> str:
        return CAUSES[self.cause].error_class

    def line(self, host: str, note: str = "") -> str:
        """The one line for the user."""
        cause = CAUSES[self.cause]
        said = one_line(self.said)
        what = cause.what.format(host=host)
        return ". ".join(filter(None, (f"{what}: {said}" if said else what, note, cause.advice)))


def one_line(text: str) -> str:
    """A server's words as a short line: no markup, no control characters, about 200 at most."""
    title = re.search(_TITLE, text)
    if title:
        text = title[1]
    elif text.lstrip().startswith("<"):
        text = re.sub(_TAG, " ", text)
    text = " ".join(re.sub(_UNPRINTABLE, " ", text[: 20 * _LONGEST_SAID]).split()).rstrip(". ")
    return text if len(text) <= _LONGEST_SAID else text[: _LONGEST_SAID - 3] + "..."
