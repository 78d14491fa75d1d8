"""What a session needs before it exists: its rules, its private folder, its journal."""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING

from harness.config import Places
from harness.errors import ConfigError
from harness.journal import Journal
from rules import Program, RuleError

if TYPE_CHECKING:
    from harness.resume import Former

_LARGEST_RULES = 1024 * 1024
"""Bytes of a rule file."""


def load_rules(where: Places) -> tuple[Program, tuple[str, ...]]:
    """The kernel's rules, the user's and the workspace's, and warnings about them.

    Raises ConfigError with file, line and column for rules that cannot be used.
    """
    import rules

    kernel = Path(rules.__file__).with_name("kernel.dl")
    files = [("kernel", kernel)]
    files += [("global", path) for path in sorted((where.user / "rules").glob("*.dl"))]
    files += [("workspace", path) for path in sorted((where.local / "rules").glob("*.dl"))]
    try:
        for _, path in files:
            _check(path)
        program = Program.union([Program.load(path, tier=tier) for tier, path in files])
    except RuleError as error:
        raise ConfigError(error.first_line) from error
    except OSError as error:
        raise ConfigError(f"cannot read the rules: {error}") from error
    return program, tuple(str(warning) for warning in program.warnings)


def _check(path: Path) -> None:
    """A device or a pipe must not be waited for, nor read without an end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode) or status.st_size > _LARGEST_RULES:
        raise ConfigError(
            f"the rules {str(path)!r} are not a file of at most {_LARGEST_RULES} bytes"
        )


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
