"""What a user decided about single rules of a workspace: switched off, or not wanted.

It is kept in the user's own state folder, so that whoever made the workspace cannot plant it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.errors import UserError
from knowledge import KnowledgeError, files
from knowledge.files import FileProblem


@dataclass(frozen=True)
class Switches:
    """`off` maps the name of a rule to its text when it was switched off; `rejected` are the
    texts of proposals that are not made again."""

    off: Mapping[str, str] = field(default_factory=dict)
    rejected: frozenset[str] = frozenset()

    def with_off(self, name: str, text: str) -> Switches:
        return replace(self, off={**self.off, name: text})

    def with_on(self, *names: str) -> Switches:
        return replace(self, off={key: text for key, text in self.off.items() if key not in names})

    def with_rejected(self, text: str) -> Switches:
        return replace(self, rejected=self.rejected | {text})


def read(path: Path) -> tuple[Switches, str]:
    """What is kept at `path`, and a sentence when it cannot be used: then every rule is on."""
    if not os.path.lexists(path):
        return Switches(), ""
    import json

    try:
        return _parsed(json.loads(files.read(path) or b"{}")), ""
    except (FileProblem, ValueError, TypeError, LookupError, RecursionError) as error:
        what = f"{str(path)!r} cannot be used ({error}): no rule is switched off"
        return Switches(), what


def update(path: Path, change: Callable[[Switches], Switches], *, lock: Path) -> Switches:
    """Change what is kept, as it is by now, for the user's eyes only. What cannot be used is not
    lost: it is put aside. Raises UserError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with files.locked(lock):
            switches, problem = read(path)
            switches = change(switches)
            if problem:
                os.replace(path, _aside(path))
            path.touch(mode=0o600)  # whose mode the new file keeps
            files.replace(path, _record(switches))
    except OSError as error:
        what = error.filename or str(path)
        raise UserError(
            f"{what!r} cannot be written: {error.strerror}; nothing was changed: make it writable"
        ) from error
    except KnowledgeError as error:
        raise UserError(str(error)) from error
    return switches


def _aside(path: Path) -> Path:
    """A name beside it that is free."""
    number, name = 1, path.with_name(f"{path.name}.damaged")
    while os.path.lexists(name):
        number += 1
        name = path.with_name(f"{path.name}.damaged-{number}")
    return name


def _record(switches: Switches) -> bytes:
    import json

    record = {
        "schema": 1,
        "off": dict(sorted(switches.off.items())),
        "rejected": sorted(switches.rejected),
    }
    return (json.dumps(record, indent=1) + "\n").encode()


def _parsed(record: object) -> Switches:
    if not isinstance(record, dict) or record.get("schema", 1) != 1:
        raise ValueError("it is not of schema 1")
    off, rejected = record.get("off", {}), record.get("rejected", [])
    if not isinstance(off, dict) or not isinstance(rejected, list):
        raise ValueError("it does not hold what it should")
    return Switches(
        {str(name): str(text) for name, text in off.items()}, frozenset(map(str, rejected))
    )
