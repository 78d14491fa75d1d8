"""Every case of `tests/wire/cases`, which is shared, and of `tests/wire/more`, which is ours."""

from pathlib import Path

import pytest

from tests.cases.__main__ import main
from tests.cases.wire import loaded, outcome_of, waits

HERE = Path(__file__).parent
FILES = {
    file.name: file for folder in ("cases", "more") for file in sorted((HERE / folder).glob("*"))
}
CASES = {name: loaded(file) for name, file in FILES.items()}
QUICK = [name for name, case in CASES.items() if not waits(case)]
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "wire" / "cases"


@pytest.mark.parametrize("name", QUICK)
def test_a_case_ends_as_it_should(name: str) -> None:
    assert outcome_of(name, CASES[name]).faults == ()


def test_cases_that_wait_end_as_they_should(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = [name for name in CASES if name not in QUICK]
    for name in slow:
        (tmp_path / name).symlink_to(FILES[name])
    code = main(["wire", str(tmp_path)])
    assert capsys.readouterr().out.splitlines() == [f"{len(slow)} passed, 0 failed"]
    assert code == 0


def test_the_cases_are_those_that_are_shared() -> None:
    if not SHARED.is_dir():
        pytest.skip(f"{SHARED} is not there")
    shared = {file.name: loaded(file) for file in SHARED.glob("*.json")}
    assert shared == {n: case for n, case in CASES.items() if FILES[n].parent.name == "cases"}


def test_a_folder_without_cases_is_exit_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in (tmp_path, tmp_path / "nowhere"):
        assert main(["wire", str(path)]) == 2
        told = capsys.readouterr()
        assert told.out == "0 passed, 0 failed\n"
        assert str(path) in told.err


@pytest.mark.parametrize(
    "content",
    [
        *(
            b'{"layer": "decode"}',
            b'{"layer": "decode", "expect": []}',
            b"[]",
            b"{",
            b"",
            b"\xff{}",
        ),
        *(b'{"layer": "decode", "expect": {}}', b'{"layer": [], "expect": {}}', b"[" * 100_000),
    ],
)
def test_a_file_that_holds_no_case_fails_and_the_others_run(
    content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "1.json").write_bytes(content)
    (tmp_path / "2.json").symlink_to(FILES[QUICK[0]])
    assert main(["wire", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == "1 passed, 1 failed"
    assert [line[:7] for line in lines[:-1]] == ["1.json:"]


def test_one_file_is_run_alone(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["wire", str(FILES[QUICK[0]])]) == 0
    assert capsys.readouterr().out == "1 passed, 0 failed\n"
