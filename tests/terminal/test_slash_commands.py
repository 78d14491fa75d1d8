"""Commands of the prompt."""

import io
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import UserError
from harness.terminal.commands import COMMANDS, perform
from harness.terminal.screen import Screen
from tests.terminal.stand_in import DIFF, PROOF, StandIn


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
    assert "/rules why ATOM" in text


def test_the_table_is_what_the_documentation_promises() -> None:
    page = (Path(__file__).parents[2] / "docs" / "terminal.md").read_text()
    for command in COMMANDS:
        for usage, about in command.usages:
            assert f"| `{usage}` | {about} |" in page


def test_rules_shows_facts_rules_and_derived_gates_apart() -> None:
    lines = output("/rules").splitlines()
    facts, rules, derived = (
        lines.index(heading) for heading in ("facts (2)", "rules (1)", "derived gates (2)")
    )
    assert facts < lines.index("  file_modified('auth.py')") < rules
    assert rules < derived < lines.index("  verify_gate('run_tests')")
    assert lines[rules + 1].startswith("  [kernel] tdd_gate: file_modified(?file)")
    assert lines[rules + 1].endswith("(rules/kernel.dl:7)")


def test_long_lists_are_bounded_unless_all_is_asked_for() -> None:
    session = StandIn(facts=tuple(f"file('f{n}.py', 'python')" for n in range(100)))
    bounded = output("/rules", session)
    assert "… 60 more lines, /rules all shows them" in bounded
    assert "f99.py" not in bounded
    assert "f99.py" in output("/rules all", session)


def test_rules_why_shows_the_proof() -> None:
    assert output("/rules why verify_gate('run_tests')") == PROOF + "\n"
    assert "not derived" in refused("/rules why verify_gate('lint')")
    assert "which fact?" in refused("/rules why")


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
    assert "'why ATOM'" in refused("/rules everything")


@pytest.mark.parametrize("name", ["/exit", "/quit"])
def test_leaving(name: str) -> None:
    assert perform(StandIn(), Screen(io.StringIO()), f"{name}  ")
    assert not perform(StandIn(), Screen(io.StringIO()), "/help")


def test_pairs_stand_below_each_other_when_narrow() -> None:
    lines = output("/session", width=40).splitlines()
    assert "  model      qwen3-coder:30b" in lines
    assert lines[lines.index("  workspace") + 1].startswith("    /home/ada")
