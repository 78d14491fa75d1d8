"""The command line's flags, and what was likely meant by words that are none of its commands."""

import argparse
import os
from collections.abc import Sequence
from typing import Any, NoReturn

from harness.config import APPROVALS, BACKENDS, PROTOCOLS

PROGRAM = "mini-coding-agent"
RULES_WORDS = ("check", "run", "why", "query")


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message} (see {self.prog} --help)\n")


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
    add("--max-cost", type=float)
    add("--max-new-tokens", type=int)
    add("--context-length", type=int)
    add("--protocol", choices=PROTOCOLS)
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


def rules_parser(word: str) -> argparse.ArgumentParser:
    """The same for what comes after `rules check`, `rules run` and so on."""
    made = _Parser(prog=f"{PROGRAM} rules", usage="", add_help=False, allow_abbrev=False)
    add = made.add_argument
    add("files", nargs="*")
    add("--alone", action="store_true")
    add("--json", action="store_true")
    if word != "check":
        for bound in ("derived", "rounds", "work"):
            add(f"--max-{bound}", dest=bound, type=_bound)
    if word == "run":
        add("--predicate", action="append", default=[])
    elif word == "why":
        add("--fact")
    elif word == "query":
        add("--query", action="append", default=[])
    return made


def _bound(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and 0 < int(text[:20]) < 10**18):
        raise argparse.ArgumentTypeError(f"{text!r} is no whole number above 0")
    return int(text)


def meant_as_rules(words: Sequence[str]) -> str:
    """What is wrong with `words` after `rules`, if they are no request but a sub-command that was
    mistyped: there are none, or they end in a file of rules."""
    words = [word for word in words if not word.startswith("--")]
    if not words:
        return f"rules takes {', '.join(RULES_WORDS)}"
    from difflib import get_close_matches

    last = words[-1] if len(words) > 1 else ""
    near = get_close_matches(words[0], RULES_WORDS, n=1)
    if last.endswith(".dl") or (near and (last == "-" or os.path.isfile(last))):
        instead = f": did you mean {near[0]!r}?" if near else ""
        return f"rules takes {', '.join(RULES_WORDS)}, not {words[0]!r}{instead}"
    return ""
