"""Asking a model in its protocol: rendering the request, reading the reply, changing over."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Protocol

from harness.errors import ConfigError, ModelFailure
from harness.model.address import host_of, is_loopback
from harness.model.protocols.choosing import REFUSALS, Choice, Tell
from harness.model.protocols.memory import Memory
from harness.model.tokens import estimate_tokens
from harness.model.values import Asked, Reply, RetryNote
from harness.model.values import Protocol as Way

_THINKS_ON_REQUEST = frozenset({"llama.cpp", "vllm", "sglang"})
"""Servers that can be told to leave out the thinking: a schema leaves no room for it."""

NATIVE_ONLY = frozenset({"anthropic", "bedrock"})
"""Providers with an interface of their own."""

_HINTS: Mapping[str, str] = {
    "native": "--protocol auto would ask the model in another way",
    "constrained": "--protocol text needs nothing of the server; auto finds out by itself",
}


class Answering(Protocol):
    """What carries a request; see `harness.model.client.Client`."""

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply: ...


@dataclass(frozen=True)
class Served:
    """A model at a server. `shows_tools` is what the server itself says of this model."""

    kind: str
    base_url: str
    model: str
    shows_tools: bool | None = None
    api_key: str | None = None

    @property
    def key(self) -> str:
        """What it is called in the memory: at a known kind of server the same model behaves alike
        wherever it runs."""
        place = self.base_url if self.kind == "openai" else self.kind
        return f"{place} {self.model}"


def speaker(
    client: Answering, served: Served, wanted: str, memory: Memory | None, tell: Tell
) -> "Speaker":
    """For `wanted`, which is `auto` or a protocol; `memory` keeps what is found out.

    Raises ConfigError for a protocol that the provider has no use for.
    """
    if served.kind in NATIVE_ONLY:
        if wanted not in ("auto", "native"):
            raise ConfigError(
                f"{served.kind} has tool calls of its own: --protocol {wanted!r} is for "
                "OpenAI-compatible servers"
            )
        wanted = "native"
    # a script is no model, and the next one says something else
    kept = None if served.kind == "scripted" else memory
    return Speaker(client, served, Choice(wanted, kept, served.key, tell))


class Speaker:
    """Answers requests through a client, in the protocol that suits the model."""

    def __init__(self, client: Answering, served: Served, choice: Choice) -> None:
        self._client = client
        self._served = served
        self.choice = choice

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        """The next reply. One in prose where a call was due has the error `call_missing`.

        Raises ModelFailure, with a hint where the protocol was asked for by name.
        """
        if self.choice.is_open:
            told = self._served.shows_tools
            shows = self._probed(asked.deadline, on_retry) if told is None else told
            self.choice.shown(shows, keep=told is None)
        way, why = self.choice.protocol, ""
        while True:
            try:
                reply = self._client.complete(self._as(way, asked), on_text, on_retry)
                break
            except ModelFailure as failure:
                following = self.choice.after_refusal(way, failure)
                if following is None:
                    self._hint(way, failure)
                    raise
                way, why = following, f"its server refused the other way ({failure.error_class})"
        if why:
            self.choice.settle(way, why)
        reply = _with_due(reply, asked)
        self.choice.heard(reply, lambda: _counted(asked, reply))
        return reply

    def _as(self, way: Way, asked: Asked) -> Asked:
        """The request as this protocol has it."""
        if way == "native":
            return asked
        from harness.model.protocols.rendering import render

        used = {call["id"] for m in asked.messages for call in m.get("tool_calls", ())}
        messages = render(asked.messages, asked.tools, way)
        known = replace(asked.known, estimated_prompt_tokens=estimate_tokens(messages))
        sent = replace(asked, messages=messages, tools=(), known=known)
        if way == "text" or not asked.tools:
            from harness.model.decode import Decoder

            return replace(sent, decoder=lambda known: Decoder(asked.tools, used, known))
        from harness.model.protocols.reading import StepDecoder

        narrowing = asked.narrow() if asked.narrow else None
        extra = self._enforced(_schema(asked, narrowing, wrap=self._wants_strict))
        return replace(
            sent, extra=extra, decoder=lambda known: StepDecoder(asked.tools, used, known)
        )

    def _enforced(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """What has a server hold the model to a schema; llama.cpp, vLLM, SGLang, LM Studio, Ollama
        and OpenAI take the same field."""
        from harness.model.protocols.schema import NAME

        named = {"name": NAME, "strict": True, "schema": schema}
        extra: dict[str, Any] = {"response_format": {"type": "json_schema", "json_schema": named}}
        if self._served.kind in _THINKS_ON_REQUEST:
            extra["chat_template_kwargs"] = {"enable_thinking": False}
        return extra

    @property
    def _wants_strict(self) -> bool:
        """Whether the server is likely OpenAI's own or as strict."""
        return self._served.kind == "openai" and not is_loopback(host_of(self._served.base_url))

    def _probed(self, deadline: float | None, on_retry: Callable[[RetryNote], None]) -> bool | None:
        from harness.model.protocols.evidence import MAY_DROP_TOOLS

        if self._served.kind not in MAY_DROP_TOOLS:
            return None
        from harness.model.protocols.probing import probe

        def ask(asked: Asked) -> Reply:
            return self._client.complete(replace(asked, deadline=deadline), _unseen, on_retry)

        return probe(self._served, ask)

    def _hint(self, way: Way, failure: ModelFailure) -> None:
        """Have a refusal of what was asked for by name say what else there is."""
        if not self.choice.is_auto and failure.error_class in REFUSALS.get(way, ()):
            failure.args = (f"{str(failure).rstrip('.')}. {_HINTS[way]}",)


def _counted(asked: Asked, reply: Reply) -> bool | None:
    from harness.model.protocols.evidence import count_shows_tools

    return count_shows_tools(asked, reply)


def _schema(asked: Asked, narrowing: Any, *, wrap: bool) -> dict[str, Any]:
    from harness.model.protocols.schema import step_schema, wrapped

    schema = step_schema(asked.tools, narrowing)
    return wrapped(schema) if wrap else schema


def _with_due(reply: Reply, asked: Asked) -> Reply:
    if reply.error or reply.calls or asked.due is None:
        return reply
    detail = asked.due(reply.text)
    return replace(reply, error="call_missing", detail=detail) if detail else reply


def _unseen(_text: str) -> None:
    """The text of a probe is nobody's concern."""
