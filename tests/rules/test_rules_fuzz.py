"""No text makes anything but a program or a RuleError with true places."""

import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Program, RuleError, kernel, parse_atom
from rules.syntax.parser import parse_query

KERNEL = (Path(__file__).parents[2] / "rules" / "kernel.dl").read_text(encoding="utf-8")
EXAMPLES = [
    KERNEL[-1500:],
    "q(X) :- p(X, _), X != 'a', starts_with(X, \"b\").\np('a', -1). p(2 * (3 - 1), 'b').",
    "a: p(?x)\n + q(?x)\n -> r(?x)\n.decl p(x: string)\n.decl q/1\n",
    "n(N) :- N = count : { p(X), not r(X) }, not q(N).\n?- p(X), not q(X).\n",
    "@name('two words') p(?x) + count { q(?x, _) } > 3 -> r(?x)\n.include 'y'\n",
    "n(F, count(), sum(L + 1)) :- issue(F, L), L % 2 = 1.\n@workspace\nn(_, X) -> m(X)\n",
    ".closed p(_, 'a')\n.open q\np(?x, ?y) + ?z = (?x + -?y) + \\+ q -> s(?z)\n@learned.\nq.\n",
]
PIECES = st.sampled_from(
    [
        *(":-", "->", "+", "-", ",", ".", "(", ")", "=", "!=", "<", "==", "@", "?-", ":", "}"),
        *("'", '"', "\\", "'a\\q'", "?", "_", "#", "//", "\n", "\r\n", "\t", " ", "*", "%", "\\+"),
        *("not ", "count{", "count : {", "sum X {", "max(", "X", "?x", "p(", "p", "1", "-1"),
        *(".decl ", ".closed ", ".open ", ".include ", "@name('a') ", "@learned\n", "a: ", "(X)"),
        *("p(X)", "q :- p(X), ", "p(X) -> q(X)\n", ": string", "X = ", " < 3"),
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
    if not check_positions(text):
        check_sound(Program.parse(text))


def check_positions(text):
    found = faults(lambda: Program.parse(text, source="fuzz.dl"))
    lines = text.removeprefix("\ufeff").split("\n")
    for fault in found:
        assert fault.text_line == lines[fault.line - 1].removesuffix("\r")
        assert 1 <= fault.column <= len(lines[fault.line - 1]) + 1
    return found


def check_sound(program):
    assert Program.parse(program.as_text()) == program
    assert Program.parse(program.as_text(clauses=True)) == program
    for rule in program.rules:
        assert Program.parse(str(rule)).statements == (rule,)
    assert isinstance(program.warnings, tuple)


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
def test_queries(text):
    for fault in faults(lambda: parse_query(text)):
        assert fault.source == "<query>"
        assert 1 <= fault.column <= len(text) + 1


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


LONG = 50_000


@pytest.mark.parametrize(
    "text",
    [
        "p" + "(" * LONG,
        "q(X) :- X = " + "(" * LONG + "1" + ")" * LONG + ".",
        "p(" + "-" * LONG + "1).",
        "p(X) :- q(X), X = " + "1 + " * LONG + "1.",
        "p(" + "sum(" * LONG,
        "q(X) :- X = " + "sum (" * LONG,
        "q(X) :- X = " + "count : { " * LONG,
        "q(X) :- X = " + ("(" * 40 + "count { X = ") * 9 + "1" + (" }" + ")" * 40) * 9 + ".",
        "q :- " + "count { p(_) } > 3, " * 1000 + "p(1).",
        "q(X" + ", count()" * 16 + ") :- " + ", ".join(f"p({n}, X)" for n in range(500)) + ".",
        "q(X) :- " + "not (" * LONG,
        "p(" + "1, " * LONG + "1).",
        "p('" + "a" * 1_000_000 + "').",
        "p('" + "\\" * 1_000_000,
        " ".join(f"r(?x) -> s{n}(?x)." for n in range(10_000)),
        "\n".join(f"a{n}: r(?x) -> s{n}(?x)" for n in range(10_000)),
        "all: " + " + ".join(f"p({n % 7}, ?x)" for n in range(5_000)) + " -> q(?x)",
        "/ " * LONG,
        "'\n" * LONG,
        "p(1). " + " " * 1_000_000,
        "@name('a') " * LONG,
        ".include 'a'\n" * LONG,
        "a:" * LONG,
        "p -> q\n(" * LONG,
    ],
    ids=lambda text: text[:20],
)
def test_a_huge_text_is_read_or_refused_soon(text):
    start = time.process_time()
    check_positions(text)
    assert time.process_time() - start < 10  # far more than a linear reading takes
