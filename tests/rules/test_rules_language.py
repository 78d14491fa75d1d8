"""What the two notations mean."""

import pytest

from rules import Atom, Database, Fact, Program, RuleError, Variable, parse_atom
from rules.statements import Aggregate, Negation
from rules.syntax.parser import parse_query
from rules.terms import Expression


def only_rule(text):
    (rule,) = Program.parse(text).rules
    return rule


def body(text):
    """The conditions of one, in the conventional notation, with what they need around them."""
    return only_rule(f"h :- v(X, Y), {text}.").body[1:]


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
    conditions = " + ".join(f"p({number % 7}, ?x)" for number in range(5000))
    database = Database(Program.parse(f"all: {conditions} -> q(?x)"))
    with database.transaction():
        for number in range(7):
            database.assert_fact("p", number, "a")
    assert database.derived() == [Fact("q", ("a",))]
    assert len(database.why("q('a')").premises) == 5000


def test_a_long_chain_of_equations_is_followed_in_any_order():
    links = " + ".join(f"?v{number} = ?v{number + 1}" for number in reversed(range(300)))
    database = Database(Program.parse(f"{links} + p(?v0) -> q(?v300)\np(7)."))
    assert database.derived() == [Fact("q", (7,))]


X, Y = Variable("X"), Variable("Y")


@pytest.mark.parametrize("sign", ["not ", "! ", "!", "\\+ ", "\\+"])
def test_negation_in_all_its_forms(sign):
    assert body(f"{sign}p(X, _)") == (Negation(Atom("p", (X, Variable("_")))),)
    (_, negation) = only_rule(f"q(?X) + {sign}p(?X, _) -> h").body
    assert negation == Negation(Atom("p", (X, Variable("_"))))


@pytest.mark.parametrize(
    ("text", "atom"),
    [
        ("not path_in('gen', X)", Atom("path_in", ("gen", X))),
        ("not (X < 1)", Atom("<", (X, 1))),
        ("not X < 1", Atom("<", (X, 1))),
        ("not (X + 1) * 2 < 1", Atom("<", (Expression("*", Expression("+", X, 1), 2), 1))),
        ("not ((X + 1) * 2 < 1)", Atom("<", (Expression("*", Expression("+", X, 1), 2), 1))),
        ("not (a)", Atom("a")),
        ("not (p(X))", Atom("p", (X,))),
        ("not Edge(X)", Atom("Edge", (X,))),
        ("not(X = a)", Atom("=", (X, "a"))),
    ],
)
def test_what_can_be_negated(text, atom):
    assert body(text) == (Negation(atom),)


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("1 + X * 2", Expression("+", 1, Expression("*", X, 2))),
        ("(1 + X) * 2", Expression("*", Expression("+", 1, X), 2)),
        ("1 - X - 2", Expression("-", Expression("-", 1, X), 2)),
        ("X / 2 % 3", Expression("%", Expression("/", X, 2), 3)),
        ("X - -2", Expression("-", X, -2)),
        ("X-2", Expression("-", X, 2)),
        ("-X * 2", Expression("*", Expression("-", 0, X), 2)),
        ("-(3)", -3),
        ("- 3", -3),
        ("--3", 3),
        ("((X))", X),
    ],
)
def test_arithmetic(text, term):
    assert body(f"Y = {text}") == (Atom("=", (Y, term)),)
    assert body(f"{text} < Y") == (Atom("<", (term, Y)),)
    assert body(f"p({text}, Y)") == (Atom("p", (term, Y)),)
    (_, trace) = only_rule(f"v(?X, ?Y) + ?Y = ({text}) -> h").body
    assert trace == Atom("=", (Y, term))


def test_arithmetic_in_a_conclusion():
    assert only_rule("p(X + 1) :- q(X).").head == Atom("p", (Expression("+", X, 1),))
    assert only_rule("q(?X) -> p(?X + 1)").head == Atom("p", (Expression("+", X, 1),))


def test_arithmetic_in_a_fact_is_worked_out():
    assert only_fact("p(2 * (3 + 4), -7 / 2, -7 % 2).").args == (14, -3, -1)


def test_in_the_trace_notation_plus_joins_conditions_and_other_signs_calculate():
    rule = only_rule("q(?X, ?Y) + ?Y = ?X * 2 - 1 + r(?Y) -> h")
    product = Expression("-", Expression("*", X, 2), 1)
    assert rule.body[1:] == (Atom("=", (Y, product)), Atom("r", (Y,)))


Q = (Atom("q", (Y,)),)


@pytest.mark.parametrize(
    ("text", "aggregate"),
    [
        ("X = count : { q(Y) }", Aggregate("count", X, None, Q)),
        ("X = count { q(Y) }", Aggregate("count", X, None, Q)),
        ("X = count Y : { q(Y) }", Aggregate("count", X, Y, Q)),
        ("X = sum Y { q(Y) }", Aggregate("sum", X, Y, Q)),
        ("X = sum 1 : { q(Y) }", Aggregate("sum", X, 1, Q)),
        ("X = min Y * 2 : { q(Y) }", Aggregate("min", X, Expression("*", Y, 2), Q)),
        ("X = max (Y + 1) : { q(Y) }", Aggregate("max", X, Expression("+", Y, 1), Q)),
        ("X = max -Y : { q(Y) }", Aggregate("max", X, Expression("-", 0, Y), Q)),
        ("count : { q(Y) } = X", Aggregate("count", X, None, Q)),
        ("sum Y : { q(Y) } = 3", Aggregate("sum", 3, Y, Q)),
        ("max (Y) { q(Y) } = X", Aggregate("max", X, Y, Q)),
        ("X + 1 = count : { q(Y) }", Aggregate("count", Expression("+", X, 1), None, Q)),
    ],
)
def test_aggregates(text, aggregate):
    assert body(text) == (aggregate,)


def test_conditions_between_braces():
    (found,) = body("X = count : { q(Y), not r(Y), Y + 1 > 3, 2 = count : { s(_) } }")
    inner = Aggregate("count", 2, None, (Atom("s", (Variable("_"),)),))
    test = Atom(">", (Expression("+", Y, 1), 3))
    assert found.body == (*Q, Negation(Atom("r", (Y,))), test, inner)


def clause(text):
    return only_rule(text).as_clause().replace("?", "")


@pytest.mark.parametrize(
    ("short", "full"),
    [
        (
            "b(F) :- f(F), count { i(F, _) } > 3.",
            "b(F) :- f(F), count_1 = count : { i(F, _) }, count_1 > 3.",
        ),
        (
            "b(F) :- f(F), not sum X : { i(F, X) } + 1 < 3.",
            "b(F) :- f(F), sum_1 = sum X : { i(F, X) }, not (sum_1 + 1 < 3).",
        ),
        (
            "b :- count { i(_) } = max X : { i(X) }.",
            "b :- count_1 = count : { i(_) }, count_1 = max X : { i(X) }.",
        ),
        (
            "f(?F) + count { i(?F, _) } > 3 + count { j(?F) } != 1 -> b(?F)",
            "b(F) :- f(F), count_1 = count : { i(F, _) }, count_1 > 3,"
            " count_2 = count : { j(F) }, count_2 != 1.",
        ),
        (
            "b(X, count { i(X, _) }) :- f(X), p(X, min Y : { j(Y) }).",
            "b(X, count_1) :- f(X), min_1 = min Y : { j(Y) }, p(X, min_1),"
            " count_1 = count : { i(X, _) }.",
        ),
        (
            "b(count_1) :- f(?count_1), count { i(_) } > 3.",
            "b('count_1') :- f(count_1), count_2 = count : { i(_) }, count_2 > 3.",
        ),
        (
            "b :- f(N), N = count { i(X), count { j(X, _) } > 1 }.",
            "b :- f(N), N = count : { i(X), count_1 = count : { j(X, _) }, count_1 > 1 }.",
        ),
        (
            "n(F, count()) :- issue(F, L).",
            "n(F, count_1) :- issue(F, L), count_1 = count : { issue(F, L_1) }.",
        ),
        (
            "issue(?F, ?L) -> n(?F, count(?L))",
            "n(F, count_1) :- issue(F, L), count_1 = count L_1 : { issue(F, L_1) }.",
        ),
        (
            "n(F, sum(L) / count(), max(L)) :- issue(F, L), not done(L, L_1), open(L_1).",
            "n(F, sum_1 / count_1, max_1) :- issue(F, L), not done(L, L_1), open(L_1),"
            " sum_1 = sum L_2 : { issue(F, L_2), not done(L_2, L_1_1), open(L_1_1) },"
            " count_1 = count : { issue(F, L_2), not done(L_2, L_1_1), open(L_1_1) },"
            " max_1 = max L_2 : { issue(F, L_2), not done(L_2, L_1_1), open(L_1_1) }.",
        ),
        (
            "n(F + G, sum(L * F)) :- issue(F, G, L).",
            "n(F + G, sum_1) :- issue(F, G, L), sum_1 = sum (L_1 * F) : { issue(F, G, L_1) }.",
        ),
        (
            "n(F, min(N)) :- f(F, G), N = count : { i(G, X) }.",
            "n(F, min_1) :- f(F, G), N = count : { i(G, X) },"
            " min_1 = min N_1 : { f(F, G_1), N_1 = count : { i(G_1, X_1) } }.",
        ),
    ],
)
def test_what_short_forms_of_aggregates_stand_for(short, full):
    assert clause(short) == full


def test_names_of_aggregates_are_names_elsewhere():
    text = "count(1). sum. sum -> min('count'). max: count(?x) -> q(count)"
    assert [str(rule) for rule in Program.parse(text).statements] == [
        "count(1).",
        "sum.",
        "sum -> min('count')",
        "max: count(?x) -> q('count')",
    ]


def test_a_rule_may_begin_with_an_aggregate():
    assert only_rule("count : { p(_) } > 3 -> q").label == ""
    assert only_rule("count : p(?x) -> q(?x)").label == "count"


def test_any_text_can_name_a_rule():
    rule = only_rule("@name('two words: \\u00e9')\nq(X) :- p(X).")
    assert rule.name == "two words: é"
    assert only_rule("@name(tdd) p(?x) -> q(?x)") == only_rule("tdd: p(?x) -> q(?x)")


def test_queries_are_kept():
    program = Program.parse(
        "p(1, 2).\n?- p(X, Y), not p(Y, X), X + 1 = Y.\n?- p(1, count { p(_, _) })."
    )
    assert [str(query) for query in program.queries] == [
        "?- p(X, Y), not p(Y, X), X + 1 = Y.",
        "?- ?count_1 = count : { p(_, _) }, p(1, ?count_1).",
    ]
    assert program.queries[0].variables == (X, Y)


@pytest.mark.parametrize("text", ["?- p(X), X > 1.", "p(X), X > 1.", "p(X), X > 1", "?-p(X),X>1"])
def test_a_query_by_itself(text):
    assert parse_query(text).body == (Atom("p", (X,)), Atom(">", (X, 1)))


@pytest.mark.parametrize(
    ("text", "column"),
    [("", 1), ("?- p(X) q", 9), ("?- p(X). q", 10), ("p(X) + q(X)", 6), ("q :- p", 3), ("p('", 3)],
)
def test_a_faulty_query_says_where(text, column):
    with pytest.raises(RuleError) as caught:
        parse_query(text)
    assert caught.value.first_line.startswith(f"<query>:1:{column}: error[")


def test_declarations_have_types():
    text = ".decl p(path: string, n: int, x)\n.decl q(a: symbol, b: number). .decl r/2"
    assert [(each.names, each.types) for each in Program.parse(text).declarations] == [
        (("path", "n", "x"), ("string", "int", "")),
        (("a", "b"), ("string", "int")),
        (("_", "_"), ("", "")),
    ]


def test_guards_are_patterns():
    guards = Program.parse(".closed p(_, 'allow', ?x)\n.open q.\n.open r(a, 1 + 1)").guards
    assert [str(guard) for guard in guards] == [
        ".closed p(_, 'allow', ?x)",
        ".open q",
        ".open r('a', 2)",
    ]


def test_annotations_lower_the_tier_of_what_follows():
    text = "a.\n@workspace\nb. .decl x/1\n@learned.\nc. .open y\n@workspace\nd."
    program = Program.parse(text, tier="global")
    tiers = [(str(fact.head), fact.tier) for fact in program.axioms]
    assert tiers == [("a", "global"), ("b", "workspace"), ("c", "learned"), ("d", "workspace")]
    assert program.declarations[0].tier == "workspace"
    assert program.guards[0].tier == "learned"


def test_an_annotation_cannot_raise_the_tier_of_a_file():
    with pytest.raises(RuleError) as caught:
        Program.parse("a.\n@kernel\nb.\n@global. c", source="team.dl", tier="workspace")
    assert [fault.first_line for fault in caught.value.diagnostics] == [
        "team.dl:2:2: error[tier-violation]: '@kernel' is above 'workspace', the tier of this file",
        "team.dl:4:2: error[tier-violation]: '@global' is above 'workspace', the tier of this file",
        "team.dl:4:11: error[syntax]: expected '.' at the end of the fact, "
        "found the end of the text",
    ]


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("q(X) :- p(X), X == 2.", "a single '='"),
        ("q(X) :- p(X), X = = 2.", "a single '='"),
        ("q(X) :- p(X), X =< 2.", "'<='"),
        ("q(X) :- p(X), X <> 2.", "'!='"),
        ("q(X) :- p(X), X \\= 2.", "'!='"),
        ("q(X) :- p(X), X is 2.", "'='"),
        ("q(X) :- p(X) and r(X).", "joined by ','"),
        ("q(X) :- p(X) && r(X).", "joined by ','"),
        ("q(X) :- p(X) or r(X).", "rules of their own"),
        ("q(X) :- p(X) ; r(X).", "rules of their own"),
        ("q(X) <- p(X).", "'conclusion :- conditions.'"),
        ("p(X) => q(X)", "'... -> conclusion'"),
        ("q(X) :- p(X) + r(X).", "joined by ','"),
        ("p(?x) + ?y = ?x + 1 -> q(?y)", "(?x + 1)"),
        (".type x", ".decl, .include, .closed and .open"),
        ("p(1). % a comment", "'#' or '//'"),
        ("p(1). /* a comment */", "'#' or '//'"),
        ("q(X) :- p(f(X)).", "arithmetic on them"),
        ("q(X) :- p(count(X)).", "count : { ... }"),
        ("p(?x) -> not q(?x)", "rules only add facts"),
        ("q(X) :- p(X), ~r(X).", "written 'not'"),
        ("rule-1: p(?x) -> q(?x)", "@name('...')"),
        ("p('it''s').", "\\'"),
        ("p(1.5).", "no fractions"),
        ("q(X) :- p(X), X > 1.5.", "no fractions"),
        ("a.b(1).", "no '.' in it"),
        ("p -> a.b", "no '.' in it"),
        ("Res :- p.", "write Res(): a capital"),
        ("p :- q, D.", "write D(): a capital"),
        ("E -> p", "write E(): a capital"),
        ("n(N) :- N = #count { X : q(X) }.", "write count without it"),
        ("n(N) :- N = #sum{ X : q(X) }.\nq(1).", "write sum without it"),
        ("n(N) :- N = #max { X : q(X) }.\nq :- r.", "write max without it"),
    ],
)
def test_other_languages_are_answered_with_how_it_is_written_here(text, advice):
    with pytest.raises(RuleError) as caught:
        Program.parse(text)
    assert advice in caught.value.diagnostics[0].help


def test_a_parenthesis_on_a_new_line_begins_a_statement():
    program = Program.parse("p -> q\n(?x + 1) > 3 + r(?x) -> s")
    assert [str(rule) for rule in program.rules] == ["p -> q", "(?x + 1) > 3 + r(?x) -> s"]


def test_a_term_on_a_new_line_begins_a_statement():
    program = Program.parse("p -> sum\nEdge(1).\np -> max\n3 < count { p } -> q")
    assert [str(each) for each in program.statements] == [
        "p -> sum",
        "Edge(1).",
        "p -> max",
        "?count_1 = count : { p } + 3 < ?count_1 -> q",
    ]


@pytest.mark.parametrize("text", ["a(1).b(2).", "a.\nb(1).", "p(X) :- q(X).r(1)."])
def test_a_full_stop_may_touch_what_follows_unless_it_looks_like_one_name(text):
    assert len(Program.parse(text).statements) == 2


@pytest.mark.parametrize(
    "text", ["p(1)\nq(2).", "p(X) :- r(X)\nq(2).", "p(1)\n.decl q(x)", "?- p(X)\nq(2)."]
)
def test_a_missing_full_stop_is_reported_where_the_next_statement_begins(text):
    with pytest.raises(RuleError) as caught:
        Program.parse(text)
    fault = caught.value.diagnostics[0]
    assert (fault.line, fault.column) == (2, 1)
    assert fault.help == "the statement before this line may lack its full stop"


def test_a_fault_after_a_comment_that_only_mentions_an_aggregate_has_its_own_advice():
    with pytest.raises(RuleError) as caught:
        Program.parse("# N = #count { X }\nq(X) :- p(X), X == 2.  #\n# #count")
    assert "a single '='" in caught.value.diagnostics[0].help
    with pytest.raises(RuleError) as caught:
        Program.parse("q(X) :- p('#count'), X == 2.")
    assert "a single '='" in caught.value.diagnostics[0].help
