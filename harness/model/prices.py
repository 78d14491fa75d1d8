"""What tokens cost, by the price list of `genai-prices` (extra `prices`).

A price that is not known is unknown, never 0: a model that is not listed or listed without
prices, a server on this machine or in a network of one's own, and everything while the package is
not installed.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from harness.model.address import host_of, is_loopback
from harness.model.values import Usage

_PROVIDERS: Mapping[str, str] = {"anthropic": "anthropic", "bedrock": "aws"}
"""Backends of one provider, whose list prices count whatever the address: a gateway's bill is
the provider's."""

_SAMPLE = Usage(1000, 1000, estimated=False)


class Prices:
    """The prices of one model at one server. Nothing is imported before it is needed, and nothing
    for a server that has no prices."""

    def __init__(self, backend: str, base_url: str, model: str) -> None:
        """`backend` is the kind of server."""
        self._provider = _PROVIDERS.get(backend)
        self._url = base_url
        self._model = model

    def priced(self, usage: Usage) -> Usage:
        return replace(usage, cost=self.cost(usage))

    def cost(self, usage: Usage) -> float | None:
        """In US dollars, None where it is not known."""
        if self._provider is None and is_loopback(host_of(self._url)):
            return None
        try:
            from genai_prices import calc_price
        except ImportError:
            return None
        where: dict[str, Any] = {"provider_api_url": self._url}
        if self._provider is not None:
            where = {"provider_id": self._provider}
        try:
            price = calc_price(_counted(usage), self._model, **where)
        except (LookupError, ValueError):
            return None
        listed = price.model_price.input_mtok, price.model_price.output_mtok
        return None if None in listed else float(price.total_price)

    def unknown(self) -> str:
        """Why no price is known, as a clause with what to do about it; "" when one is."""
        if self.cost(_SAMPLE) is not None:
            return ""
        if self._provider is None and is_loopback(host_of(self._url)):
            return "it runs on this machine"
        try:
            import genai_prices  # noqa: F401
        except ImportError:
            return (
                "the price list is not installed (pip install 'mini-coding-agent[prices]', or "
                "'.[prices]' from a checkout)"
            )
        return f"the price list has none for it at {self._url}"


def dollars(cost: float) -> str:
    """`$1.23`, `$0.0042`: cents, or what is left of them."""
    if cost == 0 or cost >= 1:
        return f"${cost:,.2f}"
    return f"${cost:.4f}" if cost >= 0.0001 else "less than $0.0001"


def _counted(usage: Usage) -> Any:
    """As the list counts: what was read from and put into a cache is a part of the input."""
    from genai_prices import Usage as Counted

    read = min(usage.cached_tokens, usage.prompt_tokens)
    written = min(usage.cache_write_tokens, usage.prompt_tokens - read)
    return Counted(
        input_tokens=usage.prompt_tokens,
        cache_read_tokens=read,
        cache_write_tokens=written,
        output_tokens=usage.completion_tokens,
    )
