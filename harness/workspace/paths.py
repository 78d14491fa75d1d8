"""From the spellings a model uses to one canonical workspace path."""

import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

from harness.errors import NoSuchFile, OutsideWorkspace, ToolError

INVENTED_ROOTS = frozenset({"workspace", "workspaces", "app", "repo", "project", "testbed"})
"""Absolute folders that models make up for "the project"."""
_DRIVE = re.compile(r"/?[A-Za-z]:[\\/]")
_QUOTES = " \t\r\n'\"`"

_LONGEST_NAME = 255
_LONGEST_PATH = 4095
"""Bytes, as the kernels we run on have it."""
_COMPARED = 5_000
"""Paths that are looked through for one with a similar spelling."""


@dataclass(frozen=True)
class Located:
    """`path` is workspace-relative, `/`-separated and canonical ('.' is the root); `note` is a
    sentence for the model when another path than the one it named is used, else empty."""

    path: str
    note: str = ""


def locate(root: str, spelling: str, *, creating: bool = False) -> Located:
    """Map `spelling` to a path beneath `root` (a real path).

    Raises ToolError for anything outside, with the closest paths inside. Links are followed
    only while they stay inside; the path returned is the one they lead to.
    """
    text, note = _respelled(root, _checked(root, spelling), creating)
    if os.path.isabs(text):
        text, note = _from_absolute(root, text, creating)
    relative = os.path.normpath(text)
    if relative == ".." or relative.startswith("../"):
        raise OutsideWorkspace(
            f"{spelling!r} is outside the workspace; use a path relative to its root."
        )
    inside = _beneath(root, _real(os.path.join(root, relative)))
    if inside is None:
        raise OutsideWorkspace(
            f"{spelling!r} is a link that leads outside the workspace; it is not used."
        )
    return Located(inside, note)


def require_exists(root: str, located: Located, spelling: str) -> None:
    """Raise ToolError naming the closest paths when nothing is there."""
    if not os.path.lexists(os.path.join(root, located.path)):
        raise NoSuchFile(f"{spelling!r} does not exist.{_suggest(root, spelling)}")


def _checked(root: str, spelling: str) -> str:
    if not spelling.strip():
        raise ToolError("The path is empty; name a file relative to the workspace root.")
    if "\0" in spelling:
        raise ToolError(f"{spelling[:60]!r} holds a NUL character; no file has such a name.")
    try:
        encoded = spelling.encode("utf-8")
    except UnicodeEncodeError:
        raise ToolError(f"{spelling[:60]!r} is not text; no file is used by such a name.") from None
    longest = max(len(part) for part in encoded.split(b"/"))
    if longest > _LONGEST_NAME or len(encoded) + len(os.fsencode(root)) >= _LONGEST_PATH:
        raise ToolError(f"{spelling[:60]!r}... is too long for a path.")
    return os.path.expanduser(spelling) if spelling.startswith("~/") else spelling


def _respelled(root: str, text: str, creating: bool) -> tuple[str, str]:
    """A path in quotes or with backslashes as it was meant, where that exists and it does not."""
    if os.path.lexists(os.path.join(root, text)):
        return text, ""
    if _DRIVE.match(text):
        raise OutsideWorkspace(f"{text!r} is outside the workspace.{_suggest(root, text)}")
    meant = text.strip(_QUOTES).replace("\\", "/")
    if creating or meant in ("", text) or not os.path.lexists(os.path.join(root, meant)):
        return text, ""
    return meant, f"(There is no {text!r}; {meant!r} in the workspace was used.)"


def _from_absolute(root: str, text: str, creating: bool) -> tuple[str, str]:
    """An absolute path inside the workspace, or one below a root the model made up."""
    inside = _beneath(root, os.path.normpath(text))
    if inside is None:
        inside = _beneath(root, _real(text))
    if inside is not None:
        return inside, ""
    if not creating and not os.path.lexists(text):
        for below in _below_invented_root(text):
            if os.path.lexists(os.path.join(root, below)):
                return below, f"(There is no {text!r}; {below!r} in the workspace was used.)"
    raise OutsideWorkspace(f"{text!r} is outside the workspace.{_suggest(root, text)}")


def _below_invented_root(text: str) -> list[str]:
    parts = [part for part in os.path.normpath(text).split("/") if part]
    below = ["/".join(parts)]
    if len(parts) > 1 and parts[0] in INVENTED_ROOTS:
        below.append("/".join(parts[1:]))
    return [path for path in below if path]


def _real(path: str) -> str:
    try:
        return os.path.realpath(path)
    except (OSError, RecursionError):
        raise ToolError(f"The links of {path!r} cannot be followed.") from None


def _beneath(root: str, path: str) -> str | None:
    if path == root:
        return "."
    prefix = root if root.endswith("/") else root + "/"
    return path[len(prefix) :] if path.startswith(prefix) else None


def _suggest(root: str, spelling: str) -> str:
    """The files with the same name, else those with the most similar path."""
    from difflib import get_close_matches

    from harness.workspace.files import walk

    files = list(walk(root))
    spelling = spelling.strip(_QUOTES).replace("\\", "/")
    name = os.path.basename(spelling.rstrip("/")) or spelling
    near: Iterable[str] = [f for f in files if os.path.basename(f) == name][:3]
    near = near or get_close_matches(spelling.lstrip("./"), files[:_COMPARED], n=3, cutoff=0.6)
    listed = ", ".join(repr(path) for path in near)
    return f" Did you mean {listed}?" if listed else " list_files shows what is there."
