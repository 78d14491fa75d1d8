"""What a server tells: its list of models, and all that its own API adds to that."""

import os
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from harness.model.address import host_of, is_loopback, is_public
from harness.model.choice import find, ranked
from harness.model.dialects import DIALECTS
from harness.model.failures import RequestFailed
from harness.model.models import Ask, Listing, Model, Server, read_listing
from harness.model.probe import Answer, at_once, exchange
from harness.model.values import Timeouts

LIST_SECONDS = 5.0
"""For the list of models of a server that was named."""

DETAILS_SECONDS = 1.0
"""For everything else together; what has not come by then stays unknown."""

MOST_SHOWN = 4
"""Models asked about one by one, where the server tells nothing of all of them at once."""


@dataclass(frozen=True)
class Inquiry:
    """A server as it was found: its address, a key that is meant for it, and its kind as far as
    somebody said."""

    address: str
    key: str | None = field(default=None, repr=False)
    kind: str = ""

    def models(self, seconds: float = LIST_SECONDS) -> Answer:
        """GET /models. Raises RequestFailed when there is no answer at all."""
        return fetch(f"{self.address}/models", self.key, seconds)

    def server(self, answer: Answer | None, wanted: str | None, shown: int = MOST_SHOWN) -> Server:
        """The server, with what there is to know of its models: of `wanted`, or of the `shown`
        most likely ones. `answer` is its list of models."""
        if answer is None:
            return self._bare()
        listing = read_listing(answer)
        if listing is None:
            refused = answer.status in (401, 403)
            kind = self.kind or ("jan" if refused and _is_jan(answer) else "")
            return self._bare(kind, wants_key=refused)
        deadline = time.monotonic() + DETAILS_SECONDS
        kind, known = self._recognised(listing, deadline)
        dialect = DIALECTS.get(kind)
        listed = Server(kind or "openai", self.address, listing.models, lists_models=True)
        if dialect is None:
            return listed
        asks = dialect.asks(_likely(listed, wanted, shown))
        known |= self._ask([ask for ask in asks if ask not in known], deadline)
        models = dialect.read(known, listing.models)
        return Server(listed.kind, self.address, models, lists_models=True)

    def _recognised(self, listing: Listing, deadline: float) -> tuple[str, dict[Ask, Any]]:
        """The kind of the server, "" if unknown, and what it answered on the way.

        A server on the internet that has not given itself away is not asked for more.
        """
        kind = listing.kind or self.kind
        if kind or is_public(host_of(self.address)):
            return kind, {}
        signs = [sign for dialect in DIALECTS.values() for sign in dialect.signs]
        answers = self._ask(signs, deadline)
        shown = (name for name, each in DIALECTS.items() if each.shows(answers, listing))
        return next(shown, ""), answers

    def _ask(self, asks: Iterable[Ask], deadline: float) -> dict[Ask, Any]:
        root = self.address.rpartition("/")[0]
        left = max(deadline - time.monotonic(), 0.05)

        def one(ask: Ask) -> Answer:
            return fetch(f"{root}{ask.path}", self.key, left, ask.body)

        answers = at_once(one, asks, left)
        return {ask: answer.json() for ask, answer in answers.items() if answer.status == 200}

    def _bare(self, kind: str = "", wants_key: bool = False) -> Server:
        return Server(kind or self.kind or "openai", self.address, wants_key=wants_key)


def fetch(url: str, key: str | None, seconds: float, body: str = "") -> Answer:
    """GET, or POST with a `body`: over a bare socket, or with httpx2 where it takes TLS or a proxy.

    Raises RequestFailed.
    """
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if url.startswith("http://") and not _may_need_proxy(url):
        return exchange(url, headers, seconds, body)
    return _through_httpx(url, headers, seconds, body)


def _through_httpx(url: str, headers: Mapping[str, str], seconds: float, body: str) -> Answer:
    import httpx2

    from harness.model.patience import Patience
    from harness.model.transport import bounded, http_client

    timeouts = Timeouts(seconds, seconds, seconds)
    # time to connect, and as much again to answer
    patience = Patience(timeouts, time.monotonic() + 2 * seconds)
    method, content = ("POST", body.encode("utf-8", "replace")) if body else ("GET", None)
    headers = {**headers, **({"Content-Type": "application/json"} if body else {})}
    try:
        with (
            http_client(url, patience, timeouts) as http,
            http.stream(method, url, headers=headers, content=content) as response,
        ):
            data = b"".join(bounded(response.iter_bytes(), patience))
            return Answer(response.status_code, data, response.headers.get("server", ""))
    except httpx2.HTTPError as error:
        raise RequestFailed("refused", str(error)) from None


def _may_need_proxy(url: str) -> bool:
    named = {name.lower() for name, value in os.environ.items() if value}
    return bool(named & {"http_proxy", "all_proxy"}) and not is_loopback(host_of(url))


def _likely(server: Server, wanted: str | None, most: int) -> list[Model]:
    if wanted:
        found = find(server, wanted)
        return [found] if found else []
    chat = [model for model in server.entries if model.kind == "chat"]
    return ranked(chat, server.kind)[:most]


def _is_jan(answer: Answer) -> bool:
    """The words of Jan's proxy.rs."""
    return b"authorization" in answer.body and answer.body.startswith((b"Missing", b"Invalid or"))
