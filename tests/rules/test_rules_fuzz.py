"""No text makes anything but a program or a RuleError with true places."""

from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Program, RuleError, kernel, parse_atom

KERNEL = (Path(__file__).parents[2] / "rules" / "kernel.dl").read_text(encoding="utf-8")
EXAMPLES = [
    KERNEL[-1500:],
    "q(X) :- p(X, _), X != 'a', starts_with(X, \"b\").\np('a', -1).",
    "a: p(?x)\n + q(?x)\n -> r(?x)\n.decl p(x)\n.decl q/1\n",
    "n(N) :- N = count : { p(X) }, not q(N).\n?- p(X).\n@name('x')\n.include 'y'\n",
]
PIECES = st.sampled_from(
    [
        *(":-", "->", "+", "-", ",", ".", "(", ")", "=", "!=", "<", "==", "@", "?-", ":", "}"),
        *("'", '"', "\\", "'a\\q'", "?", "_", "#", "//", "\n", "\r\n", "\t", " "),
        *("not ", "count{", "X", "?x", "p(", "p", "1", "-1", ".decl ", "a: "),
        *("\0", "\ud800", "\ufeff", "\u202e", "é", "٣", "²"),
    ]
)


def faults(make):
    """The diagnostics of a text, none if it is sound."""
    try:
        make()
    except RuleError as error:
        refused = error
    else:
        return ()
    shown = str(refused)
    assert shown.startswith(refused.first_line)
    assert all(line.isprintable() or "\t" in line for line in shown.split("\n"))
    return refused.diagnostics


def check(text):
    found = faults(lambda: Program.parse(text, source="fuzz.dl"))
    lines = text.removeprefix("\ufeff").split("\n")
    for fault in found:
        assert fault.text_line == lines[fault.line - 1].removesuffix("\r")
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
    if not found:
        check_sound(Program.parse(text))


def check_sound(program):
    for statement in program.statements:
        assert Program.parse(str(statement)).statements == (statement,)
    assert isinstance(program.warnings, tuple)
    Database(program)


@settings(max_examples=300, deadline=None)
@given(st.text(st.characters()))
def test_any_characters(text):
    check(text)


@settings(max_examples=600, deadline=None)
@given(st.lists(PIECES, max_size=25).map("".join))
def test_pieces_of_the_language_in_any_order(text):
    check(text)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(EXAMPLES), st.data())
def test_rules_with_something_broken(text, data):
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(text)))
        end = start + data.draw(st.integers(0, 6))
        text = text[:start] + data.draw(st.one_of(PIECES, st.just(""))) + text[end:]
    check(text)


@settings(max_examples=200, deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_questions(text):
    database = Database(kernel())
    malformed = faults(lambda: parse_atom(text))
    codes = {fault.code for fault in faults(lambda: database.query(text))}
    if malformed:
        assert codes == {fault.code for fault in malformed}
    else:  # a built-in condition, or the wrong number of arguments
        assert codes <= {"syntax", "arity-clash"}
