"""The model of a session: found when it is first needed, so that a REPL can start without it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.config import Options
from harness.errors import ConfigError
from harness.model.client import Client
from harness.model.servers import Server, choose_model, resolve
from harness.model.values import Message, Reply, RetryNote, Sampling, Timeouts

if TYPE_CHECKING:
    from harness.model.scripted import ScriptedServer


@dataclass(frozen=True)
class Connected:
    """What a session talks to."""

    server: Server
    model: str
    client: Client


class Connection:
    """Implements the model that Act needs; owns the scripted server when there is one."""

    def __init__(self, options: Options, on_connect: Callable[[Server, str], None]) -> None:
        self._options = options
        self._on_connect = on_connect
        self._connected: Connected | None = None
        self._scripted: ScriptedServer | None = None

    def connect(self) -> Connected:
        """Find the server and choose the model, once.

        Raises ModelFailure when nothing answers, UserError for settings that cannot be used.
        """
        if self._connected is None:
            server = resolve(self._host(), self._options.backend)
            model = choose_model(server, self._options.model)
            self._connected = Connected(server, model, self._client(server, model))
            self._on_connect(server, model)
        return self._connected

    @property
    def described(self) -> tuple[str, str]:
        """The model and the address, as far as they are known."""
        if self._connected is None:
            return self._options.model or "no model yet", self._options.host or ""
        return self._connected.model, self._connected.server.base_url

    def complete(
        self,
        messages: list[Message],
        tools: list[dict[str, Any]],
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
        deadline: float | None,
    ) -> Reply:
        client = self.connect().client
        return client.complete(messages, tools, on_text, on_retry, deadline)

    def close(self) -> None:
        if self._scripted is not None:
            self._scripted.__exit__(None, None, None)

    def _host(self) -> str | None:
        if self._options.backend != "scripted":
            return self._options.host
        if self._options.script is None:
            raise ConfigError(
                "--backend scripted needs --script FILE; docs/model.md has the format"
            )
        if self._scripted is None:
            from harness.model.script import Script
            from harness.model.scripted import ScriptedServer

            self._scripted = ScriptedServer(Script.load(Path(self._options.script)))
            self._scripted.__enter__()
        return self._scripted.base_url

    def _client(self, server: Server, model: str) -> Client:
        options = self._options
        sampling = Sampling(options.max_new_tokens, options.temperature, options.top_p)
        timeouts = Timeouts(
            options.connect_timeout, options.first_token_timeout, options.idle_timeout
        )
        return Client(server, model, sampling, timeouts)
