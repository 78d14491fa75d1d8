"""What a rule may have run as a test, and what becomes of the rest."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.test_files import TestFiles, sort_out
from harness.gates.values import Verdict

RunGate = Callable[..., Verdict]
Files = Callable[[dict[str, str]], None]

FAILING = "def test_f():\n    assert 1 == 2\n"
PASSING = "def test_f():\n    assert True\n"
NO_TESTS = (
    "README.md", "/etc/passwd", "../outside.py", "..", ".", "", "folder", "link.py", "pipe.py",
    "setup.py", "./" * 70_000 + "README.md",
)  # fmt: skip


@pytest.fixture
def workspace(root: Path, files: Files) -> Path:
    files({"README.md": "text\n", "test_a.py": FAILING, "setup.py": "raise SystemExit(0)\n"})
    (root.parent / "outside.py").write_text(PASSING)
    (root / "folder").mkdir()
    (root / "link.py").symlink_to(root.parent / "outside.py")
    os.mkfifo(root / "pipe.py")
    return root


@pytest.mark.parametrize("target", NO_TESTS)
def test_what_is_no_test_file_of_the_workspace_is_refused(workspace: Path, target: str) -> None:
    found = sort_out([target, "test_a.py"], workspace)
    assert found == TestFiles(files=("test_a.py",), refused=(target,))


def test_one_file_runs_once_however_it_is_spelled(workspace: Path) -> None:
    found = sort_out(["test_a.py", "./test_a.py", "folder/../test_a.py", "gone.py"], workspace)
    assert found.files == ("test_a.py",)
    assert found.gone == ("gone.py",)
    assert found.refused == ()


def test_a_file_with_tests_may_be_called_as_it_pleases(workspace: Path) -> None:
    (workspace / "check_login.py").write_text(PASSING)
    assert sort_out(["check_login.py"], workspace).files == ("check_login.py",)


@pytest.mark.parametrize("target", ["README.md", "/etc/passwd", "link.py", "setup.py"])
def test_it_does_not_hide_a_failing_test(workspace: Path, gate: RunGate, target: str) -> None:
    verdict = gate("run_tests", target, "test_a.py")
    assert verdict.status == "failed"
    assert [finding.where for finding in verdict.findings] == ["test_a.py::test_f", target]


def test_a_duty_that_cannot_be_met_is_not_a_pass(workspace: Path, gate: RunGate) -> None:
    (workspace / "test_a.py").write_text(PASSING)
    verdict = gate("run_tests", "README.md", "test_a.py")
    assert verdict.status == "could_not_run"
    assert verdict.reason == "'README.md' is no test file of this workspace (in the rest: 1 passed)"
    alone = gate("run_tests", "README.md")
    assert alone.reason == (
        "'README.md' is no test file of this workspace, so there is no test to run"
    )
