"""Diffs that people read, made quickly also for large files."""

import re
import time

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.tools.diffs import counts, unified


def test_a_change_has_three_lines_of_context() -> None:
    before = "".join(f"{n}\n" for n in range(1, 21))
    assert unified("a", before, before.replace("10\n", "ten\n")) == (
        "--- a/a\n+++ b/a\n@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"
    )


def test_created_and_emptied_files() -> None:
    assert unified("a", "", "x\n") == "--- /dev/null\n+++ b/a\n@@ -0,0 +1 @@\n+x\n"
    assert unified("a", "x\n", "") == "--- a/a\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
    assert unified("a", "x", "x") == ""
    assert counts("") == "+0 -0"


def test_only_line_feeds_break_lines() -> None:
    diff = unified("a", "a\x0cb\u2028c\r\nd", "a\x0cb\u2028c\nD")
    assert diff == "--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n a\x0cb\u2028c\n-d\n+D\n"


def test_lines_that_look_like_headers_are_counted() -> None:
    assert counts(unified("a", "-- x\n", "++ y\n++ z\n")) == "+2 -1"


def test_a_long_diff_is_cut_and_still_counted() -> None:
    diff = unified("a", "", "x\n" * 1000)
    assert len(diff.splitlines()) == 401
    assert diff.endswith("... 603 more lines (+603 -0)\n")
    assert counts(diff) == "+1000 -0"
    assert counts(unified("a", "... 5 more lines (+9 -9)\n", "b\n")) == "+1 -1"


def test_a_small_change_of_a_large_repetitive_file_is_quick() -> None:
    lines = [f"line {n % 150}\n" for n in range(60_000)]
    changed = [*lines[:30_000], "new\n", *lines[30_001:]]
    started = time.process_time()
    diff = unified("a", "".join(lines), "".join(changed))
    assert time.process_time() - started < 1
    assert "@@ -29998,7 +29998,7 @@" in diff


def applied(before: str, diff: str) -> str:
    """What a diff makes of a text, when all that it says about the text is true."""
    lines, result, at = before.splitlines(True), [], 0
    for line in diff.splitlines(True)[2:]:
        if line.startswith("@@"):
            hunk = re.match(r"@@ -(\d+)(,0)?", line)
            assert hunk is not None
            start = int(hunk[1]) - (hunk[2] is None)
            result += lines[at:start]
            at = start
        elif line.startswith("+"):
            result.append(line[1:])
        else:
            assert lines[at] == line[1:]
            result += [line[1:]] * line.startswith(" ")
            at += 1
    return "".join(result + lines[at:])


LINES = st.lists(st.sampled_from(["a\n", "b\n", "c\n"]), max_size=25).map("".join)


@settings(deadline=None)
@given(LINES, LINES, LINES, LINES)
def test_a_diff_says_the_truth(head: str, old: str, new: str, tail: str) -> None:
    before, after = head + old + tail, head + new + tail
    diff = unified("f", before, after)
    assert applied(before, diff) == after
    added, removed = counts(diff).split()
    assert int(added) + int(removed) == after.count("\n") - before.count("\n")
