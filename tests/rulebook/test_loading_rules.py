"""Which rule files are in force, and in which tier."""

import json

import pytest
from rulefiles import LINT, learned, mine, team

from harness.config import Places
from harness.errors import ConfigError
from harness.rulebook import loading
from harness.rulebook.book import Rulebook


def test_tiers_come_from_the_place(where: Places) -> None:
    mine(where, "a: file_modified(_) -> mine_holds\n")
    team(where, "b: file_modified(_) -> team_holds\n")
    learned(where, "c: file_modified(_) -> learned_holds\n")
    tiers = {rule.name: rule.tier for rule in loading.load(where).program.rules}
    assert {name: tiers[name] for name in "abc"} == {
        "a": "global",
        "b": "workspace",
        "c": "learned",
    }
    assert tiers["tdd_gate"] == "kernel"
    assert tiers["affected_gate"] == "global"


def test_a_learned_file_in_the_workspace_is_the_workspaces_own(where: Places) -> None:
    team(where, LINT, "learned.dl")
    tiers = {rule.name: rule.tier for rule in loading.load(where).program.rules}
    assert tiers["lint"] == "workspace"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("bad: file_modified(?f) -> verify_gate(?g)\n", "team.dl:1:"),
        ("free: tool_requested(?id, _, _) -> permission(?id, 'allow', 'ours')\n", "closed"),
        ("waived('run_tests', 'auth.py').\n", "closed"),
        ("tdd_gate: file_modified(_) -> verify_gate('lint')\n", "tdd_gate"),
        ("p(?x) + not q(?x) -> q(?x)\n", "not"),
    ],
)
@pytest.mark.parametrize("write", [team, mine])
def test_rules_that_may_not_be_are_one_message(where: Places, text: str, said: str, write) -> None:  # type: ignore[no-untyped-def]
    path = write(where, text, "team.dl")
    with pytest.raises(ConfigError) as raised:
        loading.load(where)
    message = str(raised.value)
    assert "\n" not in message
    assert said in message
    assert f"{path}:1:" in message


def test_a_broken_file_is_said_with_what_to_do(where: Places) -> None:
    path = team(where, f"{LINT}b: p(?x) -> q(?y)\nhalf ->\n", "our rules.dl")
    with pytest.raises(ConfigError) as raised:
        loading.load(where)
    message = str(raised.value)
    assert message.startswith(f"{path}:2:")
    assert message.endswith(f"(mini-coding-agent rules check '{path}' shows all)")
    assert "\n" not in message


def test_a_shipped_file_is_called_by_its_name(where: Places) -> None:
    team(where, "tdd_gate: file_modified(_) -> verify_gate('lint')\n")
    with pytest.raises(ConfigError, match=r"already used at kernel\.dl:\d+:1: give "):
        loading.load(where)


@pytest.mark.parametrize(
    "text",
    [
        "not a rule\n",
        "tdd_gate: file_modified(_) -> verify_gate('lint')\n",
        "free: tool_requested(?id, _, _) -> permission(?id, 'allow', 'ours')\n",
    ],
)
def test_learned_rules_that_cannot_be_used_lock_nobody_out(where: Places, text: str) -> None:
    path = learned(where, text)
    team(where, LINT)
    loaded = loading.load(where)
    assert {rule.tier for rule in loaded.program.rules} == {"kernel", "global", "workspace"}
    (notice,) = loaded.notices
    assert "left out" in notice
    assert str(path) in notice


def test_a_learned_file_that_is_a_folder_locks_nobody_out(where: Places) -> None:
    (where.state / "learned.dl").mkdir(parents=True)
    assert "left out" in loading.load(where).notices[0]


def test_a_file_includes_another_of_its_folder(where: Places) -> None:
    team(where, ".include 'shared/api.dl'\n")
    team(where, LINT, "shared/api.dl")
    rules = {rule.name: rule for rule in loading.load(where).program.rules}
    assert rules["lint"].tier == "workspace"
    assert rules["lint"].source.endswith("rules/shared/api.dl")


def test_a_file_outside_the_folder_is_not_included(where: Places) -> None:
    mine(where, LINT)
    team(where, f".include '{where.user}/rules/mine.dl'\n.include '../../outside.dl'\n")
    (where.workspace / "outside.dl").write_text(LINT)
    with pytest.raises(ConfigError, match=r"team.dl:1:.*include"):
        loading.load(where)


@pytest.mark.parametrize("including", ["a.dl", "z.dl"])
def test_a_file_that_is_included_and_loaded_counts_once(where: Places, including: str) -> None:
    team(where, f".decl seen(path)\n{LINT}", "m.dl")
    team(where, ".include 'm.dl'\n", including)
    team(where, ".include 'm.dl'\n", "other.dl")
    names = [rule.name for rule in loading.load(where).program.rules]
    assert names.count("lint") == 1


def test_likely_mistakes_are_said(where: Places) -> None:
    team(where, "gate: file_modifed(?f) -> verify_gate('lint')\n")
    (notice,) = loading.load(where).notices
    assert "file_modified" in notice


def test_a_state_file_that_cannot_be_read_switches_nothing_off(where: Places) -> None:
    team(where, LINT)
    Rulebook(where).switch("lint", on=False)
    path = loading.switches_file(where)
    for text in ("{", "[]", '{"schema": 2}', '{"off": []}', "\ud800".encode("utf-8", "replace")):
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        loaded = loading.load(where)
        assert "lint" in {rule.name for rule in loaded.program.rules}
        assert str(path) in loaded.notices[0]


def test_what_a_clone_brings_switches_nothing_off(where: Places) -> None:
    record = json.dumps({"schema": 1, "off": {"affected_gate": "x"}, "rejected": []})
    for name in ("rules.json", "rules/rules.json", "state/rules.json"):
        path = where.local / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(record)
    assert loading.load(where).off == frozenset()
