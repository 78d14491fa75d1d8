"""Values and names reach conclusions as they are: none is taken for another, none becomes code."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Fact, Program
from rules.terms import MAX_INTEGER_BITS, quote

MOST = (1 << MAX_INTEGER_BITS) - 1

CODE = """
p(?x) -> q(?x, {0})
q(?x, {0}) + not r({0}, ?x) -> s({0})
p({0}) + ?n = count : {{ q({0}, _) }} -> n({0}, ?n)
p(?x) + ?x = {0} + ?y = {0} -> same(?x, ?y)
p(?x) + ?x != {0} -> other(?x)
?m = max {0} : {{ p(_) }} -> top(?m)
"""

HOSTILE = [
    "'",
    '"',
    "\\",
    "'''",
    '"""',
    "\0",
    "\ud800",
    "\udfff\ud800",
    "\r\n",
    "\u2028",
    '"); import os #',
    "'); raise SystemExit #",
    "{head}",
    "{0}",
    "%s",
    "\\N{DIGIT ONE}",
    "head",
    "rank",
    "None",
    "__import__('os').abort()",
    "\x1b[31m",
    "",
    " ",
    "?x",
    "_",
    "X",
]


def check(value, other):
    """A database in which the value stands in rules and facts."""
    database = Database(Program.parse(CODE.format(quote(value))))
    for each in (value, other):
        database.assert_fact("p", each)
    assert database.derived("q") == sorted_facts(("q", value, value), ("q", other, value))
    assert database.derived("s") == [Fact("s", (value,))]
    assert database.derived("n") == [Fact("n", (value, 1))]
    assert database.derived("same") == [Fact("same", (value, value))]
    assert database.derived("other") == [Fact("other", (other,))]
    assert database.derived("top") == [Fact("top", (value,))]
    for each in (value, other):
        database.assert_fact("r", value, each)
    assert database.derived("s") == []
    database.retract_fact("r", value, other)
    assert database.why(Fact("s", (value,))).fact == Fact("s", (value,))
    database.retract_fact("p", value)
    assert database.derived("n") == database.derived("same") == []


def sorted_facts(*facts):
    order = sorted(facts, key=lambda fact: [(isinstance(v, str), v) for v in fact[1:]])
    return [Fact(name, tuple(row)) for name, *row in order]


@pytest.mark.parametrize("value", HOSTILE, ids=ascii)
def test_a_text_that_looks_like_something_else_is_a_text(value):
    check(value, "elsewhere")


@pytest.mark.parametrize("value", [0, 1, -1, MOST, -MOST, 2**63, 10**40])
def test_a_number_is_not_the_text_of_its_digits(value):
    check(value, str(value) if abs(value) < MOST else "huge")
    check(value, value - 1 if value > 0 else value + 1)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(st.characters()), min_size=2, max_size=2, unique=True))
def test_any_texts(values):
    check(*values)


def test_one_and_its_digit_are_two_values_wherever_they_meet():
    text = """
    p(?x) -> q(?x)
    q(?x) + t(?x, ?y) -> r(?y)
    t(?x, ?x) -> same(?x)
    ?n = count ?x : { q(?x) } -> n(?n)
    ?s = sum ?x : { q(?x) } -> s(?s)
    q(1) + not q('1') -> one
    q(?x) + ?y = (?x + 1) -> next(?y)
    """
    database = Database(Program.parse(text))
    for fact in (("p", 1), ("t", "1", "a"), ("t", 1, "1"), ("t", 2, 2)):
        database.assert_fact(*fact)
    assert database.derived("r") == [Fact("r", ("1",))]
    assert database.derived("same") == [Fact("same", (2,))]
    assert database.holds("one")
    database.assert_fact("p", "1")
    assert database.derived("r") == [Fact("r", ("1",)), Fact("r", ("a",))]
    assert database.query("n(N)") == [(2,)]
    assert database.query("s(N)") == [(1,)]
    assert database.query("next(N)") == [(2,)]
    assert not database.holds("one")
    database.retract_fact("p", 1)
    assert database.query("q(X)") == [("1",)]
    assert database.query("next(N)") == []


NAMES = [
    *("class", "def", "lambda", "yield", "None", "True", "pass", "import", "print", "exec", "self"),
    *("plan", "head", "rank", "out", "add", "delta", "held", "above", "total", "key", "limit"),
    *("v1", "t1", "r0", "c0", "s1", "row1", "int", "len", "str", "type", "namespace", "é", "Σ"),
]


@pytest.mark.parametrize("name", NAMES)
def test_a_predicate_may_have_any_name(name):
    given = f"{name}(X, Y)"
    text = f"""
    {name}_2(X, Y) :- {given}.
    {name}_2(X, Z) :- {name}_2(X, Y), {name}(Y, Z).
    far_{name}(X, N) :- {given}, N = count : {{ {name}_2(X, _) }}, not {name}_3(X).
    """
    database = Database(Program.parse(text))
    database.assert_fact(name, 1, 2)
    database.assert_fact(name, 2, 1)
    assert database.query(f"far_{name}(X, N)") == [(1, 2), (2, 2)]
    database.assert_fact(f"{name}_3", 1)
    database.retract_fact(name, 2, 1)
    assert database.derived() == [Fact(f"{name}_2", (1, 2))]


VARIABLES = ["Class", "None", "True", "Head", "Rank", "Out", "Plan", "Delta"]


def test_variables_may_have_any_name():
    for one, two in zip(VARIABLES, [*VARIABLES[1:], VARIABLES[0]], strict=True):
        text = f"p({one}, {two}) :- e({one}, {two}), {one} < {two}, not e({two}, {one})."
        database = Database(Program.parse(text))
        database.assert_fact("e", 1, 2)
        database.assert_fact("e", 2, 1)
        assert database.derived() == []
        database.retract_fact("e", 2, 1)
        assert database.query("p(X, Y)") == [(1, 2)]


def test_no_text_is_run(tmp_path):
    """What a text would do if it became code is not done."""
    marker = tmp_path / "done"
    code = f"open({str(marker)!r}, 'w')"
    for value in (f"{code}", f'"); {code} #', f"'); {code} #", f"\n  {code}\n", f"{{{code}}}"):
        check(value, "elsewhere")
    assert not marker.exists()
