"""Where a server is: from what a user types to a base URL."""

import re
from urllib.parse import SplitResult, urlsplit

from harness.errors import UsageError

_VERSION = r"/v\d+[a-z0-9]*\Z"
_ENDPOINT = r"/(chat/completions|completions|models)\Z"
_NAMES_OF_LOOPBACK = ("localhost", "::1")


def base_url(host: str, default_port: int | None = None, source: str = "--host") -> str:
    """The base URL for `host`, which may lack the scheme, the port and `/v1`.

    A public name without scheme and port is taken for https. Raises UsageError, which names the
    `source`.
    """
    try:
        parts, port = _split(host)
        name = ascii_name(parts.hostname or "")
    except ValueError as error:
        raise UsageError(
            f"{source} {host!r} is no address: {error}. Example: http://127.0.0.1:11434/v1"
        ) from None
    path = re.sub(_ENDPOINT, "", parts.path.rstrip("/"))
    if not re.search(_VERSION, path):
        path += "/v1"
    shown = f"[{name}]" if ":" in name else name
    if port is None and "://" not in host and default_port and not is_public(name):
        port = default_port
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{path}"


def host_of(url: str) -> str:
    """The name or address in a URL, without brackets."""
    return urlsplit(url).hostname or ""


def ascii_name(name: str) -> str:
    """A host's name as it is looked up: other scripts as RFC 3490 has it.

    Raises ValueError for what can be no host's name.
    """
    try:
        return name.encode("ascii" if ":" in name else "idna").decode("ascii")
    except UnicodeError:
        raise ValueError(
            "no host has such a name: each part between dots has 1 to 63 characters"
        ) from None


def is_loopback(name: str) -> bool:
    return name in _NAMES_OF_LOOPBACK or name.startswith("127.") or name.endswith(".localhost")


def _split(host: str) -> tuple[SplitResult, int | None]:
    text = host.strip()
    if "://" not in text:
        name = text.partition("/")[0]
        text = f"{'https' if ':' not in name and is_public(name) else 'http'}://{text}"
    parts = urlsplit(text)
    port = parts.port
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{parts.scheme!r} is not http or https")
    if not parts.hostname or re.search(r"[\s\x00-\x1f]", text):
        raise ValueError("there is no host name in it")
    if parts.username is not None:
        raise ValueError("it holds a user name; put a key into MCA_API_KEY")
    if parts.query or parts.fragment or port == 0:
        raise ValueError("only a scheme, a name, a port and a path are expected")
    return parts, port


def is_public(name: str) -> bool:
    """Whether `name` looks like one of the internet, where plain http would be a mistake."""
    local = name.rpartition(".")[2] in ("local", "lan", "internal", "home", "localhost")
    return "." in name and not local and not re.fullmatch(r"[\d.]+", name)
