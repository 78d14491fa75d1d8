"""What tokens cost, and what is not known."""

import sys

import pytest

from harness.errors import ConfigError, ModelFailure, UsageError
from harness.model.prices import Prices, dollars
from harness.model.providers.starting import start
from harness.model.values import Sampling, Timeouts, Usage

HERE = "http://127.0.0.1:11434/v1"
OPENAI = "https://api.openai.com/v1"
CLAUDE = Prices("anthropic", "https://api.anthropic.com", "claude-sonnet-4-5")


def usage(prompt: int = 1000, completion: int = 1000, read: int = 0, written: int = 0) -> Usage:
    return Usage(prompt, completion, False, cached_tokens=read, cache_write_tokens=written)


def known(cost: float | None) -> float:
    assert cost is not None
    assert cost > 0
    return cost


def test_a_price_is_for_the_tokens_of_both_directions() -> None:
    one = known(CLAUDE.cost(usage()))
    assert known(CLAUDE.cost(usage(2000, 2000))) == pytest.approx(2 * one)
    assert known(CLAUDE.cost(usage(1000, 0))) < known(CLAUDE.cost(usage(0, 1000)))
    assert CLAUDE.priced(usage()).cost == one
    assert CLAUDE.cost(usage(0, 0)) == 0


def test_what_the_cache_did_has_prices_of_its_own() -> None:
    plain, read = known(CLAUDE.cost(usage())), known(CLAUDE.cost(usage(read=1000)))
    written = known(CLAUDE.cost(usage(written=1000)))
    assert read < plain < written


def test_counts_that_cannot_be_are_priced_as_far_as_they_can() -> None:
    assert CLAUDE.cost(usage(10, 0, read=50, written=50)) == CLAUDE.cost(usage(10, 0, read=10))


@pytest.mark.parametrize(
    ("backend", "url", "model"),
    [
        ("anthropic", "http://127.0.0.1:4000", "claude-sonnet-4-5"),
        ("bedrock", "https://bedrock-runtime.eu-west-1.amazonaws.com", "qwen.qwen3-32b-v1:0"),
        ("bedrock", "https://x", "us.anthropic.claude-sonnet-4-5-20250929-v1:0"),
        ("openai", OPENAI, "gpt-4o"),
        ("openai", "https://openrouter.ai/api/v1", "qwen/qwen3-coder"),
    ],
)
def test_models_of_providers_have_a_price(backend: str, url: str, model: str) -> None:
    prices = Prices(backend, url, model)
    known(prices.cost(usage()))
    assert prices.unknown() == ""


@pytest.mark.parametrize(
    ("backend", "url", "model", "words"),
    [
        ("ollama", HERE, "qwen3:8b", "this machine"),
        ("openai", "http://localhost:8080/v1", "gpt-4o", "this machine"),
        ("openai", "http://box.lan:8080/v1", "gpt-4o", "box.lan"),
        ("openai", OPENAI, "no-such-model", OPENAI),
        # listed, but without prices
        ("openai", "https://openrouter.ai/api/v1", "qwen/qwen3-coder:free", "openrouter"),
        ("anthropic", "https://api.anthropic.com", "qwen3", "has none"),
    ],
)
def test_an_unknown_price_is_unknown_and_never_0(
    backend: str, url: str, model: str, words: str
) -> None:
    prices = Prices(backend, url, model)
    assert prices.cost(usage()) is None
    assert prices.priced(usage()).cost is None
    assert words in prices.unknown()


def test_without_the_price_list_everything_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    assert CLAUDE.cost(usage()) is None
    assert "mini-coding-agent[prices]" in CLAUDE.unknown()
    # a server on this machine has no price with it either
    assert "this machine" in Prices("ollama", HERE, "qwen3:8b").unknown()


@pytest.mark.parametrize(
    ("amount", "told"),
    [
        (0, "$0.00"),
        (1234.5, "$1,234.50"),
        (0.0123, "$0.0123"),
        (0.00001, "less than $0.0001"),
    ],
)
def test_amounts_are_told_to_the_hundredth_of_a_cent(amount: float, told: str) -> None:
    assert dollars(amount) == told


class TestStarting:
    def start(self, backend: str, model: str | None = "m", host: str | None = None) -> str:
        return start(backend, model, host, "auto", Sampling(), Timeouts())[0].base_url

    @pytest.mark.parametrize("backend", ["anthropic", "bedrock"])
    def test_a_model_must_be_named(self, backend: str) -> None:
        with pytest.raises(UsageError, match="--model"):
            self.start(backend, None)

    @pytest.mark.parametrize(
        ("backend", "package"), [("anthropic", "anthropic"), ("bedrock", "botocore")]
    )
    def test_a_missing_package_is_one_line_with_the_command(
        self, backend: str, package: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, package, None)
        with pytest.raises(ConfigError) as caught:
            self.start(backend)
        assert f"pip install 'mini-coding-agent[{backend}]'" in str(caught.value)
        assert f"'.[{backend}]'" in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_their_calls_are_their_own(self) -> None:
        with pytest.raises(ConfigError, match="constrained"):
            start("anthropic", "m", None, "constrained", Sampling(), Timeouts())

    def test_anthropics_own_address_needs_a_key(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("MCA_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        with pytest.raises(ModelFailure, match="ANTHROPIC_API_KEY") as caught:
            self.start("anthropic")
        assert caught.value.error_class == "auth"
        assert self.start("anthropic", host="127.0.0.1:4000") == "http://127.0.0.1:4000"
        monkeypatch.setenv("ANTHROPIC_BASE_URL", "https://gateway.example/anthropic/")
        assert self.start("anthropic") == "https://gateway.example/anthropic"
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-1")
        monkeypatch.delenv("ANTHROPIC_BASE_URL")
        assert self.start("anthropic") == "https://api.anthropic.com"

    def test_bedrock_is_where_the_region_is(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AWS_REGION", "eu-west-1")
        assert "eu-west-1" in self.start("bedrock")
        assert self.start("bedrock", host="http://127.0.0.1:9/v1") == "http://127.0.0.1:9"
