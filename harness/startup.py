"""What a session needs before it exists: its private folder and its journal."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Places
from harness.errors import ConfigError
from harness.journal import Journal

if TYPE_CHECKING:
    from harness.resume import Former


def private_folder(where: Places, notices: list[str]) -> Path:
    """This workspace's state folder; a temporary one when the home cannot be written."""
    try:
        where.sessions.mkdir(parents=True, exist_ok=True, mode=0o700)
        where.state.chmod(0o700)
        return where.state
    except OSError as error:
        import tempfile

        folder = Path(tempfile.mkdtemp(prefix="mini-coding-agent-"))
        (folder / "sessions").mkdir()
        notices.append(f"{str(where.state)!r} cannot be written ({error.strerror}); using {folder}")
        return folder


def open_journal(private: Path, former: Former | None) -> tuple[str, Journal]:
    """The session's id and its journal: a new one, or the former one continued."""
    if former is not None:
        return former.id, former.journal
    name = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(2).hex()}"
    path = private / "sessions" / f"{name}.jsonl"
    try:
        return name, Journal(path)
    except OSError as error:
        raise ConfigError(
            f"the journal {str(path)!r} cannot be written: {error.strerror}"
        ) from error
