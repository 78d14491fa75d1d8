import sys
from pathlib import Path

import pytest

from harness.process.interpreter import find


@pytest.fixture(autouse=True)
def no_active_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VIRTUAL_ENV", raising=False)


def make_environment(folder: Path, config: str = "version = 3.12.1\n") -> Path:
    python = folder / "bin/python"
    python.parent.mkdir(parents=True)
    python.symlink_to(sys.executable)
    (folder / "pyvenv.cfg").write_text(config)
    return python


def test_without_any_environment_it_is_ours(tmp_path: Path) -> None:
    found = find(tmp_path, None)
    assert found.path == Path(sys.executable)
    assert found.is_ours
    assert found.version == sys.version_info[:2]
    assert found.notes == ()


def test_the_order_is_command_then_active_then_dot_venv_then_venv(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    venv = make_environment(tmp_path / "venv")
    assert find(tmp_path, None).path == venv
    dot_venv = make_environment(tmp_path / ".venv")
    assert find(tmp_path, None).path == dot_venv
    active = make_environment(tmp_path / "active")
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "active"))
    assert find(tmp_path, None).path == active
    named = make_environment(tmp_path / "named")
    found = find(tmp_path, "named/bin/python -m pytest -q")
    assert found.path == named
    assert found.origin == "the remembered test command"
    assert found.version == (3, 12)


def test_a_pytest_script_named_by_path_means_the_python_beside_it(tmp_path: Path) -> None:
    python = make_environment(tmp_path / "env")
    (tmp_path / "env/bin/pytest").write_text("")
    assert find(tmp_path, "X=1 env/bin/pytest tests").path == python


def test_our_own_activated_environment_does_not_hide_the_workspace_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    assert find(tmp_path, None).is_ours
    assert find(tmp_path, None).notes == ()
    python = make_environment(tmp_path / ".venv")
    assert find(tmp_path, None).path == python


@pytest.mark.parametrize("command", ["python -m pytest", "make test", "'unclosed", ""])
def test_a_command_without_a_path_names_no_interpreter(tmp_path: Path, command: str) -> None:
    assert find(tmp_path, command).is_ours


def test_a_dangling_environment_is_passed_over_with_a_note(tmp_path: Path) -> None:
    make_environment(tmp_path / "venv")
    (tmp_path / ".venv/bin").mkdir(parents=True)
    (tmp_path / ".venv/bin/python").symlink_to("/no/such/python")
    found = find(tmp_path, None)
    assert found.origin == "venv"
    assert len(found.notes) == 1
    assert ".venv has no usable Python" in found.notes[0]


def test_a_missing_active_environment_is_noted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIRTUAL_ENV", str(tmp_path / "gone"))
    found = find(tmp_path, None)
    assert found.is_ours
    assert "VIRTUAL_ENV has no usable Python" in found.notes[0]


def test_a_lock_file_without_its_environment_is_noted(tmp_path: Path) -> None:
    (tmp_path / "uv.lock").write_text("")
    assert "uv sync" in find(tmp_path, None).notes[0]
    make_environment(tmp_path / ".venv", "uv = 0.9.0\nversion_info = 3.13.2\n")
    found = find(tmp_path, None)
    assert found.origin == ".venv (uv.lock)"
    assert found.made_by_uv
    assert found.version == (3, 13)
    assert found.notes == ()
