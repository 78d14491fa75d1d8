"""How the tests of a workspace are called: the default, or the remembered `test_command`."""

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.process.interpreter import Interpreter

_MOST_SHOWN = 10
_PYTHON = re.compile(r"python[\d.]*")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
_SHELL_SYNTAX = re.compile(r"[|&;<>()$`\n*?~#]")
_LITERAL = re.compile(r"""'[^']*'|"[^"$`\\]*\"""")
_WITH_VALUE = re.compile(
    r"-[kmpconWr]|--(rootdir|confcutdir|ignore|ignore-glob|deselect|basetemp|tb|maxfail|junitxml"
    r"|junit-xml|durations|cov|log-level|import-mode|dist|color|capture|override-ini"
    r"|config-file|timeout)"
)


@dataclass(frozen=True)
class PytestCommand:
    """pytest in the Python `python`. `shown` is what a person would type; `flags` are the
    interpreter's; `cwd_first` says that the workspace is importable as under `python -m`;
    `remembered` that the arguments are the user's, `partial` that we chose among the tests."""

    shown: str
    python: Path
    arguments: tuple[str, ...]
    flags: tuple[str, ...] = ()
    variables: Mapping[str, str] = field(default_factory=dict)
    cwd_first: bool = True
    remembered: bool = False
    partial: bool = True


@dataclass(frozen=True)
class ShellCommand:
    """Something that only a shell, and not this program, understands."""

    shown: str


def default_command(
    targets: tuple[str, ...], interpreter: Interpreter, root: Path
) -> PytestCommand | ShellCommand:
    """`python -m pytest` with the test files `targets`."""
    arguments = tuple(map(_as_argument, targets))
    words = [_as_typed(interpreter, root), "-m", "pytest"]
    shown = f"{shlex.join(words)} {_listed(arguments)}".rstrip()
    return PytestCommand(shown, interpreter.path, arguments)


def remembered_command(
    text: str, targets: tuple[str, ...], interpreter: Interpreter, root: Path, search_path: str
) -> PytestCommand | ShellCommand:
    """The command `text`, run as given; `targets` that it does not name are added where it is
    pytest. `search_path` is the PATH that bare names are looked up in."""
    text = text.strip().strip("`").removeprefix("$ ").strip()
    words = _words(text)
    if words is None:
        return ShellCommand(text)
    variables: dict[str, str] = {}
    while words and _ASSIGNMENT.fullmatch(words[0]):
        name, _, value = words.pop(0).partition("=")
        variables[name] = value
    parsed = _pytest_call(words, interpreter, root, search_path)
    if parsed is None:
        return ShellCommand(text)
    python, flags, arguments, cwd_first = parsed
    added = [_as_argument(name) for name in targets if not _is_named(name, arguments, root)]
    return PytestCommand(
        shown=f"{text} {_listed(added)}".rstrip(),
        python=python,
        arguments=(*arguments, *added),
        flags=flags,
        variables=variables,
        cwd_first=cwd_first,
        remembered=True,
        partial=bool(added),
    )


def _listed(names: Sequence[str]) -> str:
    """As they are typed; of very many, the first ones and how many more."""
    if len(names) <= _MOST_SHOWN:
        return shlex.join(names)
    return f"{shlex.join(names[:_MOST_SHOWN])} ... ({len(names) - _MOST_SHOWN} more)"


def _words(text: str) -> list[str] | None:
    """The words of a simple command; None when it needs a shell."""
    # what stands in quotes is literal to a shell as well
    if _SHELL_SYNTAX.search(_LITERAL.sub("", text)) or not text:
        return None
    try:
        return shlex.split(text)
    except ValueError:
        return None


def _pytest_call(
    words: list[str], interpreter: Interpreter, root: Path, search_path: str
) -> tuple[Path, tuple[str, ...], tuple[str, ...], bool] | None:
    """Python, its flags, pytest's arguments, and whether the workspace is importable."""
    if not words:
        return None
    name = Path(words[0]).name
    if name in ("pytest", "py.test"):
        python = _python_of(words[0], interpreter, root, search_path)
        return None if python is None else (python, (), tuple(words[1:]), False)
    if not _PYTHON.fullmatch(name):
        return None
    at = 1
    while at < len(words) and words[at].startswith("-") and words[at] != "-m":
        at += 2 if words[at] in ("-X", "-W") else 1
    if words[at : at + 2] != ["-m", "pytest"]:
        return None
    flags = tuple(words[1:at])
    isolated = any(not flag.startswith("--") and set(flag) & set("IP") for flag in flags)
    python = _program(words[0], root, search_path) or interpreter.path
    return python, flags, tuple(words[at + 2 :]), not isolated


def _program(word: str, root: Path, search_path: str) -> Path | None:
    if "/" in word:
        return root / word
    found = shutil.which(word, path=search_path)
    return Path(found) if found else None


def _python_of(word: str, interpreter: Interpreter, root: Path, search_path: str) -> Path | None:
    """The Python that a `pytest` script runs in, by its first lines. None when they do not say;
    where there is no such script, the workspace's, which will say what is missing."""
    script = _program(word, root, search_path)
    if script is None or not script.is_file():
        return interpreter.path
    with script.open("rb") as file:
        head = file.read(512).decode("utf-8", "replace")
    named = re.match(r"#!(\S+)\n", head)
    if named is None or named.group(1) == "/bin/sh":
        named = re.search(r"""^'''exec' "?([^"\n]+?)"? "\$0" """, head, re.MULTILINE)
    if named is None or not _PYTHON.fullmatch(Path(named.group(1)).name):
        return None
    return Path(named.group(1))


def _is_named(target: str, arguments: tuple[str, ...], root: Path) -> bool:
    """Whether one of the paths among pytest's arguments is the target or a folder above it."""
    place = root / target
    for before, argument in zip(("", *arguments), arguments, strict=False):
        if argument.startswith("-") or _WITH_VALUE.fullmatch(before):
            continue
        named = Path(os.path.normpath(root / argument.partition("::")[0]))
        if "::" not in argument and (named == place or named in place.parents):
            return True
    return False


def _as_argument(target: str) -> str:
    return f"./{target}" if target[:1] in ("-", "@") else target


def _as_typed(interpreter: Interpreter, root: Path) -> str:
    if interpreter.is_ours:
        return "python"
    path = interpreter.path
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)
