"""Why facts hold."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Database, Diagnostic, DoesNotHold, Fact, LimitError, Program, RuleError
from rules.answers.derivations import Derivations
from rules.answers.first import Forward
from rules.answers.provenance import build
from rules.answers.why import explain
from rules.terms import quote
from tests.rules.model_view import ModelView, view_of
from tests.rules.naive import Proofs, TooMuch
from tests.rules.random_bodies import Generator

GATES = """
tdd_gate: file_modified(?file) + test_covers(?test, ?file) -> verify_gate('run_tests')
all: verify_gate(?gate) + ?gate != 'none' + level(?n) -> due(?gate, ?n)
level(1).
"""


def why(fact, view, **bounds):
    return explain(fact, Derivations(view), **bounds)


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
    assert (proof["fact"], proof["height"], proof["smallest"]) == ("due('run_tests', 1)", 2, True)
    assert proof["steps"][0] == {
        "fact": "due('run_tests', 1)",
        "rule": "all",
        "tier": "kernel",
        "place": "team.dl:3:1",
        "origin": "",
        "premises": ["verify_gate('run_tests')", "level(1)"],
        "conditions": ["'run_tests' != 'none'"],
        "evidence": [],
        "explained": True,
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


def test_a_reason_is_replaced_when_it_goes():
    database = Database(Program.parse("one: a(?x) -> c\ntwo: b(?x) -> c"))
    database.assert_fact("b", 1)
    database.assert_fact("a", 1)
    assert str(database.derivation("c")) == "one: a(1) -> c"
    database.retract_fact("a", 1)
    assert str(database.derivation("c")) == "two: b(1) -> c"


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
    for edge in edges[::3] + edges[1::3] + edges[2::3]:
        database.retract_fact("e", *edge)
        proofs = Proofs(program, database.facts())
        for fact in database.derived():
            proofs.check(database.why(fact))
    assert database.derived() == []


MEASURED = """
measured: file(?f) + ?n = count : { issue(?f, _), not waived(?f) } + path_in('src', ?f)
    + not skip(?f) -> issues(?f, ?n)
many: issues(?f, ?n) + (?n + 1) > 2 -> many(?f)
worst(M) :- M = max N : { issues(_, N) }.
"""
COUNTED = "2 = count : { issue('src/a.py', _), not waived('src/a.py') }"


@pytest.fixture
def measured():
    return view_of(
        MEASURED,
        "file('src/a.py'). file('src/b.py'). issue('src/a.py', 9). issue('src/a.py', 5).",
    )


def test_conditions_are_shown_with_their_values(measured):
    assert str(Derivations(measured).of(Fact("issues", ("src/a.py", 2)))) == (
        f"measured: file('src/a.py') + {COUNTED} + path_in('src', 'src/a.py')"
        " + not skip('src/a.py') -> issues('src/a.py', 2)"
    )
    assert Derivations(measured).of(Fact("many", ("src/a.py",))).conditions == ("(2 + 1) > 2",)


def test_an_aggregate_is_shown_with_the_facts_behind_it(measured):
    proof = why(Fact("many", ("src/a.py",)), measured)
    assert proof.text() == (
        "many('src/a.py')  [many]\n"
        "  issues('src/a.py', 2)  [measured]\n"
        "    file('src/a.py')  [asserted: scan]\n"
        f"    {COUNTED}\n"
        "      issue('src/a.py', 5)\n"
        "      issue('src/a.py', 9)\n"
        "    path_in('src', 'src/a.py')\n"
        "    not skip('src/a.py')\n"
        "  (2 + 1) > 2"
    )
    assert why(Fact("worst", (2,)), measured).to_json()["steps"][0]["evidence"] == [
        {
            "condition": "2 = max ?N : { issues(_, ?N) }",
            "total": 1,
            "facts": ["issues('src/a.py', 2)"],
            "complete": True,
        }
    ]


def test_only_the_first_facts_behind_an_aggregate_are_listed():
    view = view_of("n(N) :- N = count : { a(_) }.", "".join(f"a({n})." for n in range(9)))
    assert why(Fact("n", (9,)), view).text().endswith("    a(4)\n    ... 9 facts in all")


def rows_looked_at(database, question):
    """How often the search asks for the rows of a condition, a measure that no clock disturbs."""
    view, asked = database.view, 0
    matching = type(view).matching

    class Counting(type(view)):
        def matching(self, *key):
            nonlocal asked
            found = matching(self, *key)
            asked += len(found)
            return found

    counting = Counting(view.program, view.arities, database._store)
    return question(counting), asked


@pytest.mark.parametrize("step", ["Y = X + 1", "Y - 1 = X", "1 = Y - X", "Y + 2 = X + 3"])
def test_a_counter_made_with_arithmetic_is_proved_step_by_step(step):
    program = f"n(Y) :- n(X), X < 1500, Y = X + 1{', ' + step}. n(0)."
    database = Database(Program.parse(program))
    proof, asked = rows_looked_at(database, lambda view: why(Fact("n", (1500,)), view))
    assert (proof.height, proof.smallest) == (1500, True)
    assert asked < 10 * 1500


def test_a_counter_that_cannot_be_gone_back_is_proved_too():
    database = Database(Program.parse("n(Y) :- n(X), X < 800, Y = X * 2 / 2 + 1. n(0)."))
    proof = why(Fact("n", (800,)), database.view, budget=50_000)
    assert (proof.height, proof.smallest) == (800, False)
    assert all(node.explained for node in proof.walk())
    assert [len(node.premises) for node in proof.walk()] == [1] * 800 + [0]


HUGE = "g(N) :- N = {} : {{ a(X), a(Y), a(Z), X < Y, Y < Z }}, N > 0."
TRIPLES = 180 * 179 * 178 // 6


@pytest.fixture
def large():
    def made(text):
        database = Database(Program.parse(text))
        with database.transaction():
            for number in range(180):
                database.assert_fact("a", number)
        return database

    return made


def test_an_aggregate_of_very_many_combinations_is_not_looked_through(large):
    (evidence,) = large(HUGE.format("count")).why(Fact("g", (TRIPLES,))).evidence
    assert not evidence.complete
    assert evidence.facts == tuple(Fact("a", (number,)) for number in range(5))
    assert 5 < evidence.total <= 180


def test_the_evidence_of_independent_conditions_is_bounded(large):
    proof = large("g(N) :- N = count : { a(X), a(Y), a(Z) }, N > 0.").why(Fact("g", (180**3,)))
    assert (proof.height, proof.smallest) == (1, True)
    assert "    a(4)\n    ... at least 180 facts, too many" in proof.text()


def test_what_cannot_be_explained_in_time_says_so(measured):
    fact = Fact("issues", ("src/a.py", 2))
    assert Forward(Derivations(measured), budget=1).of(fact) is None
    proof = build(fact, lambda _: None, lambda _: None, lambda _: ())
    assert proof.text().startswith(f"{fact}  [by a rule, but the search for how was broken off]")
    assert (proof.smallest, proof.to_json()["steps"][0]["explained"]) == (False, False)


def test_a_tier_other_than_the_kernel_is_shown():
    program = Program.parse("due: a(?x) -> b(?x)", source="team.dl", tier="workspace")
    view = ModelView(
        program, {Fact("a", (1,)): ("scan", "learned"), Fact("b", (2,)): ("", "global")}
    )
    proof = why(Fact("b", (1,)), view)
    assert proof.text() == "b(1)  [due, workspace]\n  a(1)  [asserted: scan, learned]"
    assert (proof.tier, proof.place) == ("workspace", "team.dl:1:1")
    assert why(Fact("b", (2,)), view).text() == "b(2)  [asserted, global]"


def test_the_flattest_proof_is_found_whatever_came_first():
    database = Database(
        Program.parse("long: q(?x) -> p(?x)\nshort: b(?x) -> p(?x)\na(?x) -> q(?x)")
    )
    database.assert_fact("a", 1)
    database.assert_fact("b", 1)
    assert database.derivation("p(1)").rule.name == "long"
    assert database.why("p(1)").rule == "short"
    assert database.why("p(1)").height == 1


def test_a_proof_that_may_not_be_the_smallest_says_so():
    view = view_of(
        "step: at(?x) + next(?x, ?y) -> at(?y)",
        "at(0). " + " ".join(f"next({n}, {n + 1})." for n in range(20)),
    )
    proof = why(Fact("at", (20,)), view, budget=10)
    assert not proof.smallest
    assert proof.text().endswith("(a shorter proof may exist)")
    assert why(Fact("at", (20,)), view).smallest


def test_conditions_that_ask_for_any_fact_do_not_multiply():
    rules = "all: " + " + ".join(f"h{n}(_)" for n in range(8)) + " -> due\n"
    rules += "\n".join(f"a(?x) -> h{n}(?x)" for n in range(8))
    database = Database(Program.parse(rules))
    with database.transaction():
        for number in range(20):
            database.assert_fact("a", number)
    proof = database.why("due")
    assert (proof.height, proof.smallest, len(proof.premises)) == (2, True, 8)


EVIL = "evil\x1b[2J\nfake(1)  [asserted]\u2028\u202e"


def test_names_origins_and_places_cannot_draw_lines_of_their_own():
    program = Program.parse(f"@name({quote(EVIL)}) a(?x) + 2 > ?x -> b(?x)", source=EVIL)
    database = Database(program)
    database.assert_fact("a", 1, origin=EVIL)
    proof = database.why("b(1)")
    shown = [proof.text(), str(database.derivation("b(1)")), database.why_not("b(2)").text()]
    assert [text.count("\n") for text in shown] == [2, 0, 2]
    assert all(line.isprintable() for text in shown for line in text.split("\n"))
    steps = proof.to_json()["steps"]
    assert (steps[0]["rule"], steps[1]["origin"]) == (EVIL, EVIL)
    assert database.why_not("b(2)").to_json()["attempts"][0]["rule"] == EVIL
    with pytest.raises(DoesNotHold) as caught:
        database.why(Fact(EVIL, (1,)))
    assert str(caught.value).isprintable()
    with pytest.raises(LimitError) as limit:
        Database(Program.parse(f"@name({quote(EVIL)}) n(?x + 1) :- n(?x).\nn(0).", source=EVIL), 9)
    assert str(limit.value).isprintable()


def test_diagnostics_show_texts_and_file_names_in_their_lines():
    text = "p(X) :- q(X, 'a\x1b[2J\x85b' +\n 1, _ +\n\x1b[5m 2).\np(1, 2). q(1). p() :-"
    with pytest.raises(RuleError) as caught:
        Program.parse(text, source=EVIL)
    for found in caught.value.diagnostics:
        assert (found.message + found.help + found.first_line).isprintable()
        assert all(line.isprintable() for line in str(found).split("\n"))
        assert 3 <= len(str(found).split("\n")) <= 4
    made = Diagnostic("syntax", EVIL, 1, 1, EVIL, EVIL, EVIL)
    assert len(str(made).split("\n")) == 4
    assert (made.message, made.source) == (EVIL, EVIL)


@given(st.integers(0, 1_000_000))
@settings(max_examples=60, deadline=None)
def test_every_proof_is_sound_and_as_flat_as_can_be(seed):
    generator = Generator(seed)
    try:
        view = ModelView(generator.program(), generator.facts(), seed, most=100)
    except TooMuch:
        return
    for fact in sorted(view.facts, key=str):
        proof = why(fact, view)
        view.proofs.check(proof)
        assert (proof.height, proof.smallest) == (view.proofs.heights[fact], True)
        for node in why(fact, view, budget=3).walk():
            view.proofs.check_node(node)


@given(st.integers(0, 1_000_000))
@settings(max_examples=60, deadline=None)
def test_a_derivation_rests_on_what_held_before(seed):
    generator = Generator(seed)
    try:
        view = ModelView(generator.program(), generator.facts(), seed, most=100)
    except TooMuch:
        return
    forward = Forward(Derivations(view))
    for fact in sorted(view.facts - view.assertions.keys(), key=str):
        for derivation in (Derivations(view).of(fact), forward.of(fact)):
            assert (derivation.rule.name, fact, derivation.premises) in view.proofs.steps
            own = view.component(fact.predicate)
            for premise in derivation.premises:
                if view.component(premise.predicate) == own:
                    older = view.rows(premise.predicate)[premise.args]
                    assert older < view.rows(fact.predicate)[fact.args]
