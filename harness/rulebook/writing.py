"""Adding to a rule file: all of the new text or none of it, and nothing of the old one lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from harness.config import LARGEST_FILE
from harness.errors import UserError
from knowledge import KnowledgeError, files
from knowledge.files import FileProblem
from knowledge.tier import GITIGNORE
from rules import Program, RuleError


def as_kept(text: str, statements: Iterable[str], tier: str) -> str:
    """Rules as they were typed, comments and all; or, where that would change how later lines
    read, just the `statements` in it."""
    later = "later"
    while later in text:
        later += "_"
    with suppress(RuleError, UnicodeError):
        text.encode("utf-8")
        whole = Program.parse(f"\n{text}\n{later}.", tier=tier)
        if whole.tiers == (tier,):
            return text.strip()
    return "\n".join(statements)


def append(
    path: Path, text: str, check: Callable[[int], None], *, lock: Path, root: Path | None = None
) -> None:
    """Put `text` at the end of the file, on lines of its own.

    `check` is given the number of lines that the text comes after, before it is written, and may
    raise. `lock` keeps other programs waiting. `root` is the workspace that a link must not lead
    out of; None is for the user's own files.

    Raises UserError with a sentence; the file is then as it was.
    """
    real = _confined(path, root)
    try:
        _make_folder(real.parent, root)
        lock.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with files.locked(_confined(lock, root)):
            before = (files.read(real) or b"").decode("utf-8")
            after = _joined(before, text)
            if len(after.encode()) > LARGEST_FILE:
                raise UserError(f"{str(path)!r} would be longer than {LARGEST_FILE} bytes")
            check(after.count("\n") - text.rstrip().count("\n") - 1)
            files.replace(real, after.encode("utf-8"))
    except OSError as error:
        named = error.filename or str(path)
        what = "" if named in (str(path), str(real)) else f" ({named!r})"
        instead = "" if root is None else ", or keep the rule for yourself: /rules add --global"
        raise UserError(
            f"{str(path)!r} cannot be written: {error.strerror}{what}; nothing was added: "
            f"make it writable{instead}"
        ) from error
    except FileProblem as error:
        raise UserError(f"{str(path)!r} {error}; nothing was added to it") from error
    except KnowledgeError as error:
        raise UserError(str(error)) from error
    except UnicodeError as error:
        raise UserError(f"{str(path)!r} is not UTF-8; nothing was added to it") from error


def _joined(before: str, text: str) -> str:
    gap = "" if not before or before.endswith("\n") else "\n"
    return f"{before}{gap}{text.rstrip()}\n"


def _confined(path: Path, root: Path | None) -> Path:
    real = Path(os.path.realpath(path))
    if root is not None and not real.is_relative_to(os.path.realpath(root)):
        raise UserError(f"{str(path)!r} leads outside the workspace, to {str(real)!r}")
    return real


def _make_folder(folder: Path, root: Path | None) -> None:
    if root is None:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return
    # not parents=True: a workspace that is gone must not be made again
    for each in (folder.parent, folder):
        each.mkdir(exist_ok=True)
    with suppress(OSError):  # one that is there stays
        files.create(folder.parent / ".gitignore", GITIGNORE)
