"""Whether a change of configuration can change which tests run, or how."""

import ast

PYTEST_FILES = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml")
"""Files that hold nothing but pytest's configuration."""
CONFIG_FILES = (*PYTEST_FILES, "pyproject.toml", "tox.ini", "setup.cfg")
"""Where pytest looks for its configuration."""
_CODE = frozenset({"conftest.py", "sitecustomize.py", "usercustomize.py", "pytest.py"})
_SECTIONS = {"tox.ini": "pytest", "setup.cfg": "tool:pytest"}


def is_test_setup(path: str) -> bool:
    """Whether the file may decide which tests run and how."""
    name = path.rpartition("/")[2]
    return name in CONFIG_FILES or name in _CODE


def changes_tests(path: str, before: bytes | None, after: bytes | None) -> bool:
    """Whether the difference reaches pytest; None is a file that is not there.

    Comments and formatting do not count, nor do sections that pytest does not read. What cannot
    be parsed counts.
    """
    name = path.rpartition("/")[2]
    try:
        return _effective(name, before) != _effective(name, after)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return True


def _effective(name: str, data: bytes | None) -> object:
    if data is None:
        return None
    if name in _CODE:
        return ast.dump(ast.parse(data))
    text = data.decode("utf-8")
    if name == "pyproject.toml":
        import tomllib

        return tomllib.loads(text).get("tool", {}).get("pytest")
    if name in _SECTIONS:
        return _section(text, _SECTIONS[name])
    return text


def _section(text: str, name: str) -> object:
    import configparser

    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(text)
    except configparser.Error as error:
        raise ValueError(str(error)) from error
    return dict(parser[name]) if parser.has_section(name) else None
