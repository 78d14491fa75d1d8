"""What was found out about models, kept for later sessions: one small JSON file of the user's.

`{"schema": 1, "models": {"ollama qwen3:8b": {"protocol": "constrained", "why": .., "at": ..}}}`
with `at` in seconds since the epoch. What is older than a month is found out anew: servers and
models get better.
"""

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from harness.model.strict import strict_value
from harness.model.values import Protocol

SCHEMA = 1
LASTS = 30 * 24 * 3600.0
MOST = 200
_LARGEST = 1024 * 1024
_PROTOCOLS = ("native", "constrained", "text")


@dataclass(frozen=True)
class Known:
    """Which protocol suits a model, and why; `shows_tools` is what a probe found, if there was
    one; `at` is when that was, in seconds since the epoch."""

    protocol: Protocol = "native"
    why: str = ""
    shows_tools: bool | None = None
    at: float = 0.0


class Memory:
    """The file. Nothing is read before it is asked, and nothing written before there is something
    to keep. A damaged one is said to be and begun anew; one that cannot be written is not kept."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._problem = ""
        self._told = False

    def complaints(self) -> tuple[str, ...]:
        """A sentence for the user when the file could not be used; given once."""
        if self._told or not self._problem:
            return ()
        self._told = True
        return (self._problem,)

    def get(self, key: str) -> Known | None:
        """What is known of a model, unless that is too old to count."""
        known = _known(self._read().get(key))
        now = time.time()
        return known if known and now - LASTS < known.at <= now else None

    def put(self, key: str, known: Known) -> None:
        entries = self._read()
        entries.pop(key, None)
        # the newest stands last
        kept = dict(list(entries.items())[-(MOST - 1) :])
        kept[key] = _record(known)
        text = json.dumps({"schema": SCHEMA, "models": kept}, indent=1, ensure_ascii=True)
        try:
            self._replace(text + "\n")
        except OSError as error:
            self._problem = f"{str(self._path)!r} cannot be written: {error.strerror or error}"

    def _read(self) -> dict[str, Any]:
        try:
            with open(self._path, "rb") as file:
                data = file.read(_LARGEST + 1)
            value = strict_value(data.decode("utf-8"))
            if value["schema"] == SCHEMA and isinstance(value["models"], dict):
                return dict(value["models"])
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            self._problem = f"{str(self._path)!r} cannot be read: {error.strerror or error}"
            return {}
        except (ValueError, LookupError, TypeError):
            pass
        self._problem = (
            f"{str(self._path)!r} is damaged or of another version; what it knew of models is "
            "found out anew"
        )
        return {}

    def _replace(self, text: str) -> None:
        """Put the text in the place of the file, readable by its owner alone."""
        self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        temporary = self._path.with_name(f".{self._path.name}.{os.getpid()}.{time.monotonic_ns()}")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        try:
            with open(fd, "w", encoding="utf-8") as file:
                file.write(text)
            temporary.replace(self._path)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise


def _record(known: Known) -> Mapping[str, Any]:
    record = {"protocol": known.protocol, "why": known.why, "at": int(time.time())}
    return record if known.shows_tools is None else {**record, "shows_tools": known.shows_tools}


def _known(record: Any) -> Known | None:
    if not isinstance(record, dict):
        return None
    protocol, at = record.get("protocol"), record.get("at")
    if protocol not in _PROTOCOLS or isinstance(at, bool) or not isinstance(at, int | float):
        return None
    shows = record.get("shows_tools")
    why = record.get("why")
    return Known(
        cast(Protocol, protocol),
        "".join(filter(str.isprintable, why)) if isinstance(why, str) else "",
        shows if isinstance(shows, bool) else None,
        at,
    )
