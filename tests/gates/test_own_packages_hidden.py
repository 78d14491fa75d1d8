"""None of our own packages may be importable in a gate run, however they are installed."""

import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.values import Verdict
from harness.process.environment import own_folder

RunGate = Callable[..., Verdict]
Files = Callable[[dict[str, str]], None]

OURS_IS_HIDDEN = """
from importlib.util import find_spec

def test_ours_is_not_importable():
    assert [name for name in ("harness", "knowledge") if find_spec(name)] == []

def test_theirs_is():
    import rules
    assert rules.MINE
"""


@pytest.fixture
def shared_environment(
    tmp_path: Path, bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """The site-packages of an environment that the workspace shares with us."""
    folder = tmp_path / "shared"
    shutil.copytree(bare_environment, folder, symlinks=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(folder))
    return next(folder.glob("lib/python*/site-packages"))


def test_an_editable_install_by_path(shared_environment: Path, files: Files, gate: RunGate) -> None:
    (shared_environment / "ours.pth").write_text(f"{own_folder()}\n")
    files({"test_a.py": OURS_IS_HIDDEN, "rules/__init__.py": "MINE = True\n"})
    verdict = gate("run_tests", "test_a.py")
    assert verdict.summary == "2 passed", verdict.feedback


def test_an_editable_install_by_import_hook(
    shared_environment: Path, files: Files, gate: RunGate
) -> None:
    finder = f"""
import sys
from importlib.machinery import PathFinder

class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name in ("harness", "rules", "knowledge"):
            return PathFinder.find_spec(name, [{str(own_folder())!r}])

sys.meta_path.insert(0, Finder)
"""
    (shared_environment / "ours_finder.py").write_text(finder)
    (shared_environment / "ours.pth").write_text("import ours_finder\n")
    files({"test_a.py": OURS_IS_HIDDEN, "rules/__init__.py": "MINE = True\n"})
    verdict = gate("run_tests", "test_a.py")
    assert verdict.summary == "2 passed", verdict.feedback


def test_a_workspace_inside_our_folder_does_not_get_our_configuration(tmp_path: Path) -> None:
    ours = tmp_path.resolve() / "ours"
    shutil.copytree(
        own_folder() / "harness", ours / "harness", ignore=shutil.ignore_patterns("__pycache__")
    )
    (ours / "pytest.ini").write_text("[pytest]\npythonpath = .\naddopts = --no-such-option\n")
    (ours / "conftest.py").write_text("1 / 0\n")
    (ours / "example").mkdir()
    (ours / "example/test_a.py").write_text(OURS_IS_HIDDEN.partition("def test_theirs")[0])
    script = f"""
from pathlib import Path
from harness.gates.registry import run_gate
from harness.gates.values import GateContext
context = GateContext(Path({str(ours / "example")!r}), Path({str(tmp_path / "private")!r}), 20)
print(run_gate("run_tests", ("test_a.py",), context))
"""
    argv = [sys.executable, "-c", script]
    done = subprocess.run(argv, cwd=ours, capture_output=True, text=True, check=True)
    assert "status='passed'" in done.stdout, done.stdout
