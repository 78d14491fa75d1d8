from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.blame import mentions, not_installed
from harness.gates.values import GateContext

Files = Callable[[dict[str, str]], None]

MISSING = "E   ModuleNotFoundError: No module named 'requests'"


def context(root: Path, *modified: str, before: dict[str, bytes] | None = None) -> GateContext:
    known = before or {}
    return GateContext(root, root, 1.0, modified=modified, before=known.get)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('File "/ws/pkg/auth.py", line 3', True),
        ("pkg/auth.py:3: ValueError", True),
        ("not_pkg/auth.py:3", False),
        ("pkg/auth.pyi", False),
        ("", False),
    ],
)
def test_a_path_is_found_in_a_traceback(text: str, named: bool) -> None:
    assert mentions(text, ("pkg/auth.py",)) is named


def test_a_package_that_nobody_newly_asks_for_is_not_installed(root: Path, files: Files) -> None:
    files({"test_a.py": "import requests\n", "auth.py": "x = 1  # requests\n"})
    assert not_installed(MISSING, context(root, "auth.py")) == "requests"


def test_a_new_import_in_a_changed_file_is_the_turns_doing(root: Path, files: Files) -> None:
    files({"auth.py": "def f():\n    from requests.adapters import Retry\n"})
    assert not_installed(MISSING, context(root, "auth.py")) is None
    assert not_installed(MISSING, context(root, "auth.py", before={"auth.py": b""})) is None
    known = {"auth.py": b"import os, requests\n"}
    assert not_installed(MISSING, context(root, "auth.py", before=known)) == "requests"


def test_only_python_asks_for_a_module(root: Path, files: Files) -> None:
    files({"README.md": "import requests\n"})
    assert not_installed(MISSING, context(root, "README.md")) == "requests"


def test_a_module_of_the_workspace_is_not_a_package_to_install(root: Path, files: Files) -> None:
    files({"src/requests/__init__.py": ""})
    assert not_installed(MISSING, context(root)) is None


def test_a_deleted_or_renamed_module_is_the_turns_doing(root: Path) -> None:
    assert not_installed(MISSING, context(root, "requests.py")) is None
    assert not_installed(MISSING, context(root, "requests/api.py")) is None


def test_other_errors_and_parts_of_packages_are_not_excused(root: Path) -> None:
    assert not_installed("E   ImportError: cannot import name 'x'", context(root)) is None
    dotted = "ModuleNotFoundError: No module named 'requests.nothing'"
    assert not_installed(dotted, context(root)) is None
