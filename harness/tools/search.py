"""search: lines that match a regular expression. No other program is run for it."""

import re
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType

from harness.errors import ToolError
from harness.tools.alike import either_quotes
from harness.tools.base import (
    Arguments,
    Prepared,
    Result,
    Tool,
    ToolContext,
    left_out,
    parameters,
    plural,
    string,
)
from harness.workspace.files import walk

MOST = 100
_MOST_KEPT = 10 * MOST
SECONDS = 3.0
_SHOWN_LINE = 300
_SHOWN_BEFORE = 100
_LARGEST_FILE = 1024 * 1024
_STOPPED = f"(Stopped after {SECONDS:g} s; use a simpler pattern or name a folder.)"
_AS_TEXT = "(No line matches that; these have it as plain text, with either kind of quotes.)"


class _TookTooLong(Exception):
    """Not a ToolError: those are caught for each file that cannot be read."""


@dataclass
class _Found:
    """What a search has come to: how many lines match in each file, and the first of them."""

    counts: dict[str, int] = field(default_factory=dict)
    lines: dict[str, list[str]] = field(default_factory=dict)
    kept: int = 0

    def add(self, path: str, lines: list[str]) -> None:
        if lines:
            self.counts[path] = len(lines)
            # more than are shown, in case that some files must not be
            self.lines[path] = lines[: min(MOST, _MOST_KEPT - self.kept)]
            self.kept += len(self.lines[path])

    def without(self, paths: Iterable[str]) -> None:
        for path in paths:
            del self.counts[path], self.lines[path]

    def shown(self) -> list[str]:
        return [line for lines in self.lines.values() for line in lines][:MOST]

    def text(self) -> str:
        shown = self.shown()
        more = sum(self.counts.values()) - len(shown)
        rest = [f"... and {more} more; narrow the pattern or the path"] if more > 0 else []
        return "\n".join([*shown, *rest])

    def note(self) -> str:
        count = sum(self.counts.values())
        return f"{count} in {plural(len(self.counts), 'file')}" if count else "no match"


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments.get("path", "."))
    wanted = arguments["pattern"]
    if not wanted:
        raise ToolError("pattern is empty; name the text or regular expression to look for.")
    pattern, remark = _compiled(wanted)
    notes = [note for note in (located.note, remark) if note]

    def run() -> Result:
        found = _Found()
        late: list[str] = []
        remarks = list(notes)
        try:
            with _time_limit() as check:
                late = [_STOPPED]
                _search(context, pattern, located.path, found, check)
                late = []
                plain = either_quotes(wanted)
                if not found.counts and plain.pattern != pattern.pattern:
                    _search(context, plain, located.path, found, check)
                    if found.counts:
                        remarks.append(_AS_TEXT)
        except _TookTooLong:
            pass  # `late` tells, unless it was only the search for plain text
        # the one file that is named was asked about already
        named = located.path in found.counts
        withheld = {} if named else context.withheld("search", list(found.counts))
        found.without(withheld)
        none = "" if late else f"No line matches {wanted!r} in {located.path!r}."
        texts = [*remarks, found.text() or none, *left_out(withheld), *late]
        return Result("\n".join(filter(None, texts)), found.note())

    return Prepared(run, path=located.path)


def _compiled(text: str) -> tuple[re.Pattern[str], str]:
    """The pattern, and a remark when it is taken as plain text."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        try:
            return re.compile(text), ""
        except (re.error, OverflowError, RecursionError, MemoryError) as error:
            remark = f"({text!r} is no regular expression, {error}; it was taken as plain text.)"
            return re.compile(re.escape(text)), remark


def _search(
    context: ToolContext,
    pattern: re.Pattern[str],
    where: str,
    found: _Found,
    check: Callable[[], None],
) -> None:
    for path in _paths(context, where):
        check()
        found.add(path, list(_matches(context, pattern, path)))


def _paths(context: ToolContext, where: str) -> Iterable[str]:
    """The files of a folder that count, or the one file that is named, ignored or not."""
    folder = context.root.path / where
    if not folder.is_dir():
        context.root.read(where)
        return [where]
    files = walk(context.root.path)
    return files if where == "." else [path for path in files if path.startswith(where + "/")]


def _matches(context: ToolContext, pattern: re.Pattern[str], path: str) -> Iterator[str]:
    try:
        data = context.root.read(path)
    except ToolError:
        return
    if b"\0" in data[:8192] or len(data) > _LARGEST_FILE:
        return
    for number, line in enumerate(data.decode("utf-8-sig", "replace").split("\n"), 1):
        match = pattern.search(line.removesuffix("\r"))
        if match:
            yield f"{path}:{number}: {_shown(line, match.start())}"


def _shown(line: str, at: int) -> str:
    """The line, or of a very long one the part around the match."""
    if len(line) <= _SHOWN_LINE:
        return line.strip()
    start = max(0, at - _SHOWN_BEFORE)
    dots = "..." if start else ""
    return f"{dots}{line[start : start + _SHOWN_LINE].strip()}..."


@contextmanager
def _time_limit() -> Iterator[Callable[[], None]]:
    """Gives a check that raises _TookTooLong when the time is over. In the main thread a pattern
    that backtracks without end is stopped, too: `re` looks at signals while it matches."""
    deadline = time.monotonic() + SECONDS

    def check() -> None:
        if time.monotonic() > deadline:
            raise _TookTooLong

    if threading.current_thread() is not threading.main_thread():
        yield check
        return

    def too_long(_signal: int, _frame: FrameType | None) -> None:
        raise _TookTooLong

    previous = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, SECONDS)
    try:
        yield check
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous or signal.SIG_DFL)


TOOL = Tool(
    name="search",
    description="Find the lines that match a regular expression (Python syntax) in text files.",
    parameters=parameters(
        ("pattern",),
        pattern=string("Regular expression"),
        path=string("File or folder to search; default '.'"),
    ),
    access="read",
    shows="pattern",
    prepare=_prepare,
)
