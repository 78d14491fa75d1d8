"""Settings, their sources in rising order of precedence, and the places on disk.

defaults < ~/.mini-coding-agent/config.toml < <workspace>/.mini-coding-agent/config.toml
< environment MCA_* < flags. A workspace may set only what cannot lower safety.
"""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from harness.errors import ConfigError, UsageError

FOLDER = ".mini-coding-agent"
BACKENDS = ("auto", "openai", "ollama", "scripted", "local", "anthropic", "bedrock")
PROTOCOLS = ("auto", "native", "constrained", "text")
APPROVALS = ("ask", "auto", "never")


@dataclass(frozen=True)
class Options:
    """Every setting. Seconds are floats; a limit of 0 means no limit; None leaves the choice
    to the server (`temperature`, `top_p`, `max_new_tokens`) or to discovery (`model`, `host`,
    `context_length` in tokens). `max_cost` is in US dollars."""

    model: str | None = None
    host: str | None = None
    backend: str = "auto"
    script: str | None = None
    approval: str = "ask"
    ooda: bool = True
    max_steps: int = 50
    max_attempts: int = 3
    max_seconds: float = 1800.0
    max_tokens: int = 0
    max_new_tokens: int | None = None
    temperature: float | None = None
    top_p: float | None = None
    gate_timeout: float = 120.0
    shell_timeout: float = 120.0
    connect_timeout: float = 5.0
    first_token_timeout: float = 600.0
    idle_timeout: float = 120.0
    propose_after: int = 3
    affected_tests: int = 50
    protocol: str = "auto"
    context_length: int | None = None
    max_cost: float = 0.0


_TYPES: Mapping[str, type] = {
    "model": str,
    "host": str,
    "backend": str,
    "script": str,
    "approval": str,
    "ooda": bool,
    "max_steps": int,
    "max_attempts": int,
    "max_seconds": float,
    "max_tokens": int,
    "max_new_tokens": int,
    "temperature": float,
    "top_p": float,
    "gate_timeout": float,
    "shell_timeout": float,
    "connect_timeout": float,
    "first_token_timeout": float,
    "idle_timeout": float,
    "propose_after": int,
    "affected_tests": int,
    "protocol": str,
    "context_length": int,
    "max_cost": float,
}
_CHOICES: Mapping[str, tuple[str, ...]] = {
    "backend": BACKENDS,
    "approval": APPROVALS,
    "protocol": PROTOCOLS,
}
_AT_LEAST_ONE = frozenset({"max_attempts", "max_new_tokens", "propose_after", "context_length"})
_AT_MOST: Mapping[str, int] = {"top_p": 1}
_ABOVE_ZERO = frozenset(name for name in _TYPES if name.endswith("_timeout"))
_WORKSPACE_MAY_SET = frozenset(
    {"model", "temperature", "top_p", "max_new_tokens", "gate_timeout", "shell_timeout"}
)
_NOT_SETTINGS = frozenset({"MCA_API_KEY", "MCA_RUN_ID", "MCA_REPORT"})
"""The key has a place of its own; the others mark what this program runs, itself perhaps."""
_LARGEST = 1_000_000_000
LARGEST_FILE = 1024 * 1024
"""Bytes of a file of settings or of rules."""
_LONGEST_SHOWN = 80
_KINDS: Mapping[type, str] = {
    str: "a text",
    bool: "true or false",
    int: "a whole number",
    float: "a number",
}


@dataclass(frozen=True)
class Places:
    """Where things are kept. `workspace` is a real path; nothing here is created by asking."""

    home: Path
    workspace: Path

    @property
    def user(self) -> Path:
        return self.home / FOLDER

    @property
    def local(self) -> Path:
        return self.workspace / FOLDER

    @property
    def state(self) -> Path:
        """This workspace's private state, outside the workspace."""
        return self.user / "state" / workspace_id(self.workspace)

    @property
    def sessions(self) -> Path:
        return self.state / "sessions"

    def entries(self, scope: str) -> Path:
        base = self.local if scope == "workspace" else self.user
        return base / "knowledge" / "entries.json"


def places(workspace: str | os.PathLike[str], home: Path | None = None) -> Places:
    """Raises UsageError when `workspace` is not a folder; never creates it."""
    path = Path(os.path.realpath(workspace))
    if not os.path.isdir(path):
        what = "is not a folder" if os.path.lexists(path) else "does not exist"
        raise UsageError(f"--cwd {os.fspath(workspace)!r} {what}: name an existing folder")
    return Places(home=home or _home(), workspace=path)


def _home() -> Path:
    """The user's home; state must never land in the folder the program was started in."""
    try:
        home = Path.home()
    except RuntimeError:
        home = Path()
    if not home.is_absolute():
        raise UsageError("there is no home folder for settings and sessions: set HOME to one")
    return home


def workspace_id(workspace: Path) -> str:
    """A readable, unique folder name for a workspace path."""
    from hashlib import sha256

    digest = sha256(os.fsencode(workspace)).hexdigest()[:12]
    name = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in workspace.name)
    return f"{name[:32] or 'root'}-{digest}"


def load(where: Places, flags: Mapping[str, Any], environment: Mapping[str, str]) -> Options:
    """Merge every source. `flags` holds only what was given on the command line.

    Raises ConfigError naming the file or variable, the key and what is allowed.
    """
    options = Options()
    user_file, local_file = where.user / "config.toml", where.local / "config.toml"
    options = _apply(options, _from_file(user_file), repr(str(user_file)))
    options = _apply(options, _from_workspace(local_file), repr(str(local_file)))
    options = _apply(options, _from_environment(environment), "the environment")
    return _apply(options, dict(flags), "the command line")


def _from_file(path: Path) -> dict[str, Any]:
    data = _content(path)
    if not data:
        return {}
    import tomllib

    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError as error:
        raise ConfigError(f"{str(path)!r} is not valid TOML: {error}") from error
    except RecursionError:
        raise ConfigError(f"{str(path)!r} is not valid TOML: it is nested too deeply") from None


def _content(path: Path) -> bytes:
    """The bytes of the file, none when it is missing."""
    try:
        check_size(path)
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise ConfigError(f"cannot read {str(path)!r}: {error.strerror}") from error


def check_size(path: Path) -> None:
    """A device or a pipe must not be waited for, nor read without an end. Raises ConfigError for
    what is no file of a sane size, and OSError."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise ConfigError(f"{str(path)!r} is {what}: name a regular file")
    if status.st_size > LARGEST_FILE:
        raise ConfigError(f"{str(path)!r} has more than {LARGEST_FILE} bytes: make it shorter")


def _from_workspace(path: Path) -> dict[str, Any]:
    settings = _from_file(path)
    for key in settings:
        if key in _TYPES and key not in _WORKSPACE_MAY_SET:
            raise ConfigError(
                f"{str(path)!r} may not set {key!r}: a workspace cannot lower safety; "
                f"put it in ~/{FOLDER}/config.toml"
            )
    return settings


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    settings: dict[str, Any] = {}
    for name, text in environment.items():
        # a variable that is empty counts as one that is not set
        if name.startswith("MCA_") and name not in _NOT_SETTINGS and text.strip():
            settings[name[4:].lower()] = _parse(name, text.strip())
    return settings


def _parse(name: str, text: str) -> Any:
    key = name[4:].lower()
    if key not in _TYPES:
        raise ConfigError(f"unknown setting {name!r} in the environment; known: {_near(key)}")
    wanted = _TYPES[key]
    try:
        if wanted is bool:
            return {"1": True, "true": True, "0": False, "false": False}[text.lower()]
        return wanted(text)
    except (ValueError, KeyError):
        raise ConfigError(f"{name}={text!r} in the environment is not {_KINDS[wanted]}") from None


def _apply(options: Options, settings: Mapping[str, Any], where: str) -> Options:
    for key, value in settings.items():
        if key not in _TYPES:
            raise ConfigError(f"unknown setting {key!r} in {where}; known: {_near(key)}")
        _check(key, value, where)
    changed: dict[str, Any] = {
        k: float(v) if _TYPES[k] is float else v for k, v in settings.items()
    }
    return replace(options, **changed)


def _check(key: str, value: Any, where: str) -> None:
    wanted = _TYPES[key]
    allowed = (int, float) if wanted is float else (wanted,)
    if not isinstance(value, allowed) or (wanted is not bool and isinstance(value, bool)):
        raise ConfigError(f"{key!r} in {where} must be {_KINDS[wanted]}, not {_shown(value)}")
    if key in _CHOICES and value not in _CHOICES[key]:
        raise ConfigError(
            f"{key!r} in {where} must be one of {', '.join(_CHOICES[key])}, not {_shown(value)}"
        )
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        _check_range(key, value, where)


def _check_range(key: str, value: float, where: str) -> None:
    if value != value or value in (float("inf"), float("-inf")):
        raise ConfigError(f"{key!r} in {where} must be a finite number")
    if key in _ABOVE_ZERO and value <= 0:
        raise ConfigError(f"{key!r} in {where} must be above 0, not {_shown(value)}")
    low, high = 1 if key in _AT_LEAST_ONE else 0, _AT_MOST.get(key, _LARGEST)
    if not low <= value <= high:
        raise ConfigError(f"{key!r} in {where} must be from {low} to {high}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value for a message. A file may hold one too deep, or too large a number, to be shown."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):
        return "what it is"
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def _near(key: str) -> str:
    from difflib import get_close_matches

    names = [field.name for field in fields(Options)]
    return ", ".join(get_close_matches(key, names, n=3, cutoff=0.5) or names)
