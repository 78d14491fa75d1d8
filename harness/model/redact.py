"""Keeping a key out of what is shown and written, even where a server quotes it."""

import re

_PIECE = 8
"""Characters of a key that tell too much of it: servers like to quote how a key begins."""

_HIDDEN = "***"


def without_secret(text: str, secret: str | None) -> str:
    """`text` with `***` in place of the secret and of every piece of it of 8 characters or more.

    A shorter secret is replaced where it stands as a word of its own.
    """
    if not secret or not secret.strip():
        return text
    if len(secret) < _PIECE:
        return re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", _HIDDEN, text)
    pieces = {secret[at : at + _PIECE] for at in range(len(secret) - _PIECE + 1)}
    kept: list[str] = []
    end = hidden = 0  # up to where `text` is copied; up to where it is hidden
    for at in range(len(text) - _PIECE + 1):
        if text[at : at + _PIECE] in pieces:
            if at > hidden or not hidden:
                kept += [text[end:at], _HIDDEN]
            end = hidden = at + _PIECE
    return "".join([*kept, text[end:]])
