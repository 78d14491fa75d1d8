"""Cases with known answers: our own, and those beside the repository where it has them."""

from pathlib import Path

import pytest

from tests.cases.__main__ import main

ROOT = Path(__file__).resolve().parents[2]
OWN = Path(__file__).parent / "cases"
SHARED = ROOT.parent / "shared" / "datalog"
SIZES = {OWN: 86, SHARED: 396}
ONE_BY_ONE = ["--incremental", "--most", "5000"]


def played(capsys, *arguments):
    """The exit code, and the lines that were printed."""
    code = main([str(argument) for argument in arguments])
    return code, capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    ("folder", "flags"),
    [(OWN, []), (OWN, ONE_BY_ONE), (SHARED, ONE_BY_ONE)],
    ids=["own at once", "own one by one", "shared one by one"],
)
def test_every_case_has_its_known_answer(capsys, folder, flags):
    if not folder.is_dir():
        pytest.skip(f"{folder} is not there")
    code, lines = played(capsys, "rules", folder, *flags)
    assert lines == [f"{SIZES[folder]} passed, 0 failed"]
    assert code == 0


WRONG = """{"facts": {"q": [[1]]}, "rules": [{"head": {"pred": "p", "args": [{"var": "X"}]},
"body": [{"kind": "pos", "pred": "q", "args": [{"var": "X"}]}]}], "expected": {"p": [[2]]}}"""


def test_a_wrong_answer_is_one_line_and_exit_code_1(capsys, tmp_path):
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "1.json").write_text(WRONG)
    code, lines = played(capsys, "rules", tmp_path)
    assert code == 1
    assert lines == [
        "cases/1.json: p: 1 missing, such as (2,)",
        "cases/1.json: p: 1 too many, such as (1,)",
        "0 passed, 1 failed",
    ]


def test_a_text_that_should_be_refused_and_is_not(capsys, tmp_path):
    entry = '[{"text": "p(1).", "error": "syntax", "line": 1, "col": 5}]'
    (tmp_path / "errors.json").write_text(entry)
    code, lines = played(capsys, "rules", tmp_path)
    assert code == 1
    assert lines[0] == "errors.json entry 1: accepted"
    assert lines[-1] == "0 passed, 1 failed"


def test_a_folder_without_cases_is_exit_code_2(capsys, tmp_path):
    for path in (tmp_path, tmp_path / "nowhere"):
        assert main(["rules", str(path)]) == 2
        told = capsys.readouterr()
        assert told.out == "0 passed, 0 failed\n"
        assert len(told.err.splitlines()) == 1
        assert str(path) in told.err
