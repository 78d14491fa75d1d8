"""From settings to a provider: which package, which key, which address."""

import os
from collections.abc import Callable, Mapping
from importlib.util import find_spec

from harness.errors import ConfigError, ModelFailure, UsageError
from harness.model.address import base_url
from harness.model.models import Server
from harness.model.named import first_key
from harness.model.providers.provider import Provider
from harness.model.values import Sampling, Timeouts

Start = Callable[[str, str | None, Sampling, Timeouts], tuple[Server, Provider]]
"""From the model's name, the host that was set, and how to ask."""

_EXAMPLES: Mapping[str, str] = {
    "anthropic": "claude-sonnet-4-5",
    "bedrock": "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
}


def start(
    backend: str,
    model: str | None,
    host: str | None,
    protocol: str,
    sampling: Sampling,
    timeouts: Timeouts,
) -> tuple[Server, Provider]:
    """For `backend`, one of STARTS. Nothing is asked yet.

    Raises UsageError and ConfigError for what is missing or cannot be, and ModelFailure where
    there is no key for an address that needs one.
    """
    if not model:
        example = _EXAMPLES[backend]
        raise UsageError(f"--backend {backend} needs a model: add --model, such as {example!r}")
    if protocol not in ("auto", "native"):
        raise ConfigError(
            f"--protocol {protocol!r} is for OpenAI-compatible servers: --backend {backend} has "
            "tool calls of its own"
        )
    return STARTS[backend](model, host, sampling, timeouts)


def _anthropic(
    model: str, host: str | None, sampling: Sampling, timeouts: Timeouts
) -> tuple[Server, Provider]:
    _needs("anthropic", "anthropic")
    from harness.model.providers.anthropic import DEFAULT_HOST, Anthropic

    url = _address(host, "--host") or _address(
        os.environ.get("ANTHROPIC_BASE_URL"), "ANTHROPIC_BASE_URL"
    )
    key = first_key("MCA_API_KEY", "ANTHROPIC_API_KEY")
    if url is None and key is None:
        raise ModelFailure(
            "auth", f"{DEFAULT_HOST} needs an API key: set ANTHROPIC_API_KEY (or MCA_API_KEY)"
        )
    client = Anthropic(model, sampling, timeouts, api_key=key, host=url or DEFAULT_HOST)
    return Server("anthropic", client.host, api_key=key), client


def _bedrock(
    model: str, host: str | None, sampling: Sampling, timeouts: Timeouts
) -> tuple[Server, Provider]:
    _needs("bedrock", "botocore")
    from harness.model.providers.bedrock import Bedrock

    # botocore itself reads AWS_DEFAULT_REGION and the profile
    region = os.environ.get("AWS_REGION") or None
    url = _address(host, "--host")
    client = Bedrock(model, sampling, timeouts, host=url, region=region)
    return Server("bedrock", client.host), client


STARTS: Mapping[str, Start] = {"anthropic": _anthropic, "bedrock": _bedrock}


def _needs(extra: str, package: str) -> None:
    if find_spec(package) is None:
        raise ConfigError(
            f"--backend {extra} needs the package {package!r}, which is not installed: "
            f"pip install 'mini-coding-agent[{extra}]', or '.[{extra}]' from a checkout"
        )


def _address(host: str | None, source: str) -> str | None:
    """Without the version that addresses of OpenAI-compatible servers end in."""
    return base_url(host, source=source).removesuffix("/v1") if host else None
