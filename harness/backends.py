"""How to connect, by backend: one entry each. The next one is ten lines."""

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from harness.config import Options
from harness.errors import ConfigError
from harness.model.client import Client
from harness.model.posting import prepare
from harness.model.servers import Discovery, Server, discover
from harness.model.values import Asked, Reply, RetryNote, Sampling, Timeouts


class ChatClient(Protocol):
    """Whatever answers a chat request."""

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        """Raises ModelFailure with one clear line."""


@dataclass(frozen=True)
class Connected:
    """What a session talks to. `context_length` is what a request may hold, in tokens, where the
    server tells; `tools` and `loaded` are as in `Model`. `reason` says why this model was taken,
    "" when there was no choice."""

    server: Server
    model: str
    client: ChatClient
    context_length: int | None = None
    tools: bool | None = None
    loaded: bool | None = None
    reason: str = ""


def connect(options: Options, own: ExitStack) -> Connected:
    """Find the server and choose the model. What is started for this session alone ends with
    `own`.

    Raises ModelFailure when nothing answers, UserError for settings that cannot be used.
    """
    return _BACKENDS.get(options.backend, _to_server)(options, own)


def _to_server(options: Options, _own: ExitStack) -> Connected:
    """To an OpenAI-compatible server."""
    return _to_openai(options, options.host)


def _to_provider(options: Options, _own: ExitStack) -> Connected:
    from harness.model.providers.starting import start

    server, client = start(
        options.backend,
        options.model,
        options.host,
        options.protocol,
        _sampling(options),
        _timeouts(options),
    )
    return Connected(server, client.model, client)


def _to_script(options: Options, own: ExitStack) -> Connected:
    if options.script is None:
        raise ConfigError("--backend scripted needs --script FILE; docs/model.md has the format")
    from harness.model.script import Script
    from harness.model.scripted import ScriptedServer

    script = ScriptedServer(Script.load(Path(options.script)))
    return _to_openai(options, own.enter_context(script).base_url)


def _to_model_file(options: Options, own: ExitStack) -> Connected:
    """To a server of our own, in this process."""
    from harness.model.gguf import read_model_file
    from harness.model.local import LocalServer

    if options.model is None:
        raise ConfigError("--backend local needs --model FILE.gguf: name the file to serve")
    model = read_model_file(Path(options.model).expanduser())
    local = own.enter_context(LocalServer(model, options.context_length))
    return _to_found(options, local.discovery())


_BACKENDS: Mapping[str, Callable[[Options, ExitStack], Connected]] = {
    "scripted": _to_script,
    "local": _to_model_file,
    "anthropic": _to_provider,
    "bedrock": _to_provider,
}


def _to_openai(options: Options, host: str | None) -> Connected:
    found = discover(host, options.backend, options.model)
    prepare()
    return _to_found(options, found)


def _to_found(options: Options, found: Discovery) -> Connected:
    model = found.model
    client = Client(found.server, model.name, _sampling(options), _timeouts(options))
    return Connected(
        found.server,
        model.name,
        client,
        model.context_length,
        model.tools,
        model.loaded,
        found.reason,
    )


def _sampling(options: Options) -> Sampling:
    return Sampling(options.max_new_tokens, options.temperature, options.top_p)


def _timeouts(options: Options) -> Timeouts:
    return Timeouts(options.connect_timeout, options.first_token_timeout, options.idle_timeout)
