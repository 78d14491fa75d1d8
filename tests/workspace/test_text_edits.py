"""One piece of a file replaced, every other byte as it was."""

import codecs
import time
from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from harness.errors import ToolError
from harness.workspace.edits import View, decode, encode, replace_once, view_for, whole


def patched(data: bytes, old: str, new: str) -> bytes:
    view = decode(data, "a.py")
    return encode(view, replace_once(view, old, new, "a.py"), "a.py")


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        pytest.param(b"a = 1\nb = 2\n", "b = 2", "b = 3", b"a = 1\nb = 3\n", id="plain"),
        pytest.param(b"a\r\nb\r\nc\r\n", "a\nb", "a\nx\ny", b"a\r\nx\r\ny\r\nc\r\n", id="CRLF"),
        pytest.param(b"a\r\nb\r\n", "a\r\nb", "a\r\nc", b"a\r\nc\r\n", id="CRLF sent as such"),
        pytest.param(b"a\nb\n", "a\r\nb", "a\r\nc\r\nd", b"a\nc\nd\n", id="CRLF sent for LF"),
        pytest.param(b"a\r\nb", "b", "b\nc", b"a\r\nb\r\nc", id="CRLF, last line without"),
        pytest.param(
            b"a\r\nb\nc\r\n", "a\nb\nc", "a\nB\nc", b"a\r\nB\nc\r\n", id="mixed ends kept"
        ),
        pytest.param(
            b"a\nb\r\nc\n", "b", "b\nx", b"a\nb\r\nx\r\nc\n", id="mixed, end of that line"
        ),
        pytest.param(b"a\r\nb\nc\n", "c", "c\nd", b"a\r\nb\nc\nd\n", id="mixed, LF at that line"),
        pytest.param(b'x = "1\r2"\ny\n', "y", "z", b'x = "1\r2"\nz\n', id="a lone CR is data"),
        pytest.param(b"a\rb\rc", "b", "x\ny", b"a\rx\ny\rc", id="no line end but CR"),
        pytest.param(b"a\r\r\nb\r\n", "b", "c", b"a\r\r\nc\r\n", id="CR before CRLF"),
        pytest.param(
            b"\xef\xbb\xbfx = 1\n", "x = 1\n", "x = 2\n", b"\xef\xbb\xbfx = 2\n", id="BOM"
        ),
        pytest.param(b"\xef\xbb\xbf\xe9\nb", "b", "c", b"\xef\xbb\xbf\xe9\nc", id="BOM, bad byte"),
        pytest.param(b"a = 1\nb = 2", "a = 1", "a = 3", b"a = 3\nb = 2", id="no final newline"),
        pytest.param(b"a\n", "a\n", "a", b"a", id="final newline removed on request"),
        pytest.param(b"# (c) \xa9\nx = 0\n", "x = 0", "x = 1", b"# (c) \xa9\nx = 1\n", id="bytes"),
        pytest.param(b"a  \n\tb\n", "\tb", "\tc  ", b"a  \n\tc  \n", id="blanks exact"),
        pytest.param(b"a\nb\nc\n", "b\n", "", b"a\nc\n", id="deleted"),
        pytest.param(b"a\x0cb\xc2\x85c\n", "c", "d", b"a\x0cb\xc2\x85d\n", id="other breaks"),
        pytest.param(b'"x"\n', '"x"', r'r"\1\g<0>$&{0}"', b'r"\\1\\g<0>$&{0}"\n', id="literal"),
    ],
)
def test_a_patch_splices_bytes(before: bytes, old: str, new: str, after: bytes) -> None:
    assert patched(before, old, new) == after


def test_a_declared_encoding_is_kept() -> None:
    before = b'# -*- coding: latin-1 -*-\nname = "Andr\xe9"\nage = 1\n'
    assert patched(before, "age = 1", "age = 2  # ü") == before.replace(b"1\n", b"2  # \xfc\n")
    assert patched(before, "André", "Zoé") == before.replace(b"Andr\xe9", b"Zo\xe9")
    with pytest.raises(ToolError, match=r"'a.py' is iso8859-1, which cannot hold '→'"):
        patched(before, "age = 1", "age = 2  # →")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_files_with_a_utf_16_or_32_mark_stay_so(encoding: str) -> None:
    mark = "\ufeff".encode(encoding)
    before = mark + "a=1\r\nb=é😀\r\n".encode(encoding)
    assert patched(before, "a=1", "a=2\nc=3") == mark + "a=2\r\nc=3\r\nb=é😀\r\n".encode(encoding)


@pytest.mark.parametrize(
    "declared", ["utf-16-le", "rot13", "hex", "cp037", "nonsense", "unicode_escape", "idna"]
)
def test_a_declaration_that_cannot_be_true_is_not_believed(declared: str) -> None:
    data = f"# coding: {declared}\nx = '\xe9'  # \\u00e9 A\n".encode()
    view = decode(data, "a.py")
    assert "# coding: " in view.text
    assert encode(view, view.text, "a.py") == data


def test_a_wrong_declaration_keeps_the_bytes() -> None:
    data = b"# coding: utf-8\nx = '\xe9'\ny = 1\n"
    assert patched(data, "y = 1", "y = 2") == data.replace(b"y = 1", b"y = 2")


@pytest.mark.parametrize(
    "data", [b"a\0b", b"\xef\xbb\xbfa\0b", b"\xff\xfea", codecs.BOM_UTF16_LE + b"\x00\xd8"]
)
def test_binary_files_are_sentences(data: bytes) -> None:
    with pytest.raises(ToolError, match=r"'x.bin' .*(binary|is not)"):
        decode(data, "x.bin")


def test_several_matches_are_counted_with_their_lines() -> None:
    with pytest.raises(ToolError) as refused:
        patched(b"x = 1\ny\nx = 1\n  x = 1\n", "x = 1", "x = 2")
    assert "occurs 3 times in 'a.py' (at lines 1, 3, 4)" in str(refused.value)
    assert "nothing was changed" in str(refused.value)


def test_matches_that_differ_in_line_ends_alone_are_several() -> None:
    with pytest.raises(ToolError, match=r"2 times .*\(at lines 1, 3\)"):
        patched(b"a\r\nb\r\na\nb\n", "a\nb", "c")


def test_overlapping_matches_are_several() -> None:
    with pytest.raises(ToolError, match="2 times"):
        patched(b"aaa", "aa", "b")


def test_very_many_matches_are_a_short_sentence() -> None:
    with pytest.raises(ToolError) as refused:
        patched(b"x\n" * 500_000, "x", "y")
    assert "occurs 1000 or more times" in str(refused.value)
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize(
    ("before", "old", "told"),
    [
        pytest.param(
            "class A:\n    def ok(self):\n        return True\n",
            "def ok(self):\n    return True",
            "lines 2-3 in blanks alone: the file has another indentation. Send old_text and "
            "new_text with the blanks of the file, which are:\n    def ok(self):\n"
            "        return True",
            id="without its indentation",
        ),
        pytest.param(
            "def f():\n\tif x:\n\t\treturn 1\n",
            "    if x:\n        return 1",
            "lines 2-3 in blanks alone: the file has tabs where old_text has spaces. ",
            id="tabs",
        ),
        pytest.param(
            "def f():\n    return 1\n",
            "\treturn 1",
            "line 2 in blanks alone: the file has spaces where old_text has tabs. ",
            id="spaces",
        ),
        pytest.param(
            "x = 1   \ny = 2\n",
            "x = 1\ny = 2",
            "lines 1-2 in blanks alone: the file has blanks at the end of a line. ",
            id="blanks at the end",
        ),
        pytest.param(
            "a\n\n\nb\n", "a\n\n  \nb", "lines 1-4 in blanks alone: ", id="blanks on an empty line"
        ),
    ],
)
def test_text_that_differs_in_blanks_alone_is_refused_with_the_blanks_of_the_file(
    before: str, old: str, told: str
) -> None:
    with pytest.raises(ToolError) as refused:
        patched(before.encode(), old, "z")
    assert "occurs 0 times in 'a.py'; nothing was changed. It differs from " in str(refused.value)
    assert told in str(refused.value)


@pytest.mark.parametrize(
    "line",
    [
        "# ... existing code unchanged ...",
        "// ... rest of the file ...",
        "    # Rest of the class remains unchanged",
        "/* … other methods … */",
        "... (remaining code) ...",
        "<!-- ... same as before ... -->",
        "# the rest of the code stays the same",
        "# (unchanged)",
        "# Existing code here",
        "// remaining methods unchanged",
    ],
)
def test_a_placeholder_does_not_replace_lines_of_a_file(line: str) -> None:
    view = View("import os\n\n\ndef f():\n    return 1\n")
    with pytest.raises(ToolError, match=r"holds the placeholder .* lines of 'a.py' would be lost"):
        whole(view, f"import sys\n{line}\n", "a.py")
    with pytest.raises(ToolError, match=r"new_text holds the placeholder"):
        replace_once(view, view.text, f"import sys\n{line}\n", "a.py")


@pytest.mark.parametrize(
    ("before", "content"),
    [
        pytest.param("x = 1\n", "x = 1\n# ... existing code ...\n", id="nothing is lost"),
        pytest.param("# ... existing code ...\nx = 1\n", "# ... existing code ...\n", id="not new"),
        pytest.param("x = 1\ny = 2\n", "def f(): ...\n", id="a stub"),
        pytest.param("x = 1\ny = 2\n", "class A:\n    ...\n", id="an ellipsis"),
        pytest.param("x = 1\n", "# existing users keep their password\n", id="a sentence"),
        pytest.param("x = 1\n", 'print("... the rest ...")\n', id="in a string"),
        pytest.param("x = 1\n", "# see the other file\n", id="a word"),
        pytest.param("x = 1\n", "# existing methods of the class\n", id="a heading"),
    ],
)
def test_what_only_looks_like_a_placeholder_is_written(before: str, content: str) -> None:
    assert whole(View(before), content, "a.py") == content


def test_a_comment_that_replaces_one_line_is_no_placeholder() -> None:
    assert patched(b"x = 1\n", "x = 1", "# ... other values ...") == b"# ... other values ...\n"


def test_no_match_shows_the_closest_lines() -> None:
    source = b"def f():\n\treturn 1\n\ndef g():\n\treturn 2\n"
    with pytest.raises(ToolError) as refused:
        patched(source, "def gg():\n    return 2", "def g(): pass")
    text = str(refused.value)
    assert "occurs 0 times in 'a.py'; nothing was changed" in text
    assert "\n4: def g():\n5: \treturn 2\n" in text


def test_closest_lines_are_numbered_as_read_file_numbers_them() -> None:
    with pytest.raises(ToolError, match="\n2: limit = 3"):
        patched(b"a\x0cb\x0bc\rd\ne\n".replace(b"e", b"limit = 3"), "limit = 4", "limit = 5")


def test_no_match_in_a_large_file_is_quick() -> None:
    line = b"    value = some_function(argument, other=%d)\n"
    data = b"".join(line % number for number in range(30_000)) + b"y" * 1_000_000
    started = time.process_time()
    with pytest.raises(ToolError, match="0 times"):
        patched(data, "entirely_different()\n" * 50, "x")
    assert time.process_time() - started < 3


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("", "z", "empty"),
        ("a", "a", "identical"),
        ("a\r\n", "a\n", "identical"),
        ("A", "b", "0 times"),
    ],
)
def test_calls_without_a_meaning_are_refused(old: str, new: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        patched(b"a\n", old, new)


def test_composed_and_decomposed_letters_are_different() -> None:
    with pytest.raises(ToolError, match=r"0 times .* another Unicode form"):
        patched("n = 'e\u0301'\n".encode(), "n = 'é'", "n = 1")


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (None, "a\nb", b"a\nb"),
        (None, "a\r\nb", b"a\r\nb"),
        (b"x\r\ny\r\n", "a\nb\n", b"a\r\nb\r\n"),
        (b"x\r\ny\r\n", "a\r\nb\n", b"a\r\nb\r\n"),
        (b"x\r\ny\n", "a\nb\n", b"a\nb\n"),
        (b"x\n", "a", b"a"),
        (b"\xef\xbb\xbfx\n", "a\n", b"\xef\xbb\xbfa\n"),
        (b"\xef\xbb\xbfx\n", "\ufeffa\n", b"\xef\xbb\xbfa\n"),
        (b"\xff\xfea\x00", "b", b"\xff\xfeb\x00"),
        (b"# coding: latin-1\n\xe9\n", "# coding: latin-1\nü\n", b"# coding: latin-1\n\xfc\n"),
        (b"# coding: latin-1\n\xe9\n", "ü\n", b"\xc3\xbc\n"),
        (None, "# coding: latin-1\nü\n", b"# coding: latin-1\n\xfc\n"),
        (b"\xe9\n", "é\n", b"\xc3\xa9\n"),
    ],
)
def test_a_whole_text_keeps_what_the_file_was(
    before: bytes | None, content: str, after: bytes
) -> None:
    view = decode(before, "a") if before is not None else None
    text = whole(view, content, "a")
    assert encode(view_for(view, text), text, "a") == after


UNITS = [b"a", b"b", b"ab", b" ", b"\t", b"\n", b"\r\n", "é😀".encode()]
NEW = st.lists(st.sampled_from(UNITS), max_size=12)
PIECES = st.lists(st.sampled_from([*UNITS, b"\r", b"\xe9"]), max_size=25)
"""A file in pieces that a match does not cut."""


@settings(deadline=None)
@given(st.one_of(PIECES.map(b"".join), st.binary(max_size=60)))
def test_what_is_decoded_encodes_to_the_same_bytes(data: bytes) -> None:
    try:
        view = decode(data, "f")
    except ToolError:
        return
    assert encode(view, view.text, "f") == data


@settings(deadline=None)
@given(pieces=PIECES, start=st.integers(0, 20), length=st.integers(1, 8), new=NEW)
def test_a_patch_changes_the_matched_bytes_and_nothing_else(
    pieces: list[bytes], start: int, length: int, new: list[bytes]
) -> None:
    assume(not any(a == b"\r" and b in (b"\n", b"\r\n") for a, b in pairwise(pieces)))
    cuts = pieces[:start], pieces[start : start + length], pieces[start + length :]
    head, matched, tail = map(b"".join, cuts)
    assume(matched)
    view = decode(head + matched + tail, "f")
    old = matched.decode("utf-8", "surrogateescape").replace("\r\n", "\n")
    wanted = b"".join(new).decode().replace("\r\n", "\n")
    seen = view.text.replace("\r\n", "\n")
    if sum(seen.startswith(old, at) for at in range(len(seen))) != 1 or old == wanted:
        with pytest.raises(ToolError):
            replace_once(view, old, wanted, "f")
        return
    result = encode(view, replace_once(view, old, wanted, "f"), "f")
    assert result.startswith(head)
    assert result.endswith(tail)
    middle = result[len(head) : len(result) - len(tail)]
    assert middle.replace(b"\r\n", b"\n") == wanted.encode()


def test_the_view_of_nothing_writes_lf() -> None:
    assert View("").newline == "\n"
    assert View("a\r\n").newline == "\r\n"
    assert View("a\r\nb\n").newline == "\n"
