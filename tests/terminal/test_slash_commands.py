"""Commands of the prompt."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.terminal.commands import COMMANDS, perform
from harness.terminal.screen import Screen
from tests.terminal.stand_in import API, DIFF, PROOF, REFUSED, StandIn


def output(text: str, session: StandIn | None = None, width: int | None = None) -> str:
    out = io.StringIO()
    perform(session or StandIn(), Screen(out, width=width), text)
    return out.getvalue()


def refused(text: str, session: StandIn | None = None) -> str:
    with pytest.raises(UserError) as raised:
        perform(session or StandIn(), Screen(io.StringIO()), text)
    return str(raised.value)


def test_help_lists_every_command_of_the_table() -> None:
    text = output("/help")
    for command in COMMANDS:
        assert f"  {command.name} " in text
        assert command.about in text
    assert "/rules why FACT" in text


def test_the_table_is_what_the_documentation_promises() -> None:
    page = (Path(__file__).parents[2] / "docs" / "terminal.md").read_text()
    for command in COMMANDS:
        for usage, about in command.usages:
            assert f"| `{usage}` | {about} |" in page


def test_rules_shows_facts_rules_and_derived_gates_apart() -> None:
    lines = output("/rules").splitlines()
    facts, rules, kernel, derived = (
        lines.index(heading)
        for heading in (
            "facts (2)",
            "rules (3, and 1 stated fact)",
            "kernel rules (1)",
            "derived gates (2)",
        )
    )
    assert facts < lines.index("  file_modified('auth.py')") < rules < kernel
    assert kernel < derived < lines.index("  verify_gate('run_tests')")
    assert lines[kernel + 1].startswith("  tdd_gate: file_modified(?file)")
    assert lines[kernel + 1].endswith("(kernel.dl:7)")


def test_rules_are_listed_by_tier_with_their_names_and_what_is_off() -> None:
    lines = output("/rules").splitlines()
    headings = [line for line in lines if " rules (1" in line]
    assert headings == [
        "kernel rules (1)",
        "default rules (1)",
        "workspace rules (1, and 1 stated fact)",
    ]
    assert "  (off) rule@default.dl:3: p(?x) -> q(?x)  (default.dl:3)" in lines
    assert "  api: file_modified(?f) -> verify_gate('security')  (local.dl:1)" in lines


def test_a_tier_that_was_dropped_is_marked() -> None:
    text = output("/rules", StandIn(dropped=(("workspace", "more than 200,000 facts"),)))
    assert "rules (1, and 1 stated fact), dropped for this session: more than 200,000" in text


def test_long_lists_are_bounded_unless_all_is_asked_for() -> None:
    session = StandIn(facts=tuple(f"file('f{n}.py', 'python')" for n in range(100)))
    bounded = output("/rules", session)
    assert "… 60 more lines, /rules all shows them" in bounded
    assert "f99.py" not in bounded
    assert "f99.py" in output("/rules all", session)


def test_rules_why_shows_the_proof() -> None:
    assert output("/rules why verify_gate('run_tests')") == PROOF + "\n"
    assert output("/rules why --json verify_gate('run_tests')") == '{"fact": 1}\n'
    assert output("/rules why verify_gate('run_tests') --json") == '{"fact": 1}\n'
    assert "is no fact" in refused("/rules why lint")
    assert "which fact?" in refused("/rules why")


def test_rules_add_shows_what_was_written_and_where() -> None:
    assert output("/rules add  p(?x) -> q(?x)").splitlines() == [
        "p(?x) -> q(?x)",
        "in force, and kept in local.dl",
    ]
    assert output(f"/rules add {API}").splitlines()[-2:] == [
        "in force, and kept in local.dl",
        "api had been switched off, and is on again",
    ]
    assert "kept in global.dl" in output("/rules add --global p(?x) -> q(?x)")
    assert "which rule?" in refused("/rules add ")


def test_a_refused_rule_is_shown_with_its_faults() -> None:
    out = io.StringIO()
    with pytest.raises(UserError, match="nothing was written"):
        perform(StandIn(), Screen(out, width=40), "/rules add bad: ->")
    assert out.getvalue() == REFUSED + "\n"


def test_rules_check_counts_or_shows_the_faults() -> None:
    assert output("/rules check good.dl") == "good.dl: 1 statement, 0 warnings\n"
    assert "bad.dl: it cannot be used" in refused("/rules check bad.dl")
    assert "which file?" in refused("/rules check")


def test_rules_are_switched_by_name() -> None:
    assert output("/rules off api").startswith("off api: file_modified(?f)")
    assert output("/rules on api").startswith("on api: ")
    assert "no rule 'x'" in refused("/rules off x")
    assert "which rule?" in refused("/rules on")


def test_proposals_are_shown_with_what_speaks_for_them() -> None:
    lines = output("/rules propose").splitlines()
    assert lines[0].startswith("1. api: ")
    assert lines[1].startswith("   tdd_gate: ")
    assert lines[2].strip() == "'b.py' changed in 3 of the 3 sessions that changed 'a.py'"
    assert lines[3].strip() == "sessions: s1, s2, s3"
    assert "kept in learned.dl" in output("/rules accept 1")
    assert "not proposed again" in output("/rules reject 1")
    for wrong in ("x", "-1", "9" * 20):
        assert "is not the number" in refused(f"/rules accept {wrong}")


def test_with_no_ooda_rules_says_so() -> None:
    session = StandIn(ooda=False)
    for text in ("/rules", "/rules all", "/rules why verify_gate('run_tests')"):
        assert "switched off by --no-ooda" in output(text, session)


def test_reset_clears_history_and_modified_files() -> None:
    session = StandIn()
    assert "cleared" in output("/reset", session)
    assert session.resets == 1
    assert "  file_modified('auth.py')\n" not in output("/rules", session)


def test_knowledge_memory_session_and_diff() -> None:
    assert "password_rules (workspace, picked in this turn)" in output("/knowledge")
    assert "contain a digit" in output("/knowledge")
    assert "  estimated tokens  1,234" in output("/memory")
    assert "  model      qwen3-coder:30b" in output("/session")
    assert "nothing has changed" in output("/diff")
    session = StandIn(requests=["x"])
    assert output("/diff", session).splitlines() == [f"  {line}" for line in DIFF.splitlines()]


def test_a_long_entry_is_bounded() -> None:
    class OneEntry(StandIn):
        def entries(self):  # type: ignore[no-untyped-def]
            (entry,) = super().entries()
            return (replace(entry, content="word " * 200_000),)

    text = output("/knowledge", OneEntry())
    assert len(text) < 1000
    assert "more characters" in text


def test_an_unknown_command_names_the_nearest_one() -> None:
    assert "did you mean /help?" in refused("/hlep")
    assert "/help lists the commands" in refused("/zzz")
    assert "put a space before the slash" in refused("/etc/passwd is wrong")


def test_what_a_command_does_not_take_is_refused() -> None:
    session = StandIn()
    assert "'now'" in refused("/reset now", session)
    assert session.resets == 0
    assert "why FACT" in refused("/rules everything")


@pytest.mark.parametrize("name", ["/exit", "/quit"])
def test_leaving(name: str) -> None:
    assert perform(StandIn(), Screen(io.StringIO()), f"{name}  ")
    assert not perform(StandIn(), Screen(io.StringIO()), "/help")


def test_pairs_stand_below_each_other_when_narrow() -> None:
    lines = output("/session", width=40).splitlines()
    assert "  model      qwen3-coder:30b" in lines
    assert lines[lines.index("  workspace") + 1].startswith("    /home/ada")
