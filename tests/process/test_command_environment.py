import os
import sys
from pathlib import Path

import pytest

from harness.process.environment import (
    bytecode_folder,
    command_environment,
    fresh_bytecode,
    own_folder,
)
from harness.process.interpreter import Interpreter


def test_keys_and_unknown_variables_do_not_pass(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "MCA_API_KEY", "AWS_SECRET_ACCESS_KEY", "MCA_HOST", "FOO"):
        monkeypatch.setenv(name, "secret")
    monkeypatch.setenv("LC_TIME", "C")
    monkeypatch.setenv("TZ", "UTC")
    environment = command_environment(tmp_path, tmp_path / "private")
    assert "secret" not in environment.values()
    assert environment["LC_TIME"] == "C"
    assert environment["TZ"] == "UTC"


def test_our_python_comes_first_without_an_activated_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:relative::/bin")
    environment = command_environment(tmp_path, tmp_path / "private")
    assert environment["PATH"] == f"{Path(sys.executable).parent}:/usr/bin:/bin"


def test_the_virtual_environment_of_the_workspace_is_active(tmp_path: Path) -> None:
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/pyvenv.cfg").write_text("version = 3.12.1\n")
    interpreter = Interpreter(tmp_path / ".venv/bin/python", ".venv")
    environment = command_environment(tmp_path, tmp_path / "private", interpreter)
    assert environment["PATH"].split(":")[0] == str(tmp_path / ".venv/bin")
    assert environment["VIRTUAL_ENV"] == str(tmp_path / ".venv")


def test_our_own_packages_are_not_on_the_python_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = [str(own_folder()), "/elsewhere", "", str(own_folder() / "harness")]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(entries))
    assert command_environment(tmp_path, tmp_path / "private")["PYTHONPATH"] == "/elsewhere"


def test_a_workspace_that_is_our_own_source_stays_importable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(own_folder()))
    environment = command_environment(own_folder(), tmp_path / "private")
    assert environment["PYTHONPATH"] == str(own_folder())


def test_only_the_bytecode_of_the_workspace_is_forgotten(tmp_path: Path) -> None:
    root, private = tmp_path / "ws", tmp_path / "private"
    (root / ".venv").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("")
    mirror = bytecode_folder(private) / root.relative_to("/")
    kept = [
        mirror / ".venv/lib/module.pyc",
        bytecode_folder(private) / "usr/lib/python3/os.pyc",
    ]
    gone = [mirror / "auth.pyc", mirror / "pkg/sub/util.pyc"]
    for file in kept + gone:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(b"")
    fresh_bytecode(private, root)
    assert all(file.is_file() for file in kept)
    assert not any(file.exists() for file in gone)


def test_nothing_to_forget_is_fine(tmp_path: Path) -> None:
    fresh_bytecode(tmp_path / "private", tmp_path)
