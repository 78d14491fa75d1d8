"""Text as a model remembers it: with the other kind of quotes, or from another file.

Test reports and prompts show code with quotes of their own, and small models copy those.
"""

import re
from collections.abc import Iterator
from itertools import islice

from harness.errors import ToolError
from harness.tools.base import ToolContext
from harness.workspace.files import walk

LEAST = 8
"""Characters of a text that is looked for in other files; shorter ones are everywhere."""

_MOST_FILES = 1000
_MOST_BYTES = 8 * 1024 * 1024
_MOST_NAMED = 3
_SHOWN = 200
_QUOTE = r"""['"]"""


def either_quotes(text: str) -> re.Pattern[str]:
    """A pattern for exactly this text, but for the kind of its quotes."""
    return re.compile(re.sub(_QUOTE, lambda _quote: _QUOTE, re.escape(text)))


def elsewhere(context: ToolContext, text: str, path: str) -> str:
    """A sentence that names the other files which have `text`, or "" when there are none.

    Looks at the first files of the workspace, 8 MiB in all; those that rules withhold are not
    named.
    """
    wanted = text.replace("\r\n", "\n").strip()
    if len(wanted) < LEAST:
        return ""
    places = list(_places(context, either_quotes(wanted), path))
    withheld = context.withheld("search", [place for place, _, _ in places])
    places = [place for place in places if place[0] not in withheld][:_MOST_NAMED]
    if not places:
        return ""
    lines = "".join(f"\n{name}:{number}: {line[:_SHOWN]}" for name, number, line in places)
    return f" That text is in another file:{lines}"


def _places(
    context: ToolContext, pattern: re.Pattern[str], path: str
) -> Iterator[tuple[str, int, str]]:
    """Path, line number and first line of the first match in each file but `path`."""
    left = _MOST_BYTES
    for name in islice(walk(context.root.path), _MOST_FILES):
        if name == path or left <= 0:
            continue
        try:
            data = context.root.read(name)
        except ToolError:
            continue
        left -= len(data)
        if b"\0" in data[:8192]:
            continue
        text = data.decode("utf-8-sig", "replace").replace("\r\n", "\n")
        match = pattern.search(text)
        if match:
            number = text.count("\n", 0, match.start()) + 1
            yield name, number, text.split("\n", number)[number - 1].strip()
