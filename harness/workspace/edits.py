"""Replacing a piece of a file without touching the rest.

The model sees text with `\\n`; the file keeps its bytes: byte order mark, encoding, line ends of
the untouched lines, a missing last newline.
"""

import codecs
import re
from dataclasses import dataclass

from harness.errors import NoMatch, ToolError
from harness.workspace.elided import refuse_elided
from harness.workspace.mismatch import MOST_MATCHES, mismatch

_SIGNATURES = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_COOKIE = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")


@dataclass(frozen=True)
class View:
    """A file as text: `text` has the file's own line ends, `encoding` writes it back."""

    text: str
    encoding: str = "utf-8"
    bom: bytes = b""

    @property
    def newline(self) -> str:
        """The line end to write: `\\r\\n` only when the file knows no other."""
        crlf = self.text.count("\r\n")
        return "\r\n" if crlf and crlf == self.text.count("\n") else "\n"


def decode(data: bytes, path: str) -> View:
    """Raises ToolError for a binary file."""
    bom, encoding = next((s for s in _SIGNATURES if data.startswith(s[0])), (b"", "utf-8"))
    if encoding != "utf-8":
        return View(_strict(data[len(bom) :], encoding, path), encoding, bom)
    if b"\0" in data:
        raise ToolError(f"{path!r} is a binary file; it is not shown or edited as text.")
    declared = None if bom else declared_encoding(data)
    text = _round_trip(data, declared) if declared is not None else None
    if declared is not None and text is not None:
        return View(text, declared)
    # undeclared bytes pass through unharmed as surrogates
    return View(data[len(bom) :].decode("utf-8", "surrogateescape"), "utf-8", bom)


def encode(view: View, text: str, path: str) -> bytes:
    """Raises ToolError when the file's encoding has no such character."""
    try:
        return view.bom + text.encode(view.encoding, "surrogateescape")
    except UnicodeEncodeError as error:
        bad = text[error.start : error.end]
        raise ToolError(f"{path!r} is {view.encoding}, which cannot hold {bad[:20]!r}.") from None


def replace_once(view: View, old: str, new: str, path: str) -> str:
    """The text with the only occurrence of `old` replaced.

    Line ends are compared as if all were `\\n`. What `old` and `new` have in common at their
    beginning and end keeps its bytes; what differs gets the line end in use at that place.
    Raises ToolError, with the count and the lines, unless there is exactly one; NoMatch when
    there is none.
    """
    old, new, text = _lf(old), _lf(new), _lf(view.text)
    if not old:
        raise ToolError("old_text is empty; copy the lines to replace from the file.")
    if old == new:
        raise ToolError("old_text and new_text are identical; nothing was changed.")
    starts = _starts(text, old)
    if len(starts) != 1:
        refused = ToolError if starts else NoMatch
        raise refused(mismatch(text, old, starts, path))
    if new.count("\n") < old.count("\n"):
        refuse_elided(old, new, "new_text", path)
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    start = _place(view.text, starts[0] + head)
    end = _place(view.text, starts[0] + len(old) - tail)
    middle = new[head : len(new) - tail].replace("\n", _line_end(view.text, start))
    return view.text[:start] + middle + view.text[end:]


def whole(before: View | None, content: str, path: str) -> str:
    """`content` with the line ends of the file it replaces, and without a second mark.

    Raises ToolError for one that stands for lines of the file with a placeholder.
    """
    if before is None:
        return content
    refuse_elided(before.text, content, "content", path)
    if before.newline == "\r\n":
        content = _lf(content).replace("\n", "\r\n")
    return content.removeprefix("\ufeff") if before.bom else content


def view_for(before: View | None, content: str) -> View:
    """How a whole new text is encoded: a byte order mark stays; without one the encoding that
    the new text declares counts, not that of the text before."""
    if before is not None and before.bom:
        return before
    declared = declared_encoding(content[:2000].encode("utf-8", "replace"))
    return View(content, declared or "utf-8")


def declared_encoding(data: bytes) -> str | None:
    """The encoding of a PEP 263 comment in the first two lines, when Python knows it."""
    for line in data.split(b"\n", 2)[:2]:
        match = _COOKIE.match(line)
        if match:
            return _source_encoding(match[1].decode("ascii", "replace"))
    return None


def _source_encoding(name: str) -> str | None:
    """The canonical name of an encoding in which that very comment can be read."""
    try:
        found = codecs.lookup(name).name
        return found if "coding".encode(found) == b"coding" else None
    except (LookupError, ValueError):
        return None


def _round_trip(data: bytes, encoding: str) -> str | None:
    """The text that encodes to exactly `data`, or None: the declaration is wrong."""
    try:
        text = data.decode(encoding)
        return text if text.encode(encoding) == data else None
    except (UnicodeError, LookupError):
        return None


def _strict(data: bytes, encoding: str, path: str) -> str:
    try:
        return data.decode(encoding)
    except UnicodeDecodeError:
        raise ToolError(f"{path!r} starts as {encoding} but is not; it is not edited.") from None


def _lf(text: str) -> str:
    return text.replace("\r\n", "\n")


def _place(text: str, index: int) -> int:
    """Where the character `index` of `_lf(text)` lies in `text`."""
    shift = 0
    for piece in text.split("\r\n"):
        if index <= len(piece):
            break
        index -= len(piece) + 1
        shift += len(piece) + 2
    return shift + index


def _common(one: str, other: str) -> int:
    """The length of the common beginning."""
    pairs = enumerate(zip(one, other, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))


def _line_end(text: str, place: int) -> str:
    """The line end of the line at `place`, or of the one before when it is the last."""
    at = text.find("\n", place)
    if at < 0:
        at = text.rfind("\n")
    return "\r\n" if at > 0 and text[at - 1] == "\r" else "\n"


def _starts(text: str, piece: str) -> list[int]:
    """The first places where `piece` begins, overlapping ones too."""
    found: list[int] = []
    at = text.find(piece)
    while at >= 0 and len(found) < MOST_MATCHES:
        found.append(at)
        at = text.find(piece, at + 1)
    return found
