"""write_file: a whole new text for one file."""

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
from harness.tools.diffs import counts, unified
from harness.tools.replacing import replace
from harness.workspace.edits import decode, encode, view_for, whole


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    path = context.root.locate_new(arguments["path"]).path
    before = context.root.read_if_there(path)
    view = decode(before, path) if before is not None else None
    text = whole(view, arguments["content"], path)
    data = encode(view_for(view, text), text, path)
    diff = unified(path, view.text if view else "", text)

    def run() -> Result:
        if data == before:
            return Result(f"{path!r} already has this content; nothing was changed.", "unchanged")
        replace(context, path, before, data)
        verb = "wrote" if before is not None else "created"
        lines = plural(text.count("\n") + (not text.endswith("\n")), "line") if text else "empty"
        return Result(f"{verb} {path!r} ({lines})", counts(diff), diff=diff)

    return Prepared(run, preview=diff, path=path)


TOOL = Tool(
    name="write_file",
    description="Create a file or replace its whole content. Prefer patch_file for small changes.",
    parameters=parameters(
        ("path", "content"),
        path=string("File relative to the workspace root; folders are created"),
        content=string("The whole text of the file"),
    ),
    access="write",
    shows="path",
    prepare=_prepare,
)
