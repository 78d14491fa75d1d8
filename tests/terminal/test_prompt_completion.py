"""What Tab offers."""

from pathlib import Path

import pytest

from harness.terminal.completion import candidates


@pytest.fixture
def root(tmp_path: Path) -> Path:
    place = tmp_path / "workspace"
    for name in ("src/app/main.py", "src/app/model.py", "auth.py", "test_auth.py", ".env"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).touch()
    for name in (".git", ".venv", "node_modules"):
        (place / name).mkdir()
        (place / name / "inner.py").touch()
    (place / "evil\x1b[31m.py").touch()
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").touch()
    (place / "link").symlink_to(tmp_path / "outside")
    return place


def texts(before: str, root: Path, *, asked: bool = True) -> list[str]:
    return [found.text for found in candidates(before, root, asked=asked)]


def test_commands_complete_at_the_start_of_the_line(root: Path) -> None:
    assert texts("/he", root) == ["/help"]
    assert texts("/re", root, asked=False) == ["/reset"]
    assert texts("/rules w", root) == ["why "]
    assert texts("/rules o", root) == ["off ", "on "]
    assert texts("/rules p", root) == ["propose"]
    assert texts("/rules check src/app/ma", root) == ["main.py"]
    assert texts("say /he", root) == []


def test_paths_complete_after_a_space(root: Path) -> None:
    assert texts("look at au", root) == ["auth.py"]
    assert texts("look at src/app/m", root) == ["main.py", "model.py"]
    assert texts("look at ", root) == ["auth.py", "link/", "src/", "test_auth.py"]


def test_paths_complete_after_an_at_sign_or_with_a_slash(root: Path) -> None:
    assert texts("@te", root, asked=False) == ["test_auth.py"]
    assert texts("@src/", root, asked=False) == ["app/"]
    assert texts("src/app/ma", root, asked=False) == ["main.py"]


def test_prose_is_left_alone_until_tab_is_pressed(root: Path) -> None:
    assert texts("fix te", root, asked=False) == []
    assert texts("", root) == []


def test_hidden_names_only_when_asked_for(root: Path) -> None:
    assert texts("see .e", root) == [".env"]
    assert texts("see .", root) == [".env"]


@pytest.mark.parametrize("folder", [".git/", ".venv/", "node_modules/", "src/../.git/"])
def test_some_folders_are_never_entered(root: Path, folder: str) -> None:
    assert texts(f"see {folder}", root) == []


@pytest.mark.parametrize("word", ["../", "../outside/", "link/", "/etc/", "@/etc/", "no/such/"])
def test_nothing_outside_is_listed(root: Path, word: str) -> None:
    assert texts(f"see {word}", root) == []


def test_only_the_typed_part_of_a_name_is_replaced(root: Path) -> None:
    (found,) = candidates("see src/app/mod", root, asked=True)
    assert (found.text, found.replaces) == ("model.py", 3)
