"""find_references: where a name is used."""

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

MOST = 60


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    name = arguments["name"].strip()

    def run() -> Result:
        found = context.index().references(name)
        withheld = context.withheld(
            "find_references", list(dict.fromkeys(each.path for each in found))
        )
        found = [each for each in found if each.path not in withheld]
        if not found:
            nowhere = f"{name!r} is used nowhere in the index; try search."
            return Result("\n".join([nowhere, *left_out(withheld)]), "none")
        lines = [
            f"{use.path}:{use.line}: {use.kind}"
            + (f" in {use.enclosing}" if use.enclosing else "")
            + f": {use.text[:200]}"
            for use in found[:MOST]
        ]
        if len(found) > MOST:
            lines.append(f"... and {len(found) - MOST} more")
        lines += left_out(withheld)
        return Result("\n".join(lines), plural(len(found), "reference"))

    return Prepared(run)


TOOL = Tool(
    name="find_references",
    description="Find where a name is used: calls, attributes, imports, assignments (Python).",
    parameters=parameters(("name",), name=string("Plain name, e.g. max_attempts")),
    access="read",
    shows="name",
    prepare=_prepare,
)
