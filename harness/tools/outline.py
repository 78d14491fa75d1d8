"""outline: the classes, functions and variables of one file."""

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


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments["path"])

    def run() -> Result:
        symbols = context.index().outline(located.path)
        if not symbols:
            raise ToolError(f"{located.path!r} has no outline; read_file shows it.")
        lines = [located.note] if located.note else []
        for symbol in symbols:
            depth = symbol.qualified.count(".")
            doc = f"  # {symbol.doc}" if symbol.doc else ""
            text = symbol.signature or symbol.name
            lines.append(f"{'  ' * depth}{symbol.start_line}-{symbol.end_line} {text}{doc}")
        return Result("\n".join(lines), plural(len(symbols), "symbol"))

    return Prepared(run, path=located.path)


TOOL = Tool(
    name="outline",
    description="Show the classes, functions and variables of a Python file with line numbers.",
    parameters=parameters(("path",), path=string("File relative to the workspace root")),
    access="read",
    shows="path",
    prepare=_prepare,
)
