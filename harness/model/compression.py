"""Bodies that a server compressed although it was asked not to."""

from collections.abc import Iterable, Iterator

from harness.model.failures import RequestFailed

_GZIP_OR_ZLIB = 32 + 15
"""The window for zlib: whichever of the two headers there is."""

_READ = 65536
"""Bytes that come out at a time, however small they were made: their sum can be bounded."""


def decompressed(pieces: Iterable[bytes], encoding: str) -> Iterator[bytes]:
    """The pieces of a body, as they were before. Raises RequestFailed for an `encoding` that is
    not known or not true."""
    if encoding.strip().lower() in ("", "identity"):
        yield from pieces
        return
    if encoding.strip().lower() not in ("gzip", "x-gzip", "deflate"):
        raise RequestFailed("bad_body", f"it is compressed ({encoding!r}), which was not asked for")
    import zlib

    unpack = zlib.decompressobj(_GZIP_OR_ZLIB)
    try:
        for piece in pieces:
            while piece and not unpack.eof:
                yield unpack.decompress(piece, _READ)
                piece = unpack.unconsumed_tail
        yield unpack.flush()
    except zlib.error:
        raise RequestFailed("bad_body", f"it is said to be {encoding!r} and is not") from None
