"""What a model calls a path, and the one path it becomes."""

import os
from pathlib import Path

import pytest

from harness.errors import NoSuchFile, OutsideWorkspace, ToolError
from harness.workspace.root import Root


@pytest.fixture
def root(tmp_path: Path) -> Root:
    folder = tmp_path / "ws"
    (folder / "tests").mkdir(parents=True)
    (folder / "auth.py").write_text("x = 1\n")
    (folder / "tests" / "test_auth.py").write_text("y = 1\n")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "victim.txt").write_text("VICTIM")
    return Root(folder)


@pytest.mark.parametrize(
    "spelling",
    "auth.py ./auth.py tests/../auth.py nowhere/../auth.py .//auth.py auth.py/ {WS}/auth.py "
    "{WS}/tests/../auth.py //{WS}/auth.py".split(),
)
def test_spellings_of_one_file_are_one_path(root: Root, spelling: str) -> None:
    assert root.locate(spelling.replace("{WS}", str(root.path))).path == "auth.py"


@pytest.mark.parametrize("spelling", [".", "./", "tests/..", "{WS}", "{WS}/"])
def test_the_root_is_a_dot(root: Root, spelling: str) -> None:
    assert root.locate(spelling.replace("{WS}", str(root.path))).path == "."


@pytest.mark.parametrize(
    "spelling",
    ".. ../x ../outside/victim.txt tests/../../outside/victim.txt /etc/passwd / "
    "{WS}/../outside/victim.txt {WS}x/auth.py ~/.ssh/id_rsa /proc/self/environ".split(),
)
def test_what_lies_outside_is_refused(root: Root, spelling: str) -> None:
    spelling = spelling.replace("{WS}", str(root.path))
    with pytest.raises(OutsideWorkspace, match="outside the workspace"):
        root.locate(spelling)
    with pytest.raises(OutsideWorkspace, match="outside the workspace"):
        root.locate_new(spelling)


@pytest.mark.parametrize(
    ("spelling", "why"),
    [
        ("", "empty"),
        ("  ", "empty"),
        ("auth.py\0.txt", "NUL"),
        ("A" * 256, "too long"),
        ("a/" * 2500, "too long"),
        ("caf\udce9.py", "not text"),
        ("\ud800.py", "not text"),
    ],
)
def test_names_no_file_can_have_are_sentences(root: Root, spelling: str, why: str) -> None:
    for locate in (root.locate, root.locate_new):
        with pytest.raises(ToolError, match=why) as refused:
            locate(spelling)
        assert len(str(refused.value)) < 200


@pytest.mark.parametrize("spelling", ["/workspace/auth.py", "/auth.py", "/repo/auth.py"])
def test_an_invented_root_is_mapped_and_told(root: Root, spelling: str) -> None:
    located = root.locate(spelling)
    assert located.path == "auth.py"
    assert spelling in located.note
    assert "'auth.py'" in located.note


@pytest.mark.parametrize(
    "spelling", ["tests\\test_auth.py", "`tests/test_auth.py`", '"tests/test_auth.py"\n']
)
def test_backslashes_and_quotes_are_read_as_meant(root: Root, spelling: str) -> None:
    located = root.locate(spelling)
    assert located.path == "tests/test_auth.py"
    assert f"There is no {spelling!r}; {located.path!r} in the workspace was used" in located.note


def test_a_file_that_has_such_a_name_is_meant(root: Root) -> None:
    (root.path / "tests\\test_auth.py").write_text("odd")
    assert root.locate("tests\\test_auth.py").path == "tests\\test_auth.py"
    assert root.locate_new("new\\file.py").path == "new\\file.py"


@pytest.mark.parametrize("spelling", ["/C:/Code/Simple/auth.py", "C:\\Code\\auth.py", "d:/auth.py"])
def test_a_path_with_a_drive_is_outside(root: Root, spelling: str) -> None:
    for locate in (root.locate, root.locate_new):
        with pytest.raises(OutsideWorkspace, match=r"outside the workspace\. Did you mean 'auth"):
            locate(spelling)


def test_an_invented_root_is_never_used_to_create(root: Root) -> None:
    for spelling in ("/workspace/new.py", "/workspace/auth.py", "/new.py"):
        with pytest.raises(ToolError, match="outside the workspace"):
            root.locate_new(spelling)


def test_an_absolute_path_that_exists_is_not_taken_for_invented(root: Root, tmp_path: Path) -> None:
    other = tmp_path / "auth.py"
    other.write_text("mine")
    twin = root.path / str(other)[1:]
    twin.parent.mkdir(parents=True)
    twin.write_text("the workspace's own")
    with pytest.raises(ToolError, match="outside"):
        root.locate(str(other))
    other.unlink()
    assert root.locate(str(other)).path == str(other)[1:]


def test_unknown_paths_name_the_closest(root: Root) -> None:
    with pytest.raises(NoSuchFile, match=r"does not exist\. Did you mean 'tests/test_auth.py'\?"):
        root.locate("test_auth.py")
    with pytest.raises(ToolError, match=r"Did you mean 'auth\.py'"):
        root.locate("auht.py")
    with pytest.raises(ToolError, match=r"Did you mean 'auth\.py'"):
        root.locate_new("/home/somebody/auth.py")
    with pytest.raises(ToolError, match="list_files shows"):
        root.locate("qqqqqqqqqqqq")


def test_links_that_stay_inside_lead_to_the_real_path(root: Root) -> None:
    (root.path / "link.py").symlink_to("auth.py")
    (root.path / "t").symlink_to("tests")
    (root.path / "absolute").symlink_to(root.path / "tests")
    (root.path / "dangling").symlink_to("tests/new.py")
    assert root.locate("link.py").path == "auth.py"
    assert root.locate("t/test_auth.py").path == "tests/test_auth.py"
    assert root.locate("absolute/test_auth.py").path == "tests/test_auth.py"
    assert root.locate_new("dangling").path == "tests/new.py"


@pytest.mark.parametrize("target", ["../outside", "../outside/victim.txt", "/etc", "../nowhere"])
def test_links_that_lead_out_are_refused(root: Root, target: str) -> None:
    (root.path / "link").symlink_to(target)
    for spelling in ("link", "link/new.txt"):
        with pytest.raises(ToolError, match="outside"):
            root.locate(spelling)
        with pytest.raises(ToolError, match="outside"):
            root.locate_new(spelling)


def test_a_loop_of_links_is_refused(root: Root) -> None:
    (root.path / "loop").symlink_to("loop")
    (root.path / "a").symlink_to("b")
    (root.path / "b").symlink_to("a")
    for name in ("loop", "a", "a/x", "b/../../../etc/passwd"):
        with pytest.raises(ToolError):
            root.read(root.locate(name).path)


def test_a_chain_of_many_links_is_no_crash(root: Root) -> None:
    for number in range(1500):
        (root.path / f"l{number}").symlink_to(f"l{number + 1}")
    with pytest.raises(ToolError):
        root.read(root.locate("l0").path)


def test_a_workspace_reached_through_a_link_is_the_same(root: Root, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(root.path)
    for base in (root, Root(tmp_path / "link")):
        assert base.path == root.path
        assert base.locate(f"{tmp_path}/link/auth.py").path == "auth.py"
        assert base.locate(f"{root.path}/auth.py").path == "auth.py"
        assert base.locate_new(f"{tmp_path}/link/new.py").path == "new.py"


def test_a_home_path_inside_the_workspace_is_used(root: Root, home: Path) -> None:
    inside = Root(home)
    (home / "notes.txt").write_text("x")
    assert inside.locate("~/notes.txt").path == "notes.txt"


@pytest.mark.parametrize(
    "spelling",
    ".git/config .git .GIT/hooks/pre-commit sub/.git/hooks/x tests/../.git/x g/hooks/x "
    ".mini-coding-agent/knowledge/entries.json .Mini-Coding-Agent/x".split(),
)
def test_version_control_and_our_own_folder_are_not_written(root: Root, spelling: str) -> None:
    (root.path / ".git" / "hooks").mkdir(parents=True)
    (root.path / "g").symlink_to(".git")
    with pytest.raises(ToolError, match="protected"):
        root.locate_new(spelling)


def test_names_that_only_begin_like_protected_ones_are_free(root: Root) -> None:
    assert root.locate_new(".gitignore").path == ".gitignore"
    assert root.locate_new(".github/x.yml").path == ".github/x.yml"


def test_a_folder_is_no_file_to_write(root: Root) -> None:
    for spelling in (".", "tests", "tests/", "new/"):
        with pytest.raises(ToolError, match="is a folder"):
            root.locate_new(spelling)


def test_the_root_of_the_file_system_can_be_the_workspace() -> None:
    everything = Root(Path("/"))
    assert everything.locate("/etc").path == "etc"
    assert everything.locate("etc/../etc").path == os.path.realpath("/etc")[1:]
