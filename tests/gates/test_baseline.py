import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.gates.registry import run_gate
from harness.gates.values import GateContext, Verdict
from harness.workspace.changes import digest
from harness.workspace.files import walk

Files = Callable[[dict[str, str]], None]
Attempt = Callable[..., Verdict]

CODE = "def half(n):\n    return n / 3\n\n\ndef double(n):\n    return n * 2\n"
TEST = "from code_ import double, half\n\n\ndef test_red():\n    assert half(4) == 2\n"
TEST += "\n\ndef test_green():\n    assert double(2) == 4\n"
HARMLESS = {"code_.py": "# numbers\n" + CODE}
OLD = "1 failed before this turn too: test_code.py::test_red"


@pytest.fixture
def attempt(root: Path, private: Path, files: Files) -> Attempt:
    """Make `edits` as a turn does, where None deletes, and run the tests."""

    def run(
        edits: dict[str, str | None],
        *targets: str,
        unknown: tuple[str, ...] = (),
        seconds: float = 20.0,
        test_command: str | None = None,
    ) -> Verdict:
        held = {path: (root / path).read_bytes() for path in walk(root)}
        began = time.time() + 0.1
        time.sleep(0.15)
        for path, text in edits.items():
            if text is None:
                (root / path).unlink()
            else:
                files({path: text})
        known = {path: data for path, data in held.items() if path not in unknown}
        context = GateContext(
            root=root,
            private=private,
            seconds=seconds,
            test_command=test_command,
            modified=tuple(sorted(edits)),
            before=known.get,
            start={path: digest(data) for path, data in held.items()},
            began=began,
        )
        return run_gate("run_tests", targets or ("test_code.py",), context)

    return run


@pytest.fixture(autouse=True)
def nothing_left(root: Path, private: Path) -> object:
    yield
    assert not list(private.glob("before-*"))
    mirror = private / "pycache" / private.relative_to(private.anchor)
    assert not list(mirror.glob("before-*"))
    assert not [path for path in root.rglob("*") if path.name in ("__pycache__", ".pytest_cache")]


@pytest.fixture
def red(files: Files) -> None:
    files({"code_.py": CODE, "test_code.py": TEST})


@pytest.mark.usefixtures("red")
def test_an_old_failure_is_named_and_does_not_block(attempt: Attempt) -> None:
    verdict = attempt(HARMLESS)
    assert verdict.status == "passed"
    assert verdict.summary == f"1 passed, {OLD}"
    (finding,) = verdict.findings
    assert (finding.severity, finding.where) == ("warning", "test_code.py::test_red")
    assert finding.message == "failed before this turn too"


@pytest.mark.usefixtures("red")
@pytest.mark.parametrize("command", ["python -m pytest test_code.py -v", "pytest --tb=short"])
def test_the_remembered_command_is_compared_with_itself(attempt: Attempt, command: str) -> None:
    verdict = attempt({"code_.py": CODE + "# end\n"}, test_command=f"PYTHONPATH=. {command}")
    assert verdict.status == "failed", "its variables might decide"
    if command.startswith("python"):
        assert attempt(HARMLESS, test_command=command).summary == f"1 passed, {OLD}"


@pytest.mark.usefixtures("red")
def test_a_new_failure_blocks_and_is_the_only_one_blamed(attempt: Attempt) -> None:
    verdict = attempt({"code_.py": CODE.replace("* 2", "* 5")})
    assert verdict.status == "failed"
    assert verdict.reason == "1 of 2 tests failed: test_code.py::test_green"
    assert [finding.where for finding in verdict.findings] == ["test_code.py::test_green"]
    heading, _, rest = verdict.feedback.partition("\n\n")
    assert heading.endswith(f"\nnot yours: {OLD}")
    assert rest.startswith("test_code.py::test_green (test_code.py:9)")


@pytest.mark.usefixtures("red")
def test_a_failure_that_says_something_else_now_is_new(attempt: Attempt) -> None:
    verdict = attempt({"code_.py": CODE.replace("/ 3", "/ 5")})
    assert verdict.status == "failed"
    assert verdict.reason == "1 of 2 tests failed: test_code.py::test_red"
    assert "not yours" not in verdict.feedback


def test_the_same_words_at_another_place_are_new(attempt: Attempt, files: Files) -> None:
    test = "from code_ import a, b\n\n\ndef test_red():\n    x = a()\n    assert x\n    x = b()\n"
    test += "    assert x\n\n\ndef test_green():\n    pass\n"
    both = "def a():\n    return {}\n\n\ndef b():\n    return {}\n"
    files({"code_.py": both, "test_code.py": test})
    assert attempt({"code_.py": both.replace("{}", "{1}", 1)}).status == "failed"


def test_addresses_and_shifted_lines_do_not_make_a_failure_new(
    attempt: Attempt, files: Files
) -> None:
    code = "class A:\n    pass\n\n\ndef check():\n    raise ValueError(A())\n"
    test = "import code_\n\n\ndef test_red():\n    code_.check()\n\n\ndef test_green():\n    pass\n"
    files({"code_.py": code, "test_code.py": test})
    assert attempt({"code_.py": "# new\n" + code}).summary == f"1 passed, {OLD}"


@pytest.mark.usefixtures("red")
def test_an_edited_test_is_never_an_old_failure(attempt: Attempt) -> None:
    assert attempt({"test_code.py": TEST + "# end\n"}).status == "failed"
    added = TEST + "\n\ndef test_more():\n    assert half(4) == 2\n"
    assert attempt({"test_code.py": None, "test_new.py": added}, "test_new.py").status == "failed"


def test_what_a_file_held_must_be_known(attempt: Attempt, files: Files) -> None:
    test = "import os\n\n\ndef test_red():\n    assert os.path.exists('n.txt')\n"
    files({"test_code.py": test + "\n\ndef test_green():\n    pass\n", "n.txt": ""})
    assert attempt({"n.txt": None}, unknown=("n.txt",)).status == "failed"


@pytest.mark.usefixtures("red")
def test_created_files_are_not_there_before_and_deleted_ones_are(
    attempt: Attempt, files: Files
) -> None:
    test = "import os\n\n\ndef test_red():\n    assert os.listdir('data') == ['b.txt']\n"
    files({"test_code.py": test + "\n\ndef test_green():\n    pass\n", "data/b.txt": ""})
    assert attempt({"data/b.txt": None, "data/a.txt": ""}).status == "failed"


def test_data_that_git_ignores_is_there_too(attempt: Attempt, files: Files) -> None:
    test = "from pathlib import Path\nimport code_\n\n\ndef test_red():\n"
    test += (
        "    assert Path('data/n.txt').read_text() == code_.N\n\n\ndef test_green():\n    pass\n"
    )
    files({".gitignore": "data/\n", "data/n.txt": "1", "test_code.py": test, "code_.py": "N='2'\n"})
    verdict = attempt({"code_.py": "N = '2'\n"})
    assert verdict.summary == f"1 passed, {OLD}"


def test_ignored_data_written_in_this_turn_leaves_nothing_to_compare_with(
    attempt: Attempt, files: Files
) -> None:
    test = "from pathlib import Path\n\n\ndef test_red():\n    file = Path('state.log')\n"
    test += (
        "    file.write_text('x')\n    assert not file.exists()\n\n\ndef test_green():\n    pass\n"
    )
    files({".gitignore": "*.log\n", "test_code.py": test, "code_.py": ""})
    assert attempt({"code_.py": "# new\n"}).status == "failed"


@pytest.mark.usefixtures("red")
@pytest.mark.parametrize("target", ["../elsewhere", "{root}/code_.py"])
def test_only_links_that_stay_inside_are_copied(attempt: Attempt, root: Path, target: str) -> None:
    (root / "alias.py").symlink_to("code_.py")
    assert attempt(HARMLESS).status == "passed"
    (root / "link").symlink_to(target.format(root=root))
    assert attempt({"code_.py": CODE + "# end\n"}).status == "failed"


@pytest.mark.usefixtures("red")
def test_a_file_that_names_the_workspace_would_lead_back(attempt: Attempt, root: Path) -> None:
    (root / "conftest.py").write_text(f"import sys\nsys.path.insert(0, {str(root)!r})\n")
    assert attempt(HARMLESS).status == "failed"


@pytest.mark.usefixtures("red")
def test_an_editable_install_of_the_workspace_would_lead_back(
    attempt: Attempt, root: Path, bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = root.parent / "environment"
    shutil.copytree(bare_environment, copy, symlinks=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(copy))
    assert attempt(HARMLESS).status == "passed"
    next(copy.glob("lib/python*/site-packages")).joinpath("ws.pth").write_text(f"{root}\n")
    assert attempt({"code_.py": CODE + "# end\n"}).status == "failed"


@pytest.mark.usefixtures("red")
def test_an_environment_that_cannot_be_read_takes_nothing_from_the_verdict(
    attempt: Attempt, root: Path, bare_environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = root.parent / "environment"
    shutil.copytree(bare_environment, copy, symlinks=True)
    monkeypatch.setenv("VIRTUAL_ENV", str(copy))
    next(copy.glob("lib/python*/site-packages")).joinpath("gone.pth").symlink_to("nowhere")
    verdict = attempt(HARMLESS)
    assert verdict.status == "failed"
    assert "test_code.py::test_red" in verdict.reason


def test_what_a_child_process_fails_for_cannot_be_compared(attempt: Attempt, files: Files) -> None:
    test = "import subprocess, sys\n\n\ndef test_red():\n"
    test += "    subprocess.run([sys.executable, 'code_.py'], check=True)\n"
    files({"test_code.py": test + "\n\ndef test_green():\n    pass\n", "code_.py": "1 / 0\n"})
    assert attempt({"code_.py": "import nothing_\n"}).status == "failed"


def test_a_failure_about_what_the_copy_leaves_out_is_new(attempt: Attempt, files: Files) -> None:
    test = "import code_\n\n\ndef test_red():\n    assert code_.is_versioned(), 'no git'\n"
    code = "import os\n\n\ndef is_versioned():\n    return os.path.isdir('.git')\n"
    files({"test_code.py": test + "\n\ndef test_green():\n    pass\n", "code_.py": code})
    files({".git/HEAD": ""})
    assert attempt({"code_.py": code.replace("os.path.isdir('.git')", "False")}).status == "failed"


def test_only_old_failures_and_no_pass_show_nothing(attempt: Attempt, files: Files) -> None:
    files({"code_.py": CODE, "test_code.py": TEST.partition("\n\n\ndef test_green")[0] + "\n"})
    verdict = attempt(HARMLESS)
    assert verdict.status == "could_not_run"
    assert verdict.reason == f"no test passed: {OLD}"


@pytest.mark.usefixtures("red")
def test_a_run_that_stopped_early_is_not_compared(attempt: Attempt) -> None:
    assert attempt(HARMLESS, test_command="pytest -x test_code.py").status == "failed"


def test_a_green_run_is_not_repeated(attempt: Attempt, files: Files, tmp_path: Path) -> None:
    count = tmp_path / "count"
    test = f"def test_a():\n    with open({str(count)!r}, 'a') as file:\n        file.write('x')\n"
    files({"code_.py": CODE, "test_code.py": test})
    assert attempt(HARMLESS).status == "passed"
    assert count.read_text() == "x"


@pytest.mark.usefixtures("red")
def test_without_a_starting_state_every_failure_counts(root: Path, private: Path) -> None:
    context = GateContext(root, private, 20.0, modified=("code_.py",))
    assert run_gate("run_tests", ("test_code.py",), context).status == "failed"


@pytest.mark.usefixtures("red")
def test_a_large_workspace_is_not_copied(attempt: Attempt, root: Path) -> None:
    (root / "large.bin").touch()
    os.truncate(root / "large.bin", 201 * 1024 * 1024)
    (root / ".gitignore").write_text("*.bin\n")
    assert attempt(HARMLESS).status == "failed"
