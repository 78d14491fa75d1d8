"""Python source as the parser wants it: UTF-8, lines ended by newlines, no byte order mark."""

import re

from harness.workspace.edits import declared_encoding

_LONE_RETURN = re.compile(rb"\r(?!\n)")
_WORD = re.compile(r"[^\W\d]\w*")
_BOM = b"\xef\xbb\xbf"


def normalised(data: bytes) -> bytes:
    """`data` in UTF-8 with the same lines. Bytes which do not decode are left as they are."""
    data = data.removeprefix(_BOM)
    encoding = declared_encoding(data)
    if encoding is not None and encoding != "utf-8":
        try:
            data = data.decode(encoding).encode()
        except (LookupError, UnicodeError):
            return data
    if b"\r" in data:
        data = _LONE_RETURN.sub(b"\n", data)
    return data.replace(b"\0", b" ")  # the grammar would take it for the end


def identifiers(data: bytes) -> set[str]:
    """Every word of a text that could be a name, also in strings and comments."""
    return set(_WORD.findall(data.decode("utf-8", "replace")))
