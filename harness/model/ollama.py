"""What Ollama tells of its models. Source: its api/types.go and types/model/capability.go."""

import json
import re
from collections.abc import Mapping, Sequence
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
    mapping,
    tokens,
)

_VERSION, _TAGS, _RUNNING = Ask("/api/version"), Ask("/api/tags"), Ask("/api/ps")
SIGNS = (_VERSION,)


def shows(answers: Answers, _listing: Listing) -> bool:
    version = mapping(answers.get(_VERSION))
    return version.keys() == {"version"} and isinstance(version["version"], str)


def _show(model: Model) -> Ask:
    return Ask("/api/show", json.dumps({"model": model.name}))


def asks(models: Sequence[Model]) -> tuple[Ask, ...]:
    return (_RUNNING, _TAGS, *map(_show, models))


def read(answers: Answers, models: Models) -> Models:
    tags = by_name(mapping(answers.get(_TAGS)).get("models"), "name")
    running = by_name(mapping(answers.get(_RUNNING)).get("models"), "name")
    has_running = _RUNNING in answers

    def known_of(model: Model) -> Model:
        show, tag = mapping(answers.get(_show(model))), mapping(tags.get(model.name))
        now = running.get(model.name)
        capabilities = show.get("capabilities") or tag.get("capabilities")
        known = capabilities if isinstance(capabilities, list) else []
        trained = _trained(mapping(show.get("model_info"))) or tokens(
            mapping(tag.get("details")).get("context_length")
        )
        return replace(
            model,
            context_length=_runs_with(show, tag, mapping(now), trained),
            context_trained=trained,
            tools="tools" in known if known else model.tools,
            loaded=now is not None if has_running else None,
            kind=_kind(known, model.kind),
            vision="vision" in known if known else None,
        )

    return tuple(known_of(model) for model in models)


def _runs_with(
    show: Mapping[str, Any], tag: Mapping[str, Any], now: Mapping[str, Any], trained: int | None
) -> int | None:
    """What our requests get. One that is running may have been started by somebody who asked for
    another length, so the model's own parameter comes first. Those in the cloud run with all."""
    parameters = show.get("parameters")
    own = re.search(
        r"(?m)^num_ctx\s+(\d{1,9})\s*$", parameters if isinstance(parameters, str) else ""
    )
    if own and (length := tokens(int(own[1]))):
        return min(length, trained or length)
    if show.get("remote_model") or tag.get("remote_model"):
        return trained
    return tokens(now.get("context_length"))


def _trained(info: Mapping[str, Any]) -> int | None:
    architecture = info.get("general.architecture")
    return (
        tokens(info.get(f"{architecture}.context_length"))
        if isinstance(architecture, str)
        else None
    )


def _kind(capabilities: Sequence[Any], kind: Kind) -> Kind:
    if not capabilities or "completion" in capabilities:
        return kind
    return "embedding" if "embedding" in capabilities else "other"
