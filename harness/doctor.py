"""`doctor`: what this machine has, what is missing, and how to get it."""

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, TextIO

from harness.config import Places, places
from harness.terminal.safe import encodable, one_line

if TYPE_CHECKING:
    from harness.model.servers import Server

Row = tuple[str, str, str]
"""What, what was found, and how to get it when it is missing ('' when it is there)."""


def doctor(cwd: str, out: TextIO) -> int:
    """Print what was found; 0 when the agent can work here, 1 when something it needs is missing.

    Raises UsageError when `cwd` is not a folder.
    """
    where = places(cwd)
    missing = False
    for what, found, remedy in _rows(where):
        glyph = "-" if remedy else "+"
        # a server's text, or a path
        out.write(encodable(f"{glyph} {what:<12} {one_line(found)}\n", out.encoding))
        if remedy:
            out.write(encodable(f"  {'':<12} -> {one_line(remedy)}\n", out.encoding))
        missing = missing or (bool(remedy) and what in ("pytest", "server"))
    return 1 if missing else 0


def _rows(where: Places) -> Iterator[Row]:
    yield "python", f"{platform.python_version()} at {sys.executable}", ""
    yield "workspace", str(where.workspace), ""
    yield from _workspace_python(where)
    yield _git()
    yield from _servers()
    yield _sandbox()
    yield _state(where)


def _workspace_python(where: Places) -> Iterator[Row]:
    from harness.process.environment import command_environment
    from harness.process.interpreter import find
    from harness.process.run import run

    interpreter = find(where.workspace, None)
    yield "interpreter", f"{interpreter.path} ({interpreter.origin})", ""
    code = "import pytest; print(pytest.__version__)"
    argv = [str(interpreter.path), "-I", "-c", code]
    environment = command_environment(where.workspace, where.state, interpreter)
    done = run(argv, cwd=where.workspace, env=environment, timeout=20)
    if done.exit_code == 0:
        yield "pytest", done.output.strip(), ""
    else:
        remedy = f"{interpreter.path} -m pip install pytest"
        yield "pytest", "not installed in the workspace's interpreter", remedy


def _git() -> Row:
    path = shutil.which("git")
    return "git", path or "not found", "" if path else "install git with your package manager"


def _servers() -> Iterator[Row]:
    from harness.model.named import api_key
    from harness.model.servers import look_around

    found = [place.server for place in look_around(api_key(for_openai=False)) if place.server]
    open_to_us = [server for server in found if not server.wants_key]
    for server in open_to_us:
        yield "server", f"{server.kind} at {server.base_url}: {_models(server)}", ""
    for server in [] if open_to_us else found:
        remedy = "set MCA_API_KEY to its key"
        yield "server", f"{server.kind} at {server.base_url} wants a key", remedy
    if not found:
        remedy = "start one: ollama serve, or llama-server -m MODEL.gguf --jinja"
        yield "server", "no local model server answers", remedy


def _models(server: "Server") -> str:
    from harness.model.models import context_shown
    from harness.model.servers import ranked

    names = [
        f"{model.name} (context {context_shown(model)})"
        for model in ranked(server.entries, server.kind)
        if model.kind == "chat"
    ]
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more or "no models listed"


def _sandbox() -> Row:
    path = shutil.which("bwrap")
    if path:
        return "sandbox", f"{path} is there; commands do not run in it yet", ""
    return "sandbox", "none: commands run as you", "apt-get install bubblewrap"


def _state(where: Places) -> Row:
    folder = where.state
    while not folder.exists():
        folder = folder.parent
    if os.access(folder, os.W_OK):
        return "state", str(where.state), ""
    return "state", f"{folder} cannot be written", "journals go to a temporary folder until it can"
