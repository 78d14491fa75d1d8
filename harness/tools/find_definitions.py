"""find_definitions: where a name is defined."""

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

MOST = 50


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    name = arguments["name"].strip()

    def run() -> Result:
        found = context.index().definitions(name)
        withheld = context.withheld(
            "find_definitions", list(dict.fromkeys(each.path for each in found))
        )
        found = [each for each in found if each.path not in withheld]
        if not found:
            nowhere = f"{name!r} is defined nowhere in the index; try search."
            return Result("\n".join([nowhere, *left_out(withheld)]), "none")
        lines = [
            f"{symbol.path}:{symbol.start_line}: {symbol.kind} {symbol.qualified}"
            + (f"  {symbol.signature}" if symbol.signature else "")
            for symbol in found[:MOST]
        ]
        if len(found) > MOST:
            lines.append(f"... and {len(found) - MOST} more")
        lines += left_out(withheld)
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
