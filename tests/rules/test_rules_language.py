"""What the two notations mean."""

import pytest

from rules import Atom, Database, Fact, Program, RuleError, Variable, parse_atom


def only_rule(text):
    (rule,) = Program.parse(text).rules
    return rule


def only_fact(text):
    (fact,) = Program.parse(text).facts
    return fact


def test_both_notations_say_the_same():
    clause = 'verify_gate("run_tests") :- file_modified(File), test_covers(Test, File).'
    trace = "file_modified(?File) + test_covers(?Test, ?File) -> verify_gate('run_tests')"
    assert only_rule(clause) == only_rule(trace)


def test_a_rule_may_be_named_in_both_notations():
    assert only_rule("tdd: p(?x) -> q(?x)").name == "tdd"
    assert only_rule("tdd: q(X) :- p(X).").name == "tdd"


def test_a_rule_without_a_name_is_named_by_its_place():
    rules = Program.parse(
        "\n\np(?x) -> q(?x)\n  p(?x) -> r(?x). p(?x) -> s(?x)", source="rules/team.dl"
    ).rules
    assert [rule.name for rule in rules] == [
        "rule@team.dl:3",
        "rule@team.dl:4",
        "rule@team.dl:4:19",
    ]
    assert [rule.source for rule in rules] == ["rules/team.dl"] * 3
    assert [rule.line for rule in rules] == [3, 4, 4]


def test_a_capital_and_a_question_mark_name_one_variable():
    assert only_rule("p(X) + q(?X) -> r(X)") == only_rule("p(?X) + q(?X) -> r(?X)")


def test_variables_differ_by_case():
    assert only_rule("p(X) -> q(X)") != only_rule("p(?x) -> q(?x)")


def test_each_underscore_stands_for_itself():
    program = Program.parse("p(1, 2). p(3, 3).\np(_, _) -> some\np(?x, ?x) -> same(?x)")
    database = Database(program)
    assert [str(fact) for fact in database.derived()] == ["same(3)", "some"]


def test_a_bare_word_is_the_string_of_its_letters():
    assert only_fact("color(red).") == Fact("color", ("red",))
    assert only_rule("p(?x) -> gate(run_tests)").head == Atom("gate", ("run_tests",))


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("'a b'", "a b"),
        ('"a b"', "a b"),
        (r"'it\'s'", "it's"),
        (r'"\"quoted\""', '"quoted"'),
        ('"it\'s"', "it's"),
        (r"'back\\slash'", "back\\slash"),
        (r"'two\nlines\tand a tab'", "two\nlines\tand a tab"),
        (r"'\u00e9\u0000\udc80'", "é\0\udc80"),
        (r"'\U0001f600'", "😀"),
        ("'😀 éא'", "😀 éא"),
        ("''", ""),
        ("'# no comment // either'", "# no comment // either"),
        ("0", 0),
        ("-12", -12),
        ("007", 7),
        ("123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_values(written, value):
    (found,) = only_fact(f"p({written}).").args
    assert found == value
    assert type(found) is type(value)


def test_a_number_and_its_digits_are_different_values():
    database = Database(Program.parse("p(1). p('1'). p(?x) + ?x = 1 -> one(?x)"))
    assert database.facts() == [Fact("p", (1,)), Fact("p", ("1",))]
    assert database.derived() == [Fact("one", (1,))]


def test_atoms_without_arguments_may_have_parentheses():
    program = Program.parse("has_tests.\nready() :- has_tests().\nhas_tests -> go")
    assert program.facts == (Fact("has_tests"),)
    assert [str(fact) for fact in Database(program).derived()] == ["go", "ready"]


def test_comments_end_with_their_line():
    program = Program.parse("# a comment -> p(1)\np(1). // q(2).\np(2).# end")
    assert program.facts == (Fact("p", (1,)), Fact("p", (2,)))


@pytest.mark.parametrize(
    "text",
    [
        "a: p(?x)\n  + q(?x)\n  -> r(?x)",
        "a: p(?x) +\nq(?x) ->\nr(?x)",
        "a:\n  p(\n    ?x\n  ) + q(?x) -> r(?x).",
        "a: p(?x), q(?x) -> r(?x)",
        "a: p(?x) + q(?x) -> r(?x)   # comment",
        "a: p(?x)\n  # comment\n  + q(?x) -> r(?x)\n  .",
        "\ufeffa: p(?x) + q(?x)\r\n  -> r(?x)\r\n",
    ],
)
def test_layouts_of_a_trace_rule(text):
    assert str(only_rule(text)) == "a: p(?x) + q(?x) -> r(?x)"


def test_trace_rules_end_at_the_end_of_the_line_or_with_a_full_stop():
    program = Program.parse("p(?x) -> q(?x)\np(?x) -> r(?x). p(1).\nq(?x) -> s(?x)\n.decl p(x)")
    assert len(program.rules) == 3
    assert program.facts == (Fact("p", (1,)),)


def test_a_capital_predicate_is_known_by_its_parentheses():
    program = Program.parse(
        ".decl Edge(a, b)\nPath(X, Y) :- Edge(X, Y).\nEdge(1, 2). Any() :- Edge(X, Y)."
    )
    assert [str(fact) for fact in Database(program).derived()] == ["Any()", "Path(1, 2)"]


def test_names_are_not_normalised():
    program = Program.parse("größe('é'). größe('e\u0301').")
    assert len(program.facts) == 2


def test_predicates_may_have_names_that_mean_something_elsewhere():
    program = Program.parse("class(1). count(2). import(os) -> decl(def).")
    assert {fact.predicate for fact in program.facts} == {"class", "count"}
    assert str(program.rules[0]) == "import('os') -> decl('def')"


def test_parse_atom_reads_one_atom():
    assert parse_atom(" verify_gate('run_tests'). ") == Atom("verify_gate", ("run_tests",))
    assert parse_atom("p(X, _)").args == (Variable("X"), Variable("_"))


@pytest.mark.parametrize(
    ("text", "column"),
    [("", 1), ("p(", 3), ("p(1) q", 6), ("p(1), q(2)", 5), ("?x = 1 2", 8), ("p('a", 3), ("1", 2)],
)
def test_parse_atom_says_where_it_stopped(text, column):
    with pytest.raises(RuleError) as caught:
        parse_atom(text)
    assert caught.value.first_line.startswith(f"<atom>:1:{column}: error[")


def test_a_long_body_is_no_trouble():
    body = " + ".join(f"p({number % 7}, ?x)" for number in range(5000))
    database = Database(Program.parse(f"all: {body} -> q(?x)"))
    with database.transaction():
        for number in range(7):
            database.assert_fact("p", number, "a")
    assert database.derived() == [Fact("q", ("a",))]
    assert len(database.why("q('a')").premises) == 5000


def test_a_long_chain_of_equations_is_followed_in_any_order():
    links = " + ".join(f"?v{number} = ?v{number + 1}" for number in reversed(range(300)))
    database = Database(Program.parse(f"{links} + p(?v0) -> q(?v300)\np(7)."))
    assert database.derived() == [Fact("q", (7,))]
