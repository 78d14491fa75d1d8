"""The server that the user named, and the key that is meant for it.

What OPENAI_* holds is for a server that was named for it: with `--host`, with OPENAI_BASE_URL, or
by asking for OpenAI itself. One that was only found by looking gets none of it, nor does Ollama at
its own address.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from harness.errors import UsageError
from harness.model.address import base_url

OLLAMA_PORT = 11434


@dataclass(frozen=True)
class Named:
    """A base URL; the variable it is from ("" for none); whether what OPENAI_* holds is for it."""

    url: str
    variable: str = ""
    for_openai: bool = False


_DEFAULTS: Mapping[str, Named] = {
    "ollama": Named(f"http://127.0.0.1:{OLLAMA_PORT}/v1"),
    "openai": Named("https://api.openai.com/v1", for_openai=True),
}


def named_server(host: str | None, backend: str) -> Named | None:
    """Where to connect to, as far as anybody said: `host`, a variable that the backend admits, or
    the backend's own address. Raises UsageError for what is no address."""
    if host:
        port = OLLAMA_PORT if backend == "ollama" else None
        return Named(base_url(host, port), for_openai=backend != "scripted")
    if backend == "scripted":
        raise UsageError("--backend scripted needs a script: add --script FILE")
    if backend in ("auto", "openai") and (url := os.environ.get("OPENAI_BASE_URL")):
        return Named(base_url(url, source="OPENAI_BASE_URL"), "OPENAI_BASE_URL", for_openai=True)
    if backend in ("auto", "ollama") and (bound := os.environ.get("OLLAMA_HOST")):
        return Named(base_url(_reachable(bound), OLLAMA_PORT, "OLLAMA_HOST"), "OLLAMA_HOST")
    return _DEFAULTS.get(backend)


def api_key(for_openai: bool) -> str | None:
    """MCA_API_KEY, else OPENAI_API_KEY where it is meant. Raises UsageError for what is no key."""
    return first_key("MCA_API_KEY", *(["OPENAI_API_KEY"] if for_openai else ()))


def first_key(*names: str) -> str | None:
    """The first of these variables that is set. Raises UsageError for what is no key."""
    for name in names:
        key = os.environ.get(name, "").strip()
        if key and not (key.isascii() and key.isprintable()):
            raise UsageError(f"{name} holds characters that no key has: set it again")
        if key:
            return key
    return None


def _reachable(bound: str) -> str:
    """OLLAMA_HOST tells the server where to listen; "everywhere" is no place to connect to."""
    if bound.startswith(":"):
        return f"127.0.0.1{bound}"
    everywhere = "0.0.0.0"  # noqa: S104 - replaced, not bound
    return bound.replace(everywhere, "127.0.0.1").replace("[::]", "[::1]")
