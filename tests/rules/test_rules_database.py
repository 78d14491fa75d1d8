"""Facts in and out, batches, notifications and limits."""

import enum

import pytest

from rules import Database, Fact, LimitError, Program, RuleError

REACH = """
start: edge(?a, ?b) -> path(?a, ?b)
step: edge(?a, ?b) + path(?b, ?c) -> path(?a, ?c)
"""


def database(text, **options):
    return Database(Program.parse(text, source="team.dl"), **options)


def listening(text):
    """A database and the list of its changes."""
    made = database(text)
    changes = []
    made.on_change(changes.append)
    return made, changes


def fail_after(db, *edits):
    """Make edits in a transaction that does not come to its end."""
    with db.transaction():
        for change, *fact in edits:
            change(*fact)
        raise KeyError


def assert_all(db, predicate, rows):
    with db.transaction():
        for row in rows:
            db.assert_fact(predicate, *row)


def texts(facts):
    return [str(fact) for fact in facts]


def test_asserting_says_whether_it_was_news():
    db = database("p(1).")
    assert db.assert_fact("p", 2) is True
    assert db.assert_fact("p", 2) is False
    assert db.assert_fact("p", 1) is False
    assert texts(db.facts("p")) == ["p(1)", "p(2)"]


def test_retracting_says_whether_there_was_anything_to_retract():
    db = database("p(1).\np(?x) -> q(?x)")
    assert db.retract_fact("q", 1) is False
    assert db.retract_fact("unheard", 1) is False
    assert db.retract_fact("p", 1) is True
    assert db.retract_fact("p", 1) is False
    assert db.facts() == db.derived() == []


def test_the_first_origin_of_a_fact_stays():
    db = database("p(1).\np(1).")
    db.assert_fact("p", 1, origin="later")
    db.assert_fact("p", 2, origin="scan")
    db.assert_fact("p", 2, origin="tool:7")
    assert db.why("p(1)").origin == "team.dl:1"
    assert db.why("p(2)").origin == "scan"


def test_consequences_follow_at_once_and_through_recursion():
    db = database(REACH)
    for pair in [(3, 4), (1, 2), (2, 3), (4, 1)]:
        db.assert_fact("edge", *pair)
    assert len(db.derived("path")) == 16
    db.retract_fact("edge", 2, 3)
    assert texts(db.derived("path")) == [
        "path(1, 2)",
        "path(3, 1)",
        "path(3, 2)",
        "path(3, 4)",
        "path(4, 1)",
        "path(4, 2)",
    ]


def test_a_fact_asserted_and_derived_survives_losing_either_reason():
    db, changes = listening("rule: p(?x) -> q(?x)")
    db.assert_fact("q", 1)
    assert changes.pop().added == (Fact("q", (1,)),)
    db.assert_fact("p", 1)
    db.retract_fact("p", 1)
    assert db.holds("q", 1)
    db.assert_fact("p", 1)
    db.retract_fact("q", 1)
    assert db.holds("q", 1)
    assert db.why("q(1)").rule == "rule"
    assert changes == []
    db.retract_fact("p", 1)
    assert not db.holds("q", 1)
    assert changes.pop().removed == (Fact("q", (1,)),)


def test_facts_that_support_each_other_do_not_hold_by_themselves():
    db = database("p(?x) -> q(?x)\nq(?x) -> p(?x)")
    db.assert_fact("p", 1)
    assert texts(db.derived()) == ["p(1)", "q(1)"]
    assert db.why("p(1)").rule is None
    db.retract_fact("p", 1)
    assert db.derived() == []


@pytest.mark.parametrize("value", [True, 1.0, None, b"x", ("x",), enum.Enum("E", "a").a])
def test_values_are_plain_strings_and_integers(value):
    db = database("p(1).")
    for use in (db.assert_fact, db.retract_fact, db.holds):
        with pytest.raises(TypeError, match="values are str or int"):
            use("unheard", value)
        with pytest.raises(TypeError, match="values are str or int"):
            use("p", value)


def test_integers_are_bounded_as_in_texts():
    db = database("")
    db.assert_fact("p", -(2**4000))
    assert str(db.facts()[0]).startswith("p(-1318204093")
    with pytest.raises(ValueError, match="13000 bits"):
        db.assert_fact("p", 2**20000)


@pytest.mark.parametrize(
    "name", ["", "a b", "_x", "not", "starts_with", "=", "matches", "p\n", "1p"]
)
def test_predicates_have_the_names_that_texts_can_have(name):
    with pytest.raises(ValueError, match="cannot be the name of a predicate"):
        database("").assert_fact(name, "a", "b")


def test_the_number_of_arguments_is_fixed():
    db = database(".decl file(path, language)")
    with pytest.raises(ValueError, match="'file' takes 2 arguments, not 1"):
        db.assert_fact("file", "a.py")
    db.assert_fact("seen", 1)
    with pytest.raises(ValueError, match="'seen' takes 1 arguments, not 0"):
        db.assert_fact("seen")
    assert not db.holds("file", "a.py")


def test_queries_give_whole_facts_sorted():
    db = database("covers(t1, 'b.py'). covers(t2, 'a.py'). covers(t1, 'a.py'). covers(1, 1).")
    assert db.query('covers(T, "a.py")') == [("t1", "a.py"), ("t2", "a.py")]
    assert db.query("covers(?t, _)") == [(1, 1), ("t1", "a.py"), ("t1", "b.py"), ("t2", "a.py")]
    assert db.query("covers(?x, ?x)") == [(1, 1)]
    assert db.query("covers(t1, 'b.py')") == [("t1", "b.py")]
    assert db.query("covers(t3, _)") == db.query("unheard(X)") == []


@pytest.mark.parametrize("question", ["covers(T)", "covers(T, ", "X < 3", "starts_with(X, Y)", ""])
def test_a_question_that_cannot_be_asked_is_refused_with_its_place(question):
    with pytest.raises(RuleError, match=r"<atom>:1:\d+: error"):
        database(".decl covers(test, source)").query(question)


def test_a_transaction_is_one_change():
    db, changes = listening("p(?x) + q(?x) -> r(?x)\np(?x) -> s(?x)")
    with db.transaction():
        db.assert_fact("p", 1)
        db.assert_fact("q", 1)
        db.assert_fact("p", 2)
        db.retract_fact("p", 2)
        assert not db.holds("p", 1)
        assert db.assert_fact("p", 1) is False
        assert db.retract_fact("p", 2) is False
    assert [texts(change.added) for change in changes] == [["r(1)", "s(1)"]]


def test_the_last_edit_of_a_fact_in_a_transaction_counts():
    db, changes = listening("p(1).\np(?x) -> q(?x)")
    with db.transaction():
        assert db.retract_fact("p", 1)
        assert db.assert_fact("p", 1)
        assert db.assert_fact("p", 2)
        assert db.retract_fact("p", 2)
    assert changes == []
    assert db.why("p(1)").origin == "", "an origin of its own, and not the former one"
    assert texts(db.facts("p")) == ["p(1)"]


def test_an_exception_undoes_its_transaction_alone():
    db = database("p(?x) -> q(?x)")
    with db.transaction():
        db.assert_fact("p", 1)
        with pytest.raises(KeyError):
            fail_after(db, (db.assert_fact, "p", 2), (db.assert_fact, "other", "two", "values"))
        db.assert_fact("p", 3)
        assert not db.holds("q", 3)
    assert texts(db.derived()) == ["q(1)", "q(3)"]
    with pytest.raises(KeyError):
        fail_after(db, (db.retract_fact, "p", 1))
    assert db.holds("p", 1)
    assert db.assert_fact("other", 1)


def test_changes_come_in_order_of_rules_and_facts():
    db, changes = listening(
        "b: m(?x) -> gate(?x)\na: m(?x) + c(?t, ?x) -> target(?t)\nz: target(?t) -> last(?t)"
    )
    for test in ("t2", "t1"):
        db.assert_fact("c", test, "f")
    db.assert_fact("m", "f")
    assert texts(changes[-1].added) == [
        "gate('f')",
        "target('t2')",
        "target('t1')",
        "last('t2')",
        "last('t1')",
    ]


def test_nothing_is_announced_when_no_derived_fact_changes():
    db, changes = listening("p(?x) -> q")
    db.assert_fact("other", 1)
    db.assert_fact("p", 1)
    db.assert_fact("p", 2)
    db.retract_fact("p", 1)
    assert [texts(change.added) for change in changes] == [["q"]]


def test_listening_can_be_stopped():
    db = database("p(?x) -> q(?x)")
    changes = []
    stop = db.on_change(changes.append)
    db.assert_fact("p", 1)
    stop()
    db.assert_fact("p", 2)
    assert len(changes) == 1


def test_a_callback_may_ask_and_must_not_change():
    db = database("p(?x) -> q(?x)")
    asked = []

    def callback(change):
        asked.extend(str(db.derivation(fact)) for fact in change.added)
        db.assert_fact("p", 2)

    db.on_change(callback)
    with pytest.raises(RuntimeError, match="on_change callback"):
        db.assert_fact("p", 1)
    assert asked == ["rule@team.dl:1: p(1) -> q(1)"]
    assert db.holds("q", 1)
    assert not db.holds("p", 2)


def test_the_limit_names_the_rule_and_leaves_the_database_as_it_was():
    db = database("few: p(?x) -> q(?x)\nmany: p(?x) + p(?y) -> r(?x, ?y)", max_derived=10)
    db.assert_fact("p", 1)
    db.assert_fact("p", 2)
    before = db.facts(), db.derived()
    with pytest.raises(LimitError, match=r"rule 'many' \(team.dl:2\).* 10 derived") as caught:
        db.assert_fact("p", 3)
    assert caught.value.limit == "max_derived"
    assert (db.facts(), db.derived()) == before
    assert db.assert_fact("other", 1)
    assert db.retract_fact("p", 2)
    assert db.assert_fact("p", 3)


def test_an_asserted_fact_that_was_nearly_derived_stays_asserted():
    db = database(REACH, max_derived=4)
    db.assert_fact("path", 1, 2, origin="mine")
    with pytest.raises(LimitError):
        assert_all(db, "edge", [(1, 2), (2, 3), (3, 4)])
    assert texts(db.facts()) == ["path(1, 2)"]
    assert db.why("path(1, 2)").origin == "mine"
    assert db.assert_fact("edge", 0, 1)
    assert texts(db.derived()) == ["path(0, 1)", "path(0, 2)"]


def test_rules_that_ask_for_no_facts_hold_from_the_start():
    db = database("a: 1 < 2 -> p\nb: 2 < 1 -> q\nc: ?x = 'a' -> r(?x)\np + s(?x) -> t(?x)")
    assert texts(db.derived()) == ["p", "r('a')"]
    assert str(db.derivation("p")) == "a: 1 < 2 -> p"
    db.assert_fact("s", 1)
    db.retract_fact("s", 1)
    assert texts(db.derived()) == ["p", "r('a')"]


def test_strings_that_no_file_could_hold_are_facts_like_others():
    db = database("p(?x) -> q(?x)")
    for value in ("\udc80.py", "a\0b", "it's", "line\nbreak", ""):
        db.assert_fact("p", value)
        assert db.holds("q", value)
        assert db.why(str(Fact("q", (value,)))).fact == Fact("q", (value,))
