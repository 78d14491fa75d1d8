"""Which server and which model: as told by flags or environment, else whoever is found here."""

import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from harness.errors import ModelFailure, UsageError
from harness.model.address import base_url, host_of, is_loopback
from harness.model.failures import RequestFailed
from harness.model.probe import Answer, get, get_each, listening
from harness.model.values import Timeouts

KNOWN: Mapping[str, int] = {
    "ollama": 11434,
    "lmstudio": 1234,
    "llama.cpp": 8080,
    "vllm": 8000,
    "sglang": 30000,
    "jan": 1337,
}
"""The local servers that are looked for, and their usual ports. LocalAI shares llama.cpp's."""

OPENAI_URL = "https://api.openai.com/v1"
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

    `lists_models` is False when it would not tell its models; `found` is True when nobody named
    it and it was discovered on this machine.
    """

    kind: str
    base_url: str
    models: tuple[str, ...] = ()
    lists_models: bool = False
    found: bool = False


@dataclass(frozen=True)
class Found:
    """One known port: who usually listens there, and who does."""

    kind: str
    port: int
    server: Server | None = None
    listening: bool = False


def resolve(
    host: str | None,
    backend: str,
    api_key: str | None = None,
    known: Mapping[str, int] = KNOWN,
) -> Server:
    """The server to use. `backend` is `auto`, `openai`, `ollama` or `scripted`.

    Without `host`: OPENAI_BASE_URL or OLLAMA_HOST as far as the backend admits them, then (auto)
    the first of the `known` local servers. Raises UsageError for an unusable address or
    key and ModelFailure when nobody answers.
    """
    if api_key and not (api_key.isascii() and api_key.isprintable()):
        raise UsageError("the API key holds characters that no key has: set MCA_API_KEY again")
    address, origin = _address(host, backend)
    if address is None:
        return _first_found(api_key, known)
    kind = {"auto": "openai"}.get(backend, backend)
    try:
        answer = _ask_models(address, api_key, _LIST_SECONDS)
    except RequestFailed as failed:
        if failed.cause == "refused":
            line = failed.line(address, f"The address is from {origin}" if origin else "")
            raise ModelFailure("backend_unavailable", line) from None
        return Server(_kind_of(address, kind), address)
    return _server(address, answer, _kind_of(address, kind))


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


def list_models(address: str, api_key: str | None = None) -> tuple[str, ...]:
    """The ids a server lists; none when it does not."""
    with suppress(RequestFailed):
        return _server(address, _ask_models(address, api_key, _LIST_SECONDS), "").models
    return ()


def probe_all(api_key: str | None = None, known: Mapping[str, int] = KNOWN) -> list[Found]:
    """Who listens on the known ports of this machine. Takes no longer than a second or so."""
    open_ports = listening(tuple(known.values()))
    urls = {port: f"http://127.0.0.1:{port}/v1" for port in open_ports}
    answers = get_each(
        [f"{url}/models" for url in urls.values()], _headers(api_key), _FOUND_SECONDS
    )
    found: list[Found] = []
    for kind, port in known.items():
        answer = answers.get(f"{urls.get(port, '')}/models")
        server = None
        if answer is not None and (_ids(answer) is not None or answer.status in (401, 403)):
            server = _server(urls[port], answer, kind, found=True)
        found.append(Found(kind, port, server, port in urls))
    return found


def describe(found: Found) -> str:
    """One line for people."""
    where = f"127.0.0.1:{found.port}"
    if found.server is None:
        return f"{found.kind} ({where}): " + (
            "something else listens here" if found.listening else "nobody listens"
        )
    models = found.server.models
    count = "1 model" if len(models) == 1 else f"{len(models)} models"
    names = f": {', '.join(models)}" if models else ""
    return f"{found.server.kind} ({found.server.base_url}): {count}{names}"


def _address(host: str | None, backend: str) -> tuple[str | None, str]:
    """The base URL that somebody named, and the variable it is from ("" for the flag)."""
    ollama_port = KNOWN["ollama"] if backend == "ollama" else None
    if host:
        return base_url(host, ollama_port), ""
    if backend == "scripted":
        raise UsageError("--backend scripted needs a script: add --script FILE")
    if backend in ("auto", "openai") and (url := os.environ.get("OPENAI_BASE_URL")):
        return base_url(url, source="OPENAI_BASE_URL"), "OPENAI_BASE_URL"
    if backend in ("auto", "ollama") and (bound := os.environ.get("OLLAMA_HOST")):
        return base_url(_reachable(bound), KNOWN["ollama"], "OLLAMA_HOST"), "OLLAMA_HOST"
    if backend == "ollama":
        return f"http://127.0.0.1:{KNOWN['ollama']}/v1", ""
    if backend == "openai":
        return OPENAI_URL, ""
    return None, ""


def _reachable(bound: str) -> str:
    """OLLAMA_HOST tells the server where to listen; "everywhere" is no place to connect to."""
    if bound.startswith(":"):
        return f"127.0.0.1{bound}"
    everywhere = "0.0.0.0"  # noqa: S104 - replaced, not bound
    return bound.replace(everywhere, "127.0.0.1").replace("[::]", "[::1]")


def _first_found(api_key: str | None, known: Mapping[str, int]) -> Server:
    servers = [found.server for found in probe_all(api_key, known) if found.server is not None]
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


def _ask_models(address: str, api_key: str | None, seconds: float) -> Answer:
    url = f"{address}/models"
    if address.startswith("http://") and not _may_need_proxy(address):
        return get(url, _headers(api_key), seconds)
    import httpx2

    from harness.model.patience import Patience
    from harness.model.transport import http_client

    timeouts = Timeouts(seconds, seconds, seconds)
    try:
        with http_client(address, Patience(timeouts, None), timeouts) as http:
            response = http.get(url, headers=dict(_headers(api_key)))
            return Answer(response.status_code, response.content)
    except httpx2.HTTPError as error:
        raise RequestFailed("refused", str(error)) from None


def _may_need_proxy(address: str) -> bool:
    named = {name.lower() for name, value in os.environ.items() if value}
    return bool(named & {"http_proxy", "all_proxy"}) and not is_loopback(host_of(address))


def _headers(api_key: str | None) -> Mapping[str, str]:
    return {"Authorization": f"Bearer {api_key}"} if api_key else {}


def _server(address: str, answer: Answer, kind: str, found: bool = False) -> Server:
    ids = _ids(answer)
    owners = [str(entry.get("owned_by", "")) for entry in _entries(answer) or ()]
    known = next((_OWNERS[owner] for owner in owners if owner in _OWNERS), kind)
    return Server(known, address, ids or (), lists_models=ids is not None, found=found)


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
