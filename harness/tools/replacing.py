"""The write that both edit tools end in."""

from harness.errors import ToolError
from harness.tools.base import ToolContext


def replace(context: ToolContext, path: str, before: bytes | None, data: bytes) -> None:
    """Write `data` in the place of `before` and let the tracker know both.

    Raises ToolError when the file is no longer `before`: the edit was shown and approved for it.
    """
    if context.root.read_if_there(path) != before:
        raise ToolError(
            f"{path!r} changed while the edit was being approved; nothing was written. "
            "Read it again."
        )
    context.tracker.adopt(path, before)
    context.root.write(path, data)
