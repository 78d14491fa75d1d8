"""Text from models, files and tools, made harmless for a terminal.

A control sequence can move the cursor over what a person has read, change the clipboard or the
window title; a bidi override or an invisible character can make a command look like another.
They are shown as escapes, never sent.
"""

import re

_UNSAFE = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # C0 without tab and newline, DEL, C1
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi marks, embeddings, overrides, isolates
    "\u180e\u200b\u2028\u2029\u2060-\u2065\ufeff\ufff9-\ufffb"  # invisible, and line separators
    "\ud800-\udfff"  # bytes that were no UTF-8
    "\U000e0000-\U000e007f"  # tags: text nobody sees
    "]"
)
_BREAK = re.compile(r" *[\t\n\r\v\f]\s*")


def clean(text: str) -> str:
    """`text` with every character that acts on a terminal written as an escape (`\\x1b`)."""
    return _UNSAFE.sub(_escaped, text)


def one_line(text: str) -> str:
    """`clean` text on one line: a line break or tab, with the blanks around it, is one space."""
    return clean(_BREAK.sub(" ", text).strip())


def encodable(text: str, encoding: str | None) -> str:
    """`text` with what `encoding` cannot hold written as escapes."""
    name = encoding or "utf-8"
    return text.encode(name, "backslashreplace").decode(name)


def _escaped(match: re.Match[str]) -> str:
    return match[0].encode("unicode_escape").decode("ascii")
