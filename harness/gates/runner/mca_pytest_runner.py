"""Runs pytest in the workspace's own interpreter, so that the workspace cannot stand in for it.

Executed by path and never imported by the harness: imports nothing of it, works on Python 3.8
and later and pytest 7 and later. Its one argument is the number of an inherited file descriptor
with a JSON object:
    report         descriptor for the events of mca_pytest_plugin.py, and of this file:
                   `no_pytest` (error), `raised` (text), `exit` (exit_code)
    stack          descriptor for the stack of a test that hangs
    stack_at       when that stack is written, in seconds since the epoch
    stack_late     how much later it is written all the same, if no Python code runs any more
    root           real path of the workspace
    own            real path of the folder of the program that started this, or ""
    own_names      names of the packages in it
    path           entries put first on the import path once pytest is imported
    environment    variables set then
    arguments      the arguments of pytest
    options        further arguments, each only if a module is there: [module, argument]
"""

from __future__ import annotations

import _thread
import contextlib
import faulthandler
import importlib.util
import json
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any


class _WithoutOurs:
    """A finder that answers like the one it stands for, but never with one of our packages."""

    def __init__(self, finder: Any, settings: dict[str, Any]) -> None:
        self._finder = finder
        self._settings = settings

    def __getattr__(self, name: str) -> Any:
        return getattr(self._finder, name)

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        spec = self._finder.find_spec(name, path, target)
        return None if spec is not None and _comes_from_us(spec, self._settings) else spec


def main() -> int:
    with open(int(sys.argv[1])) as file:
        settings = json.load(file)
    sys.path[:] = [entry for entry in sys.path if not _is_ours(entry, settings)]
    own_path = list(sys.path)
    sys.path[:] = [entry for entry in own_path if not _in_workspace(entry, settings)]
    if settings["own"]:
        _hide_own_packages(settings)
    report = int(settings["report"])
    os.set_inheritable(report, False)
    try:
        import pytest

        plugin = _load_plugin()
    except ImportError as error:
        _say(report, "no_pytest", error=str(error))
        return 1
    recorder = plugin.Recorder(report)
    recorder.begin()
    arguments = settings["arguments"] + _options(settings["options"])
    sys.path[:] = settings["path"] + [entry for entry in own_path if entry not in settings["path"]]
    _set_environment(settings["environment"])
    sys.argv[:] = [str(Path(pytest.__file__).with_name("__main__.py")), *arguments]
    _watch(settings)
    try:
        hooks = plugin.ReportPlugin(recorder, settings["stack_at"])
        code = int(pytest.main(arguments, plugins=[hooks]))
    except BaseException:
        recorder.write("raised", text=traceback.format_exc()[-4000:])
        raise
    recorder.write("exit", exit_code=code)
    return code


def _watch(settings: dict[str, Any]) -> None:
    """See to it that the stack of the main thread is written at `stack_at`.

    A thread does it, which holds the interpreter's lock meanwhile. faulthandler does not: reading
    the stacks of threads that run, it can crash the process. It is kept for a call into C that
    never gives the lock back, such as a regular expression that backtracks without end.
    """
    os.set_inheritable(settings["stack"], False)
    left = max(settings["stack_at"] - time.time(), 0.01)
    faulthandler.dump_traceback_later(left + settings["stack_late"], file=settings["stack"])
    # not of the threading module, where tests would find it among the threads
    _thread.start_new_thread(_write_stack, (settings["stack"], left, _thread.get_ident()))


def _write_stack(descriptor: int, left: float, thread: int) -> None:
    time.sleep(left)
    faulthandler.cancel_dump_traceback_later()
    lines = ["Stack (most recent call first):"]
    frame = sys._current_frames().get(thread)
    while frame is not None:
        code = frame.f_code
        lines.append(f'  File "{code.co_filename}", line {frame.f_lineno} in {code.co_name}')
        frame = frame.f_back
    with contextlib.suppress(OSError):
        os.write(descriptor, "\n".join([*lines, ""]).encode("utf-8", "replace"))


def _is_ours(entry: str, settings: dict[str, Any]) -> bool:
    """Whether an import path entry is this file's folder or the program's, but not the
    workspace."""
    place = Path(entry).resolve()
    if place == Path(settings["root"]):
        return False
    return place == Path(__file__).resolve().parent or str(place) == settings["own"]


def _in_workspace(entry: str, settings: dict[str, Any]) -> bool:
    """Whether modules found there come from the workspace, and not from an environment in it."""
    place = Path(entry).resolve()
    root = Path(settings["root"])
    prefix = Path(sys.prefix).resolve()
    return (place == root or root in place.parents) and prefix not in place.parents


def _hide_own_packages(settings: dict[str, Any]) -> None:
    """An editable install may make our packages importable without any path entry."""
    for index, finder in enumerate(sys.meta_path):
        specs = [finder.find_spec(name, None) for name in settings["own_names"]]
        if any(spec is not None and _comes_from_us(spec, settings) for spec in specs):
            sys.meta_path[index] = _WithoutOurs(finder, settings)


def _comes_from_us(spec: Any, settings: dict[str, Any]) -> bool:
    places = list(spec.submodule_search_locations or [])
    if spec.has_location and spec.origin:
        places.append(spec.origin)
    own = Path(settings["own"])
    others = (Path(settings["root"]), Path(sys.prefix).resolve())
    for place in map(Path, places):
        above = place.resolve().parents
        if own in above and not any(other in above for other in others):
            return True
    return False


def _load_plugin() -> Any:
    path = Path(__file__).with_name("mca_pytest_plugin.py")
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {str(path)!r}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _set_environment(environment: dict[str, str]) -> None:
    os.environ.update(environment)
    # from here on: what came before is read from the usual places, and not compiled again
    sys.pycache_prefix = environment.get("PYTHONPYCACHEPREFIX")


def _options(options: list[list[str]]) -> list[str]:
    return [
        argument for module, argument in options if importlib.util.find_spec(module) is not None
    ]


def _say(descriptor: int, event: str, **fields: str) -> None:
    line = json.dumps({"event": event, "pid": os.getpid(), "time": 0, **fields}) + "\n"
    os.write(descriptor, line.encode("ascii"))


if __name__ == "__main__":
    raise SystemExit(main())
