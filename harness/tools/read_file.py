"""read_file: numbered lines of one file, and how many it has."""

from harness.errors import ToolError
from harness.tools.base import (
    Arguments,
    Prepared,
    Result,
    Tool,
    ToolContext,
    integer,
    parameters,
    plural,
    string,
)
from harness.workspace.edits import decode

PAGE = 400
"""Lines shown when the call names no end."""
MOST_CHARACTERS = 20_000
"""Of one page; the rest is another call, not left out."""
LONGEST_LINE = 2_000


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments["path"])
    start, end = arguments.get("start", 1), arguments.get("end")
    if start < 1 or (end is not None and end < start):
        named = f"start {start}" + (f" and end {end}" if end is not None else "")
        raise ToolError(f"There are no lines with {named}; lines count from 1.")

    def run() -> Result:
        lines = text_lines(context, located.path)
        return _page(located.path, located.note, lines, start, end)

    return Prepared(run, path=located.path)


def text_lines(context: ToolContext, path: str) -> list[str]:
    """The lines of a text file, remembered as what the model has seen."""
    data = context.root.read(path)
    context.tracker.keep(path)
    lines = decode(data, path).text.replace("\r\n", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def numbered(lines: list[str], start: int, last: int) -> list[str]:
    """Lines `start` to `last`, as many as one result holds, at least one."""
    shown: list[str] = []
    size = 0
    for number in range(start, last + 1):
        line = lines[number - 1]
        if len(line) > LONGEST_LINE:
            line = f"{line[:LONGEST_LINE]}... ({len(line) - LONGEST_LINE} more characters)"
        size += len(line) + 8
        if size > MOST_CHARACTERS and shown:
            break
        shown.append(f"{number:>5}  {line}")
    return shown


def _page(path: str, note: str, lines: list[str], start: int, end: int | None) -> Result:
    total = len(lines)
    if total == 0:
        return Result(f"{note} {path} is empty.".strip(), "empty")
    if start > total:
        raise ToolError(f"{path!r} has {plural(total, 'line')}; there is no line {start}.")
    shown = numbered(lines, start, min(total, end if end is not None else start + PAGE - 1))
    last = start + len(shown) - 1
    head = f"{path}: lines {start}-{last} of {total}"
    if last < total:
        head += f" (read_file with start={last + 1} shows more)"
    text = "\n".join([*([note] if note else []), head, *shown])
    return Result(text, plural(len(shown), "line"))


TOOL = Tool(
    name="read_file",
    description="Read a text file: numbered lines and the total. The numbers are not in the file.",
    parameters=parameters(
        ("path",),
        path=string("File relative to the workspace root"),
        start=integer("First line, from 1"),
        end=integer("Last line, inclusive"),
    ),
    access="read",
    shows="path",
    prepare=_prepare,
)
