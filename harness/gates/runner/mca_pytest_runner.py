"""Runs pytest in the workspace's own interpreter, so that the workspace cannot stand in for it.

Executed by path and never imported by the harness: imports nothing of it, works on Python 3.8
and later and pytest 7 and later. Its one argument is the number of an inherited file descriptor
with a JSON object:
    report         descriptor for the events of mca_pytest_plugin.py, and of this file:
                   `no_pytest` (error), `raised` (text), `exit` (exit_code)
    stack          descriptor for the stack of a test that hangs, written on SIGURG
    root           real path of the workspace
    own            real path of the folder of the program that started this, or ""
    own_names      names of the packages in it
    path           entries put first on the import path once pytest is imported, before those
                   of PYTHONPATH
    src            entries put before the installed packages then
    environment    variables set then
    arguments      the arguments of pytest
    shown          those of them that a person would have typed, for `sys.argv`
    partial        whether only some of the tests run
"""

from __future__ import annotations

import faulthandler
import importlib.util
import json
import os
import signal
import sys
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
    with open(int(sys.argv[1]), encoding="utf-8") as file:
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
    _set_path(settings, own_path)
    _set_environment(settings["environment"])
    sys.argv[:] = [str(Path(pytest.__file__).with_name("__main__.py")), *settings["shown"]]
    hooks = plugin.ReportPlugin(recorder, settings["partial"])
    _watch(settings["stack"], hooks)
    try:
        code = int(pytest.main(settings["arguments"], plugins=[hooks]))
    except BaseException:
        recorder.write("raised", text=traceback.format_exc()[-4000:])
        raise
    recorder.write("exit", exit_code=code)
    return code


def _watch(stack: int, hooks: Any) -> None:
    """Write on SIGURG, sent shortly before a run is killed, where the main thread stands and
    what pytest holds back.

    No timer thread: tests may count threads, and from Python 3.12 on a fork beside a second
    thread is a warning. Nor faulthandler's own timer, whose thread reads the stacks of others
    while they run, which can crash the process. A process that does not expect SIGURG ignores it.
    """
    os.set_inheritable(stack, False)
    signal.signal(signal.SIGURG, hooks.tell_captured)
    # before that handler, which waits for the interpreter, and a call into C may not return to it
    faulthandler.register(signal.SIGURG, file=stack, all_threads=False, chain=True)


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


def _set_path(settings: dict[str, Any], own_path: list[str]) -> None:
    entries = settings["environment"].get("PYTHONPATH", "").split(os.pathsep)
    first = [*settings["path"], *filter(None, entries)]
    rest = [entry for entry in own_path if entry not in first]
    # after the standard library, which a src layout must not hide
    at = next((at for at, entry in enumerate(rest) if _is_installed(entry)), len(rest))
    sys.path[:] = [*first, *rest[:at], *settings["src"], *rest[at:]]


def _is_installed(entry: str) -> bool:
    return Path(entry).name in ("site-packages", "dist-packages")


def _set_environment(environment: dict[str, str]) -> None:
    os.environ.update(environment)
    # from here on: what came before is read from the usual places, and not compiled again
    sys.pycache_prefix = environment.get("PYTHONPYCACHEPREFIX")


def _say(descriptor: int, event: str, **fields: str) -> None:
    line = json.dumps({"event": event, "pid": os.getpid(), "time": 0, **fields}) + "\n"
    os.write(descriptor, line.encode("ascii"))


if __name__ == "__main__":
    raise SystemExit(main())
