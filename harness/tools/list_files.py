"""list_files: what is in the workspace."""

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
from harness.workspace.files import walk

MOST = 200


def _prepare(context: ToolContext, arguments: Arguments) -> Prepared:
    located = context.root.locate(arguments.get("path", "."))
    return Prepared(lambda: _run(context, located.path, located.note), path=located.path)


def _run(context: ToolContext, folder: str, note: str) -> Result:
    files = list(walk(context.root.path))
    if folder != ".":
        files = [path for path in files if path == folder or path.startswith(folder + "/")]
    if not files:
        text = f"{note} No files in {folder!r}; those that git ignores are not listed."
        return Result(text.strip(), "no files")
    shown = files if len(files) <= MOST else _by_folder(files, folder)
    lines = [note] if note else []
    lines += shown[:MOST]
    if len(shown) > MOST:
        lines.append(f"... and {len(shown) - MOST} more; list a folder of it")
    return Result("\n".join(lines), plural(len(files), "file"))


def _by_folder(files: list[str], folder: str) -> list[str]:
    """Files directly in `folder`, and its folders with the number of files beneath each."""
    prefix = "" if folder == "." else folder + "/"
    counts: dict[str, int] = {}
    direct: list[str] = []
    for path in files:
        head, slash, _ = path[len(prefix) :].partition("/")
        if slash:
            counts[prefix + head + "/"] = counts.get(prefix + head + "/", 0) + 1
        else:
            direct.append(path)
    return [f"{name} ({plural(count, 'file')})" for name, count in counts.items()] + direct


TOOL = Tool(
    name="list_files",
    description="List the files of the workspace or of one folder in it.",
    parameters=parameters(path=string("Folder relative to the workspace root; default '.'")),
    access="read",
    shows="path",
    prepare=_prepare,
)
