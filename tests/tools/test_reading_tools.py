"""list_files, read_file and search: short answers about any tree."""

import os
import threading
import time
from pathlib import Path

import pytest
from toolrig import Rig, rigged

from harness.tools.search import SECONDS
from harness.tools.toolbox import MOST_CHARACTERS


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path


def put(base: Path, path: str, data: bytes | str = "") -> Path:
    file = base / "ws" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data.encode() if isinstance(data, str) else data)
    return file


def lines_of(rig: Rig, tool: str, **arguments: object) -> list[str]:
    result = rig(tool, **arguments)
    assert result.ok, result.text
    return result.text.split("\n")


# list_files


def test_a_small_tree_is_listed_whole(base: Path) -> None:
    for path in ("a.py", "src/b.py", "src/deep/c.py", ".venv/x.py", "srcs/d.py"):
        put(base, path)
    with rigged(base) as rig:
        assert lines_of(rig, "list_files") == ["a.py", "src/b.py", "src/deep/c.py", "srcs/d.py"]
        assert lines_of(rig, "list_files", path="src/") == ["src/b.py", "src/deep/c.py"]
        assert lines_of(rig, "list_files", path="a.py") == ["a.py"]
        assert rig.last("tool_result")["note"] == "1 file"


def test_a_large_tree_is_listed_by_folder(base: Path) -> None:
    for number in range(300):
        put(base, f"src/part{number % 3}/m{number}.py")
    put(base, "a.py")
    put(base, "tests/t.py")
    with rigged(base) as rig:
        assert lines_of(rig, "list_files") == ["src/ (300 files)", "tests/ (1 file)", "a.py"]
        assert lines_of(rig, "list_files", path="src") == [
            "src/part0/ (100 files)",
            "src/part1/ (100 files)",
            "src/part2/ (100 files)",
        ]
        assert len(lines_of(rig, "list_files", path="src/part1")) == 100


def test_a_very_wide_folder_is_cut_with_a_count(base: Path) -> None:
    for number in range(450):
        put(base, f"m{number:03}.py")
    with rigged(base) as rig:
        listed = lines_of(rig, "list_files")
        assert len(listed) == 201
        assert listed[-1] == "... and 250 more; list a folder of it"


def test_nothing_to_list_is_said(base: Path) -> None:
    (base / "ws" / "empty").mkdir()
    with rigged(base) as rig:
        assert "No files in 'empty'" in rig("list_files", path="empty").text
        assert rig("list_files", path="nowhere").text.startswith("Error: 'nowhere' does not exist.")


# read_file


def test_lines_are_numbered_and_counted(base: Path) -> None:
    put(base, "a.py", "one\n\ttwo  \n\nfour")
    with rigged(base) as rig:
        assert lines_of(rig, "read_file", path="a.py") == [
            "a.py: lines 1-4 of 4",
            "    1  one",
            "    2  \ttwo  ",
            "    3  ",
            "    4  four",
        ]
        assert rig.last("tool_result")["note"] == "4 lines"


@pytest.mark.parametrize("data", [b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb\n", b"\xff\xfea\0\n\0b\0"])
def test_encodings_and_line_ends_do_not_show(base: Path, data: bytes) -> None:
    put(base, "a", data)
    with rigged(base) as rig:
        assert lines_of(rig, "read_file", path="a") == ["a: lines 1-2 of 2", "    1  a", "    2  b"]


def test_a_long_file_comes_in_pages(base: Path) -> None:
    put(base, "a.py", "".join(f"line {n}\n" for n in range(1, 1001)))
    with rigged(base) as rig:
        first = lines_of(rig, "read_file", path="a.py")
        assert first[0] == "a.py: lines 1-400 of 1000 (read_file with start=401 shows more)"
        assert first[-1] == "  400  line 400"
        assert (
            lines_of(rig, "read_file", path="a.py", start=950)[0] == "a.py: lines 950-1000 of 1000"
        )
        few = lines_of(rig, "read_file", path="a.py", start=3, end=4)
        assert few[1:] == ["    3  line 3", "    4  line 4"]
        assert len(lines_of(rig, "read_file", path="a.py", start=1, end=9999)) == 1001


def test_a_page_of_wide_lines_is_shorter_and_nothing_is_lost(base: Path) -> None:
    put(base, "a.txt", "".join(f"{n} {'x' * 500}\n" for n in range(1, 101)))
    seen: list[str] = []
    with rigged(base) as rig:
        while len(seen) < 100:
            page = lines_of(rig, "read_file", path="a.txt", start=len(seen) + 1, end=100)
            assert len("\n".join(page)) <= MOST_CHARACTERS
            seen += page[1:]
    assert [line.split()[0] for line in seen] == [str(n) for n in range(1, 101)]


def test_an_endless_line_is_cut_with_a_count(base: Path) -> None:
    put(base, "a.js", "x" * 1_000_000)
    with rigged(base) as rig:
        result = rig("read_file", path="a.js")
        assert result.text.endswith("x... (998000 more characters)")
        assert len(result.text) < 3000


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({"start": 0}, "There are no lines with start 0; lines count from 1"),
        ({"start": -1}, "lines count from 1"),
        ({"start": 3, "end": 2}, "no lines with start 3 and end 2"),
        ({"start": 4}, "'a.py' has 2 lines; there is no line 4"),
    ],
)
def test_lines_that_are_not_there(base: Path, arguments: dict[str, int], why: str) -> None:
    put(base, "a.py", "1\n2\n")
    with rigged(base) as rig:
        assert why in rig("read_file", path="a.py", **arguments).text


def test_files_that_are_no_text(base: Path) -> None:
    put(base, "empty")
    put(base, "b.bin", b"a\0b")
    with (base / "ws" / "big").open("wb") as file:
        file.truncate(6 * 1024 * 1024)
    (base / "ws" / "d").mkdir()
    os.mkfifo(base / "ws" / "pipe")
    with rigged(base) as rig:
        assert rig("read_file", path="empty").text == "empty is empty."
        for path, why in [
            ("b.bin", "is a binary file"),
            ("big", "has 6291456 bytes; at most 5242880"),
            ("d", "'d' is a folder; list_files"),
            ("pipe", "not a regular file"),
            ("../x", "outside the workspace"),
        ]:
            assert why in rig("read_file", path=path).text


def test_an_invented_path_is_told(base: Path) -> None:
    put(base, "a.py", "x\n")
    with rigged(base) as rig:
        for tool, arguments in [
            ("read_file", {}),
            ("search", {"pattern": "x"}),
            ("list_files", {}),
            ("patch_file", {"old_text": "x", "new_text": "y"}),
        ]:
            result = rig(tool, path="/workspace/a.py", **arguments)
            assert result.text.startswith("(There is no '/workspace/a.py'; 'a.py' in the workspace")


def test_what_was_read_is_kept_for_later(base: Path) -> None:
    put(base, "a.py", "before\n")
    with rigged(base) as rig:
        before = rig.tracker.snapshot()["a.py"]
        rig("read_file", path="a.py")
        put(base, "a.py", "after\n")
        assert rig.tracker.content(before) == b"before\n"


# search


def test_matching_lines_come_with_path_and_number(base: Path) -> None:
    put(base, "a.py", "x = 1\r\n    y = xx\r\n")
    put(base, "src/b.py", b"\xef\xbb\xbfx = 2\n")
    put(base, ".venv/c.py", "x = 3\n")
    put(base, "bin", b"x\0x")
    with rigged(base) as rig:
        assert lines_of(rig, "search", pattern="^x = .$") == ["a.py:1: x = 1", "src/b.py:1: x = 2"]
        assert rig.last("tool_result")["note"] == "2 in 2 files"
        assert lines_of(rig, "search", pattern="x", path="a.py") == [
            "a.py:1: x = 1",
            "a.py:2: y = xx",
        ]
        assert lines_of(rig, "search", pattern="x", path="src") == ["src/b.py:1: x = 2"]


def test_no_match_is_said(base: Path) -> None:
    put(base, "a.py", "x\n")
    with rigged(base) as rig:
        assert rig("search", pattern="zz").text == "No line matches 'zz' in '.'."
        assert rig("search", pattern="").text.startswith("Error: pattern is empty")
        assert rig("search", pattern="x", path="nowhere").text.startswith("Error: 'nowhere'")


def test_a_named_file_is_searched_although_it_is_ignored(base: Path) -> None:
    put(base, ".gitignore", "*.log\n")
    put(base, "a.log", "needle\n")
    with rigged(base) as rig:
        assert rig("search", pattern="needle").text.startswith("No line")
        assert lines_of(rig, "search", pattern="needle", path="a.log") == ["a.log:1: needle"]


@pytest.mark.parametrize("pattern", ["f(", "*x", "[", "a{2,1}", "(?P<n>", "\\"])
def test_what_is_no_regular_expression_is_plain_text(base: Path, pattern: str) -> None:
    put(base, "a.py", f"call {pattern} here\n")
    with rigged(base) as rig:
        remark, hit = lines_of(rig, "search", pattern=pattern)
        assert f"{pattern!r} is no regular expression" in remark
        assert hit == f"a.py:1: call {pattern} here"


def test_what_is_no_match_is_looked_for_as_plain_text(base: Path) -> None:
    put(base, "a.py", 'x = 1\nassert f("a.b")\n')
    with rigged(base) as rig:
        remark, hit = lines_of(rig, "search", pattern="assert f('a.b')")
        assert "as plain text, with either kind of quotes" in remark
        assert hit == 'a.py:2: assert f("a.b")'
        assert rig.last("tool_result")["note"] == "1 in 1 file"
        assert lines_of(rig, "search", pattern=r"f\(.a.b") == ['a.py:2: assert f("a.b")']
        assert "No line matches" in rig("search", pattern="assert g('a.b')").text


def test_many_matches_are_counted(base: Path) -> None:
    put(base, "a.py", "x\n" * 250)
    with rigged(base) as rig:
        found = lines_of(rig, "search", pattern="x")
        assert len(found) == 101
        assert found[-1] == "... and 150 more; narrow the pattern or the path"
        assert rig.last("tool_result")["note"] == "250 in 1 file"


def test_a_match_in_a_very_long_line_is_shown(base: Path) -> None:
    put(base, "a.js", "a" * 5000 + "needle" + "b" * 5000 + "\n")
    with rigged(base) as rig:
        (line,) = lines_of(rig, "search", pattern="needle")
        assert "needle" in line
        assert len(line) < 330


def test_an_option_of_another_program_is_only_a_pattern(base: Path) -> None:
    put(base, "x.sh", "#!/bin/sh\ntouch pwned\n").chmod(0o755)
    put(base, "a.txt", "use --pre=./x.sh here\n")
    with rigged(base) as rig:
        assert lines_of(rig, "search", pattern="--pre=./x.sh") == ["a.txt:1: use --pre=./x.sh here"]
        assert not (base / "ws" / "pwned").exists()


def test_a_pattern_that_backtracks_without_end_is_stopped(base: Path) -> None:
    put(base, "a.txt", "caaa\n")
    put(base, "b.txt", "a" * 100 + "b\n")
    with rigged(base) as rig:
        started = time.monotonic()
        result = rig("search", pattern="(a|aa)+$")
        assert time.monotonic() - started < SECONDS + 2
        hit, stopped = result.text.split("\n")
        assert hit == "a.txt:1: caaa"
        assert stopped.startswith("(Stopped after 3 s; use a simpler pattern")
        assert rig("read_file", path="a.txt").ok


def test_searching_in_another_thread_works(base: Path) -> None:
    put(base, "a.txt", "needle\n")
    texts: list[str] = []
    with rigged(base) as rig:
        thread = threading.Thread(target=lambda: texts.append(rig("search", pattern="ne+").text))
        thread.start()
        thread.join()
    assert texts == ["a.txt:1: needle"]
