"""Whether a failure is the turn's doing or the surroundings'."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from harness.errors import ToolError
from harness.gates.values import GateContext
from harness.workspace.root import Root

_MISSING = re.compile(r"ModuleNotFoundError: No module named '([^'.]+)'")
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages", "build", "dist"})
_MOST_FOLDERS = 5000


def mentions(text: str, paths: tuple[str, ...]) -> bool:
    """Whether one of the workspace's `paths` is named in `text`, for example in a traceback."""
    return any(re.search(rf"(?<![\w.-]){re.escape(path)}(?![\w-])", text) for path in paths)


def not_installed(text: str, context: GateContext) -> str | None:
    """The top-level module that an import failed for, when that is nobody's fault in this turn:
    it is not in the workspace, and no file that was changed newly asks for it."""
    found = _MISSING.search(text)
    if found is None:
        return None
    name = found.group(1)
    if any(Path(path).stem == name or name in Path(path).parts for path in context.modified):
        return None
    if any(_newly_imports(path, name, context) for path in context.modified):
        return None
    return None if _in_workspace(name, context.root) else name


def _newly_imports(path: str, name: str, context: GateContext) -> bool:
    if not path.endswith((".py", ".pyi")):
        return False
    try:
        now = Root(context.root).read(path)
    except ToolError:
        return False
    return _imports(now, name) and not _imports(context.before(path) or b"", name)


def _imports(source: bytes, name: str) -> bool:
    word = re.escape(name.encode())
    statement = rb"^[ \t]*(import|from)\b[^\n#]*\b" + word + rb"\b"
    return re.search(statement, source, re.MULTILINE) is not None


def _in_workspace(name: str, root: Path) -> bool:
    return any(name in folders or f"{name}.py" in files for folders, files in _folders(root))


def _folders(root: Path) -> Iterator[tuple[list[str], list[str]]]:
    for count, (folder, folders, files) in enumerate(os.walk(root)):
        if count >= _MOST_FOLDERS:
            return
        folders[:] = [
            name
            for name in folders
            if not name.startswith(".")
            and name not in _PASSED_OVER
            and not (Path(folder) / name / "pyvenv.cfg").is_file()
        ]
        yield folders, files
