"""What LM Studio tells of its models, through its REST API v1 and the older v0."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.model.models import (
    Answers,
    Ask,
    Kind,
    Listing,
    Model,
    Models,
    by_name,
    either,
    flag,
    mapping,
    mappings,
    tokens,
)

_V1, _V0 = Ask("/api/v1/models"), Ask("/api/v0/models")
ASKS = (_V1, _V0)


def shows(answers: Answers, _listing: Listing) -> bool:
    # it answers any path with status 200
    v1, v0 = mapping(answers.get(_V1)), mapping(answers.get(_V0))
    return any("loaded_instances" in entry for entry in mappings(v1.get("models"))) or any(
        "state" in entry for entry in mappings(v0.get("data"))
    )


def read(answers: Answers, models: Models) -> Models:
    known: dict[str, Model] = {}
    for name, entry in by_name(mapping(answers.get(_V0)).get("data"), "id").items():
        known[name] = _from_v0(entry)
    for key, entry in by_name(mapping(answers.get(_V1)).get("models"), "key").items():
        instances = by_name(entry.get("loaded_instances"), "id")
        known[key] = _from_v1(entry, next(iter(instances.values()), {}))
        for name, instance in instances.items():
            known[name] = _from_v1(entry, instance)
    return tuple(_overlaid(model, known.get(model.name)) for model in models)


def _from_v1(entry: Mapping[str, Any], instance: Mapping[str, Any]) -> Model:
    capabilities = mapping(entry.get("capabilities"))
    return Model(
        "",
        tokens(mapping(instance.get("config")).get("context_length")),
        tokens(entry.get("max_context_length")),
        flag(capabilities.get("trained_for_tool_use")),
        bool(instance),
        _kind(entry),
        flag(capabilities.get("vision")),
    )


def _from_v0(entry: Mapping[str, Any]) -> Model:
    capabilities, loaded = entry.get("capabilities"), entry.get("state") == "loaded"
    return Model(
        "",
        tokens(entry.get("loaded_context_length")) if loaded else None,
        tokens(entry.get("max_context_length")),
        "tool_use" in capabilities if isinstance(capabilities, list) else None,
        loaded,
        _kind(entry),
        entry.get("type") == "vlm" or None,
    )


def _kind(entry: Mapping[str, Any]) -> Kind:
    return "embedding" if entry.get("type") in ("embedding", "embeddings") else "chat"


def _overlaid(model: Model, told: Model | None) -> Model:
    """What a server's own API tells of a model, over what the list of models told."""
    if told is None:
        return model
    return replace(
        told,
        name=model.name,
        context_length=told.context_length or model.context_length,
        context_trained=told.context_trained or model.context_trained,
        tools=either(told.tools, model.tools),
        kind=model.kind if told.kind == "chat" else told.kind,
    )
