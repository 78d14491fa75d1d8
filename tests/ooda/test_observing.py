"""What changed between turns, and who is told."""

from pathlib import Path

from harness.ooda.observe import Observe
from harness.workspace.changes import Tracker
from harness.workspace.root import Root


def observing(tmp_path: Path) -> Observe:
    (tmp_path / "a.py").write_text("x = 1\n")
    root = Root(tmp_path)
    return Observe(root, Tracker(root))


def test_an_edit_between_turns_is_told_also_after_another_look(tmp_path: Path) -> None:
    observe = observing(tmp_path)
    assert observe.begin("one").elsewhere == ()
    observe.end()
    (tmp_path / "a.py").write_text("x = 2\n")
    observe.now()  # as /rules does between two requests
    assert observe.begin("two").elsewhere == ("a.py",)


def test_what_the_turn_itself_changed_is_not_somebody_elses(tmp_path: Path) -> None:
    observe = observing(tmp_path)
    observe.begin("one")
    (tmp_path / "a.py").write_text("x = 2\n")
    observe.end()
    assert observe.begin("two").elsewhere == ()


def test_the_branch_is_read_without_git(tmp_path: Path) -> None:
    observe = observing(tmp_path)
    assert observe.begin("one").branch == ""
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/topic/x\n")
    assert observe.begin("two").branch == "topic/x"
