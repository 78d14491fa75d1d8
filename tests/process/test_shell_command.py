import os
import sys
from pathlib import Path

import pytest

from harness.process.shell import shell


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


def test_python_and_pytest_are_found_without_activation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    completed = shell(
        "command -v python && pytest --version", root=tmp_path, private=tmp_path, timeout=20
    )
    assert completed.exit_code == 0
    assert str(Path(sys.executable).parent) in completed.output
    assert "pytest" in completed.output


def test_no_stale_bytecode_is_read(tmp_path: Path) -> None:
    root, private = tmp_path / "ws", tmp_path / "private"
    root.mkdir()
    module = root / "limits.py"
    said = []
    for value in "35":
        module.write_text(f"MAX = {value}\n")
        os.utime(module, (1_000_000_000, 1_000_000_000))
        command = "python -c 'import limits; print(limits.MAX)'"
        said.append(shell(command, root=root, private=private, timeout=20).output)
    assert said == ["3\n", "5\n"]


def test_no_cache_is_left_in_the_workspace(tmp_path: Path) -> None:
    root, private = tmp_path / "ws", tmp_path / "private"
    root.mkdir()
    (root / "limits.py").write_text("MAX = 3\n")
    (root / "test_limits.py").write_text("import limits\ndef test_it():\n    assert limits.MAX\n")
    completed = shell("pytest -q test_limits.py", root=root, private=private, timeout=30)
    assert "1 passed" in completed.output
    assert sorted(path.name for path in root.iterdir()) == ["limits.py", "test_limits.py"]
    assert (private / "pytest_cache").is_dir()


def test_shell_syntax_works_and_output_survives_the_time_limit(tmp_path: Path) -> None:
    completed = shell(
        "for i in 1 2; do python -c \"print('said', $i)\"; done; sleep 60",
        root=tmp_path,
        private=tmp_path / "private",
        timeout=2,
    )
    assert completed.timed_out
    assert completed.output == "said 1\nsaid 2\n"
