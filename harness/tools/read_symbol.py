"""read_symbol: the source of one class, function or method."""

from harness.errors import ToolError
from harness.tools.base import (
    Arguments,
    Prepared,
    Result,
    Tool,
    ToolContext,
    parameters,
    plural,
    string,
)
from harness.tools.read_file import numbered, text_lines


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments["path"])
    name = arguments["name"].strip()

    def run() -> Result:
        index = context.index()
        symbol = index.symbol(located.path, name)
        if symbol is None:
            names = ", ".join(s.qualified for s in index.outline(located.path)[:30])
            raise ToolError(
                f"{located.path!r} defines no {name!r}; it defines: {names or 'nothing'}."
            )
        lines = text_lines(context, located.path)
        shown = numbered(lines, symbol.start_line, min(symbol.end_line, len(lines)))
        head = f"{located.path}: {symbol.kind} {symbol.qualified}"
        last = symbol.start_line + len(shown) - 1
        if last < symbol.end_line:
            head += f" (to line {symbol.end_line}; read_file with start={last + 1} shows more)"
        parts = [*([located.note] if located.note else []), head, *shown]
        return Result("\n".join(parts), plural(len(shown), "line"))

    return Prepared(run, path=located.path)


TOOL = Tool(
    name="read_symbol",
    description="Read one class, function or method of a Python file.",
    parameters=parameters(
        ("path", "name"),
        path=string("File relative to the workspace root"),
        name=string("Dotted name in that file, e.g. AuthService.authenticate"),
    ),
    access="read",
    shows="name",
    prepare=_prepare,
)
