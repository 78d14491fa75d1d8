"""What a command sees of this program's environment, and where its bytecode goes."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

from harness.process.interpreter import Interpreter

_PASSED_ON = re.compile(
    r"""(?x)
    HOME | USER | LOGNAME | SHELL | LANG | LANGUAGE | LC_\w+ | TERM | TZ | TMPDIR | TMP | TEMP
    | XDG_(CACHE|CONFIG|DATA|STATE)_HOME | XDG_RUNTIME_DIR
    | SSL_CERT_(FILE|DIR) | REQUESTS_CA_BUNDLE | CURL_CA_BUNDLE
    | LD_LIBRARY_PATH | DYLD_(FALLBACK_)?LIBRARY_PATH | PKG_CONFIG_PATH
    | VIRTUAL_ENV | CONDA_PREFIX | CONDA_DEFAULT_ENV | PYENV_ROOT | PYENV_VERSION | UV_CACHE_DIR
    | NVM_DIR | JAVA_HOME | GOPATH | GOROOT | CARGO_HOME | RUSTUP_HOME
    """
)


def command_environment(
    root: Path, private: Path, interpreter: Interpreter | None = None
) -> dict[str, str]:
    """The environment of a command in the workspace `root`.

    An allow-list: no key, token or unknown variable passes. `python` and `pytest` are those of
    `interpreter`, None meaning ours. Bytecode and pytest's cache go to `private`, not to the
    workspace; output is unbuffered, so that a killed command has said what it could.
    """
    passed = {name: value for name, value in os.environ.items() if _PASSED_ON.fullmatch(name)}
    python_path = os.pathsep.join(_python_path(root))
    if python_path:
        passed["PYTHONPATH"] = python_path
    if interpreter is not None and interpreter.environment is not None:
        passed["VIRTUAL_ENV"] = str(interpreter.environment)
    cache = shlex.quote(f"cache_dir={private / 'pytest_cache'}")
    return passed | {
        "PATH": os.pathsep.join(_path(interpreter)),
        "PYTHONPYCACHEPREFIX": str(bytecode_folder(private)),
        "PYTHONUNBUFFERED": "1",
        "PYTEST_ADDOPTS": f"-o {cache}",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_PAGER": "cat",
        "PAGER": "cat",
        "NO_COLOR": "1",
    }


def own_folder() -> Path:
    """Where our own packages lie: nothing in there may be importable for a workspace."""
    return Path(__file__).resolve().parents[2]


def bytecode_folder(private: Path) -> Path:
    """Stands in for every `__pycache__`, mirroring absolute paths below it. Kept between runs,
    so that the standard library and installed packages are compiled once."""
    return private / "pycache"


def fresh_bytecode(private: Path, root: Path) -> None:
    """Forget the bytecode of the workspace's own files, before each run.

    Python takes bytecode for current when the source has the same size and the same second of
    change, which an edit may well keep. The workspace's virtual environments are spared.
    """
    mirror = bytecode_folder(private) / root.relative_to(root.anchor)
    for folder, subfolders, files in os.walk(mirror):
        original = root / Path(folder).relative_to(mirror)
        subfolders[:] = [name for name in subfolders if not _is_environment(original / name)]
        for name in files:
            (Path(folder) / name).unlink(missing_ok=True)


def _is_environment(folder: Path) -> bool:
    return folder.name == "site-packages" or (folder / "pyvenv.cfg").is_file()


def _path(interpreter: Interpreter | None) -> Iterator[str]:
    first = interpreter.path if interpreter is not None else Path(sys.executable)
    yield str(first.parent)
    for entry in os.environ.get("PATH", os.defpath).split(os.pathsep):
        # a relative entry would find programs inside the workspace
        if Path(entry).is_absolute() and entry != str(first.parent):
            yield entry


def _python_path(root: Path) -> Iterator[str]:
    own = own_folder()
    for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        if not entry:
            continue
        folder = Path(entry).resolve()
        ours = folder == own or own in folder.parents
        if not ours or folder == root or root in folder.parents:
            yield str(Path(entry).absolute())
