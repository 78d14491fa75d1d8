"""Why facts hold."""

import json

import pytest

from rules import Database, DoesNotHold, Fact, Program, RuleError
from tests.rules.naive import check_proof

GATES = """
tdd_gate: file_modified(?file) + test_covers(?test, ?file) -> verify_gate('run_tests')
all: verify_gate(?gate) + ?gate != 'none' + level(?n) -> due(?gate, ?n)
level(1).
"""


@pytest.fixture
def database():
    made = Database(Program.parse(GATES, source="team.dl"))
    made.assert_fact("test_covers", "test_auth.py", "auth.py", origin="scan")
    made.assert_fact("file_modified", "auth.py", origin="tool:call_1")
    return made


def test_an_applied_rule_prints_in_the_trace_notation(database):
    assert str(database.derivation("verify_gate('run_tests')")) == (
        "tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
        " -> verify_gate('run_tests')"
    )


def test_a_derivation_has_its_rule_and_premises(database):
    derivation = database.derivation(Fact("due", ("run_tests", 1)))
    assert derivation.rule.name == "all"
    assert derivation.premises == (Fact("verify_gate", ("run_tests",)), Fact("level", (1,)))
    assert derivation.conditions == ("'run_tests' != 'none'",)


def test_a_proof_as_text(database):
    assert database.why("due(run_tests, 1)").text() == (
        "due('run_tests', 1)  [all]\n"
        "  verify_gate('run_tests')  [tdd_gate]\n"
        "    file_modified('auth.py')  [asserted: tool:call_1]\n"
        "    test_covers('test_auth.py', 'auth.py')  [asserted: scan]\n"
        "  level(1)  [asserted: team.dl:4]\n"
        "  'run_tests' != 'none'"
    )


def test_a_proof_as_json(database):
    proof = json.loads(json.dumps(database.why("due(run_tests, 1)").to_json()))
    assert proof["fact"] == "due('run_tests', 1)"
    assert proof["steps"][0] == {
        "fact": "due('run_tests', 1)",
        "rule": "all",
        "origin": "",
        "premises": ["verify_gate('run_tests')", "level(1)"],
        "conditions": ["'run_tests' != 'none'"],
    }
    assert [step["origin"] for step in proof["steps"]] == [
        "",
        "",
        "tool:call_1",
        "scan",
        "team.dl:4",
    ]


def test_the_earliest_rule_and_facts_give_the_reason():
    text = "second: b(?x) -> c\nthird: a(?x) -> c\n"
    database = Database(Program.parse(text))
    with database.transaction():
        for predicate, value in [("a", 2), ("b", 4), ("b", 3)]:
            database.assert_fact(predicate, value)
    assert str(database.derivation("c")) == "second: b(4) -> c"


def test_of_several_facts_the_one_asserted_first_is_the_reason():
    database = Database(Program.parse("m(?x) + c(?t, ?x) -> due\nm(?x) + has(_) -> any"))
    for test in ("t2", "t1", "t3"):
        database.assert_fact("c", test, "f")
        database.assert_fact("has", test)
    database.assert_fact("m", "f")
    assert database.derivation("due").premises[1] == Fact("c", ("t2", "f"))
    assert database.derivation("any").premises[1] == Fact("has", ("t2",))


def test_a_reason_stays_while_it_holds_and_is_replaced_when_it_goes():
    database = Database(Program.parse("one: a(?x) -> c\ntwo: b(?x) -> c"))
    database.assert_fact("b", 1)
    database.assert_fact("a", 1)
    assert str(database.derivation("c")) == "two: b(1) -> c"
    database.retract_fact("b", 1)
    assert str(database.derivation("c")) == "one: a(1) -> c"


def test_a_shared_premise_is_unfolded_once():
    rules = "\n".join(f"s{n}: p{n}(?x) + p{n}(?y) + q(?y) -> p{n + 1}(?x)" for n in range(40))
    database = Database(Program.parse(rules + "\np0(1). q(1)."))
    proof = database.why("p40(1)")
    assert len(proof.text().splitlines()) == 1 + 3 * 40
    assert len(proof.to_json()["steps"]) == 42
    assert "[shown above]" in proof.text()


def test_a_proof_may_be_very_deep():
    program = Program.parse("step: at(?x) + next(?x, ?y) -> at(?y)")
    database = Database(program)
    depth = 8_000
    with database.transaction():
        for number in range(depth):
            database.assert_fact("next", number, number + 1)
        database.assert_fact("at", 0)
    proof = database.why(f"at({depth})")
    lines = proof.text().splitlines()
    assert len(lines) == 2 * depth + 1
    assert max(map(len, lines)) < 200
    assert len(proof.to_json()["steps"]) == 2 * depth + 1
    assert json.dumps(proof.to_json())
    assert "at(8000)" in repr(proof)


def test_what_does_not_hold_is_said_with_what_comes_near(database):
    with pytest.raises(DoesNotHold) as caught:
        database.why("verify_gate(lint)")
    assert (
        str(caught.value)
        == "verify_gate('lint') does not hold; what does: verify_gate('run_tests')"
    )
    with pytest.raises(LookupError, match="did you mean 'verify_gate'"):
        database.why("verify_gates(run_tests)")
    with pytest.raises(LookupError, match="nor does any other fact of 'none'"):
        Database(Program.parse(".decl none(x)")).why("none(1)")
    with pytest.raises(LookupError, match="is not derived by any rule"):
        database.derivation("level(1)")
    with pytest.raises(LookupError, match="is not derived by any rule"):
        database.derivation("unheard(1)")


@pytest.mark.parametrize("text", ["verify_gate(X)", "verify_gate(", "verify_gate(a, b)", "1 < 2"])
def test_only_one_fact_at_a_time_can_be_asked_for(database, text):
    with pytest.raises(RuleError, match=r"<atom>:1:\d+: error"):
        database.why(text)


def test_proofs_stay_well_founded_when_facts_go():
    program = Program.parse("e(?a, ?b) -> r(?a, ?b)\nr(?a, ?b) + r(?b, ?c) -> r(?a, ?c)")
    database = Database(program)
    edges = [(a, (a * 7 + k) % 9) for a in range(9) for k in (1, 3)]
    with database.transaction():
        for edge in edges:
            database.assert_fact("e", *edge)
    for edge in edges:
        database.retract_fact("e", *edge)
        for fact in database.derived():
            check_proof(database.why(fact), program, database.facts())
    assert database.derived() == []
