"""What is known of a server and its models, and how its list of models is read.

Sources of the fields beyond OpenAI's: llama.cpp tools/server/README.md, the ModelCard of vLLM and
SGLang, llama-swap's `/v1/models`, and the lists of hosted gateways.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from harness.model.probe import Answer

Kind = Literal["chat", "embedding", "other"]

MOST_MODELS = 1000
"""Of a list of models, the first so many are read."""

_LONGEST_NAME = 256
_MOST_TOKENS = 1_000_000_000
_OWNERS: Mapping[str, str] = {
    "library": "ollama",
    "llamacpp": "llama.cpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "organization_owner": "lmstudio",
    "llama-swap": "llama-swap",
    "koboldcpp": "koboldcpp",
    "scripted": "scripted",
}
_EMBEDS = r"embed|all-minilm|(?:\A|[^a-z])(?:bge|gte|e5)-"
_NO_CHAT = (
    r"rerank|whisper|dall-e|moderation|mmproj|diffusion|"
    r"(?:\A|[^a-z])(?:tts|image|clip|flux|guard)(?:[^a-z]|\Z)"
)
_NO_MODEL = (".md", ".txt", ".json", ".yaml", ".yml", ".lock", ".partial", ".tmpl")


@dataclass(frozen=True)
class Model:
    """One model of a server; None where the server does not tell.

    `context_length` is what a request may hold, in tokens, as the server runs the model now. That
    is often far below `context_trained`, what the model was made for.
    """

    name: str
    context_length: int | None = None
    context_trained: int | None = None
    tools: bool | None = None
    loaded: bool | None = None
    kind: Kind = "chat"
    vision: bool | None = None


@dataclass(frozen=True)
class Server:
    """A chat server. `base_url` ends in a version, such as `http://127.0.0.1:11434/v1`.

    `kind` is `openai` when it was not recognised. `lists_models` is False when it would not tell
    its models, `wants_key` tells that it refused to without a key; `for_openai` whether what
    OPENAI_* holds may be sent there.
    """

    kind: str
    base_url: str
    entries: tuple[Model, ...] = ()
    lists_models: bool = False
    for_openai: bool = False
    api_key: str | None = field(default=None, repr=False)
    wants_key: bool = False

    @property
    def models(self) -> tuple[str, ...]:
        """The names of its models."""
        return tuple(model.name for model in self.entries)


@dataclass(frozen=True)
class Listing:
    """A list of models. `kind` is the server that it gives away, or ""; `bare` tells that it has
    nothing but what Python's own HTTP server and three fields make of it."""

    models: tuple[Model, ...]
    kind: str = ""
    bare: bool = False


@dataclass(frozen=True)
class Ask:
    """A path below the server's root; with a JSON `body` it is a POST."""

    path: str
    body: str = ""


Answers = Mapping[Ask, Any]
"""The decoded answers of status 200; what was not answered is missing."""

Models = tuple[Model, ...]


def read_listing(answer: Answer) -> Listing | None:
    """What an answer to GET /v1/models lists, or None when it is no list of models."""
    value = answer.json() if answer.status == 200 else None
    data = mapping(value).get("data")
    if not isinstance(data, list):
        return None
    entries = mappings(data)
    # an adapter comes after the models it can be laid on
    entries.sort(key=lambda entry: entry.get("parent") is not None)
    models: dict[str, Model] = {}
    for entry in entries:
        name = _name(entry)
        if name and name not in models:
            models[name] = _model(name, entry)
    bare = answer.server.startswith("BaseHTTP/") and all(
        entry.keys() == {"id", "object", "created"} for entry in entries
    )
    return Listing(tuple(models.values()), _given_away(entries, answer.server), bare)


def mapping(value: Any) -> Mapping[str, Any]:
    """`value` when it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def mappings(value: Any) -> list[Mapping[str, Any]]:
    """The objects among the first of a list."""
    found = value[:MOST_MODELS] if isinstance(value, list) else []
    return [entry for entry in found if isinstance(entry, dict)]


def by_name(value: Any, key: str) -> dict[str, Mapping[str, Any]]:
    """The objects of a list by the name they have under `key`."""
    return {entry[key]: entry for entry in mappings(value) if isinstance(entry.get(key), str)}


def tokens(*values: Any) -> int | None:
    """The first of `values` that is a number of tokens."""
    for value in values:
        if type(value) is int and 0 < value <= _MOST_TOKENS:
            return value
    return None


def flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def either(first: bool | None, second: bool | None) -> bool | None:
    return second if first is None else first


def kind_of(name: str) -> Kind:
    """What a model is for, as far as its name tells. Files that are no models are `other`."""
    lower = name.lower()
    if lower.rpartition("/")[2].startswith(".") or lower.endswith(_NO_MODEL):
        return "other"
    if re.search(_NO_CHAT, lower):
        return "other"
    return "embedding" if re.search(_EMBEDS, lower) else "chat"


def _name(entry: Mapping[str, Any]) -> str:
    """A name that can be shown and typed, or ""."""
    name = entry.get("id")
    if not isinstance(name, str) or not name.isprintable() or len(name) > _LONGEST_NAME:
        return ""
    return name if name.strip() else ""


def _model(name: str, entry: Mapping[str, Any]) -> Model:
    status = mapping(entry.get("status")).get("value")
    architecture = mapping(entry.get("architecture"))
    reads, makes = architecture.get("input_modalities"), architecture.get("output_modalities")
    kind = kind_of(name)
    return Model(
        name,
        tokens(
            entry.get("max_model_len"), entry.get("context_length"), entry.get("context_window")
        ),
        tokens(mapping(entry.get("meta")).get("n_ctx_train")),
        _takes_tools(entry),
        status == "loaded" if isinstance(status, str) else None,
        "other" if isinstance(makes, list) and "text" not in makes else kind,
        "image" in reads if isinstance(reads, list) else None,
    )


def _takes_tools(entry: Mapping[str, Any]) -> bool | None:
    """llama-swap and gateways such as OpenRouter list what a request may ask for."""
    parameters = entry.get("supported_parameters")
    if isinstance(parameters, list):
        return "tools" in parameters
    return flag(mapping(entry.get("capabilities")).get("function_calling"))


def _given_away(entries: list[Mapping[str, Any]], server: str) -> str:
    for entry in entries:
        owner = entry.get("owned_by")
        if isinstance(owner, str) and owner in _OWNERS:
            return _OWNERS[owner]
        if owner == "user" and entry.get("created") == 1:
            return "jan"
    return "llama.cpp" if server == "llama.cpp" else ""


def context_shown(model: Model) -> str:
    """The context of a model for people: `4,096 of 262,144`, with ? for what is not known."""
    now, trained = (f"{n:,}" if n else "?" for n in (model.context_length, model.context_trained))
    return now if trained in ("?", now) else f"{now} of {trained}"
