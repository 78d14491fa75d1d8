"""What the journals of earlier sessions suggest."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from rulefiles import LINT, team

from harness.config import Places
from harness.errors import ConfigError
from harness.journal import Journal
from harness.rulebook.book import Rulebook
from rules import Database

TOGETHER = ("auth.py", "README.md")


class Turn:
    """One turn of a recorded session."""

    def __init__(
        self,
        *changed: str,
        kind: str = "verified",
        gates: Sequence[str] = (),
        verdict: str = "passed",
        by_hand: str = "",
        denied: bool = False,
    ) -> None:
        self.changed = changed
        self.kind = kind
        self.gates = gates
        self.verdict = verdict
        self.by_hand = by_hand
        self.denied = denied

    def record(self, journal: Journal) -> None:
        journal.emit("turn_started", turn=1, request="x", branch="")
        if self.by_hand:
            call: dict[str, Any] = {"id": "c1", "name": "run_shell"}
            journal.emit("tool_call", **call, arguments={}, summary=self.by_hand)
            denied = self.denied
            journal.emit("tool_result", **call, ok=False, denied=denied, text="", note="exit 1")
        journal.emit("gates_due", gates=[{"name": gate, "targets": []} for gate in self.gates])
        for gate in self.gates:
            journal.emit("verdict", gate=gate, status=self.verdict)
        journal.emit("outcome", kind=self.kind, changed=list(self.changed))


def session(where: Places, name: str, *turns: Turn) -> Path:
    where.sessions.mkdir(parents=True, exist_ok=True)
    path = where.sessions / f"{name}.jsonl"
    journal = Journal(path)
    journal.emit("session_started", session=name)
    for turn in turns:
        turn.record(journal)
    journal.close()
    return path


def sessions(where: Places, *turns: Turn, count: int = 3) -> None:
    for number in range(count):
        session(where, f"s{number}", *turns)


def proposed(where: Places, least: int = 3, besides: str = "") -> list[str]:
    found = Rulebook(where).proposals(least, besides)
    return ["\n".join(proposal.rules) for proposal in found]


def test_two_files_that_change_together_are_proposed_with_the_evidence(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    first, second = Rulebook(where).proposals(3, "")
    assert first.rules == (
        "companion_auth_py_readme_md: file_modified('auth.py') + not file_modified('README.md')"
        " + not file_deleted('README.md') -> integrity('review',"
        " 'auth.py has mostly been changed together with README.md', 'auth.py')",
    )
    assert first.sessions == ("s0", "s1", "s2")
    assert first.reason == "'README.md' changed in 3 of the 3 sessions that changed 'auth.py'"
    assert second.rules[0].startswith("companion_readme_md_auth_py: ")


def test_two_sessions_are_not_enough(where: Places) -> None:
    sessions(where, Turn(*TOGETHER), count=2)
    assert proposed(where) == []
    assert len(proposed(where, least=2)) == 2


def test_a_file_that_also_changes_alone_proposes_nothing(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    session(where, "s3", Turn("auth.py"))
    (only,) = proposed(where)
    assert only.startswith("companion_readme_md_auth_py")


@pytest.mark.parametrize("kind", ["failed", "limit", "interrupted", "model_error"])
def test_what_did_not_stand_says_nothing(where: Places, kind: str) -> None:
    sessions(where, Turn(*TOGETHER, kind=kind))
    assert proposed(where) == []


def test_files_of_different_turns_and_mass_edits_say_nothing(where: Places) -> None:
    many = [f"f{number}.py" for number in range(20)]
    sessions(where, Turn("auth.py"), Turn("README.md"), Turn(*TOGETHER, *many))
    assert proposed(where) == []


def test_files_that_are_gone_are_not_proposed(where: Places) -> None:
    sessions(where, Turn("auth.py", "old.py"))
    assert proposed(where) == []


def test_the_running_session_does_not_speak_for_itself(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    assert proposed(where, besides="s2") == []


def test_journals_that_cannot_be_read_say_nothing(where: Places, tmp_path: Path) -> None:
    sessions(where, Turn(*TOGETHER))
    (where.sessions / "bad.jsonl").write_text("no json\n")
    (where.sessions / "folder.jsonl").mkdir()
    (where.sessions / "odd.jsonl").write_text(
        '{"schema":1,"seq":1,"time":1,"kind":"outcome","payload":{"changed":{"a":1}}}\n'
        '{"schema":1,"seq":2,"time":1,"kind":"gates_due","payload":{"gates":[1,{}]}}\n'
        '{"schema":1,"seq":3,"time":1,"kind":"torn'
    )
    (where.sessions / "link.jsonl").symlink_to(where.sessions / "s0.jsonl")
    assert len(proposed(where)) == 2


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("api/views.py"), Turn("auth.py", gates=["run_tests"], verdict="failed")),
        (Turn("api/views.py", by_hand="cd api && python -m pytest -q"),),
        (Turn("api/views.py"), Turn(by_hand="make test")),
    ],
)
def test_tests_that_failed_for_want_of_a_check_are_proposed(
    where: Places, turns: tuple[Turn, ...]
) -> None:
    sessions(where, *turns)
    assert proposed(where) == [
        "tests_api_gate: file_modified(?file) + path_in('api', ?file) -> verify_gate('run_tests')\n"
        "tests_api_target: file_modified(?file) + path_in('api', ?file) + is_test(?test)"
        " -> gate_target('run_tests', ?test)"
    ]
    (proposal,) = Rulebook(where).proposals(3, "")
    assert proposal.reason == (
        "tests failed in 3 sessions after 'api' was changed and none were due"
    )


@pytest.mark.parametrize(
    "turns",
    [
        (Turn("api/views.py", gates=["run_tests"], verdict="failed"),),
        (Turn("api/views.py"), Turn("auth.py", gates=["run_tests"])),
        (Turn("api/views.py", by_hand="pytest -q", denied=True),),
        (Turn("api/views.py", by_hand="ls -l"),),
        (
            Turn("api/views.py"),
            Turn("auth.py", gates=["run_tests"]),
            Turn("auth.py", gates=["run_tests"], verdict="failed"),
        ),
    ],
)
def test_tests_that_were_due_or_passed_propose_nothing(
    where: Places, turns: tuple[Turn, ...]
) -> None:
    sessions(where, *turns)
    assert proposed(where) == []


def test_an_accepted_proposal_is_a_learned_rule_and_not_proposed_again(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    book = Rulebook(where)
    first, second = book.proposals(3, "")
    path = book.learn(first)
    assert path == where.state / "learned.dl"
    assert path.read_text().splitlines() == [
        "# 'README.md' changed in 3 of the 3 sessions that changed 'auth.py' (s0, s1, s2)",
        *first.rules,
    ]
    again = Rulebook(where)
    assert {r.name: r.tier for r in again.program.rules}["companion_auth_py_readme_md"] == "learned"
    assert [each.key for each in again.proposals(3, "")] == [second.key]
    again.switch("companion_auth_py_readme_md", on=False)
    assert [each.key for each in Rulebook(where).proposals(3, "")] == [second.key]


def test_an_accepted_proposal_is_in_force_whatever_was_decided_before(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    book = Rulebook(where)
    path = book.learn(book.proposals(3, "")[0])
    book.switch("companion_auth_py_readme_md", on=False)
    path.unlink()
    book = Rulebook(where)
    book.learn(book.proposals(3, "")[0])
    assert book.loaded.off == Rulebook(where).loaded.off == frozenset()


def test_nothing_is_learned_beside_rules_that_became_wrong(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    book = Rulebook(where)
    path = book.learn(book.proposals(3, "")[0])
    path.write_text("half ->\n")
    with pytest.raises(ConfigError, match=r"learned\.dl:.*; nothing was written"):
        book.learn(book.proposals(3, "")[0])
    assert path.read_text() == "half ->\n"


def test_a_rejected_proposal_is_not_made_again(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    book = Rulebook(where)
    first, second = book.proposals(3, "")
    book.reject(first)
    assert [each.key for each in Rulebook(where).proposals(3, "")] == [second.key]


def test_a_name_that_is_taken_gets_a_number(where: Places) -> None:
    team(where, LINT.replace("lint:", "companion_auth_py_readme_md:"))
    sessions(where, Turn(*TOGETHER))
    assert proposed(where)[0].startswith("companion_auth_py_readme_md_2: ")


def test_proposals_of_one_list_can_all_be_accepted_although_their_files_end_alike(
    where: Places,
) -> None:
    for folder in ("alpha", "beta"):
        for name in ("component.py", "component_style.css"):
            path = where.workspace / folder / "src/components/button" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
    parts = (
        "{0}/src/components/button/component.py",
        "{0}/src/components/button/component_style.css",
    )
    both = [Turn(*(part.format(folder) for part in parts)) for folder in ("alpha", "beta")]
    sessions(where, *both)
    book = Rulebook(where)
    found = book.proposals(3, "")
    assert len(found) == 4
    for proposal in found:
        book.learn(proposal)
    assert len({rule.name for rule in book.program.rules if rule.tier == "learned"}) == 4


def test_odd_names_of_files_make_rules_that_can_be_accepted(where: Places) -> None:
    odd = ["it's {odd}.py", "über\\x.py", "d/" + "y" * 80]
    for name in odd:
        (where.workspace / name).parent.mkdir(exist_ok=True)
        (where.workspace / name).touch()
    sessions(where, Turn(*odd))
    book = Rulebook(where)
    found = book.proposals(3, "")
    assert len(found) == 6
    for proposal in found:
        book.learn(proposal)
    assert Rulebook(where).proposals(3, "") == []
    assert Rulebook(where).loaded.notices == ()


def test_an_accepted_companion_asks_for_a_review(where: Places) -> None:
    sessions(where, Turn(*TOGETHER))
    book = Rulebook(where)
    book.learn(book.proposals(3, "")[0])
    database = Database(book.program)
    database.assert_fact("file_modified", "auth.py")
    assert database.holds("verify_gate", "integrity")
    database.assert_fact("file_modified", "README.md")
    assert not database.holds("verify_gate", "integrity")


def test_nothing_is_proposed_without_a_session(where: Places) -> None:
    assert proposed(where) == []
