"""The built-in conditions."""

import pytest

from rules import Database, Program


def holds(condition):
    return Database(Program.parse(f"{condition} -> yes")).holds("yes")


@pytest.mark.parametrize(
    "condition",
    [
        "1 = 1",
        "a = 'a'",
        "1 != '1'",
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
    ],
)
def test_holds(condition):
    assert holds(condition)


@pytest.mark.parametrize(
    "condition",
    [
        "1 = '1'",
        "1 != 1",
        "1 < 1",
        "a < 1",
        "1 >= a",
        "starts_with('x.py', 'X')",
        "starts_with('x', 'x.py')",
        "starts_with(12, 1)",
        "starts_with('12', 1)",
        "ends_with('x.py', '.pyc')",
        "contains(abc, ac)",
        "path_in(api, 'apis/x.py')",
        "path_in(api, 'src/api/x.py')",
        "path_in('api/v1', 'api/x.py')",
        "path_in(api, '/api/x.py')",
        "path_in('/', 'etc/passwd')",
        "path_in(1, 1)",
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
