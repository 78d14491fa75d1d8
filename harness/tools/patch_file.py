"""patch_file: one exact piece of a file replaced by another."""

from harness.errors import NoMatch
from harness.tools.alike import elsewhere
from harness.tools.base import Arguments, Prepared, Result, Tool, ToolContext, parameters, string
from harness.tools.diffs import counts, unified
from harness.tools.replacing import replace
from harness.workspace.edits import decode, encode, replace_once


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments["path"])
    path = context.root.locate_new(located.path).path
    before = context.root.read(path)
    view = decode(before, path)
    try:
        text = replace_once(view, arguments["old_text"], arguments["new_text"], path)
    except NoMatch as refused:
        raise NoMatch(f"{refused}{elsewhere(context, arguments['old_text'], path)}") from None
    data = encode(view, text, path)
    diff = unified(path, view.text, text)

    def run() -> Result:
        replace(context, path, before, data)
        note = f"{located.note} " if located.note else ""
        return Result(f"{note}patched {path!r} ({counts(diff)})", counts(diff), diff=diff)

    return Prepared(run, preview=diff, path=path)


TOOL = Tool(
    name="patch_file",
    description=(
        "Replace one piece of a file. old_text must occur exactly once; copy it from read_file "
        "without the line numbers."
    ),
    parameters=parameters(
        ("path", "old_text", "new_text"),
        path=string("File relative to the workspace root"),
        old_text=string("The exact text to replace, with its indentation"),
        new_text=string("What to put in its place"),
    ),
    access="write",
    shows="path",
    prepare=_prepare,
)
