"""write_file and patch_file on real files."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from toolrig import Rig, rigged

from harness.journal import Journal
from harness.model.values import Call
from harness.tools.alike import elsewhere
from harness.tools.approval import Answer, ApprovalRequest, Approvals
from harness.tools.toolbox import Toolbox
from harness.workspace.changes import digest


@pytest.fixture
def base(tmp_path: Path) -> Path:
    (tmp_path / "ws").mkdir()
    return tmp_path


def data(base: Path, path: str) -> bytes:
    return (base / "ws" / path).read_bytes()


def put(base: Path, path: str, content: bytes) -> Path:
    (base / "ws" / path).write_bytes(content)
    return base / "ws" / path


@pytest.mark.parametrize(
    ("content", "lines"),
    [("", "empty"), ("x", "1 line"), ("x\n", "1 line"), ("x\ny", "2 lines"), ("\n\n", "2 lines")],
)
def test_a_file_is_created_exactly(base: Path, content: str, lines: str) -> None:
    with rigged(base) as rig:
        result = rig("write_file", path="new/deep/a.txt", content=content)
        assert result.text == f"created 'new/deep/a.txt' ({lines})"
        assert data(base, "new/deep/a.txt") == content.encode()


def test_a_file_is_replaced_with_its_diff(base: Path) -> None:
    put(base, "a.py", b"a\nb\nc\n")
    with rigged(base) as rig:
        result = rig("write_file", path="a.py", content="a\nB\nc\n")
        assert result.text == "wrote 'a.py' (3 lines)"
        assert result.note == "+1 -1"
        assert result.diff == "--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n"


def test_the_same_content_changes_nothing(base: Path) -> None:
    file = put(base, "a.py", b"a\r\n")
    inode = file.stat().st_ino
    with rigged(base) as rig:
        result = rig("write_file", path="a.py", content="a\n")
        assert result.text == "'a.py' already has this content; nothing was changed."
        assert file.stat().st_ino == inode


def test_pure_crlf_stays_crlf(base: Path) -> None:
    put(base, "a.bat", b"a\r\nb\r\n")
    with rigged(base) as rig:
        rig("write_file", path="a.bat", content="a\nc\nd\n")
        assert data(base, "a.bat") == b"a\r\nc\r\nd\r\n"


def test_a_new_declaration_decides_the_encoding(base: Path) -> None:
    put(base, "a.py", b"# coding: latin-1\nx = '\xe9'\n")
    with rigged(base) as rig:
        assert "cannot hold '→'" in rig("patch_file", path="a.py", old_text="x", new_text="→").text
        rig("write_file", path="a.py", content="x = 'é→'\n")
        assert data(base, "a.py") == "x = 'é→'\n".encode()
        compile(data(base, "a.py"), "a.py", "exec")


def test_a_binary_file_is_not_overwritten(base: Path) -> None:
    put(base, "a.bin", b"\0\1")
    with rigged(base) as rig:
        assert "is a binary file" in rig("write_file", path="a.bin", content="x").text
        assert data(base, "a.bin") == b"\0\1"


def test_a_patch_says_little_and_shows_a_diff(base: Path) -> None:
    put(base, "auth.py", b"class A:\n    limit = 3\n")
    with rigged(base) as rig:
        result = rig("patch_file", path="./auth.py", old_text="limit = 3", new_text="limit = 5")
        assert result.text == "patched 'auth.py' (+1 -1)"
        assert "-    limit = 3\n+    limit = 5\n" in result.diff
        assert data(base, "auth.py") == b"class A:\n    limit = 5\n"


def test_a_patch_through_an_inner_link_edits_its_target(base: Path) -> None:
    put(base, "real.py", b"a = 1\n")
    (base / "ws" / "link.py").symlink_to("real.py")
    with rigged(base) as rig:
        assert rig("patch_file", path="link.py", old_text="1", new_text="2").ok
        assert data(base, "real.py") == b"a = 2\n"
        assert (base / "ws" / "link.py").is_symlink()


def test_a_hard_link_to_the_outside_is_broken(base: Path) -> None:
    (base / "victim").write_bytes(b"a\n")
    os.link(base / "victim", base / "ws" / "h.txt")
    with rigged(base) as rig:
        assert rig("patch_file", path="h.txt", old_text="a", new_text="b").ok
    assert (base / "victim").read_bytes() == b"a\n"
    assert data(base, "h.txt") == b"b\n"


def test_what_a_file_was_before_can_be_shown_later(base: Path) -> None:
    put(base, ".gitignore", b"*.log\n")
    put(base, "a.log", b"before\n")
    with rigged(base) as rig:
        rig("write_file", path="a.log", content="after\n")
        assert rig.tracker.content(digest(b"before\n")) == b"before\n"
        assert rig.tracker.snapshot()["a.log"] == digest(b"after\n")


def test_an_edit_is_not_written_over_one_made_while_it_was_shown(base: Path) -> None:
    file = put(base, "a.py", b"a = 1\n")

    def answer(request: ApprovalRequest) -> Answer:
        file.write_bytes(b"a = 1\n# mine\n")
        return Answer(True)

    with rigged(base) as rig:
        toolbox = Toolbox(rig.context, Approvals("ask", answer), Journal())
        for name, arguments in [
            ("patch_file", {"path": "a.py", "old_text": "1", "new_text": "2"}),
            ("write_file", {"path": "a.py", "content": "x"}),
        ]:
            file.write_bytes(b"a = 1\n")
            result = toolbox.run(Call("c", name, arguments, ""))
            assert "changed while the edit was being approved" in result.text
            assert file.read_bytes() == b"a = 1\n# mine\n"


@pytest.mark.parametrize(
    "path",
    "../out.txt /etc/mca-test {OUT}/new.txt link/new.txt filelink a/../../x .git/hooks/pre-commit "
    ".mini-coding-agent/knowledge/entries.json ~/.bashrc a\0b".split(" "),
)
def test_nothing_is_written_outside_or_where_it_is_protected(base: Path, path: str) -> None:
    outside = base / "outside"
    outside.mkdir()
    (outside / "victim.txt").write_text("VICTIM")
    (base / "ws" / "link").symlink_to(outside)
    (base / "ws" / "filelink").symlink_to(outside / "victim.txt")
    with rigged(base) as rig:
        path = path.replace("{OUT}", str(outside))
        for tool, arguments in [
            ("write_file", {"content": "pwn"}),
            ("patch_file", {"old_text": "VICTIM", "new_text": "pwn"}),
        ]:
            result = rig(tool, path=path, **arguments)
            assert not result.ok
            assert result.text.startswith("Error: ")
            assert "VICTIM" not in result.text
    assert sorted(os.listdir(outside)) == ["victim.txt"]
    assert (outside / "victim.txt").read_text() == "VICTIM"
    assert sorted(os.listdir(base)) == ["outside", "private", "ws"]
    assert not (base / "ws" / ".git").exists()


def failing(rig: Rig, **arguments: str) -> str:
    result = rig("patch_file", **arguments)
    assert not result.ok
    assert "nothing was changed" in result.text
    return result.text


def test_zero_or_several_matches_change_nothing(base: Path) -> None:
    put(base, "a.py", b"x = 1\ny = 2\nx = 1\n")
    with rigged(base) as rig:
        assert "2 times" in failing(rig, path="a.py", old_text="x = 1", new_text="x = 2")
        assert "(at lines 1, 3)" in failing(rig, path="a.py", old_text="x = 1", new_text="x = 2")
        assert "2: y = 2" in failing(rig, path="a.py", old_text="y  = 2", new_text="y = 3")
        assert data(base, "a.py") == b"x = 1\ny = 2\nx = 1\n"


def test_a_text_that_is_in_another_file_is_said_to_be_there(base: Path) -> None:
    put(base, "a.py", b"x = 1\n")
    put(base, "test_a.py", b'def test_x():\r\n    assert f("a") == 1\r\n    assert x\r\n')
    put(base, "blob.bin", b"\0assert f('a') == 1")
    with rigged(base) as rig:
        told = failing(rig, path="a.py", old_text="assert f('a') == 1", new_text="z")
        assert told.endswith('That text is in another file:\ntest_a.py:2: assert f("a") == 1')
        old = 'assert f("a") == 1\n    assert x\n'
        assert "test_a.py:2: " in failing(rig, path="a.py", old_text=old, new_text="z")
        for old in ("assert f('b') == 1", "assert"):
            assert "another file" not in failing(rig, path="a.py", old_text=old, new_text="z")


def test_no_rule_lets_a_text_in_another_file_be_told(base: Path) -> None:
    put(base, "a.py", b"x = 1\n")
    put(base, "secret.py", b"KEY = 'of the bank'\n")
    with rigged(base) as rig:
        withheld = replace(rig.context, withheld=lambda _tool, paths: dict.fromkeys(paths, "no"))
        assert elsewhere(rig.context, "KEY = 'of the bank'", "a.py")
        assert elsewhere(withheld, "KEY = 'of the bank'", "a.py") == ""
