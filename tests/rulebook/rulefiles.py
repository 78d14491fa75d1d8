"""Writing rule files where their tiers have them."""

from pathlib import Path

from harness.config import Places

LINT = "lint: file_modified(_) -> verify_gate('lint')\n"


def team(where: Places, text: str, name: str = "team.dl") -> Path:
    return _written(where.local / "rules" / name, text)


def mine(where: Places, text: str, name: str = "mine.dl") -> Path:
    return _written(where.user / "rules" / name, text)


def learned(where: Places, text: str) -> Path:
    return _written(where.state / "learned.dl", text)


def _written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path
