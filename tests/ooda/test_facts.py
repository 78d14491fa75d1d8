"""The facts of a session and the rules they meet."""

import sys
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

import pytest

from harness.journal import Event, Journal
from harness.ooda.bounds import Bounds
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


def with_rules(**texts: str) -> Program:
    """The kernel and a text for each tier."""
    parts = [Program.parse(text, f"{tier}.dl", tier) for tier, text in texts.items()]
    return Program.union([kernel(), *parts])


def notices(events: list[Event]) -> list[str]:
    return [event.payload["text"] for event in events if event.kind == "notice"]


def tiers(facts: Facts) -> set[str]:
    return {rule.tier for rule in facts.program.rules}


LINT = "lint: file_modified(_) -> verify_gate('lint')"
FILES = [Fact("file", (f"{n}.py", "python")) for n in range(6)]


def test_rules_that_conclude_too_much_leave_the_kernels_gates() -> None:
    facts, events = recorded(with_rules(workspace=GREEDY))
    facts.update([COVERED], [], "start")
    facts.update([*FILES, MODIFIED], [], "scan")
    (notice,) = notices(events)
    assert "the workspace rules are switched off for this session" in notice
    assert "workspace.dl:" in notice
    assert "max_derived" in notice
    assert list(facts.dropped) == ["workspace"]
    assert facts.database.holds("verify_gate", "run_tests")
    assert tiers(facts) == {"kernel"}


def test_only_the_tier_that_went_too_far_is_dropped() -> None:
    other = LINT.replace("lint", "types")
    facts, events = recorded(with_rules(**{"global": LINT, "workspace": GREEDY, "learned": other}))
    facts.update([*FILES, MODIFIED], [], "scan")
    assert tiers(facts) == {"kernel", "global", "learned"}
    assert facts.database.holds("verify_gate", "lint")
    assert facts.database.holds("verify_gate", "types")
    assert len(notices(events)) == 1


DENY = """
affected: file_modified(?f) -> affected(?f)
deny: tool_requested(?id, ?t, _) + tool_writes(?t) -> permission(?id, 'deny', 'no')
"""
ABUSES = {
    "a recursion that goes through a stronger rule": """
        more: affected(?x) + file(?x, _) -> affected(0)
        next: affected(?x) -> affected(?x + 1)
    """,
    "as many facts as there may be": """
        seed(0). seed(1). seed(2). seed(3). seed(4). seed(5). seed(6). seed(7). seed(8). seed(9).
        many: seed(?a) + seed(?b) + seed(?c) + seed(?d) -> many(?a, ?b, ?c, ?d)
    """,
    "work just below the bound": "\n".join(f"s({n})." for n in range(99))
    + "\nbig: tool_requested(?i, _, _) + s(?x) + s(?y) + (?x + ?y) > 999 -> big(?i)",
}


@pytest.mark.parametrize("abuse", ABUSES)
def test_weaker_rules_cannot_have_stronger_ones_dropped(abuse: str) -> None:
    events: list[Event] = []
    journal = Journal()
    journal.sinks.append(events.append)
    program = with_rules(**{"global": DENY, "workspace": ABUSES[abuse]})
    facts = Facts(program, journal, Bounds(derived=10_000, work=9_950))
    wanted = [MODIFIED, Fact("file", ("a.py", "python")), Fact("tool_writes", ("write_file",))]
    facts.update(wanted, [], "start")
    for number in range(3):
        facts.update([Fact("tool_requested", (f"c{number}", "write_file", "x"))], [], "turn")
        assert facts.database.holds("permission", f"c{number}", "deny", "no")
    assert set(facts.dropped) <= {"workspace"}
    assert "global" in tiers(facts)


def test_what_was_concluded_on_the_way_is_journalled_when_a_tier_falls() -> None:
    facts, events = recorded(with_rules(workspace=GREEDY))
    facts.update([COVERED, *FILES], [], "start")
    facts.update([MODIFIED], [], "tool:c1")
    derived = [event.payload["fact"] for event in events if event.kind == "derived"]
    assert "verify_gate('run_tests')" in derived


def test_whether_rules_would_fall_can_be_asked_beforehand() -> None:
    facts, events = recorded(with_rules(workspace=LINT))
    facts.update(FILES, [], "start")
    del events[:]
    greedy = with_rules(workspace=GREEDY + LINT)
    assert list(facts.would_drop(greedy)) == ["workspace"]
    assert facts.would_drop(with_rules(workspace=LINT.replace("lint", "types"))) == {}
    assert (events, facts.dropped) == ([], {})


def test_several_tiers_may_have_to_go() -> None:
    again = GREEDY.replace("pair", "two").replace("quad", "four").replace("oct", "eight")
    again = again.replace("much", "more")
    facts, events = recorded(with_rules(**{"global": GREEDY, "workspace": again, "learned": LINT}))
    facts.update([*FILES, COVERED, MODIFIED], [], "scan")
    assert tiers(facts) == {"kernel", "learned"}
    assert len(notices(events)) == 2
    assert facts.database.holds("verify_gate", "run_tests")


@pytest.mark.parametrize(
    ("rule", "limit"),
    [
        ("n(0).\nx: n(?x) + ?y = (?x + 1) -> n(?y)", "max_rounds"),
        ("x: file(?a, _) + file(?b, _) + file(?c, _) + ?a = ?b + ?b < ?a -> p(?c)", ""),
        ("x: file(?a, _) + file(?b, _) + file(?c, _) + contains(?a, ?b) + ?c < ?a -> p(?c)", ""),
    ],
)
def test_a_hostile_rule_ends_within_seconds(rule: str, limit: str) -> None:
    facts, events = recorded(with_rules(workspace=rule))
    many = [Fact("file", (f"src/package/module_{n}.py", "python")) for n in range(5_000)]
    started = time.monotonic()
    facts.update([*many, COVERED, MODIFIED], [], "scan")
    assert time.monotonic() - started < 15
    assert facts.database.holds("verify_gate", "run_tests")
    assert all(limit in notice for notice in notices(events))


def test_rules_that_state_too_much_from_the_start_are_dropped() -> None:
    facts, events = recorded(with_rules(workspace="n(0).\nx: n(?x) + ?y = (?x + 1) -> n(?y)"))
    assert tiers(facts) == {"kernel"}
    assert len(notices(events)) == 1
    facts.update([COVERED, MODIFIED], [], "scan")
    assert facts.database.holds("verify_gate", "run_tests")


def test_many_files_make_room() -> None:
    events: list[Event] = []
    journal = Journal()
    journal.sinks.append(events.append)
    program = with_rules(workspace="x: file(?a, ?l) + file(?b, ?l) + ?b < ?a -> seen(?a, ?b)")
    many = [Fact("file", (f"{n}.py", "python")) for n in range(100)]
    for each, fits in [(400, True), (0, False)]:
        bounds = Bounds(work=100, for_each=each)
        del events[:]
        facts = Facts(program, journal, bounds)
        facts.update(many, [], "start")
        assert (notices(events) == []) is fits
        assert bool(facts.database.derived("seen")) is fits


def test_other_rules_take_over_the_facts_and_say_what_is_new() -> None:
    facts, events = recorded(kernel())
    facts.update([COVERED, MODIFIED], [], "tool:c1")
    del events[:]
    facts.replace(with_rules(workspace=LINT))
    assert [event.payload["fact"] for event in events] == ["verify_gate('lint')"]
    assert "[asserted: tool:c1]" in facts.database.why("verify_gate('lint')").text()
    facts.sync(set(), ["file_modified"], "turn")
    assert facts.database.derived() == []


def broken_off(after: int, change: Callable[[], None]) -> bool:
    """Whether a Ctrl-C at that line of ours came before the change had come to its end."""
    left = after

    def trace(frame: FrameType, event: str, arg: object) -> Any:
        nonlocal left
        name = frame.f_code.co_filename
        if event == "line" and name.endswith(("ooda/facts.py", "engine/store.py", "bounds.py")):
            left -= 1
            if left == 0:
                raise KeyboardInterrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        change()
    except KeyboardInterrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_what_ctrl_c_broke_off_is_made_good_by_the_next_change() -> None:
    after, known = 1, {COVERED, *FILES[:2]}
    while True:
        facts, _ = recorded(kernel())
        facts.update(known, [], "start")
        if not broken_off(after, lambda: facts.update([MODIFIED], FILES[:1], "scan")):  # noqa: B023
            break
        facts.sync({MODIFIED}, ["file_modified"], "scan")
        facts.sync({*FILES[1:2]}, ["file"], "scan")
        assert set(facts.database.facts()) == {COVERED, MODIFIED, *FILES[1:2]}, after
        assert facts.database.holds("verify_gate", "run_tests")
        after += 1
    assert after > 50


def test_rules_whose_coming_was_broken_off_are_in_force_from_the_next_change() -> None:
    after, pairs = 2, GREEDY.splitlines()[1]
    program = with_rules(**{"global": LINT, "workspace": pairs})
    while True:
        facts = Facts(with_rules(workspace=pairs), Journal(), Bounds(derived=30))
        facts.update([*FILES, MODIFIED], [], "start")
        if not broken_off(after, lambda: facts.replace(program)):  # noqa: B023
            break
        facts.update([COVERED], [], "scan")
        assert facts.database.holds("verify_gate", "run_tests")
        assert facts.database.holds("verify_gate", "lint")
        assert list(facts.dropped) == ["workspace"], after
        after += 7
    assert after > 50


def test_what_a_rule_file_states_stays_when_the_scan_does_not_see_it() -> None:
    facts, _ = recorded(with_rules(workspace="test_covers('e2e.sh', 'a.py').\nhas_tests."))
    facts.sync({COVERED, Fact("has_tests")}, ["test_covers", "has_tests"], "start")
    facts.sync(set(), ["test_covers", "has_tests"], "scan")
    assert [str(fact) for fact in facts.database.facts()] == [
        "has_tests",
        "test_covers('e2e.sh', 'a.py')",
    ]


def test_of_very_many_conclusions_the_first_are_journalled_and_the_rest_counted() -> None:
    facts, events = recorded(with_rules(workspace="x: file(?a, _) -> seen(?a)"))
    facts.update([Fact("file", (f"{n}.py", "python")) for n in range(300)], [], "start")
    kinds = [event.kind for event in events]
    assert kinds.count("derived") == 200
    assert events[-1].payload == {
        "predicate": "seen",
        "count": 100,
        "line": "  [rules] ... -> seen(...) 100 times more",
    }


def test_what_is_asserted_where_rules_conclude_too_has_no_derivation() -> None:
    facts, events = recorded(with_rules(workspace="x: file_created(?a) -> file_modified(?a)"))
    facts.update([MODIFIED], [], "start")
    assert [event.kind for event in events] == ["facts"]


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
