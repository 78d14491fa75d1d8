"""The facts of a session and the rules they meet."""

from harness.journal import Event, Journal
from harness.ooda.facts import Facts, change_facts, language
from harness.workspace.changes import Changes
from rules import Fact, Program, kernel

GREEDY = """
pairs: file(?a, _) + file(?b, _) -> pair(?a, ?b)
quads: pair(?a, ?b) + pair(?c, ?d) -> quad(?a, ?b, ?c, ?d)
much: quad(?a, ?b, ?c, ?d) + quad(?e, ?f, ?g, ?h) -> oct(?a, ?b, ?c, ?d, ?e, ?f, ?g, ?h)
"""
COVERED = Fact("test_covers", ("test_a.py", "a.py"))
MODIFIED = Fact("file_modified", ("a.py",))


def recorded(program: Program) -> tuple[Facts, list[Event]]:
    events: list[Event] = []
    journal = Journal()
    journal.sinks.append(events.append)
    return Facts(program, journal), events


def test_a_due_gate_is_journalled_with_its_reason() -> None:
    facts, events = recorded(kernel())
    facts.update([COVERED], [], "start")
    facts.update([MODIFIED], [], "tool:1")
    lines = [event.payload["line"] for event in events if event.kind == "derived"]
    assert lines[0] == (
        "  [rules] tdd_gate: file_modified('a.py') + test_covers('test_a.py', 'a.py')"
        " -> verify_gate('run_tests')"
    )


def test_sync_takes_back_what_no_longer_holds() -> None:
    facts, events = recorded(kernel())
    facts.update([COVERED, MODIFIED], [], "start")
    facts.sync(set(), ["file_modified"], "turn")
    assert events[-1].payload["lines"] == ["  [facts] retract file_modified('a.py')"]
    assert facts.database.derived() == []
    assert facts.database.facts() == [COVERED]


def test_rules_that_conclude_too_much_leave_the_kernels_gates() -> None:
    program = Program.union([kernel(), Program.parse(GREEDY, "team.dl", tier="workspace")])
    facts, events = recorded(program)
    facts.update([COVERED], [], "start")
    files = [Fact("file", (f"{n}.py", "python")) for n in range(6)]
    facts.update([*files, MODIFIED], [], "scan")
    notices = [event.payload["text"] for event in events if event.kind == "notice"]
    assert len(notices) == 1
    assert "switched off" in notices[0]
    assert facts.database.holds("verify_gate", "run_tests")
    assert {rule.tier for rule in facts.program.rules} == {"kernel"}


def test_many_facts_are_counted_and_covers_are_listed() -> None:
    facts, events = recorded(kernel())
    files = [Fact("file", (f"{n}.py", "python")) for n in range(300)]
    facts.update([*files, COVERED], [], "start")
    assert events[0].payload["lines"] == [
        "  [facts] assert file(...) for 300 files",
        "  [facts] assert test_covers('test_a.py', 'a.py')",
    ]


def test_changes_become_facts() -> None:
    changes = Changes(("new.py",), ("conftest.py", "new.py"), ("old.py",))
    assert {str(fact) for fact in change_facts(changes)} == {
        "file_created('new.py')",
        "file_modified('conftest.py')",
        "file_modified('new.py')",
        "file_deleted('old.py')",
        "verify_config_changed('conftest.py')",
    }


def test_languages() -> None:
    assert [language(p) for p in ("a.py", "x/B.PYI", "Makefile", "a.md")] == [
        "python",
        "python",
        "other",
        "markdown",
    ]
