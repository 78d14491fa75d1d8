"""find_definitions: where a name is defined."""

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

MOST = 50


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    name = arguments["name"].strip()

    def run() -> Result:
        found = context.index().definitions(name)
        if not found:
            return Result(f"{name!r} is defined nowhere in the index; try search.", "none")
        lines = [
            f"{symbol.path}:{symbol.start_line}: {symbol.kind} {symbol.qualified}"
            + (f"  {symbol.signature}" if symbol.signature else "")
            for symbol in found[:MOST]
        ]
        if len(found) > MOST:
            lines.append(f"... and {len(found) - MOST} more")
        return Result("\n".join(lines), plural(len(found), "definition"))

    return Prepared(run)


TOOL = Tool(
    name="find_definitions",
    description="Find where a class, function, method or variable is defined (Python).",
    parameters=parameters(("name",), name=string("Name, plain or dotted, e.g. AuthService.reset")),
    access="read",
    shows="name",
    prepare=_prepare,
)
