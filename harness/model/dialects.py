"""What each server tells of itself and its models beyond the OpenAI API: one entry a server.

An entry says what gives the server away, what to ask it about its models, and how to read that.
The next server is ten lines. Sources: llama.cpp tools/server/README.md (`/props`), SGLang's
http_server.py, LocalAI's api-discovery, llama-swap's README, KoboldCpp's API, mlx-lm's server.py.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from harness.model import lmstudio, ollama
from harness.model.models import (
    Answers,
    Ask,
    Listing,
    Model,
    Models,
    by_name,
    either,
    flag,
    mapping,
    tokens,
)


@dataclass(frozen=True)
class Dialect:
    """`signs` are asked when the list of models did not give the server away, and `shows` tells
    whether their answers do. `asks` is given the models worth asking about, and `read` brings all
    of them up to what was answered."""

    signs: tuple[Ask, ...] = ()
    shows: Callable[[Answers, Listing], bool] = lambda _answers, _listing: False
    asks: Callable[[Sequence[Model]], tuple[Ask, ...]] = lambda _models: ()
    read: Callable[[Answers, Models], Models] = lambda _answers, models: models


_PROPS = Ask("/props")
_LOCALAI, _LOCALAI_MODELS = Ask("/.well-known/localai.json"), Ask("/v1/models/capabilities")
_SGLANG = (Ask("/server_info"), Ask("/get_server_info"))
_KOBOLD = Ask("/api/extra/true_max_context_length")
_HEALTH = Ask("/health")


def _props_of(model: Model) -> Ask:
    """A router tells of each model what runs it; asking must not load it."""
    if model.loaded is None:
        return _PROPS
    return Ask(f"/props?model={quote(model.name, safe='')}&autoload=false")


def _upstream_props(model: Model) -> Ask:
    return Ask(f"/upstream/{quote(model.name)}/props")


def _read_props(of: Callable[[Model], Ask]) -> Callable[[Answers, Models], Models]:
    def read(answers: Answers, models: Models) -> Models:
        return tuple(_with_props(model, mapping(answers.get(of(model)))) for model in models)

    return read


def _with_props(model: Model, props: Mapping[str, Any]) -> Model:
    """`n_ctx` is that of one slot: a request never gets more, whatever all of them have."""
    caps = mapping(props.get("chat_template_caps"))
    shown = flag(caps.get("supports_tools"))
    tools = flag(caps.get("supports_tool_calls")) if shown is None else shown
    length = tokens(mapping(props.get("default_generation_settings")).get("n_ctx"))
    return replace(
        model,
        context_length=length or model.context_length,
        tools=model.tools if tools is None else tools,
        loaded=True if length and model.loaded is None else model.loaded,
        vision=either(flag(mapping(props.get("modalities")).get("vision")), model.vision),
    )


def _read_sglang(answers: Answers, models: Models) -> Models:
    """The longest request may be below the context: what fits the memory pool bounds it, too."""
    info = next((found for ask in _SGLANG if (found := mapping(answers.get(ask)))), None)
    if info is None:
        return models
    longest = tokens(info.get("max_req_input_len"))
    parser = "tool_call_parser"

    def read(model: Model) -> Model:
        context = tokens(info.get("context_length"), model.context_length)
        lengths = [length for length in (context, longest) if length]
        tools = bool(info[parser]) if parser in info else model.tools
        return replace(model, context_length=min(lengths, default=None), tools=tools, loaded=True)

    return tuple(read(model) for model in models)


def _read_localai(answers: Answers, models: Models) -> Models:
    uses = by_name(mapping(answers.get(_LOCALAI_MODELS)).get("data"), "id")

    def read(model: Model) -> Model:
        known = mapping(uses.get(model.name)).get("capabilities")
        if not isinstance(known, list) or not known or "chat" in known:
            return model
        return replace(model, kind="embedding" if "embeddings" in known else "other")

    return tuple(read(model) for model in models)


def _read_kobold(answers: Answers, models: Models) -> Models:
    length = tokens(mapping(answers.get(_KOBOLD)).get("value"))
    return tuple(replace(model, context_length=length, loaded=True) for model in models)


DIALECTS: Mapping[str, Dialect] = {
    "llama.cpp": Dialect(
        (_PROPS,),
        lambda answers, _: "default_generation_settings" in mapping(answers.get(_PROPS)),
        lambda models: tuple({_props_of(m): None for m in models if m.loaded is not False}),
        _read_props(_props_of),
    ),
    "lmstudio": Dialect(
        lmstudio.ASKS, lmstudio.shows, lambda _models: lmstudio.ASKS, lmstudio.read
    ),
    "localai": Dialect(
        (_LOCALAI,),
        lambda answers, _: "endpoints" in mapping(answers.get(_LOCALAI)),
        lambda _models: (_LOCALAI_MODELS,),
        _read_localai,
    ),
    "ollama": Dialect(ollama.SIGNS, ollama.shows, ollama.asks, ollama.read),
    "mlx": Dialect(
        (_HEALTH,),
        lambda answers, listing: listing.bare and answers.get(_HEALTH) == {"status": "ok"},
    ),
    "sglang": Dialect(asks=lambda _models: _SGLANG, read=_read_sglang),
    "llama-swap": Dialect(
        asks=lambda models: tuple(_upstream_props(m) for m in models if m.loaded),
        read=_read_props(_upstream_props),
    ),
    "koboldcpp": Dialect(asks=lambda _models: (_KOBOLD,), read=_read_kobold),
}
"""By server, those with the surest signs first: LocalAI and others imitate Ollama."""
