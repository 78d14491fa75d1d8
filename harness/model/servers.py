"""Which server and which model: as told by flags or environment, else whoever is found here."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.errors import ModelFailure
from harness.model.choice import UNNAMED_MODEL, Choice, choose, find, ranked
from harness.model.failures import RequestFailed
from harness.model.inquiry import DETAILS_SECONDS, MOST_SHOWN, Inquiry
from harness.model.models import Model, Server, read_listing
from harness.model.named import OLLAMA_PORT, Named, api_key, named_server
from harness.model.probe import Answer, at_once, in_order, listening

__all__ = [
    "ALL_SHOWN", "KNOWN", "UNNAMED_MODEL", "Choice", "Discovery", "Found", "Model", "Server",
    "choose", "discover", "list_models", "look_around", "nobody_found", "ranked", "refresh",
    "resolve", "taken", "told_now",
]  # fmt: skip

KNOWN: Mapping[int, str] = {
    OLLAMA_PORT: "Ollama",
    1234: "LM Studio",
    8080: "llama.cpp or LocalAI",
    9931: "llama.cpp",
    8000: "vLLM",
    30000: "SGLang",
    1337: "Jan",
}
"""The ports of this machine that are looked at, and who usually listens there. What does listen is
told by its answers alone."""

FOUND_SECONDS = 1.0
"""For the lists of models of all servers that were found by looking."""

_ON_DEMAND = ("ollama", "lmstudio", "llama.cpp", "llama-swap")
ALL_SHOWN = 32
"""Models asked about one by one when all are to be shown."""


@dataclass(frozen=True)
class Found:
    """One known port, whether somebody listens there, and the server if it is one."""

    port: int
    listening: bool = False
    server: Server | None = None


@dataclass(frozen=True)
class Discovery:
    """The server to use and the model to ask for. `reason` is one line, "" when there was no
    choice."""

    server: Server
    model: Model
    reason: str = ""

    @property
    def recognised(self) -> str | None:
        """The kind of the server, None when nothing gave it away."""
        return None if self.server.kind == "openai" else self.server.kind


def discover(
    host: str | None,
    backend: str = "auto",
    wanted: str | None = None,
    known: Mapping[int, str] = KNOWN,
) -> Discovery:
    """Find the server and choose the model. Raises what `resolve` and `choose` raise."""
    server = resolve(host, backend, known, wanted)
    chosen = choose(server, wanted)
    return Discovery(server, chosen.model, chosen.reason)


def resolve(
    host: str | None,
    backend: str,
    known: Mapping[int, str] = KNOWN,
    wanted: str | None = None,
    shown: int = MOST_SHOWN,
) -> Server:
    """The server to use. `backend` is `auto`, `openai`, `ollama` or `scripted`; what is known of
    the model `wanted`, or of the `shown` most likely ones, is asked for.

    Without `host`: OPENAI_BASE_URL or OLLAMA_HOST as far as the backend admits them, then (auto)
    the first of the `known` local servers. Raises UsageError for an unusable address or
    key and ModelFailure when nobody answers.
    """
    named = named_server(host, backend)
    key = api_key(named is not None and named.for_openai)
    answer: Answer | None
    if named is None:
        inquiry, answer = _first_found(key, known)
    else:
        inquiry = Inquiry(named.url, key, {"auto": "", "openai": ""}.get(backend, backend))
        answer = _list_of(inquiry, named)
    server = inquiry.server(answer, wanted, shown)
    return replace(server, for_openai=named is not None and named.for_openai, api_key=key)


def refresh(server: Server, model: Model) -> Model:
    """`model` as the server tells of it by now: the first request loads a model where that is done
    on demand. Ollama also loads one anew that somebody else had loaded in another way."""
    settled = model.loaded and server.kind != "ollama"
    if settled or server.kind not in _ON_DEMAND:
        return model
    known = told_now(server, model.name)
    return known if known and known.context_length else model


def told_now(server: Server, name: str) -> Model | None:
    """What a server tells of a model by now; None when it does not answer, or lists none."""
    if not server.lists_models:
        return None
    inquiry = Inquiry(server.base_url, server.api_key, server.kind)
    with suppress(RequestFailed):
        return find(inquiry.server(inquiry.models(FOUND_SECONDS), name), name)
    return None


def list_models(address: str, key: str | None = None) -> tuple[str, ...]:
    """The ids a server lists; none when it does not."""
    with suppress(RequestFailed):
        listing = read_listing(Inquiry(address, key).models())
        return tuple(model.name for model in listing.models) if listing else ()
    return ()


def look_around(key: str | None = None, known: Mapping[int, str] = KNOWN) -> list[Found]:
    """Who listens on the known ports of this machine, with all there is to know of the models.
    Takes no longer than two seconds or so."""
    open_ports = listening(tuple(known))
    answers = dict(_lists(open_ports, key))
    servers = at_once(
        lambda each: each.server(answers[each], None, ALL_SHOWN),
        [inquiry for inquiry, answer in answers.items() if _is_server(answer)],
        FOUND_SECONDS + DETAILS_SECONDS,
    )
    found: list[Found] = []
    for port in known:
        server = servers.get(_at(port, key))
        server = replace(server, api_key=key) if server else None
        found.append(Found(port, port in open_ports, server))
    return found


def taken(servers: Sequence[Server]) -> Server | None:
    """The one of several that is used: the first with a model that can chat, else the first."""
    for server in servers:
        if any(model.kind == "chat" for model in server.entries):
            return server
    return servers[0] if servers else None


def nobody_found(known: Mapping[int, str] = KNOWN) -> ModelFailure:
    tried = ", ".join(f"{kind} :{port}" for port, kind in known.items())
    return ModelFailure(
        "backend_unavailable",
        f"no model server found on 127.0.0.1 (tried {tried}). Start one (`ollama serve` or "
        "`llama-server -m MODEL.gguf --jinja`), name one with `--host URL`, or look around with "
        "`mini-coding-agent demo`",
    )


def _first_found(key: str | None, known: Mapping[int, str]) -> tuple[Inquiry, Answer]:
    """The first with a model that can chat, without waiting for those after it; else the first."""
    servers: list[tuple[Inquiry, Answer]] = []
    for inquiry, answer in _lists(listening(tuple(known)), key):
        if _can_chat(answer):
            return inquiry, answer
        if _is_server(answer):
            servers.append((inquiry, answer))
    if not servers:
        raise nobody_found(known)
    return servers[0]


def _lists(ports: Sequence[int], key: str | None) -> Iterator[tuple[Inquiry, Answer]]:
    """What is answered on each port to being asked for models."""
    inquiries = [_at(port, key) for port in ports]
    return in_order(lambda each: each.models(FOUND_SECONDS), inquiries, FOUND_SECONDS)


def _at(port: int, key: str | None) -> Inquiry:
    return Inquiry(f"http://127.0.0.1:{port}/v1", key)


def _is_server(answer: Answer) -> bool:
    return read_listing(answer) is not None or answer.status in (401, 403)


def _can_chat(answer: Answer) -> bool:
    listing = read_listing(answer)
    return listing is not None and any(model.kind == "chat" for model in listing.models)


def _list_of(inquiry: Inquiry, named: Named) -> Answer | None:
    try:
        return inquiry.models()
    except RequestFailed as failed:
        if failed.cause not in ("refused", "proxy"):
            return None
        note = f"The address is from {named.variable}" if named.variable else ""
        raise ModelFailure("backend_unavailable", failed.line(named.url, note)) from None
