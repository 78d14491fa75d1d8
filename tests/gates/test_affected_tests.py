"""Tests that a change merely reaches through imports: they find faults, and delay nothing."""

from collections.abc import Callable

import pytest

from harness.gates.values import Verdict

RunGate = Callable[..., Verdict]
Files = Callable[[dict[str, str]], None]

CORE = {
    "core.py": "def f():\n    return 2\n",
    "a.py": "from core import f\n\n\ndef g():\n    return f()\n",
    "test_core.py": "from core import f\n\n\ndef test_f():\n    assert f()\n",
    "test_a.py": "from a import g\n\n\ndef test_g():\n    assert g() == 2\n",
}
SLOW = "import time\n\n\ndef test_slow():\n    time.sleep(30)\n"


def test_they_run_after_those_that_cover_the_change(files: Files, gate: RunGate) -> None:
    files(CORE)
    verdict = gate("run_tests", "test_core.py", further=("test_a.py",))
    assert verdict.status == "passed"
    assert verdict.summary == "1 passed, and of the tests that imports lead to 1 passed"
    assert verdict.command.endswith("pytest test_core.py")


def test_one_that_fails_fails_the_gate(files: Files, gate: RunGate) -> None:
    files({**CORE, "core.py": "def f():\n    return 3\n"})
    verdict = gate("run_tests", "test_core.py", further=("test_a.py",))
    assert verdict.status == "failed"
    assert [finding.where for finding in verdict.findings] == ["test_a.py::test_g"]
    assert "assert g() == 2" in verdict.feedback


def test_they_run_also_where_nothing_else_does(files: Files, gate: RunGate) -> None:
    files(CORE)
    assert gate("run_tests", further=("test_a.py",)).summary == "1 passed"
    files({"test_a.py": "import pytest\n\n\ndef test_g():\n    pytest.skip('no')\n"})
    verdict = gate("run_tests", further=("test_a.py",))
    assert verdict.status == "could_not_run"


def test_one_that_hangs_is_told_and_blocks_nothing(files: Files, gate: RunGate) -> None:
    files({**CORE, "test_slow.py": SLOW})
    verdict = gate("run_tests", "test_core.py", further=("test_slow.py", "test_a.py"), seconds=5)
    assert verdict.status == "passed"
    (warning,) = verdict.findings
    assert warning.severity == "warning"
    assert "2 of 2 test files that imports lead to were not run" in warning.message
    assert "at test_slow.py::test_slow" in warning.message
    assert warning.message in verdict.summary


def test_a_failure_counts_although_another_hangs(files: Files, gate: RunGate) -> None:
    files({**CORE, "core.py": "def f():\n    return 3\n", "test_slow.py": SLOW})
    verdict = gate("run_tests", "test_core.py", further=("test_a.py", "test_slow.py"), seconds=5)
    assert verdict.status == "failed"
    assert verdict.findings[0].where == "test_a.py::test_g"


def test_only_the_nearest_run_when_there_are_many(files: Files, gate: RunGate) -> None:
    files({**CORE, "test_far.py": "def test_far():\n    assert False\n"})
    further = ("test_a.py", "test_far.py")
    verdict = gate("run_tests", "test_core.py", further=further, most_further=1)
    assert verdict.status == "passed"
    assert "1 of 2 test files that imports lead to were not run: only the nearest 1" in (
        verdict.summary
    )
    none = gate("run_tests", "test_core.py", further=further, most_further=0)
    assert "2 of 2" in none.summary


@pytest.mark.parametrize(
    ("test", "status"),
    [
        ("from core import gone\n\n\ndef test_g():\n    pass\n", "failed"),
        ("import core\ncore.gone\n\n\ndef test_g():\n    pass\n", "failed"),
        ("raise RuntimeError('no database')\n", "passed"),
        ("import not_there\n", "passed"),
    ],
)
def test_a_file_that_cannot_be_imported_fails_when_the_change_is_why(
    files: Files, gate: RunGate, test: str, status: str
) -> None:
    files({**CORE, "test_a.py": test})
    verdict = gate("run_tests", "test_core.py", further=("test_a.py",), modified=("core.py",))
    assert verdict.status == status
    assert verdict.findings[0].where == "test_a.py"


def test_one_that_ends_the_process_is_told(files: Files, gate: RunGate) -> None:
    files({**CORE, "test_a.py": "import os\n\n\ndef test_x():\n    os._exit(0)\n"})
    verdict = gate("run_tests", "test_core.py", further=("test_a.py",))
    assert verdict.status == "passed"
    assert "1 of 1" in verdict.summary


def test_a_command_that_chooses_by_itself_runs_once(files: Files, gate: RunGate) -> None:
    files({**CORE, "core.py": "def f():\n    return 3\n"})
    for command in ("cd . && pytest test_core.py", "pytest test_core.py"):
        verdict = gate("run_tests", "test_core.py", further=("test_core.py",), test_command=command)
        assert verdict.status == "passed"
        assert "imports lead to" not in verdict.summary
