"""Which changes of configuration reach the tests."""

import pytest

from harness.code.test_setup import changes_tests, is_test_setup


@pytest.mark.parametrize(
    ("path", "before", "after", "reaches"),
    [
        ("pytest.ini", None, b"[pytest]\n", True),
        (".pytest.ini", b"[pytest]\n", b"[pytest]\naddopts = -x\n", True),
        ("pytest.toml", b"[pytest]\n", None, True),
        ("pyproject.toml", b"[project]\nname='a'\n", b"[project]\nname='b'\n", False),
        ("pyproject.toml", b"", b"[tool.pytest.ini_options]\naddopts='-x'\n", True),
        ("pyproject.toml", b"", b"[tool.pytest\n", True),
        ("setup.cfg", b"[metadata]\nname=a\n", b"[metadata]\nname=b\n", False),
        ("setup.cfg", b"", b"[tool:pytest]\naddopts=-x\n", True),
        ("tox.ini", b"[tox]\n", b"[tox]\n[pytest]\naddopts=-x\n", True),
        ("tests/conftest.py", b"import a\n", b"import a  # why\n", False),
        ("tests/conftest.py", b"import a\n", b"import b\n", True),
        ("conftest.py", b"import a\n", b"import (\n", True),
        ("sitecustomize.py", None, b"x = 1\n", True),
    ],
)
def test_what_reaches_the_tests(
    path: str, before: bytes | None, after: bytes | None, reaches: bool
) -> None:
    assert is_test_setup(path)
    assert changes_tests(path, before, after) is reaches


def test_other_files_are_no_test_setup() -> None:
    assert not is_test_setup("my_conftest.py")
    assert not is_test_setup("docs/setup.md")
