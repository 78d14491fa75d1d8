"""Which of the files a rule names can be given to pytest."""

import os
import posixpath
import re
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from harness.code.coverage import is_test

_LARGEST = 1024 * 1024
_HOLDS_TESTS = re.compile(
    rb"^[ \t]*(async[ \t]+def|def|class)[ \t]+\w*test|\bTestCase\b", re.M | re.I
)


@dataclass(frozen=True)
class TestFiles:
    """`files` are the workspace's own, each once and spelled as its path; `gone` are not there any
    more; `refused` is there and nothing that may be run as a test."""

    __test__ = False

    files: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()


def sort_out(targets: Iterable[str], root: Path) -> TestFiles:
    """`root` is a real path. A name that leads out of it, or to what pytest does not collect,
    would have pytest refuse all the others with it."""
    files: dict[str, None] = {}
    gone: list[str] = []
    refused: list[str] = []
    for target in targets:
        path = posixpath.normpath(target)
        try:
            status = os.stat(root / path)
        except (FileNotFoundError, NotADirectoryError):
            gone.append(target)
        except (OSError, ValueError):
            refused.append(target)
        else:
            if stat.S_ISREG(status.st_mode) and _is_runnable(path, root):
                files[path] = None
            else:
                refused.append(target)
    return TestFiles(tuple(files), tuple(gone), tuple(refused))


def _is_runnable(path: str, root: Path) -> bool:
    if not path.endswith(".py") or posixpath.isabs(path) or path.startswith("../"):
        return False
    if not Path(os.path.realpath(root / path)).is_relative_to(root):
        return False
    return is_test(path) or _holds_tests(root / path)


def _holds_tests(file: Path) -> bool:
    """Called as it pleases, it may be one by the settings of pytest."""
    try:
        with file.open("rb") as opened:
            return _HOLDS_TESTS.search(opened.read(_LARGEST)) is not None
    except OSError:
        return False
