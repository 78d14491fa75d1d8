"""Nothing that acts on a terminal reaches it from a model, a file or a tool."""

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.journal import Journal
from harness.terminal.render import Renderer
from harness.terminal.safe import clean, encodable, one_line
from harness.terminal.screen import Screen


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("\x1b[2J", r"\x1b[2J"),
        ("\x1b]52;c;aGk=\x07", r"\x1b]52;c;aGk=\x07"),
        ("a\rb", r"a\rb"),
        ("\x9b31m", r"\x9b31m"),
        ("safe\u202egnp.exe", r"safe\u202egnp.exe"),
        ("rm\u200b -rf", r"rm\u200b -rf"),
        ("\U000e0041", r"\U000e0041"),
        ("\udcff", r"\udcff"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("naïve 日本語 👩\u200d💻", "naïve 日本語 👩\u200d💻"),
    ],
)
def test_what_acts_on_a_terminal_is_shown_as_an_escape(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@given(st.text())
def test_clean_text_has_no_control_character_but_tab_and_newline(text: str) -> None:
    cleaned = clean(text)
    assert all(unicodedata.category(char) not in ("Cc", "Cs") or char in "\t\n" for char in cleaned)
    assert clean(cleaned) == cleaned


@given(st.text())
def test_one_line_is_one_line(text: str) -> None:
    assert len(one_line(text).splitlines()) <= 1


@given(st.text(), st.sampled_from(["ascii", "latin-1", "utf-8", "cp1252"]))
def test_any_clean_text_can_be_encoded(text: str, encoding: str) -> None:
    encodable(clean(text), encoding).encode(encoding)


def test_every_text_of_every_event_is_cleaned() -> None:
    evil = "x\x1b[31m\x07y"
    out = io.StringIO()
    journal = Journal()
    journal.sinks.append(Renderer(out, trace=True, stream_text=True))
    journal.emit("session_resumed", session="s", workspace="w", repairs=[evil], moved_from=evil)
    for level in ("info", "warning", "error"):
        journal.emit("notice", level=level, text=evil)
    journal.emit("context", picks=[{"kind": "entry", "name": evil, "reason": evil, "score": 1}])
    journal.emit("facts", added=[], removed=[], lines=[evil])
    journal.emit("derived", rule="r", fact="f", premises=[], line=evil)
    journal.emit("model_retry", error_class=evil, message=evil, wait=1)
    journal.live("text", text=evil)
    journal.emit("model_reply", text=evil, error=evil)
    journal.emit("tool_call", id="1", name=evil, arguments={}, summary=evil)
    journal.emit("approval", id="1", tool=evil, decision="deny", by="user", comment=evil)
    journal.emit("tool_result", id="1", name=evil, ok=False, text=evil, note="", diff=f"+{evil}")
    journal.emit("tool_call", id="2", name=evil, arguments={}, summary=evil)
    journal.emit("tool_result", id="2", name=evil, ok=True, text=evil, note=evil, diff="")
    journal.emit("verdict", gate=evil, status=evil, reason=evil, summary=evil, line=evil)
    journal.emit("outcome", kind=evil, message=evil, answer=f"{evil} again")
    assert "\x1b" not in out.getvalue()
    assert "\x07" not in out.getvalue()


def test_a_stream_that_went_away_does_not_end_the_run() -> None:
    out = io.StringIO()
    screen = Screen(out)
    out.close()
    screen.line(("", "one"))
    screen.text("two")
