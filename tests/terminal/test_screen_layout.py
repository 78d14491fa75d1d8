"""Rows, widths, glyphs and colours."""

import io
import os
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.utils import get_cwidth

from harness.terminal.layout import Row, arrange, cells, shorten, split, wrap
from harness.terminal.screen import Screen
from harness.terminal.style import ASCII, UNICODE, choose_color, columns, glyphs_for, is_live

PRINTABLE = st.text(st.characters(exclude_categories=("Cc", "Cs", "Cn", "Co", "Zl", "Zp")))


@pytest.mark.parametrize("text", ["auth.py", "日本語.py", "cafe\u0301", "naïve", "👍 ok", "ｶﾅ"])
def test_cells_agree_with_the_prompts_own_measure(text: str) -> None:
    assert cells(text) == get_cwidth(text)


@given(
    PRINTABLE, st.integers(0, 50), st.sampled_from(["…", "..."]), st.sampled_from(["middle", "end"])
)
def test_shortened_text_fits(text: str, room: int, dots: str, cut: str) -> None:
    assert cells(shorten(text, room, dots, cut)) <= room  # type: ignore[arg-type]


def test_the_middle_of_a_path_is_what_is_left_out() -> None:
    assert shorten("tests/unit/test_authentication.py", 20, "…", "middle") == "tests/unit…cation.py"


@given(PRINTABLE, st.integers(1, 30))
def test_split_loses_nothing(text: str, room: int) -> None:
    pieces = split(text, room)
    assert "".join(pieces) == text
    assert all(cells(piece) <= max(room, 2) for piece in pieces)


def test_a_megabyte_on_one_line_is_split_at_once() -> None:
    started = time.monotonic()
    assert len(split("x" * 1_000_000, 37)) == 27_028
    assert len(split("é" * 1_000_000, 37)) == 27_028
    assert time.monotonic() - started < 5


def test_wrapping_leaves_words_whole() -> None:
    text = "failed: tests/test_authentication.py::TestLockout::test_lockout did not pass"
    lines = wrap(text, 20, "  ").split("\n")
    assert "  tests/test_authentication.py::TestLockout::test_lockout" in lines
    assert " ".join(line.strip() for line in lines) == text


@given(PRINTABLE, PRINTABLE, PRINTABLE, st.integers(12, 120), st.sampled_from(["…", "..."]))
def test_a_row_never_reaches_the_last_column(
    name: str, about: str, note: str, width: int, dots: str
) -> None:
    row = Row("✓", "good", name, about, note)
    assert cells("✓ " + "".join(arrange(row, width, dots))) < width


def test_a_note_is_at_the_right_edge() -> None:
    out = io.StringIO()
    screen = Screen(out, width=40)
    screen.row(Row("✓", "good", "read_file", "auth.py", "29 lines"))
    screen.row(Row("✓", "good", "patch_file", "a/very/long/path/to/a/module.py", "+1 -1"))
    first, second = out.getvalue().splitlines()
    assert len(first) == len(second) == 39
    assert first == "✓ read_file auth.py            29 lines"
    assert second == "✓ patch_file a/very/lo…module.py  +1 -1"


def test_without_a_width_nothing_is_cut() -> None:
    out = io.StringIO()
    Screen(out).row(Row("✓", "good", "run_shell", "x" * 200, "exit 0, " + "y" * 100))
    assert "x" * 200 in out.getvalue()
    assert "y" * 100 in out.getvalue()


def test_an_encoding_without_the_glyphs_gets_plain_ones() -> None:
    assert glyphs_for("utf-8") == UNICODE
    for name in ("ascii", "iso-8859-1", "no-such-encoding"):
        assert glyphs_for(name) == ASCII
    marks = vars(ASCII)
    assert len(set(marks.values())) == len(marks)
    assert "".join(marks.values()).isascii()


def test_text_goes_out_on_an_ascii_stream() -> None:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding="ascii")
    screen = Screen(out, width=40)
    screen.row(Row(screen.glyphs.passed, "good", "read_file", "naïve_日本.py", "3 lines"))
    screen.text("Ünïcode…")
    assert raw.getvalue().isascii()
    assert b"+ read_file na" in raw.getvalue()
    out.detach()


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_needs_a_capable_terminal_and_no_no_color() -> None:
    assert choose_color(Terminal(), {"TERM": "xterm"})
    assert not choose_color(Terminal(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert choose_color(Terminal(), {"TERM": "xterm", "NO_COLOR": ""})
    assert not choose_color(Terminal(), {"TERM": "dumb"})
    assert not choose_color(io.StringIO(), {"TERM": "xterm"})
    assert not is_live(Terminal(), {"TERM": "dumb"})


def test_columns_come_from_the_environment_first() -> None:
    assert columns(io.StringIO(), {"COLUMNS": "40"}) == 40
    assert columns(io.StringIO(), {"COLUMNS": "nonsense"}) is None
    assert columns(io.StringIO(), {}) is None


def test_streamed_text_is_closed_before_a_line() -> None:
    out = io.StringIO()
    screen = Screen(out)
    screen.text("half a li")
    screen.text("ne")
    screen.line(("", "next"))
    screen.text("whole\n")
    screen.line(("", "last"))
    assert out.getvalue() == "half a line\nnext\nwhole\nlast\n"


def test_a_status_is_gone_when_the_next_line_comes() -> None:
    ours, theirs = os.openpty()
    with open(theirs, "w", encoding="utf-8", newline="") as terminal:
        screen = Screen(terminal, width=30)
        screen.status("waiting for the model\x1b[2J and waiting")
        screen.status("thinking")
        screen.line(("", "done"))
        raw = b""
        while not raw.endswith(b"done\r\n"):
            raw += os.read(ours, 4096)
    os.close(ours)
    seen = raw.decode().replace("\r\n", "\n")
    blank = "\r" + " " * 29 + "\r"
    assert seen == "\rwaiting for the model\\x1b[2J…" + blank + "\rthinking" + blank + "done\n"


def test_a_status_is_for_terminals_only() -> None:
    out = io.StringIO()
    Screen(out, width=30).status("thinking")
    assert out.getvalue() == ""


def test_colour_wraps_each_text_and_ends() -> None:
    out = io.StringIO()
    Screen(out, color=True).line(("good", "✓"), ("", " plain"), ("dim", ""))
    assert out.getvalue() == "\x1b[32m✓\x1b[0m plain\n"
