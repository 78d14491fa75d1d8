import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.compile_source import problem
from harness.gates.values import Verdict

RunGate = Callable[..., Verdict]
Files = Callable[[dict[str, str]], None]


@pytest.fixture(autouse=True)
def our_own_interpreter(monkeypatch: pytest.MonkeyPatch, active_environment: None) -> None:
    monkeypatch.delenv("VIRTUAL_ENV")


def test_files_that_compile_pass(example: Path, gate: RunGate) -> None:
    verdict = gate("syntax_check", "auth.py", "test_auth.py", "README.md")
    assert verdict.status == "passed"
    assert verdict.summary.startswith("2 files compile with Python 3.")


def test_a_syntax_error_is_shown_with_its_place_and_a_caret(files: Files, gate: RunGate) -> None:
    files({"pkg/auth.py": "def ok():\n    pass\n\nif ok:\n\tdef broken(:\n"})
    verdict = gate("syntax_check", "pkg/auth.py")
    assert verdict.status == "failed"
    assert verdict.trace_line == "  [verify] syntax_check: fail"
    (finding,) = verdict.findings
    assert (finding.severity, finding.where, finding.line) == ("error", "pkg/auth.py", 5)
    heading, source, caret = verdict.feedback.splitlines()
    assert heading == f"pkg/auth.py, line 5: {finding.message}"
    assert source == "    \tdef broken(:"
    assert caret.strip() == "^"
    assert caret.startswith("    \t")


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        (b"x = 1\n\nreturn x\n", 3, "outside function"),
        (b"nonlocal x\n", 1, "nonlocal"),
        (b"def f():\n    break\n", 2, "break"),
        (b"x = 1\ny = '\0'\n", 2, "NUL byte"),
        (b"x = 1\r\n# \xe9\r\n", 2, "byte 0xe9 cannot be read as utf-8"),
        (b"# -*- coding: no-such-codec -*-\n", 0, "unknown encoding"),
        ("x = 1\n".encode("utf-16"), 1, "NUL byte"),
        (b"-" * 100_000 + b"1\n", 0, "nested too deeply"),
        (b"(" * 100_000, 1, "too many nested parentheses"),
        (b"a" + b".b" * 100_000, 0, "nested too deeply"),
    ],
)
def test_what_does_not_compile_is_a_sentence(source: bytes, line: int, words: str) -> None:
    found = problem(source, "auth.py")
    assert found is not None
    assert found[0] == line
    assert words in found[2]


@pytest.mark.parametrize(
    "source",
    [
        b"",
        b"\xef\xbb\xbfx = 1\n",
        b"# -*- coding: latin-1 -*-\nname = '\xe9'\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
        b"async def f():\n    await f()\n",
        b"from __future__ import annotations\n",
    ],
)
def test_what_python_reads_is_no_error(source: bytes) -> None:
    assert problem(source, "auth.py") is None


def test_warnings_of_the_compiler_do_not_leak() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem(b"x = 1 is 1\ny = '\\d'\n", "auth.py") is None


def test_what_cannot_be_read_is_a_finding_and_no_exception(
    files: Files, gate: RunGate, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "secret.py").write_text("password = (\n")
    (root / "outside.py").symlink_to(tmp_path / "secret.py")
    os.mkfifo(root / "pipe.py")
    (root / "folder.py").mkdir()
    verdict = gate("syntax_check", "outside.py", "pipe.py", "folder.py", "gone.py")
    assert verdict.status == "failed"
    assert [(one.severity, one.where) for one in verdict.findings] == [
        ("error", "outside.py"),
        ("error", "pipe.py"),
        ("error", "folder.py"),
        ("warning", "gone.py"),
    ]
    assert "password" not in verdict.feedback


def test_a_deleted_file_or_none_in_python_is_skipped_with_the_reason(gate: RunGate) -> None:
    verdict = gate("syntax_check", "gone.py")
    assert verdict.status == "skipped"
    assert "gone.py is not there any more" in verdict.reason
    verdict = gate("syntax_check", "style.css")
    assert verdict.trace_line == "  [verify] syntax_check: skipped (no Python file was changed)"


def test_the_interpreter_of_the_workspace_is_the_judge(
    files: Files, gate: RunGate, root: Path
) -> None:
    """One that says yes to everything stands for a newer Python than ours."""
    files({"new.py": "some syntax from the future\n", ".venv/pyvenv.cfg": "version = 4.0.0\n"})
    (root / ".venv/bin").mkdir()
    python = root / ".venv/bin/python"
    python.write_text("#!/bin/sh\necho '[null]'\n")
    python.chmod(0o755)
    verdict = gate("syntax_check", "new.py")
    assert verdict.status == "passed"
    assert verdict.summary == f"1 file compiles with {str(python)!r}"
    python.write_text("#!/bin/sh\nexit 1\n")
    assert gate("syntax_check", "new.py").status == "failed"


def test_another_version_finds_what_ours_finds(files: Files, gate: RunGate, root: Path) -> None:
    files({"bad.py": "x = (\n", "good.py": "", ".venv/pyvenv.cfg": "version = 4.0.0\n"})
    (root / ".venv/bin").mkdir()
    (root / ".venv/bin/python").symlink_to(Path(sys.base_prefix) / "bin/python3")
    verdict = gate("syntax_check", "good.py", "bad.py")
    assert verdict.status == "failed"
    assert [(one.where, one.line) for one in verdict.findings] == [("bad.py", 1)]
    assert verdict.feedback.endswith("    x = (\n        ^")
