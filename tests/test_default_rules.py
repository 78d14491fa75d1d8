"""What the shipped defaults ask about, and what they leave alone."""

import pytest

from harness.rulebook import files
from rules import Database, Program

ASKED = (
    "git push", "git push;ls", "cd x && git push -f", "git  push", "git -C . push", "sudo git push",
    "TOKEN=1 git push", "git --no-pager -c a=b push origin", "(git push)", "echo a\ngit push",
    "x=$(git push)", "git reset --hard", "git reset HEAD --hard", "git reset \\\n --hard",
    "git clean -fdx", "git clean -d --force", "git checkout .", "git checkout -- .",
    "git checkout HEAD -- ./", "git restore .", "npm publish", "yarn --silent publish",
    "twine upload dist/*", "python3 -m twine upload dist/*", "cargo publish",
)  # fmt: skip
LEFT_ALONE = (
    "git checkout -- .gitignore", "git clean -n", "grep -rn 'git push' README.md",
    "git stash push -m x", "git pushx", "git log --grep=push", "git reset --soft HEAD",
    "git checkout -b a.b", "git show HEAD:push", "npm run publish-docs", "echo git push", "ls .",
    "git fetch; ls --hard", "",
)  # fmt: skip


@pytest.fixture(scope="module")
def shipped() -> Program:
    return Program.union([files.read(file) for file in files.shipped()])


@pytest.mark.parametrize("command", [*ASKED, *LEFT_ALONE])
def test_commands_that_publish_or_discard_are_asked_about(shipped: Program, command: str) -> None:
    database = Database(shipped)
    database.assert_fact("command_requested", "c1", command)
    assert bool(database.query("permission('c1', ask, _)")) is (command in ASKED)


@pytest.mark.parametrize(
    ("gone", "new", "looked_at"), [(21, 0, True), (20, 0, False), (25, 25, False), (25, 4, True)]
)
def test_files_that_were_moved_are_not_lost(
    shipped: Program, gone: int, new: int, looked_at: bool
) -> None:
    database = Database(shipped)
    with database.transaction():
        for number in range(gone):
            database.assert_fact("file_deleted", f"old/{number}")
        for number in range(new):
            database.assert_fact("file_created", f"new/{number}")
    assert bool(database.query("integrity(review, _, _)")) is looked_at


def test_tests_that_imports_lead_to_come_after_those_of_the_change(shipped: Program) -> None:
    database = Database(shipped)
    with database.transaction():
        database.assert_fact("file_modified", "core.py")
        database.assert_fact("imports", "a.py", "core.py")
        database.assert_fact("test_covers", "test_core.py", "core.py")
        database.assert_fact("test_covers", "test_a.py", "a.py")
    assert database.query("gate_target(run_tests, T)") == [("run_tests", "test_core.py")]
    assert ("run_tests", "test_a.py") in database.query("further_target(run_tests, T)")
