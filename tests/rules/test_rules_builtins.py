"""The built-in conditions, and arithmetic."""

import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Program
from rules.builtins import BUILTINS, calculate, evaluate
from rules.terms import MAX_INTEGER_BITS, Expression, Variable, row_order

ROOT = Path(__file__).resolve().parents[2]
LARGEST = (1 << MAX_INTEGER_BITS) - 1
VALUES = st.one_of(st.integers(-3, 3), st.text("aB1", max_size=2))
INTEGERS = st.one_of(
    st.integers(-9, 9),
    st.integers(),
    st.integers(-4, 4).map(lambda shift: (1 << 6500) + shift),
    st.integers(-4, 0).map(lambda shift: LARGEST + shift),
    st.integers(0, 4).map(lambda shift: -LARGEST + shift),
)


def holds(condition):
    return Database(Program.parse(f"{condition} -> yes")).holds("yes")


@pytest.mark.parametrize(
    "condition",
    [
        "1 = 1",
        "a = 'a'",
        "-2 < -1",
        "9 < 10",
        "'10' < '9'",
        "'B' < 'a'",
        "'' < a",
        "1 <= 1",
        "2 > 1",
        "b >= b",
        "99 < ''",
        "'' > 99",
        "99 <= '1'",
        "starts_with('api/x.py', 'api/')",
        "starts_with(api, '')",
        "ends_with('x.py', '.py')",
        "ends_with(x, '')",
        "contains('a/b/c', '/b/')",
        "path_in(api, 'api/x.py')",
        "path_in(api, 'api/v1/x.py')",
        "path_in('api/', 'api/x.py')",
        "path_in('api/v1', 'api/v1/x.py')",
        "path_in(api, api)",
        "path_in('.', 'x.py')",
        "path_in('', 'x.py')",
        "path_in('/', '/etc/passwd')",
        r"matches('test_\\w+[.]py', 'test_a.py')",
        "matches('', '')",
        "glob('src/**/*.{py,pyi}', 'src/a/b.pyi')",
        "glob('*.py', 'x.py')",
    ],
)
def test_holds(condition):
    assert holds(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "1 != 1",
        "1 < 1",
        "a < 1",
        "1 >= a",
        "starts_with('x.py', 'X')",
        "starts_with('x', 'x.py')",
        "ends_with('x.py', '.pyc')",
        "contains(abc, ac)",
        "path_in(api, 'apis/x.py')",
        "path_in(api, 'src/api/x.py')",
        "path_in('api/v1', 'api/x.py')",
        "path_in(api, '/api/x.py')",
        "path_in('/', 'etc/passwd')",
        "matches('test_', 'test_a.py')",
        "glob('*.py', 'a/x.py')",
    ],
)
def test_does_not_hold(condition):
    assert not holds(condition)


def test_one_order_for_comparisons_and_for_answers():
    program = Program.parse(
        "n(b). n(10). n(a). n(9). n('10').\nn(?x) + n(?y) + ?x < ?y -> less(?x, ?y)"
    )
    database = Database(program)
    sorted_values = [value for (value,) in database.query("n(X)")]
    assert sorted_values == [9, 10, "10", "a", "b"]
    for place, value in enumerate(sorted_values):
        assert len(database.query(f"less({value!r}, _)")) == 4 - place


def test_equality_gives_a_variable_its_value_wherever_it_stands():
    text = """
    constant: ?gate = 'lint' + p(?x) -> gate(?gate, ?x)
    copied: gate(?b, ?x) :- ?b = ?a, q(?a, ?x).
    joined: p(?x) + ?x = ?y + q(?y, ?z) -> both(?y, ?z)
    """
    database = Database(Program.parse(text + "p(1). q(1, 2)."))
    assert [str(fact) for fact in database.derived()] == [
        "both(1, 2)",
        "gate(1, 2)",
        "gate('lint', 1)",
    ]


def test_a_rule_about_a_folder():
    program = Program.parse(
        "api: file_modified(?f) + path_in('api', ?f) -> verify_gate('security')"
    )
    database = Database(program)
    database.assert_fact("file_modified", "apis/views.py")
    assert not database.holds("verify_gate", "security")
    database.assert_fact("file_modified", "api/views.py")
    assert str(database.derivation("verify_gate(security)")) == (
        "api: file_modified('api/views.py') + path_in('api', 'api/views.py')"
        " -> verify_gate('security')"
    )


@given(VALUES, VALUES)
@settings(deadline=None)
def test_comparisons_follow_the_order_of_rows(left, right):
    a, b = row_order((left,)), row_order((right,))
    expected = {
        "=": a == b,
        "!=": a != b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
    }
    assert {name: BUILTINS[name](left, right) for name in expected} == expected


@pytest.mark.parametrize(
    "name", ["starts_with", "ends_with", "contains", "path_in", "matches", "glob"]
)
def test_conditions_on_strings_are_false_of_integers(name):
    assert BUILTINS[name]("1", "1")
    assert not any(BUILTINS[name](*pair) for pair in [(1, "1"), ("1", 1), (1, 1), ("", 1)])


def test_a_number_and_its_digits_are_two_values():
    assert not BUILTINS["="](1, "1")
    assert BUILTINS["!="](1, "1")


def test_a_pattern_that_comes_from_a_fact():
    program = Program.parse("""
        secret: hidden(?pattern) + file(?path) + glob(?pattern, ?path) -> secret(?path)
        hidden('**/.env'). hidden('{keys'). hidden(7). file('a/.env'). file('{keys'). file(7).
    """)
    assert Database(program).query("secret(Path)") == [("a/.env",)]


def exact(operator, left, right):
    if operator in "/%" and right == 0:
        return None
    if operator == "/":
        result = math.trunc(Fraction(left, right))
    elif operator == "%":
        result = left - right * math.trunc(Fraction(left, right))
    else:
        result = {"+": left + right, "-": left - right, "*": left * right}[operator]
    return result if -LARGEST <= result <= LARGEST else None


@given(st.sampled_from("+-*/%"), INTEGERS, INTEGERS)
@settings(deadline=None)
def test_arithmetic_is_exact(operator, left, right):
    assert calculate(operator, left, right) == exact(operator, left, right)


@pytest.mark.parametrize(
    ("operator", "left", "right", "expected"),
    [
        ("/", 7, 2, 3),
        ("/", -7, 2, -3),
        ("/", 7, -2, -3),
        ("/", -7, -2, 3),
        ("%", 7, 2, 1),
        ("%", -7, 2, -1),
        ("%", 7, -2, 1),
        ("%", -7, -2, -1),
        ("/", 1, 0, None),
        ("%", 0, 0, None),
        ("+", 1, "1", None),
        ("*", "a", 2, None),
        ("+", LARGEST, 0, LARGEST),
        ("+", LARGEST, 1, None),
        ("-", -LARGEST, 1, None),
        ("*", LARGEST, -1, -LARGEST),
        ("*", 1 << 6500, 1 << 6499, 1 << 12999),
        ("*", 1 << 6500, 1 << 6500, None),
        ("*", LARGEST, 0, 0),
    ],
)
def test_calculations(operator, left, right, expected):
    assert calculate(operator, left, right) == expected


def test_a_huge_product_is_refused_before_it_is_worked_out():
    assert calculate("*", 1 << 400_000_000, 1 << 400_000_000) is None


X, Y = Variable("X"), Variable("Y")


@pytest.mark.parametrize(
    ("term", "expected"),
    [
        (3, 3),
        ("a", "a"),
        (X, 7),
        (Y, None),
        (Expression("+", X, 1), 8),
        (Expression("-", Expression("-", X, 2), 3), 2),
        (Expression("-", X, Expression("-", 2, 3)), 8),
        (Expression("*", Expression("/", X, 0), 0), None),
        (Expression("+", X, Y), None),
        (Expression("+", X, "a"), None),
    ],
)
def test_the_value_of_a_term(term, expected):
    assert evaluate(term, {X: 7}) == expected


@pytest.mark.parametrize("left", [True, False])
def test_a_deep_expression_has_a_value(left):
    term = 0
    for _ in range(50_000):
        term = Expression("+", term, 1) if left else Expression("+", 1, term)
    assert evaluate(term, {}) == 50_000


def test_patterns_are_loaded_when_one_is_used():
    code = (
        "import sys, rules.builtins as b; assert 'rules.patterns' not in sys.modules;"
        "assert b.BUILTINS['glob']('*', 'x'); assert 'rules.patterns' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, timeout=60)
