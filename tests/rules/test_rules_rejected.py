"""Texts that must be refused, each with its place and reason."""

import re
import time
from pathlib import Path

import pytest

from rules import Program, RuleError

REJECTED = sorted(Path(__file__).parent.joinpath("rejected").glob("*.dl"))
EXPECTATION = re.compile(r"(\d+):(\d+) ([a-z-]+)(?: '([^']*)')?")


@pytest.mark.parametrize("path", REJECTED, ids=lambda path: path.stem)
def test_a_faulty_file_is_refused_for_its_faults(path):
    """The first line of each file lists `line:column code 'part of the message'`."""
    first_line = path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
    expected = EXPECTATION.findall(first_line)
    assert expected
    with pytest.raises(RuleError) as caught:
        Program.load(path)
    found = caught.value.diagnostics
    places = [(str(fault.line), str(fault.column), fault.code) for fault in found]
    assert places == [(line, column, code) for line, column, code, _ in expected]
    for fault, (_, _, _, part) in zip(found, expected, strict=True):
        assert part in fault.message
        assert fault.source == str(path)
    assert str(caught.value).startswith(caught.value.first_line)


def test_every_code_has_a_file_of_its_own():
    listed = {
        code
        for path in REJECTED
        for _, _, code, _ in EXPECTATION.findall(
            path.read_text(encoding="utf-8", errors="replace").partition("\n")[0]
        )
    }
    assert listed == {
        "arity-clash",
        "bad-pattern",
        "duplicate-declaration",
        "duplicate-name",
        "encoding",
        "include",
        "negative-head",
        "not-stratifiable",
        "odd-character",
        "reserved-name",
        "syntax",
        "tier-violation",
        "type-clash",
        "unsafe-fact",
        "unsafe-variable",
        "unterminated-string",
        "wildcard-position",
    }


def faults(text):
    with pytest.raises(RuleError) as caught:
        Program.parse(text, source="team.dl")
    return caught.value


def test_a_diagnostic_shows_the_line_and_points_at_the_place():
    error = faults("\n\ngate: modified(?file) -> verify_gate(?gate)")
    assert error.first_line == (
        "team.dl:3:38: error[unsafe-variable]: '?gate' is not bound by any positive condition"
    )
    assert str(error).splitlines()[1:] == [
        "    3 | gate: modified(?file) -> verify_gate(?gate)",
        "      |                                      ^^^^^",
        "  help: use it in a condition on facts, or write a value",
    ]
    (fault,) = error.diagnostics
    assert fault.text_line == "gate: modified(?file) -> verify_gate(?gate)"
    assert fault.severity == "error"


def test_a_diagnostic_keeps_in_line_with_tabs_and_control_characters():
    error = faults("p('a\x1b[31m\u202e') ->\tq(?x)")
    _, shown, caret, _ = str(error).splitlines()
    assert "\x1b" not in shown
    assert "\u202e" not in shown
    assert caret.index("^") == shown.index("?x")
    assert caret[8 : caret.index("^")].strip(" ") == "\t"


def test_a_diagnostic_shows_a_part_of_a_very_long_line():
    error = faults("p('" + "a" * 1_000_000 + "') -> q(?x)")
    assert error.diagnostics[0].column == 1_000_012
    assert len(str(error)) < 1000
    shown, caret = str(error).splitlines()[1:3]
    assert shown[caret.index("^") :].startswith("?x")


def test_a_message_quotes_a_part_of_something_very_long():
    assert len(str(faults("p('" + "a" * 1_000_000 + "' 'b').\nq('" + "b" * 1_000_000))) < 2000
    assert len(str(faults("p(?" + "a" * 1_000_000 + ")."))) < 2000


def test_columns_count_characters_after_a_byte_order_mark():
    assert faults("\ufeffp('😀é', X).").diagnostics[0].column == 9


def test_all_faults_of_a_text_are_reported_in_order():
    error = faults("p(1)\nq(.\nr('x).\nok(1).\ns(?x) -> t(?y)\nu(X) :- .\n")
    assert [(fault.line, fault.code) for fault in error.diagnostics] == [
        (2, "syntax"),
        (2, "syntax"),
        (3, "unterminated-string"),
        (5, "unsafe-variable"),
        (6, "syntax"),
    ]


def test_a_text_full_of_faults_is_not_read_to_its_end():
    assert len(faults("\0" * 1_000_000).diagnostics) == 100
    assert len(faults("p(X).\n" * 1_000).diagnostics) == 100


def test_deep_nesting_is_an_ordinary_fault():
    assert faults("p" + "(" * 5_000).diagnostics[0].column == 3


def test_a_string_full_of_faults_is_not_read_to_its_end():
    start = time.process_time()
    assert len(faults("p('" + "\\q" * 2_000_000 + "').").diagnostics) == 100
    assert time.process_time() - start < 3
