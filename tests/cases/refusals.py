"""Texts which must be refused, or warned about: `errors.json`.

    {"text": ..., "error": class, "line": number or null, "col": number or null}

A class is one of CODES, or the code of a diagnostic itself.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from rules import Database, Diagnostic, LimitError, Program, RuleError

CODES = {
    "unsafe": {"unsafe-variable"},
    "arity": {"arity-clash"},
    "wildcard-in-head": {"wildcard-position"},
    "wildcard-in-comparison": {"wildcard-position"},
    "warning-undefined-predicate": {"unknown-predicate"},
    "syntax": {"syntax", "unterminated-string"},
    "tier": {"tier-violation", "negative-head"},
}

PATIENCE = 20
"""Seconds in which a program without an end must meet a bound."""


def check_refusal(entry: dict[str, Any]) -> Iterator[str]:
    """What is wrong with how the library takes a text."""
    if entry["error"] == "limit":
        yield from check_limit(entry)
        return
    wanted = CODES.get(entry["error"], {entry["error"]})
    found, refused = diagnostics(entry["text"])
    if refused is entry["error"].startswith("warning"):
        yield "refused" if refused else "accepted"
    if not any(one.code in wanted and fits(one, entry) for one in found):
        told = "; ".join(f"{one.line}:{one.column} {one.code}" for one in found) or "nothing"
        yield f"expected {entry['error']} at {place(entry)}, found {told}"


def diagnostics(text: str) -> tuple[tuple[Diagnostic, ...], bool]:
    """What is said about a text, and whether it is refused."""
    try:
        return Program.parse(text, "errors.dl").warnings, False
    except RuleError as error:
        return error.diagnostics, True


def fits(found: Diagnostic, entry: dict[str, Any]) -> bool:
    line, column = entry.get("line"), column_of(entry)
    return line in (None, found.line) and column in (None, found.column)


def column_of(entry: dict[str, Any]) -> int | None:
    """None also for a column behind the end of its line, which is no place in the text."""
    line, column = entry.get("line"), entry.get("col")
    if line is None or column is None:
        return column
    return column if column <= len(entry["text"].splitlines()[line - 1]) + 1 else None


def place(entry: dict[str, Any]) -> str:
    return f"{entry.get('line') or 'any line'}:{column_of(entry) or 'any column'}"


def check_limit(entry: dict[str, Any]) -> Iterator[str]:
    """Every bound must stop the program, and name the rule and its line."""
    program = Program.parse(entry["text"], "errors.dl")
    for bounds in ({"max_derived": 50}, {"max_rounds": 50}, {}):
        try:
            with patience():
                Database(program, **bounds)
        except LimitError as error:
            line = entry.get("line")
            if line is not None and f"errors.dl:{line}" not in str(error):
                yield f"with {bounds or 'defaults'} the rule is not named: {error}"
        except TimeoutError:
            yield f"with {bounds or 'defaults'} nothing stopped it in {PATIENCE} s"
        else:
            yield f"with {bounds or 'defaults'} nothing stopped it"


@contextmanager
def patience() -> Iterator[None]:
    """Raise TimeoutError in the body when it takes too long, where signals can be had."""

    def late(*_: object) -> None:
        raise TimeoutError

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, PATIENCE)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
