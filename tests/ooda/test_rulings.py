"""What permissions are about, as the rules themselves tell."""

import pytest

from harness.ooda.rulings import EVERY, lost, ruled
from rules import Program, kernel

WRITES = "x: tool_requested(?id, ?t, ?p) + tool_writes(?t) -> permission(?id, 'ask', 'w')"
RUNS = "x: command_requested(?id, ?c) + contains(?c, 'rm') -> permission(?id, 'ask', 'r')"
ALL = "x: tool_requested(?id, _, ?p) + secret(?p) -> permission(?id, 'deny', 's')"


@pytest.mark.parametrize(
    ("rules", "about"),
    [
        (WRITES, {"write"}),
        (RUNS, {"execute"}),
        (ALL, EVERY),
        (f"{WRITES}\n{RUNS.replace('x:', 'y:')}", {"write", "execute"}),
        ("x: tool_requested(?id, _, _) + tool_writes(?t) -> permission(?id, 'ask', ?t)", EVERY),
        ("x: tool_requested(?i, _, _) + command_requested(_, ?c) -> permission(?i, a, ?c)", EVERY),
        ("x: tool_requested(?i, _, ?p) + not tool_writes(?p) -> permission(?i, 'ask', ?p)", EVERY),
        ("permission('c1', 'deny', 'x').", EVERY),
        ("x: file_modified(?f) -> verify_gate('lint')", set()),
    ],
)  # fmt: skip
def test_the_conditions_on_the_call_say_what_it_is_about(rules: str, about: set[str]) -> None:
    assert ruled(Program.parse(rules)) == about


@pytest.mark.parametrize(
    ("text", "about"),
    [
        (ALL, EVERY),
        ("ci_path('deploy/**').", {"write"}),
        ("deep(?p) :- file(?p, _).", {"write"}),
        ("x: file_modified(?f) -> verify_gate('lint')", set()),
    ],
)
def test_lost_rules_and_facts_may_have_had_a_say_by_way_of_others(
    text: str, about: set[str]
) -> None:
    stronger = Program.parse(
        "d: ci_path(?p) + tool_requested(?id, ?t, ?p) + tool_writes(?t)"
        " -> permission(?id, 'ask', 'x')\n"
        "e: deep(?p) + tool_requested(?id, ?t, ?p) + tool_writes(?t)"
        " -> permission(?id, 'ask', 'x')",
        tier="global",
    )
    weaker = Program.parse(text, tier="workspace")
    assert lost(Program.union([kernel(), stronger, weaker]), ["workspace"]) == about
