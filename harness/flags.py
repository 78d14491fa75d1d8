"""The command line's flags."""

import argparse
from typing import Any, NoReturn

from harness.config import APPROVALS, BACKENDS

PROGRAM = "mini-coding-agent"


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{PROGRAM}: {message} (see {PROGRAM} --help)\n")


def parser() -> argparse.ArgumentParser:
    """Leaves with exit code 2 and one line when a flag cannot be understood."""
    usage = f"{PROGRAM} [options] [prompt ...]"  # else argparse works one out, at some cost
    made = _Parser(prog=PROGRAM, usage=usage, add_help=False, allow_abbrev=False)
    add = made.add_argument
    add("prompt", nargs="*")
    add("--cwd", default=".")
    add("--model")
    add("--host")
    add("--backend", choices=BACKENDS)
    add("--script")
    add("--resume")
    add("--approval", choices=APPROVALS)
    add("--max-steps", type=int)
    add("--max-attempts", type=int)
    add("--max-seconds", type=float)
    add("--max-tokens", type=int)
    add("--max-new-tokens", type=int)
    add("--temperature", type=float)
    add("--top-p", type=float)
    add("--no-ooda", dest="ooda", action="store_const", const=False)
    add("--trace", action="store_true")
    add("--json", action="store_true")
    return made


def settings(arguments: argparse.Namespace) -> dict[str, Any]:
    """Only what was given, by the names of `harness.config.Options`."""
    given = {key: value for key, value in vars(arguments).items() if value is not None}
    for key in ("prompt", "cwd", "resume", "trace", "json"):
        given.pop(key, None)
    return given
