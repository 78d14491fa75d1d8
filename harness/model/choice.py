"""Which of a server's models is taken when nobody named one, and why."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from harness.errors import ModelFailure
from harness.model.models import Model, Server

UNNAMED_MODEL = "default"
"""Asked for when a server lists no models: those serve the one they have under any name."""

_CODER = r"(?<!en)(?<!de)coder|codestral|devstral"
_UNTAUGHT = r"[-_.:]base(?:[^a-z]|\Z)"
"""Models that go on with a text and were not taught to follow a request."""

_ONE_MODEL = ("llama.cpp", "koboldcpp")
"""Servers that answer with the one model they have whatever name is asked for."""


@dataclass(frozen=True)
class Choice:
    """`reason` is one line for people, "" when there was nothing to choose."""

    model: Model
    reason: str = ""


def choose(server: Server, wanted: str | None) -> Choice:
    """The model to ask for: `wanted`, else the best of those that can chat.

    Raises ModelFailure when the server lists none that can chat.
    """
    if wanted:
        found = find(server, wanted)
        return Choice(replace(found, name=wanted) if found else Model(wanted))
    usable = [model for model in server.entries if model.kind == "chat"]
    if usable:
        best = next(iter(ranked(usable, server.kind)))
        return Choice(best, _reason(best, len(usable), server) if len(usable) > 1 else "")
    if not server.lists_models:
        return Choice(Model(UNNAMED_MODEL))
    get_one = "ollama pull qwen3:8b" if server.kind == "ollama" else "load one in the server"
    raise ModelFailure(
        "model_not_found",
        f"the server at {server.base_url} has no chat model. Get one ({get_one}), "
        "or name one with --model",
    )


def find(server: Server, wanted: str) -> Model | None:
    """The model that a server takes for `wanted`, as far as it is listed."""
    names = (wanted, f"{wanted}:latest") if server.kind == "ollama" else (wanted,)
    for model in server.entries:
        if model.name in names:
            return model
    alone = server.kind in _ONE_MODEL and len(server.entries) == 1
    return server.entries[0] if alone else None


def ranked(models: Iterable[Model], kind: str) -> list[Model]:
    """Best first. LM Studio loads a model when its user says so, so what is loaded there was
    chosen already; elsewhere it is what was asked for last."""

    def rank(model: Model) -> tuple[bool, ...]:
        return (
            model.kind != "chat",
            model.tools is False,
            kind == "lmstudio" and not model.loaded,
            re.search(_UNTAUGHT, model.name.lower()) is not None,
            not _is_coder(model),
            not model.tools,
            "qwen" not in model.name.lower(),
            not model.loaded,
        )

    return sorted(models, key=rank)


def _reason(best: Model, among: int, server: Server) -> str:
    what = "a qwen" if "qwen" in best.name.lower() else "a chat model"
    what = "a coder" if _is_coder(best) else what
    tools = {True: " with tools", False: " without tools", None: ""}[best.tools]
    loaded = ", already loaded" if best.loaded else ""
    return (
        f"took {best.name!r} of {among} models at {server.base_url}: {what}{tools}{loaded} "
        "(choose another with --model)"
    )


def _is_coder(model: Model) -> bool:
    return re.search(_CODER, model.name.lower()) is not None
