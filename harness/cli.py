"""The command line: sub-commands, and the choice of a face."""

from __future__ import annotations

import os
import sys

from harness import __version__

TYPE_CHECKING = False  # importing typing for it would cost a quarter of `--help`
if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from harness.config import Options, Places
    from harness.terminal.console import Console


_AFTER_RULES = ("check", "run", "why", "query", "-h", "--help")
"""What makes `rules` a sub-command; followed by anything else it begins a request."""
_WITHOUT_VALUE = ("--no-ooda", "--trace", "--json")


def main(argv: Sequence[str]) -> int:
    """Run one command; returns the exit code. Everything for people goes to standard error."""
    _open_closed_streams()
    at = _rules_at(argv)
    if at is not None:
        return _guarded_rules(argv[:at], argv[at + 1 :])
    if "rules" in argv and (mistake := _mistaken_rules(argv)):
        return _fail(mistake, 2)
    options = argv[: list(argv).index("--")] if "--" in argv else argv
    if "-h" in options or "--help" in options:
        from harness.usage import HELP

        return _print(HELP)
    if "--version" in options:
        return _print(f"mini-coding-agent {__version__}\n")
    return _guarded(argv)


def _open_closed_streams() -> None:
    """A stream that was closed before the start (`>&-`) is None; nothing would be ready for that.

    The lowest free descriptor is taken, so that no file opened later becomes standard output.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def _rules_at(argv: Sequence[str]) -> int | None:
    """Where `rules` stands as a sub-command: first, or behind options of ours alone."""
    at = _first_word(argv)
    found = list(argv[at : at + 1]) == ["rules"] and argv[at + 1 : at + 2]
    return at if found and argv[at + 1] in _AFTER_RULES else None


def _first_word(argv: Sequence[str]) -> int:
    at = 0
    while argv[at : at + 1] and argv[at].startswith("--") and argv[at] != "--":
        at += 1 if "=" in argv[at] or argv[at] in _WITHOUT_VALUE else 2
    return at


def _mistaken_rules(argv: Sequence[str]) -> str:
    """What to say of words that begin with `rules` and are likely no request."""
    at = _first_word(argv)
    if list(argv[at : at + 1]) != ["rules"] or "--" in argv:
        return ""
    from harness.flags import meant_as_rules

    mistake = meant_as_rules(argv[at + 1 :])
    help_ = "see mini-coding-agent rules --help; a request goes in quotes"
    return f"{mistake} ({help_})" if mistake else ""


def _guarded_rules(options: Sequence[str], argv: Sequence[str]) -> int:
    """`options` stood before; `--cwd` is the folder that names of files start from."""
    from harness.errors import UserError
    from harness.rules_command import rules_command

    try:
        if options:
            from harness.config import places
            from harness.flags import parser

            given = parser().parse_args(options)
            os.chdir(places(given.cwd).workspace)
            argv = [*argv, "--json"] if given.json and "--" not in argv else argv
        return _printing(lambda out: rules_command(argv, out))
    except UserError as error:
        return _fail(str(error), error.exit_code)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _guarded(argv: Sequence[str]) -> int:
    from harness.errors import ModelFailure, UserError
    from harness.flags import parser

    try:
        return _dispatch(parser().parse_intermixed_args(argv))
    except UserError as error:
        return _fail(str(error), error.exit_code)
    except ModelFailure as error:
        return _fail(str(error), 4)
    except KeyboardInterrupt:
        return _fail("interrupted", 130)


def _dispatch(arguments: argparse.Namespace) -> int:
    words: list[str] = arguments.prompt
    _exit_on_sigterm()
    if words == ["doctor"]:
        from harness.doctor import doctor

        return _printing(lambda out: doctor(arguments.cwd, out))
    if words == ["models"]:
        return _models(arguments)
    if words[:1] == ["serve-model"] and (len(words) == 2 or not words[1:]):
        from harness.serve_model import serve_model

        given = arguments
        return _printing(lambda out: serve_model(words[1:], given.context_length, given.host, out))
    if words == ["demo"]:
        from harness.demo import demo

        return _printing(demo)
    request = _request(words)
    return _converse(arguments, request)


def _models(arguments: argparse.Namespace) -> int:
    from harness.config import load, places
    from harness.flags import settings
    from harness.models_command import models_command

    options = load(places(arguments.cwd), settings(arguments), os.environ)
    return _printing(lambda out: models_command(options, out, arguments.json))


def _converse(arguments: argparse.Namespace, request: str | None) -> int:
    import gc

    # modules make no garbage while they load; looking for it took a tenth of the start
    gc.set_threshold(50_000, 20, 20)
    from harness.config import load, places
    from harness.flags import settings

    where = places(arguments.cwd)
    options = load(where, settings(arguments), os.environ)
    from harness.terminal.console import open_console

    console = open_console(
        sys.stdin, sys.stdout, sys.stderr, trace=arguments.trace, json=arguments.json
    )
    return _run(arguments, options, where, console, request)


def _run(
    arguments: argparse.Namespace,
    options: Options,
    where: Places,
    console: Console,
    request: str | None,
) -> int:
    from harness.session import Session

    former = None
    if arguments.resume is not None:
        from harness.resume import find

        former = find(where, arguments.resume)
    session = Session(
        options, where, console.ask, version=__version__, former=former, sinks=console.sinks
    )
    try:
        if request is not None:
            return session.run(request).exit_code
        from harness.terminal.repl import run

        session.look_for_model()
        history = where.user / "history"
        return run(
            session, console, root=where.workspace, history_file=history, version=__version__
        )
    finally:
        session.close("end")


def _request(words: list[str]) -> str | None:
    """The one-shot request, or None for a conversation. Raises UsageError for an empty one."""
    from harness.errors import UsageError

    if not words:
        return None
    text = " ".join(words)
    if words == ["-"]:
        data = sys.stdin.buffer.read() if hasattr(sys.stdin, "buffer") else b""
        text = data.decode("utf-8", "replace")
    if not text.strip():
        raise UsageError("the request is empty: say what to do, or start without one to converse")
    return text.strip()


def _exit_on_sigterm() -> None:
    """Let a polite kill unwind, so that running commands are stopped and the journal is closed."""
    import signal

    for wanted in (signal.SIGTERM, signal.SIGHUP):
        # nohup and its like have the program go on
        if signal.getsignal(wanted) != signal.SIG_IGN:
            signal.signal(wanted, lambda number, _frame: sys.exit(128 + number))


def _print(text: str) -> int:
    def write(out: TextIO) -> int:
        out.write(text)
        return 0

    return _printing(write)


def _printing(command: Callable[[TextIO], int]) -> int:
    """Let `command` write to standard output. A reader that went away has seen enough."""
    try:
        code = command(sys.stdout)
        sys.stdout.flush()
        return code
    except OSError as error:
        from harness.terminal.screen import silence

        silence(sys.stdout)
        if isinstance(error, BrokenPipeError):
            return 0
        where = repr(error.filename) if error.filename else "standard output cannot be written"
        return _fail(f"{where}: {error.strerror or error}", 2)


def _fail(message: str, code: int) -> int:
    from harness.flags import PROGRAM
    from harness.terminal.safe import encodable, one_line

    try:
        sys.stderr.write(encodable(f"{PROGRAM}: {one_line(message)}\n", sys.stderr.encoding))
        sys.stderr.flush()
    except OSError:
        from harness.terminal.screen import silence

        silence(sys.stderr)
    return code
