"""Where rule files are, which tier each has by its place, and how one is read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import rules
from harness.config import Places, check_size
from rules import Program


@dataclass(frozen=True)
class RuleFile:
    """A file and the tier of what is in it."""

    path: Path
    tier: str

    @property
    def shipped(self) -> bool:
        return self.path.parent == _shipped_folder()


def shipped() -> tuple[RuleFile, RuleFile]:
    """The immutable rules, and the defaults: the user's from the start, so to speak."""
    folder = _shipped_folder()
    return RuleFile(folder / "kernel.dl", "kernel"), RuleFile(folder / "default.dl", "global")


def local_file(where: Places) -> RuleFile:
    """Where `/rules add` writes, for the workspace."""
    return RuleFile(where.local / "rules" / "local.dl", "workspace")


def global_file(where: Places) -> RuleFile:
    """Where `/rules add` writes, for all workspaces of the user."""
    return RuleFile(where.user / "rules" / "local.dl", "global")


def learned_file(where: Places) -> RuleFile:
    """Accepted proposals. They come from the user's own sessions, so they stay with them."""
    return RuleFile(where.state / "learned.dl", "learned")


def written(where: Places) -> Iterator[RuleFile]:
    """The user's and the workspace's files, in the order of their tiers and names."""
    for folder, tier in ((where.user / "rules", "global"), (where.local / "rules", "workspace")):
        for path in sorted(folder.glob("*.dl")):
            yield RuleFile(path, tier)


def tier_of(path: Path, where: Places) -> str:
    """The tier that a file has by its place: the workspace's, unless it is the user's."""
    real = _real(path)
    if real == _real(learned_file(where).path):
        return "learned"
    return "global" if real.is_relative_to(_real(where.user / "rules")) else "workspace"


def read(file: RuleFile) -> Program:
    """The program of one file.

    Raises RuleError for what is in it, ConfigError when it is no file of a sane size, OSError.
    """
    if not file.shipped:
        check_size(file.path)
    return Program.load(file.path, tier=file.tier)


def _real(path: Path) -> Path:
    """As `Path.resolve`, which Python before 3.13 has raise RuntimeError for a circle of links."""
    return Path(os.path.realpath(path))


def _shipped_folder() -> Path:
    return Path(rules.__file__).parent
