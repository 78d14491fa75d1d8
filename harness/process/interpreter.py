"""Which Python a workspace's own code runs in."""

import os
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

_REMEMBERED = "the remembered test command"
_ACTIVE = "VIRTUAL_ENV"


@dataclass(frozen=True)
class Interpreter:
    """A Python to run the workspace's code. `path` keeps the symbolic link of a virtual
    environment; `origin` says how it was found; `notes` are sentences about what was passed
    over on the way."""

    path: Path
    origin: str
    notes: tuple[str, ...] = ()

    @property
    def is_ours(self) -> bool:
        """Whether it is the Python that this program itself runs in."""
        ours = Path(sys.executable)
        same_folder = self.path.parent == ours.parent
        return same_folder and self.path.resolve() == ours.resolve()

    @property
    def environment(self) -> Path | None:
        """The folder of its virtual environment, if it belongs to one."""
        folder = self.path.parent.parent
        return folder if (folder / "pyvenv.cfg").is_file() else None

    @property
    def made_by_uv(self) -> bool:
        return self._setting("uv") != ""

    @property
    def version(self) -> tuple[int, int] | None:
        """Major and minor as the virtual environment declares them, None when nothing does."""
        if self.is_ours:
            return sys.version_info[:2]
        declared = self._setting("version_info") or self._setting("version")
        parts = declared.split(".")
        if len(parts) < 2 or not (parts[0].isdigit() and parts[1].isdigit()):
            return None
        return int(parts[0]), int(parts[1])

    def _setting(self, key: str) -> str:
        if self.environment is None:
            return ""
        text = (self.environment / "pyvenv.cfg").read_text("utf-8", "replace")
        pairs = (line.partition("=") for line in text.splitlines())
        return next((value.strip() for name, _, value in pairs if name.strip() == key), "")


def find(root: Path, test_command: str | None) -> Interpreter:
    """The first of: the one that the remembered test command names by path, VIRTUAL_ENV,
    `.venv`, `venv`, and the Python of this program."""
    notes: list[str] = []
    locked = (root / "uv.lock").is_file()
    candidates = [
        (_named_by(root, test_command), _REMEMBERED),
        (_active(), _ACTIVE),
        (root / ".venv/bin/python", ".venv (uv.lock)" if locked else ".venv"),
        (root / "venv/bin/python", "venv"),
    ]
    for path, origin in candidates:
        if path is None:
            continue
        if is_program(path):
            return Interpreter(path, origin, tuple(notes))
        if path.parent.is_dir() or origin in (_REMEMBERED, _ACTIVE):
            notes.append(f"{origin} has no usable Python at {str(path)!r}, so it was passed over")
    if locked:
        notes.append("the workspace has a uv.lock but no .venv: 'uv sync' would make one")
    return Interpreter(Path(sys.executable), "the Python of this program", tuple(notes))


def is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _active() -> Path | None:
    """The Python of the activated environment. Ours says nothing about the workspace: it is
    active because this program was started from it."""
    folder = Path(os.environ.get("VIRTUAL_ENV") or sys.prefix)
    if folder.resolve() == Path(sys.prefix).resolve():
        return None
    return folder.absolute() / "bin/python"


def _named_by(root: Path, command: str | None) -> Path | None:
    """`.venv/bin/python -m pytest` names that Python, `.venv/bin/pytest` the one beside it."""
    try:
        words = shlex.split(command or "")
    except ValueError:
        return None
    words = [word for word in words if "=" not in word.partition("/")[0]]
    if not words or "/" not in words[0]:
        return None
    program = root / words[0]
    if program.name.startswith("python"):
        return program
    if program.name in ("pytest", "py.test") and is_program(program.parent / "python"):
        return program.parent / "python"
    return None
