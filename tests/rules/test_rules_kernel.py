"""The shipped rules."""

import pytest

from rules import Database, kernel


@pytest.fixture
def database():
    made = Database(kernel())
    for path in ("auth.py", "util.py", "test_auth.py", "test_util.py"):
        made.assert_fact("file", path, "python")
    made.assert_fact("file", "README.md", "markdown")
    made.assert_fact("has_tests")
    for name in ("auth", "util"):
        made.assert_fact("is_test", f"test_{name}.py")
        made.assert_fact("test_covers", f"test_{name}.py", f"{name}.py")
    return made


def gates(database):
    return [gate for (gate,) in database.query("verify_gate(G)")]


def targets(database, gate):
    return [path for _, path in database.query(f"gate_target({gate}, P)")]


def test_the_kernel_has_no_warnings_and_names_all_its_rules():
    program = kernel()
    assert program.warnings == ()
    assert all(rule.label and rule.tier == "kernel" for rule in program.rules)
    assert program.facts == ()


def test_nothing_is_due_before_a_change(database):
    assert database.derived() == []


def test_a_changed_source_is_parsed_and_its_tests_run(database):
    database.assert_fact("file_modified", "auth.py")
    assert gates(database) == ["run_tests", "syntax_check"]
    assert targets(database, "syntax_check") == ["auth.py"]
    assert targets(database, "run_tests") == ["test_auth.py"]
    assert str(database.derivation("verify_gate(run_tests)")) == (
        "tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
        " -> verify_gate('run_tests')"
    )


def test_a_changed_text_makes_nothing_due(database):
    database.assert_fact("file_modified", "README.md")
    assert gates(database) == []


def test_taking_the_change_back_takes_the_gates_back(database):
    database.assert_fact("file_modified", "auth.py")
    database.retract_fact("file_modified", "auth.py")
    assert database.derived() == []


def test_deleting_a_covered_file_runs_its_tests(database):
    database.assert_fact("file_deleted", "util.py")
    assert gates(database) == ["run_tests"]
    assert targets(database, "run_tests") == ["test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "deleted_gate"


def test_a_changed_test_runs_itself(database):
    database.assert_fact("file_modified", "test_util.py")
    assert targets(database, "run_tests") == ["test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "changed_test_gate"


def test_a_changed_setting_runs_all_tests(database):
    database.assert_fact("verify_config_changed", "pyproject.toml")
    assert targets(database, "run_tests") == ["test_auth.py", "test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "config_gate"


@pytest.mark.parametrize(
    ("predicate", "reason"),
    [
        ("expectation_changed", "a test expectation was changed"),
        ("test_removed", "a test was removed"),
        ("test_switched_off", "a test was switched off"),
    ],
)
def test_weakened_tests_ask_for_a_review(database, predicate, reason):
    database.assert_fact(predicate, "test_auth.py")
    assert database.query("integrity(L, R, P)") == [("review", reason, "test_auth.py")]
    assert gates(database) == ["integrity"]
    assert targets(database, "integrity") == ["test_auth.py"]


def test_gates_become_due_in_the_order_of_the_file(database):
    added = []
    database.on_change(lambda change: added.extend(map(str, change.added)))
    database.assert_fact("file_modified", "auth.py")
    assert added == [
        "verify_gate('syntax_check')",
        "gate_target('syntax_check', 'auth.py')",
        "verify_gate('run_tests')",
        "gate_target('run_tests', 'test_auth.py')",
    ]
