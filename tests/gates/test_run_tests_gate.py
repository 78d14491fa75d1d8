import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.values import Verdict

RunGate = Callable[..., Verdict]
Files = Callable[[dict[str, str]], None]
AddEnvironment = Callable[..., Path]

PASSING = "def test_a():\n    assert True\n"
FAILING = "def test_f():\n    assert 1 == 2\n"


def is_alive(pid: str) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def weaken_lockout(root: Path) -> None:
    auth = root / "auth.py"
    before = auth.stat()
    auth.write_text(auth.read_text().replace("max_attempts = 3", "max_attempts = 5"))
    os.utime(auth, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_covering_tests_pass_and_leave_nothing_behind(example: Path, gate: RunGate) -> None:
    before = sorted(example.rglob("*"))
    verdict = gate("run_tests", "test_auth.py")
    assert verdict.status == "passed"
    assert verdict.summary == "5 passed"
    assert verdict.trace_line == "  [verify] run_tests: pass"
    assert verdict.command.endswith("bin/python -m pytest test_auth.py")
    assert verdict.log is not None
    assert "5 passed" in verdict.log.read_text()
    assert sorted(example.rglob("*")) == before


def test_an_edit_of_the_same_size_and_second_is_seen_and_fed_back(
    example: Path, gate: RunGate
) -> None:
    assert gate("run_tests", "test_auth.py").status == "passed"
    weaken_lockout(example)
    verdict = gate("run_tests", "test_auth.py")
    name = "test_auth.py::test_lockout_after_max_attempts"
    assert verdict.status == "failed"
    assert verdict.reason == f"1 of 5 tests failed: {name}"
    assert verdict.trace_line == "  [verify] run_tests: fail"
    (finding,) = verdict.findings
    assert (finding.severity, finding.where, finding.line) == ("error", name, 28)
    assert finding.message == ('assert service.is_locked("alice") -> AssertionError: assert False')
    assert f"{name} (test_auth.py:28)\n>       assert service.is_locked" in verdict.feedback
    assert "E       AssertionError: assert False" in verdict.feedback
    assert str(verdict.log) in verdict.feedback


def test_the_remembered_command_is_what_runs(example: Path, gate: RunGate) -> None:
    command = "python -m pytest test_auth.py -v"
    verdict = gate("run_tests", "test_auth.py", test_command=command)
    assert verdict.status == "passed"
    assert verdict.command == command
    assert verdict.log is not None
    assert "test_auth.py::test_reset_unlocks_the_user PASSED" in verdict.log.read_text()


def test_a_command_that_needs_a_shell_is_judged_by_its_report_too(
    example: Path, gate: RunGate
) -> None:
    weaken_lockout(example)
    verdict = gate("run_tests", "test_auth.py", test_command="pytest -q || true")
    assert verdict.status == "failed"
    assert verdict.command == "pytest -q || true"
    assert verdict.findings[0].where == "test_auth.py::test_lockout_after_max_attempts"


def test_a_command_that_is_not_pytest_is_judged_by_its_exit_code_and_says_so(
    files: Files, gate: RunGate
) -> None:
    files({"test_a.py": PASSING})
    verdict = gate("run_tests", "test_a.py", test_command="echo fine && true")
    assert verdict.status == "passed"
    assert "weaker" in verdict.summary
    verdict = gate("run_tests", "test_a.py", test_command="echo broken; exit 3")
    assert verdict.status == "failed"
    assert verdict.reason == "'echo broken; exit 3' ended with exit code 3: broken"
    verdict = gate("run_tests", "test_a.py", test_command="no-such-tool --test")
    assert verdict.status == "could_not_run"
    assert "command not found" in verdict.reason
    assert verdict.reason.startswith("'no-such-tool --test' cannot run: ")
    verdict = gate("run_tests", "test_a.py", test_command="python -m unittest 2>&1 || true")
    assert verdict.status == "could_not_run"
    assert "ran no tests" in verdict.reason


def test_variables_before_the_remembered_command_count(files: Files, gate: RunGate) -> None:
    test = "import os, helper\ndef test_a():\n    assert os.environ['MODE'] == 'fast'\n"
    files({"test_a.py": test, "src/helper.py": ""})
    verdict = gate("run_tests", "test_a.py", test_command="PYTHONPATH=src MODE=fast pytest -q")
    assert verdict.status == "passed"
    assert verdict.command == "PYTHONPATH=src MODE=fast pytest -q test_a.py"


@pytest.mark.parametrize(
    ("test", "doing"),
    [
        ("import os\ndef test_x():\n    os._exit(0)\n", "running test_a.py::test_x"),
        ("import os\nos._exit(0)\n", "importing test_a.py"),
    ],
)
def test_a_process_that_ends_itself_has_not_passed(
    files: Files, gate: RunGate, test: str, doing: str
) -> None:
    files({"test_a.py": test})
    verdict = gate("run_tests", "test_a.py")
    assert verdict.status == "failed"
    assert verdict.reason == f"the test process ended (exit code 0) while {doing}"


def test_a_conftest_that_exits_is_failed_only_for_who_wrote_it(files: Files, gate: RunGate) -> None:
    files({"test_a.py": PASSING, "conftest.py": "import sys\nsys.exit(0)\n"})
    verdict = gate("run_tests", "test_a.py", modified=("other.py",))
    assert verdict.status == "could_not_run"
    assert verdict.reason.endswith("while reading its configuration and conftest.py: SystemExit: 0")
    assert gate("run_tests", "test_a.py", modified=("conftest.py",)).status == "failed"


def test_hooks_cannot_turn_a_failure_into_a_pass(files: Files, gate: RunGate) -> None:
    conftest = """
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    if report.when == "call":
        report.outcome, report.longrepr = "passed", None

def pytest_sessionfinish(session):
    session.exitstatus = 0
"""
    files({"test_a.py": FAILING, "conftest.py": conftest})
    verdict = gate("run_tests", "test_a.py")
    assert verdict.status == "failed"
    assert verdict.findings[0].message == "reported as passed, although it raised AssertionError"


def test_the_workspace_cannot_stand_in_for_pytest(files: Files, gate: RunGate) -> None:
    files(
        {
            "test_a.py": FAILING,
            "pytest.py": "print('1 passed in 0.01s')\n",
            "sitecustomize.py": "import os\nos._exit(0)\n",
        }
    )
    verdict = gate("run_tests", "test_a.py")
    assert verdict.reason == "1 of 1 test failed: test_a.py::test_f"
    verdict = gate("run_tests", "test_a.py", test_command="PYTHONPATH=. python -m pytest")
    assert verdict.reason == "1 of 1 test failed: test_a.py::test_f"


def test_no_pytest_says_how_to_get_it(
    files: Files, gate: RunGate, root: Path, add_environment: AddEnvironment
) -> None:
    files({"test_a.py": PASSING})
    add_environment()
    verdict = gate("run_tests", "test_a.py")
    assert verdict.status == "could_not_run"
    python = root / ".venv/bin/python"
    assert verdict.reason == (
        f"pytest is not installed in {str(python)!r}: "
        f"install it with '{python} -m pip install pytest'"
    )
    assert verdict.command == ".venv/bin/python -m pytest test_a.py"


def test_no_tests_collected_is_no_pass(files: Files, gate: RunGate) -> None:
    files({"test_a.py": "x = 1\n"})
    verdict = gate("run_tests", "test_a.py", modified=("source.py",))
    assert verdict.status == "could_not_run"
    assert verdict.reason.startswith("pytest collected no tests with ")
    assert gate("run_tests", "test_a.py", modified=("test_a.py",)).status == "failed"


def test_a_collection_error_fails_and_the_other_files_run(files: Files, gate: RunGate) -> None:
    files({"test_a.py": "from a import b\n", "a.py": "", "test_b.py": PASSING})
    verdict = gate("run_tests", "test_a.py", "test_b.py")
    assert verdict.status == "failed"
    assert verdict.reason.startswith("test_a.py could not be collected: from a import b -> Import")
    (finding,) = verdict.findings
    assert (finding.where, finding.line) == ("test_a.py", 1)
    assert verdict.summary == "1 passed"


def test_a_missing_package_is_blamed_on_who_newly_asks_for_it(files: Files, gate: RunGate) -> None:
    files({"test_a.py": "import no_such_package\n", "test_b.py": PASSING})
    verdict = gate("run_tests", "test_a.py", "test_b.py", modified=("a.py",))
    assert verdict.status == "could_not_run"
    assert verdict.reason.startswith(
        "test_a.py needs 'no_such_package', which is not installed in '/"
    )
    assert verdict.reason.endswith("(1 passed in the rest)")
    assert gate("run_tests", "test_a.py", modified=("test_a.py",)).status == "failed"


def test_a_conftest_that_cannot_be_imported_is_a_finding(files: Files, gate: RunGate) -> None:
    files({"tests/test_a.py": PASSING, "tests/conftest.py": "import os\n\n1 / 0\n"})
    verdict = gate("run_tests", "tests/test_a.py")
    assert verdict.status == "failed"
    assert verdict.reason == (
        "tests/conftest.py could not be collected: 1 / 0 -> ZeroDivisionError: division by zero"
    )
    assert verdict.findings[0].line == 3


def test_a_usage_error_quotes_pytest(files: Files, gate: RunGate) -> None:
    files({"test_a.py": PASSING, "pytest.ini": "[pytest]\naddopts = --no-such-option\n"})
    verdict = gate("run_tests", "test_a.py", modified=("a.py",))
    assert verdict.status == "could_not_run"
    assert verdict.reason.startswith("pytest refused its options or configuration: ")
    assert "unrecognized arguments: --no-such-option" in verdict.reason
    assert gate("run_tests", "test_a.py", modified=("pytest.ini",)).status == "failed"


def test_nothing_passed_is_no_pass(files: Files, gate: RunGate) -> None:
    files({"test_a.py": "import pytest\npytestmark = pytest.mark.skip('later')\n" + PASSING})
    verdict = gate("run_tests", "test_a.py")
    assert verdict.status == "could_not_run"
    assert verdict.reason == "no test passed: 1 skipped (Skipped: later)"
    assert gate("run_tests", "test_a.py", modified=("test_a.py",)).status == "failed"


def test_a_run_that_stops_early_is_no_pass(files: Files, gate: RunGate) -> None:
    files({"test_a.py": PASSING + "def test_b():\n    raise KeyboardInterrupt\n"})
    verdict = gate("run_tests", "test_a.py", modified=("test_a.py",))
    assert verdict.status == "failed"
    assert verdict.reason.startswith("pytest ran 1 of the 2 tests that it collected and stopped")
    verdict = gate("run_tests", "test_a.py", test_command="pytest --collect-only")
    assert verdict.status == "could_not_run"
    assert verdict.reason == "pytest ran 0 of the 2 tests that it collected"


def test_a_covering_file_in_which_nothing_ran_is_said(files: Files, gate: RunGate) -> None:
    files({"test_a.py": PASSING, "test_empty.py": ""})
    verdict = gate("run_tests", "test_a.py", "test_empty.py", "test_gone.py")
    assert verdict.status == "passed"
    assert [(one.severity, one.where) for one in verdict.findings] == [
        ("warning", "test_empty.py"),
        ("warning", "test_gone.py"),
    ]
    assert verdict.summary.startswith("1 passed; test_empty.py: no test ran in this file;")


def test_without_test_files_there_is_nothing_to_run(gate: RunGate) -> None:
    assert gate("run_tests").status == "could_not_run"
    verdict = gate("run_tests", "test_gone.py")
    assert verdict.status == "could_not_run"
    assert "test_gone.py is not there any more" in verdict.reason


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_hanging_test_is_named_and_gone_with_its_children(
    files: Files, gate: RunGate, root: Path
) -> None:
    test = """
import subprocess
from loop import spin

def test_first():
    assert True

def test_hangs():
    subprocess.Popen(["setsid", "sh", "-c", "echo $$ > child; exec sleep 60"])
    spin()
"""
    files({"test_a.py": test, "loop.py": "import time\ndef spin():\n    time.sleep(60)\n"})
    verdict = gate("run_tests", "test_a.py", seconds=3)
    assert verdict.status == "failed"
    assert verdict.reason == (
        "test_a.py::test_hangs hangs (at loop.py:3 in spin): killed after 3 s"
    )
    assert verdict.findings[0].where == "test_a.py::test_hangs"
    assert verdict.summary == "1 passed"
    assert "test_a.py ." in verdict.feedback
    assert not is_alive((root / "child").read_text().strip())


def test_a_hang_that_keeps_the_lock_of_the_interpreter_is_named(
    files: Files, gate: RunGate
) -> None:
    hang = "def match():\n    return re.match('(a+)+b', 'a' * 60)\n"
    files({"test_a.py": f"import re\n{hang}\ndef test_hangs():\n    match()\n"})
    verdict = gate("run_tests", "test_a.py", seconds=3)
    assert verdict.reason == (
        "test_a.py::test_hangs hangs (at test_a.py:3 in match): killed after 3 s"
    )


def test_the_tests_find_no_thread_of_ours(files: Files, gate: RunGate) -> None:
    """From 3.12 on, a fork beside another thread is a warning, which a project may make fatal."""
    test = """
import os
import threading

def test_alone():
    assert threading.active_count() == 1

def test_fork():
    child = os.fork()
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
"""
    files({"test_a.py": test, "pytest.ini": "[pytest]\nfilterwarnings = error\n"})
    assert gate("run_tests", "test_a.py").summary == "2 passed"


AS_WITHOUT_US = {
    "the process number is replaced": """
def test_a(monkeypatch):
    import os
    monkeypatch.setattr(os, "getpid", lambda: 42)
""",
    "the clock is counted": """
import pytest, time
@pytest.fixture
def clock(monkeypatch):
    asked = []
    monkeypatch.setattr(time, "time", lambda: asked.append(1) or 5.0)
    yield
    assert len(asked) == 1
def test_a(clock):
    assert time.time() == 5.0
""",
    "writing is replaced": """
def test_a(monkeypatch):
    import json, os
    monkeypatch.setattr(os, "write", lambda descriptor, data: 0)
    monkeypatch.setattr(json, "dumps", None)
""",
    "colours and pagers": """
import os
def test_a():
    assert not {"NO_COLOR", "PAGER", "PYTHONUNBUFFERED", "PYTEST_ADDOPTS"} & set(os.environ)
    assert os.environ["PWD"] == os.getcwd()
""",
    "arguments are read": """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("path")
assert parser.parse_args().path.endswith("test_a.py")
def test_a():
    pass
""",
    "a skip in a teardown": """
import pytest
@pytest.fixture
def late():
    yield
    pytest.skip("later")
def test_a(late):
    pass
""",
}


@pytest.mark.parametrize("test", AS_WITHOUT_US.values(), ids=AS_WITHOUT_US)
def test_what_passes_without_us_passes(files: Files, gate: RunGate, test: str) -> None:
    files({"test_a.py": test})
    verdict = gate("run_tests", "test_a.py")
    assert (verdict.status, verdict.summary) == ("passed", "1 passed")


def test_what_fails_without_us_fails(files: Files, gate: RunGate) -> None:
    """Output that is not flushed does not arrive because we asked for it."""
    test = """
import select, subprocess, sys
def test_a():
    child = [sys.executable, "-c", "import time; print('ready'); time.sleep(9)"]
    with subprocess.Popen(child, stdout=subprocess.PIPE) as server:
        ready = select.select([server.stdout], [], [], 2)[0]
        server.kill()
    assert ready
"""
    files({"test_a.py": test})
    assert gate("run_tests", "test_a.py").status == "failed"


def test_a_report_under_another_name_is_recognised(files: Files, gate: RunGate) -> None:
    conftest = """
import pytest
@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    outcome.get_result().nodeid = "what the test is about"
"""
    files({"conftest.py": conftest, "test_a.py": PASSING})
    assert gate("run_tests", "test_a.py").summary == "1 passed"


def test_a_source_layout_does_not_hide_the_standard_library(files: Files, gate: RunGate) -> None:
    test = "import calendar, own\ndef test_a():\n    assert calendar.isleap(2024) and own.MINE\n"
    files({"src/calendar.py": "", "src/own.py": "MINE = 1\n", "tests/test_a.py": test})
    assert gate("run_tests", "tests/test_a.py").summary == "1 passed"


def test_a_report_is_not_written_into_a_file_of_the_tests(
    files: Files, gate: RunGate, root: Path
) -> None:
    test = """
import os
def test_a():
    os.closerange(3, 64)
    for number in range(40):
        os.open(f"out{number}", os.O_CREAT | os.O_WRONLY)
"""
    files({"test_a.py": test, "pytest.ini": "[pytest]\naddopts = --capture=sys\n"})
    assert gate("run_tests", "test_a.py").status == "failed"
    assert {path.read_bytes() for path in root.glob("out*")} == {b""}


def test_too_many_slow_tests_are_not_called_hanging(files: Files, gate: RunGate) -> None:
    test = "import time\nimport pytest\n@pytest.mark.parametrize('n', range(99))\n"
    files({"test_a.py": test + "def test_slow(n):\n    time.sleep(0.1)\n"})
    verdict = gate("run_tests", "test_a.py", seconds=3)
    assert verdict.status == "could_not_run"
    assert verdict.reason.startswith("the tests took too long, killed after 3 s: ")
    assert verdict.reason.endswith(" of 99 tests had run")


def test_a_process_that_does_not_end_after_its_tests_is_said(files: Files, gate: RunGate) -> None:
    test = "import threading, time\ndef test_a():\n"
    files({"test_a.py": test + "    threading.Thread(target=time.sleep, args=(60,)).start()\n"})
    verdict = gate("run_tests", "test_a.py", seconds=2)
    assert verdict.status == "failed"
    assert verdict.reason == (
        "the test process did not end after its tests (1 passed): killed after 2 s"
    )


def test_much_output_is_bounded_and_kept_whole_on_disk(files: Files, gate: RunGate) -> None:
    test = "def test_loud():\n    print('noise ' * 60000)\n    value = 41\n    assert value == 42\n"
    files({"test_a.py": test + FAILING})
    verdict = gate("run_tests", "test_a.py")
    assert len(verdict.feedback) <= 6000
    for line in (
        "test_a.py::test_loud (test_a.py:4)",
        ">       assert value == 42",
        "E       assert 41 == 42",
        "test_a.py::test_f (test_a.py:6)",
        ">       assert 1 == 2",
        "characters left out",
        f"Whole log: {verdict.log}",
    ):
        assert line in verdict.feedback
    assert verdict.log is not None
    assert verdict.log.stat().st_size > 300_000


def test_failures_in_worker_processes_are_seen(
    files: Files, gate: RunGate, add_environment: AddEnvironment
) -> None:
    pytest.importorskip("xdist")
    files({"test_a.py": PASSING + FAILING})
    add_environment("pytest", "xdist")
    verdict = gate("run_tests", "test_a.py", test_command="python -m pytest -n 1")
    assert verdict.status == "failed"
    assert verdict.reason == "1 of 2 tests failed: test_a.py::test_f"
    assert verdict.log is not None
    assert "1 worker" in verdict.log.read_text()


def test_keys_do_not_reach_the_tests(
    files: Files, gate: RunGate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    test = "import os\ndef test_a():\n    assert 'sk-secret' not in os.environ.values()\n"
    files({"test_a.py": test + "    assert 'MCA_REPORT' not in os.environ\n"})
    assert gate("run_tests", "test_a.py").status == "passed"
    assert gate("run_tests", "test_a.py", test_command="true; pytest").status == "passed"
