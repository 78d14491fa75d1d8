"""Which server and which model: as told by flags or environment, else whoever is found here."""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

from harness.errors import ModelFailure
from harness.model.address import host_of, is_loopback
from harness.model.failures import RequestFailed
from harness.model.named import OLLAMA_PORT, Named, api_key, named_server
from harness.model.probe import Answer, get, get_each, listening
from harness.model.values import Timeouts

KNOWN: Mapping[str, int] = {
    "ollama": OLLAMA_PORT,
    "lmstudio": 1234,
    "llama.cpp": 8080,
    "vllm": 8000,
    "sglang": 30000,
    "jan": 1337,
}
"""The local servers that are looked for, and their usual ports. LocalAI shares llama.cpp's."""

UNNAMED_MODEL = "default"
"""Asked for when a server lists no models: those serve the one they have under any name."""

_OWNERS: Mapping[str, str] = {
    "library": "ollama",
    "llamacpp": "llama.cpp",
    "vllm": "vllm",
    "sglang": "sglang",
    "organization_owner": "lmstudio",
    "scripted": "scripted",
}
_NO_CHAT = (
    "embed", "bge-", "rerank", "whisper", "tts", "dall-e", "moderation", "image", "clip",
)  # fmt: skip
_NO_MODEL = (".md", ".txt", ".json", ".yaml", ".yml", ".lock", ".partial", ".tmpl")
_PREFERRED = (("coder", "qwen"), ("coder",), ("qwen",), ())
_FOUND_SECONDS = 1.0
_LIST_SECONDS = 5.0


@dataclass(frozen=True)
class Server:
    """A chat server. `base_url` ends in a version, such as `http://127.0.0.1:11434/v1`.

    `lists_models` is False when it would not tell its models; `for_openai` tells whether what
    OPENAI_* holds may be sent there.
    """

    kind: str
    base_url: str
    models: tuple[str, ...] = ()
    lists_models: bool = False
    for_openai: bool = False
    api_key: str | None = field(default=None, repr=False)


@dataclass(frozen=True)
class Found:
    """One known port: who usually listens there, and who does."""

    kind: str
    port: int
    server: Server | None = None
    listening: bool = False


def resolve(host: str | None, backend: str, known: Mapping[str, int] = KNOWN) -> Server:
    """The server to use. `backend` is `auto`, `openai`, `ollama` or `scripted`.

    Without `host`: OPENAI_BASE_URL or OLLAMA_HOST as far as the backend admits them, then (auto)
    the first of the `known` local servers. Raises UsageError for an unusable address or
    key and ModelFailure when nobody answers.
    """
    named = named_server(host, backend)
    key = api_key(named is not None and named.for_openai)
    if named is None:
        return replace(_first_found(key, known), api_key=key)
    kind = _kind_of(named.url, {"auto": "openai"}.get(backend, backend))
    return replace(_server_at(named, kind, key), for_openai=named.for_openai, api_key=key)


def choose_model(server: Server, wanted: str | None) -> str:
    """The model to ask for: `wanted`, else the first usable one, coders and qwens first.

    Raises ModelFailure when the server lists none that can chat.
    """
    if wanted:
        return wanted
    usable = [model for model in server.models if _can_chat(model)]
    for words in _PREFERRED:
        for model in usable:
            if all(word in model.lower() for word in words):
                return model
    if not server.lists_models:
        return UNNAMED_MODEL
    get_one = "ollama pull qwen3:8b" if server.kind == "ollama" else "load one in the server"
    raise ModelFailure(
        "model_not_found",
        f"the server at {server.base_url} has no chat model. Get one ({get_one}), "
        "or name one with --model",
    )


def list_models(address: str, key: str | None = None) -> tuple[str, ...]:
    """The ids a server lists; none when it does not."""
    with suppress(RequestFailed):
        return _server(address, _ask_models(address, key), "").models
    return ()


def probe_all(key: str | None = None, known: Mapping[str, int] = KNOWN) -> list[Found]:
    """Who listens on the known ports of this machine. Takes no longer than a second or so."""
    open_ports = listening(tuple(known.values()))
    urls = {port: f"http://127.0.0.1:{port}/v1" for port in open_ports}
    answers = get_each([f"{url}/models" for url in urls.values()], _headers(key), _FOUND_SECONDS)
    found: list[Found] = []
    for kind, port in known.items():
        answer = answers.get(f"{urls.get(port, '')}/models")
        server = None
        if answer is not None and (_ids(answer) is not None or answer.status in (401, 403)):
            server = _server(urls[port], answer, kind)
        found.append(Found(kind, port, server, port in urls))
    return found


def _server_at(named: Named, kind: str, key: str | None) -> Server:
    try:
        return _server(named.url, _ask_models(named.url, key), kind)
    except RequestFailed as failed:
        if failed.cause != "refused":
            return Server(kind, named.url)
        note = f"The address is from {named.variable}" if named.variable else ""
        raise ModelFailure("backend_unavailable", failed.line(named.url, note)) from None


def _first_found(key: str | None, known: Mapping[str, int]) -> Server:
    servers = [found.server for found in probe_all(key, known) if found.server is not None]
    for server in servers:
        if any(_can_chat(model) for model in server.models):
            return server
    if servers:
        return servers[0]
    tried = ", ".join(f"{kind} :{port}" for kind, port in known.items())
    raise ModelFailure(
        "backend_unavailable",
        f"no model server found on 127.0.0.1 (tried {tried}). Start one (`ollama serve` or "
        "`llama-server -m MODEL.gguf --jinja`), name one with `--host URL`, or look around with "
        "`mini-coding-agent demo`",
    )


def _ask_models(address: str, key: str | None) -> Answer:
    url, headers = f"{address}/models", dict(_headers(key))
    if address.startswith("http://") and not _may_need_proxy(address):
        return get(url, headers, _LIST_SECONDS)
    import httpx2

    from harness.model.patience import Patience
    from harness.model.transport import bounded, http_client

    timeouts = Timeouts(_LIST_SECONDS, _LIST_SECONDS, _LIST_SECONDS)
    # time to connect, and as much again to answer
    patience = Patience(timeouts, time.monotonic() + 2 * _LIST_SECONDS)
    try:
        with (
            http_client(address, patience, timeouts) as http,
            http.stream("GET", url, headers=headers) as response,
        ):
            return Answer(response.status_code, b"".join(bounded(response.iter_bytes(), patience)))
    except httpx2.HTTPError as error:
        raise RequestFailed("refused", str(error)) from None


def _may_need_proxy(address: str) -> bool:
    named = {name.lower() for name, value in os.environ.items() if value}
    return bool(named & {"http_proxy", "all_proxy"}) and not is_loopback(host_of(address))


def _headers(key: str | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {key}"} if key else {}


def _server(address: str, answer: Answer, kind: str) -> Server:
    ids = _ids(answer)
    owners = [str(entry.get("owned_by", "")) for entry in _entries(answer) or ()]
    known = next((_OWNERS[owner] for owner in owners if owner in _OWNERS), kind)
    return Server(known, address, ids or (), lists_models=ids is not None)


def _kind_of(address: str, kind: str) -> str:
    """The kind that a port usually means."""
    usual = [name for name, port in KNOWN.items() if f":{port}/" in address]
    return usual[0] if usual and kind == "openai" and is_loopback(host_of(address)) else kind


def _ids(answer: Answer) -> tuple[str, ...] | None:
    """The model ids an answer lists, or None when it is no list of models."""
    entries = _entries(answer)
    if entries is None:
        return None
    ids = [entry.get("id") for entry in entries]
    return tuple(model for model in ids if isinstance(model, str) and model)


def _entries(answer: Answer) -> list[Mapping[str, Any]] | None:
    value = answer.json() if answer.status == 200 else None
    entries = value.get("data") if isinstance(value, Mapping) else None
    if not isinstance(entries, Iterable) or isinstance(entries, str | Mapping):
        return None
    return [entry for entry in entries if isinstance(entry, Mapping)]


def _can_chat(model: str) -> bool:
    name = model.lower()
    junk = name.startswith(".") or name.endswith(_NO_MODEL)
    return not junk and not any(word in name for word in _NO_CHAT)
