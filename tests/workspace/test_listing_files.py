"""Which files of a tree are the workspace's."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.workspace import files
from harness.workspace.files import Stat, walk


def make(root: Path, *paths: str) -> None:
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)


def test_files_come_sorted_with_their_stat(tmp_path: Path) -> None:
    make(tmp_path, "b/z.py", "b.py", "a/x", "a.b/y", "é.txt", ".hidden")
    found = walk(tmp_path)
    assert list(found) == sorted(["b/z.py", "b.py", "a/x", "a.b/y", "é.txt", ".hidden"])
    assert found["b.py"] == Stat.of((tmp_path / "b.py").stat())


def test_caches_environments_and_version_control_are_left_out(tmp_path: Path) -> None:
    make(tmp_path, "a.py", ".git/config", "sub/.git/x", ".mini-coding-agent/config.toml")
    make(tmp_path, ".venv/lib/x.py", "venv/x.py", "node_modules/x.js", "pkg/__pycache__/a.pyc")
    make(tmp_path, "myenv/pyvenv.cfg", "myenv/lib/x.py", "deep/env/pyvenv.cfg", "deep/env/x.py")
    assert list(walk(tmp_path)) == ["a.py"]


@pytest.mark.parametrize("name", ["build", "venv", ".venv", "node_modules", "__pycache__"])
def test_the_name_of_the_workspace_itself_does_not_matter(tmp_path: Path, name: str) -> None:
    make(tmp_path / name, "a.py", "build/b.py")
    make(tmp_path, ".gitignore")
    (tmp_path / ".gitignore").write_text("*")
    assert list(walk(tmp_path / name)) == ["a.py", "build/b.py"]


def test_a_workspace_that_is_an_environment_is_listed(tmp_path: Path) -> None:
    make(tmp_path, "pyvenv.cfg", "a.py")
    assert list(walk(tmp_path)) == ["a.py", "pyvenv.cfg"]


IGNORES: list[dict[str, str]] = [
    {"": "*.log\nbuild/\n!keep.log"},
    {"": "*.log", "src": "!*.log\nx.py"},
    {"": "/a.py\nsrc/*.txt\n!src/b.txt"},
    {"": "src/\n!src/x.py"},
    {"": "*\n!*/\n!*.py"},
    {"": "**/deep/\n"},
    {"": "src/**/c.txt\n"},
    {"": "# comment\n\n\\#name\ntrailing.log   \r\nsp\\ ace\r\n"},
    {"": "[ab].py\n[!a].txt\n"},
    {"": "!\n\\\n[z-a]\n*.log\n"},
    {"": "[[a].py\n*.log\n"},
    {"": "\ufeff*.log\n"},
    {"": "**"},
    {"": "*/"},
    {"": "/*\n!/src\n", "src": "deep\n", "src/deep": "!c.txt"},
    {"": "a.py", "src": "!a.py", "src/deep": "*.log"},
    {"": "build", "build": "!out.txt"},
    {"src/deep": "*"},
    {"": "*/\n!src/\n"},
    {"": "src/**\n!src/x.py\n"},
    {"": "*\n!src/\n"},
    {"": "src\n!src/\n"},
    {"": "*.*p*y*\n*r*p*\nb*i**l*d/\n"},
    {"": "**/s*c/**/d*p/**/*.*x*t*\n"},
    {"": "src/**/*e*p/**/e*r/**/c*\n!**/*r/**/c.txt\n"},
    {"": "*?*?*?*\n!*[s]*r*c*/\n"},
]


@pytest.mark.parametrize("ignores", IGNORES, ids=str)
def test_git_lists_the_same_files(tmp_path: Path, ignores: dict[str, str]) -> None:
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    make(tmp_path, "a.py", "b.py", "a.txt", "x.log", "keep.log", "trailing.log", "sp ace", "#name")
    make(tmp_path, "src/a.py", "src/x.py", "src/b.txt", "src/c.txt", "src/y.log", "src/a.log/z")
    make(tmp_path, "src/deep/c.txt", "src/deep/d.log", "src/deep/er/c.txt", "build/out.txt")
    for folder, text in ignores.items():
        (tmp_path / folder / ".gitignore").write_text(text, encoding="utf-8", newline="")
    git = ["git", "-c", "core.excludesFile=", "-C", str(tmp_path)]
    subprocess.run([*git, "init", "-q"], check=True)
    listed = subprocess.run(
        [*git, "ls-files", "-z", "--others", "--exclude-standard"], capture_output=True, check=True
    )
    expected = sorted(os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)
    assert list(walk(tmp_path)) == expected


def test_links_are_neither_listed_nor_followed(tmp_path: Path) -> None:
    make(tmp_path, "ws/a.py", "outside/secret.txt")
    workspace = tmp_path / "ws"
    (workspace / "out").symlink_to(tmp_path / "outside")
    (workspace / "file").symlink_to(tmp_path / "outside" / "secret.txt")
    (workspace / "self").symlink_to(workspace)
    (workspace / "dangling").symlink_to("nowhere")
    assert list(walk(workspace)) == ["a.py"]


def test_odd_entries_are_left_out_at_once(tmp_path: Path) -> None:
    make(tmp_path, "a.py")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "caf\udce9.py").write_text("x")
    (tmp_path / "dir\udce9").mkdir()
    (tmp_path / "dir\udce9" / "b.py").write_text("x")
    os.mkfifo(tmp_path / ".gitignore")
    started = time.monotonic()
    assert list(walk(tmp_path)) == ["a.py"]
    assert time.monotonic() - started < 1


def test_an_ignore_file_that_is_a_link_or_a_folder_says_nothing(tmp_path: Path) -> None:
    make(tmp_path, "ws/a.py", "ws/sub/b.py", "rules")
    (tmp_path / "rules").write_text("*.py")
    (tmp_path / "ws" / ".gitignore").symlink_to(tmp_path / "rules")
    (tmp_path / "ws" / "sub" / ".gitignore").mkdir()
    assert list(walk(tmp_path / "ws")) == ["a.py", "sub/b.py"]


def test_of_a_very_long_ignore_file_the_whole_lines_at_its_beginning_hold(tmp_path: Path) -> None:
    make(tmp_path, "a.py", "b.py", "c.py")
    text = "a.py\n" + "#" * (65_536 - 8) + "\n"
    assert len(text) == 65_534
    (tmp_path / ".gitignore").write_text(text + "*.py\n")
    assert list(walk(tmp_path)) == [".gitignore", "b.py", "c.py"]


def test_a_very_deep_tree_is_no_crash(tmp_path: Path) -> None:
    handle = os.open(tmp_path, os.O_RDONLY)
    for _ in range(600):
        os.mkdir("d", dir_fd=handle)
        inner = os.open("d", os.O_RDONLY, dir_fd=handle)
        os.close(handle)
        handle = inner
    os.close(os.open("f", os.O_CREAT | os.O_WRONLY, dir_fd=handle))
    os.close(handle)
    assert list(walk(tmp_path)) == ["d/" * 600 + "f"]
    subprocess.run(["rm", "-rf", str(tmp_path / "d")], check=True)


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("*a" * 24 + "*b", "a" * 220),
        ("*?" * 24 + "*b", "a" * 220),
        ("*[ab]" * 24 + "*c", "a" * 220),
        ("*" * 200 + "b", "a" * 220),
        ("**/a/" * 24 + "b", "a/" * 400 + "x"),
        ("**/*a*a*a/" * 24 + "b", "aaaaaaaa/" * 200 + "x"),
    ],
    ids=["stars", "and marks", "and classes", "in a row", "folders", "folders with stars"],
)
def test_a_pattern_with_many_wildcards_does_not_hang(
    tmp_path: Path, pattern: str, path: str
) -> None:
    make(tmp_path, path)
    (tmp_path / ".gitignore").write_text(f"{pattern}\n*.log\n")
    code = "import sys; from harness.workspace.files import walk; print(*walk(sys.argv[1]))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        capture_output=True, text=True, check=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == f".gitignore {path}\n"


def test_a_folder_that_is_not_there_has_no_files(tmp_path: Path) -> None:
    assert walk(tmp_path / "nothing") == {}


def test_a_walk_stops_at_its_bound() -> None:
    assert files.MAX_FILES == 100_000


PYTHON_TEMPLATE = """__pycache__/ *.py[cod] *$py.class *.so .Python build/ develop-eggs/ dist/
downloads/ eggs/ .eggs/ lib/ lib64/ parts/ sdist/ var/ wheels/ share/python-wheels/ *.egg-info/
.installed.cfg *.egg MANIFEST *.manifest *.spec pip-log.txt htmlcov/ .tox/ .nox/ .coverage
.coverage.* .cache nosetests.xml coverage.xml *.cover *.py,cover .hypothesis/ .pytest_cache/ cover/
*.mo *.pot *.log local_settings.py db.sqlite3 instance/ .webassets-cache .scrapy docs/_build/
target/ .ipynb_checkpoints profile_default/ ipython_config.py .pdm.toml __pypackages__/ .env .venv
env/ venv/ ENV/ .spyderproject .ropeproject /site .mypy_cache/ .dmypy.json .pyre/ .pytype/"""


@pytest.mark.parametrize("ignore", ["", PYTHON_TEMPLATE], ids=["no .gitignore", "78 patterns"])
def test_two_thousand_files_take_no_time(tmp_path: Path, ignore: str) -> None:
    for number in range(2000):
        folder = tmp_path / f"pkg{number % 40}"
        folder.mkdir(exist_ok=True)
        (folder / f"m{number}.py").touch()
    if ignore:
        (tmp_path / ".gitignore").write_text("\n".join(ignore.split()))

    def seconds() -> float:
        started = time.process_time()
        assert len(walk(tmp_path)) == 2000 + bool(ignore)
        return time.process_time() - started

    assert min(seconds() for _ in range(5)) < 0.080
