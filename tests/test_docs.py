"""What the documentation shows works, and what it says of the program is so."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness.config import Options
from harness.flags import parser
from harness.usage import HELP
from rules import Program, RuleError

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[object]:
    """Every fenced block of a language, named by page and line."""
    found = []
    for page in PAGES:
        text = page.read_text()
        for match in BLOCK.finditer(text):
            if match[1] == language:
                line = text.count("\n", 0, match.start()) + 1
                found.append(pytest.param(match[2], id=f"{page.name}:{line}"))
    return found


def printed(text: str) -> str | None:
    """What a page says that an example prints."""
    (page,) = (each for page in PAGES if text in (each := page.read_text()))
    said = re.match(r"```\s+This prints\s+```text\n(.*?)```", page.partition(text)[2], re.DOTALL)
    return said and said[1]


@pytest.mark.parametrize("text", blocks("python"))
def test_python_examples_run_and_print_what_is_told(text: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", text],
        check=True,
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert printed(text) in (None, done.stdout)


def test_lower_tiers_may_what_the_table_says_they_may() -> None:
    page = (ROOT / "docs" / "rules.md").read_text()
    example = page[page.index("Suppose this is `kernel.dl`") :]
    above = Program.parse(BLOCK.search(example)[2], "kernel.dl")
    rows = re.findall(r"^\| `(.+?)` \| (.+) \|$", example.partition("So whatever")[0], re.MULTILINE)
    assert len(rows) == 7
    for rule, verdict in rows:
        refusal = refused(above, rule)
        assert bool(refusal) is verdict.startswith("refused")
        paths = [text for text in re.findall("`(.+?)`", verdict) if "->" in text]
        assert all(path in refusal for path in paths)


def refused(above: Program, rule: str) -> str:
    """Why a rule may not be beside others; "" if it may."""
    try:
        above.extend(Program.parse(rule, "team.dl", "workspace"))
    except RuleError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("text", blocks("dl"))
def test_rule_examples_are_accepted(text: str) -> None:
    Program.parse(text, tier="workspace")


@pytest.mark.parametrize("text", blocks("toml"))
def test_configuration_examples_are_accepted(text: str, tmp_path: Path, home: Path) -> None:
    from harness.config import load, places

    folder = home / ".mini-coding-agent"
    folder.mkdir()
    (folder / "config.toml").write_text(text)
    load(places(tmp_path), {}, {})


def test_help_names_every_flag_and_no_other() -> None:
    flags = {flag for action in parser()._actions for flag in action.option_strings}
    shown = set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", HELP))
    assert shown - {"--help", "--version"} == flags
    assert all(len(line) <= 80 for line in HELP.splitlines())


def test_every_setting_is_documented() -> None:
    text = (ROOT / "docs" / "configuration.md").read_text()
    for name, default in vars(Options()).items():
        row = next(
            (line for line in text.splitlines() if line.startswith("|") and f"`{name}`" in line), ""
        )
        assert row, f"docs/configuration.md has no row for {name}"
        if isinstance(default, (int, float)) and not isinstance(default, bool):
            assert f"{default:g}" in row


def test_every_journal_event_is_documented() -> None:
    text = (ROOT / "docs" / "journal.md").read_text()
    documented = set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) - {"schema", "seq", "time"}
    emitted: set[str] = set()
    for path in (ROOT / "harness").rglob("*.py"):
        emitted |= set(re.findall(r"\.emit\(\s*\"(\w+)\"", path.read_text()))
    assert emitted == documented


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_version_and_changelog_agree() -> None:
    from harness import __version__ as version

    assert f'version = "{version}"' in (ROOT / "pyproject.toml").read_text()
    assert f"\n## {version}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_project_names_no_machine_and_no_registry() -> None:
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "-z"], capture_output=True, text=True, check=False
    )
    forbidden = re.compile(r"/(?:root|work/\w+)/|registry\.npmjs|deb\.debian\.org|pypi\.org")
    for name in filter(None, listed.stdout.split("\0")):
        path = ROOT / name
        if path.suffix in (".py", ".md", ".toml", ".dl", ".json") and path.is_file():
            found = forbidden.search(path.read_text(encoding="utf-8", errors="replace"))
            assert name == "tests/test_docs.py" or not found, f"{name}: {found}"
