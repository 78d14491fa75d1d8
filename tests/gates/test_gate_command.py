import sys
from pathlib import Path

import pytest

from harness.gates.command import (
    PytestCommand,
    ShellCommand,
    default_command,
    remembered_command,
)
from harness.process.interpreter import Interpreter

OURS = Interpreter(Path(sys.executable), "ours")


def remembered(text: str, root: Path, *targets: str) -> PytestCommand:
    command = remembered_command(text, targets, OURS, root, str(Path(sys.executable).parent))
    assert isinstance(command, PytestCommand)
    return command


def test_the_default_is_what_a_person_would_type(tmp_path: Path) -> None:
    targets = ("tests/test a.py", "-odd.py")
    command = default_command(targets, OURS, tmp_path)
    assert command.shown == "python -m pytest 'tests/test a.py' ./-odd.py"
    theirs = Interpreter(tmp_path / ".venv/bin/python", ".venv")
    assert default_command((), theirs, tmp_path).shown == ".venv/bin/python -m pytest"


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("python -m pytest", ()),
        ("`python -m pytest -q`", ("-q",)),
        ("$ python -X dev -W error -m pytest -k 'a and (b or c)'", ("-k", "a and (b or c)")),
        ('python -m pytest -k "not slow"', ("-k", "not slow")),
        ("python3 -m pytest test_a.py::test_x[1-2]", ("test_a.py::test_x[1-2]",)),
    ],
)
def test_calls_of_pytest_are_understood(
    tmp_path: Path, text: str, arguments: tuple[str, ...]
) -> None:
    command = remembered(text, tmp_path)
    assert command.arguments == arguments
    assert command.python.parent == Path(sys.executable).parent
    assert command.cwd_first


@pytest.mark.parametrize(
    "text",
    [
        "make test",
        "cd src && pytest",
        "pytest | tee log",
        "pytest tests/test_*.py",
        "pytest $ARGS",
        "python -m unittest",
        "python -m coverage run -m pytest",
        "uv run pytest",
        "pytest 'unclosed",
        "python",
    ],
)
def test_everything_else_is_left_to_the_shell(tmp_path: Path, text: str) -> None:
    command = remembered_command(text, ("test_a.py",), OURS, tmp_path, "/usr/bin")
    assert command == ShellCommand(text)


def test_the_script_of_an_environment_means_its_python(tmp_path: Path) -> None:
    script = tmp_path / "env/bin/pytest"
    script.parent.mkdir(parents=True)
    script.write_text(f"#!{tmp_path}/env/bin/python3.12\nimport pytest\n")
    command = remembered("env/bin/pytest -q", tmp_path)
    assert command.python == tmp_path / "env/bin/python3.12"
    assert not command.cwd_first
    script.write_text(f"#!/bin/sh\n'''exec' \"{tmp_path}/a b/python\" \"$0\" \"$@\"\n' '''\n")
    assert remembered("env/bin/pytest -q", tmp_path).python == tmp_path / "a b/python"


@pytest.mark.parametrize(
    ("text", "added"),
    [
        ("python -m pytest -v", ["test_a.py", "tests/unit/test_b.py"]),
        ("python -m pytest test_a.py -v", ["tests/unit/test_b.py"]),
        ("python -m pytest tests", ["test_a.py"]),
        ("python -m pytest . -x", []),
        ("python -m pytest ./test_a.py tests/unit/", []),
        ("python -m pytest --ignore tests test_a.py", ["tests/unit/test_b.py"]),
        ("python -m pytest test_a.py::test_one tests", ["test_a.py"]),
    ],
)
def test_covering_files_that_are_not_named_are_added(
    tmp_path: Path, text: str, added: list[str]
) -> None:
    command = remembered(text, tmp_path, "test_a.py", "tests/unit/test_b.py")
    assert command.shown == " ".join([text, *added])
    assert command.partial == bool(added)


def test_variables_before_the_command_are_kept_apart(tmp_path: Path) -> None:
    command = remembered("A=1 B='x y' python -m pytest", tmp_path)
    assert dict(command.variables) == {"A": "1", "B": "x y"}


def test_of_very_many_files_the_first_are_shown(tmp_path: Path) -> None:
    targets = tuple(f"test_{number}.py" for number in range(60))
    for command in (
        default_command(targets, OURS, tmp_path),
        remembered_command("pytest", targets, OURS, tmp_path, ""),
    ):
        assert isinstance(command, PytestCommand)
        assert command.shown.endswith("test_9.py ... (50 more)")
        assert command.arguments == targets
