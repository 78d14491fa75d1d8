"""The model of a session: found when it is first needed, so that a REPL can start without it."""

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace

from harness.backends import Connected, connect
from harness.config import Options
from harness.errors import ConfigError, ModelFailure
from harness.model.prices import Prices
from harness.model.protocols.memory import Memory
from harness.model.protocols.speaking import Served, Speaker, speaker
from harness.model.servers import Model, refresh, told_now
from harness.model.values import Asked, Reply, RetryNote


class Connection:
    """Implements the model that Act needs; owns the servers that run for this session alone."""

    def __init__(
        self,
        options: Options,
        on_connect: Callable[[Connected], None],
        on_protocol: Callable[[str, str], None] = lambda protocol, why: None,
        memory: Memory | None = None,
        on_context: Callable[[], None] = lambda: None,
    ) -> None:
        """`on_protocol` is told when the model is asked in another way from now on, and why;
        `memory` keeps that for later sessions. `on_context` is told when all that was learned of
        the context's length no longer counts."""
        self._options = options
        self._on_protocol = on_protocol
        self._on_context = on_context
        self._memory = memory
        self._speaker: Speaker | None = None
        self._on_connect = on_connect
        self._connected: Connected | None = None
        self._learned: int | None = None
        self._refreshed = False
        self._own = ExitStack()
        self._prices: Prices | None = None

    def connect(self, anew: bool = False) -> Connected:
        """Find the server and choose the model, once; later only ask, `anew`, what has become of
        them.

        Raises ModelFailure when nothing answers, UserError for settings that cannot be used.
        """
        if self._connected is None:
            connected = connect(self._options, self._own)
            self._prices = self._priced(connected)
            self._speaking(connected)
            self._connected = connected
            self._on_connect(connected)
        elif anew:
            self._ask_again(self._connected, failed=True)
        return self._connected

    def look_again(self) -> None:
        """Ask whether the model runs with another context by now, before what was said is made
        shorter for the one there was."""
        if self._connected is not None:
            self._ask_again(self._connected, failed=False)

    @property
    def described(self) -> tuple[str, str]:
        """The model and the address, as far as they are known."""
        if self._connected is None:
            return self._options.model or "no model yet", self._options.host or ""
        return self._connected.model, self._connected.server.base_url

    @property
    def unpriced(self) -> str:
        """Why no price of the model is known; "" when one is, or no model yet."""
        return self._prices.unknown() if self._prices else ""

    @property
    def context_length(self) -> int | None:
        """What a request may hold, in tokens: as it was set, else as the server was found; never
        more than what was learned."""
        found = self._connected.context_length if self._connected else None
        told = self._options.context_length or found
        return min((length for length in (told, self._learned) if length), default=None)

    def learn_context(self, length: int) -> None:
        """Take the server's word, as in an overflow, for the most it can hold."""
        self._learned = length

    def forget_context(self) -> None:
        """What was learned of the context may no longer hold: let the server say it again."""
        self._learned = None
        self._on_context()

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        connected = self.connect()
        was_gone = False

        def noted(note: RetryNote) -> None:
            nonlocal was_gone
            was_gone = was_gone or note.error_class == "backend_unavailable"
            on_retry(note)

        try:
            reply = self._speaking(connected).complete(asked, on_text, noted)
        except ModelFailure as failure:
            if failure.context_length:
                self.learn_context(failure.context_length)
            raise
        if was_gone:
            connected = self.connect(anew=True)
        if not self._refreshed:
            self._refresh(connected)
        return replace(reply, usage=self._prices.priced(reply.usage)) if self._prices else reply

    @property
    def protocol(self) -> tuple[str, str]:
        """In which way the model is asked, and why; the wish, before it is known."""
        if self._speaker is None:
            return self._options.protocol, ""
        return self._speaker.choice.protocol, self._speaker.choice.why

    def close(self) -> None:
        self._own.close()

    def _speaking(self, connected: Connected) -> Speaker:
        """What asks the model in its protocol."""
        if self._speaker is None:
            server = connected.server
            served = Served(
                server.kind, server.base_url, connected.model, connected.tools, server.api_key
            )
            wanted, told = self._options.protocol, self._on_protocol
            self._speaker = speaker(connected.client, served, wanted, self._memory, told)
        return self._speaker

    def _refresh(self, connected: Connected) -> None:
        """Once: a server that loads models on demand tells what it runs one with after that."""
        self._refreshed = True
        known = Model(connected.model, connected.context_length, loaded=connected.loaded)
        length = refresh(connected.server, known).context_length
        self._connected = replace(connected, context_length=length)

    def _ask_again(self, connected: Connected, *, failed: bool) -> None:
        """A server may have been started again with another context, as we tell users to: what
        was learned of the former one then no longer counts. After it `failed`, that holds also
        for one that tells no length."""
        told = told_now(connected.server, connected.model)
        if told is None and connected.server.lists_models:
            return
        length = told.context_length if told else None
        same = length == connected.context_length if length else not failed
        if same:
            return
        loaded = told.loaded if told else None
        self._connected = replace(connected, context_length=length, loaded=loaded)
        self._refreshed = False
        self.forget_context()

    def _priced(self, connected: Connected) -> Prices:
        """Raises ConfigError when costs are limited and cannot be known."""
        server = connected.server
        prices = Prices(server.kind, server.base_url, connected.model)
        if self._options.max_cost and (unknown := prices.unknown()):
            raise ConfigError(
                f"--max-cost needs a model with a known price, and that of {connected.model!r} is "
                f"unknown: {unknown}"
            )
        return prices
