"""The checks before anything runs, against definitions that are too slow for use."""

import time
from itertools import islice, product

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rules import Database, Program, RuleError
from rules.analysis.checks import Parts, faults
from rules.analysis.safety import unsafe
from rules.analysis.stratification import unstratified
from rules.builtins import BUILTINS
from rules.engine.strata import Strata, hidden
from rules.statements import Aggregate, Atom, Negation, Rule
from rules.terms import Expression, Variable

NAMES = [Variable(name) for name in "XYZ"]
ANY = Variable("_")


def found(text, tier="kernel"):
    with pytest.raises(RuleError) as caught:
        Program.parse(text, "team.dl", tier)
    return caught.value.diagnostics


def places(text):
    return [(fault.line, fault.column, fault.code) for fault in found(text)]


def only(text):
    (fault,) = found(text)
    return fault


# safety


@st.composite
def terms(draw, wildcard=True):
    plain = st.sampled_from([*NAMES, 1, *([ANY] if wildcard else [])])
    sums = st.builds(Expression, st.just("+"), st.sampled_from(NAMES), st.sampled_from([*NAMES, 1]))
    return draw(st.one_of(plain, plain, sums))


FACTS = st.builds(Atom, st.sampled_from("pq"), st.tuples(terms(), terms()))
TESTS = st.builds(
    Atom, st.sampled_from(["=", "=", "<"]), st.tuples(terms(wildcard=False), terms(wildcard=False))
)
NEGATIONS = st.builds(Negation, st.one_of(FACTS, TESTS))
FLAT = st.one_of(FACTS, FACTS, TESTS, NEGATIONS)


def braces(bodies):
    function = st.sampled_from(["count", "min"])
    inner = st.lists(bodies, min_size=1, max_size=2).map(tuple)
    return st.builds(Aggregate, function, terms(wildcard=False), terms(wildcard=False), inner)


LITERALS = st.one_of(FLAT, FLAT, braces(st.one_of(FLAT, FLAT, braces(FLAT))))
RULES = st.builds(
    Rule,
    st.builds(Atom, st.just("h"), st.tuples(terms(wildcard=False))),
    st.lists(LITERALS, min_size=1, max_size=4).map(tuple),
)


def names(*terms):
    found = set()
    for term in terms:
        if isinstance(term, Expression):
            found |= names(term.left, term.right)
        elif isinstance(term, Variable) and term != ANY:
            found.add(term)
    return found


def spread(body):
    """The body with each calculation in a condition on facts as an equation of its own."""
    for number, part in enumerate(body):
        if isinstance(part, Atom) and part.predicate not in BUILTINS:
            args = [
                Variable(f"{number}.{at}") if isinstance(term, Expression) else term
                for at, term in enumerate(part.args)
            ]
            yield Atom(part.predicate, tuple(args))
            for new, term in zip(args, part.args, strict=True):
                if new is not term:
                    yield Atom("=", (new, term))
        else:
            yield part


def outside(part):
    """Variables that a condition shows to aggregates beside it."""
    if isinstance(part, Aggregate):
        return names(part.result)
    return names(*(part.atom if isinstance(part, Negation) else part).args)


def inside(aggregate):
    found = names(aggregate.term)
    for part in aggregate.body:
        found |= outside(part) | (inside(part) if isinstance(part, Aggregate) else set())
    return found


def can_be_solved(body, wanted, known, shared):
    """Whether the conditions have an order in which each finds what it needs."""
    parts = list(spread(body))
    waiting = [(frozenset(range(len(parts))), frozenset(known))]
    seen = set(waiting)
    while waiting:
        left, known = waiting.pop()
        if not left and wanted <= known:
            return True
        for at in left:
            more = given_by(parts[at], known, shared)
            if more is not None and (state := (left - {at}, known | more)) not in seen:
                seen.add(state)
                waiting.append(state)
    return False


def given_by(part, known, shared):
    """The variables a condition has a value for once it is solved; None if it cannot be yet."""
    if isinstance(part, Aggregate):
        return given_by_aggregate(part, known, shared)
    if isinstance(part, Negation):
        return set() if names(*part.atom.args) <= known else None
    if part.predicate not in BUILTINS:
        return names(*part.args)
    if part.predicate == "=":
        for target, other in (part.args, part.args[::-1]):
            if isinstance(target, Variable) and names(other) <= known:
                return {target}
    return set() if names(*part.args) <= known else None


def given_by_aggregate(part, known, shared):
    groups = inside(part) & shared
    visible = shared.union(names(part.term), *map(outside, part.body))
    if not groups <= known or not can_be_solved(part.body, names(part.term), groups, visible):
        return None
    if isinstance(part.result, Variable):
        return {part.result}
    return set() if names(part.result) <= known else None


@settings(max_examples=150, deadline=None)
@given(RULES)
def test_a_rule_is_safe_when_its_conditions_can_be_solved_in_some_order(rule):
    shared = names(*rule.head.args).union(*map(outside, rule.body))
    safe = can_be_solved(rule.body, names(*rule.head.args), set(), shared)
    assert (list(unsafe(rule)) == []) == safe


@pytest.mark.parametrize(
    "rule",
    [
        "q(Y) :- p(X), Y = X + 1.",
        "q(Y) :- p(X), X + 1 = Y.",
        "q(Z) :- Z = Y * 2, Y = X, p(X).",
        "q(X) :- X = 3.",
        "q(X) :- p(X), r(X + 1), not r(X - 1).",
        "q(X) :- p(X), not r(_), not contains(X, 'a').",
        "q(N) :- N = count : { p(_) }.",
        "q(X, N) :- p(X), N = count : { r(X), not p(X) }.",
        "q(M) :- N = count : { p(_) }, M = N + 1.",
        "q(N, M) :- N = count : { p(X), X > 1 }, M = sum X : { r(X) }.",
        "q(N) :- M = max X : { p(X) }, N = count : { p(Y), Y < M }.",
        "q(N) :- N = max Z : { p(X), Z = X + 1 }.",
        "q(N) :- N = count : { p(X), M = count : { r(Y), Y < X }, M > 1 }.",
        "q(X) :- p(X), count { r(_) } > 2.",
        "q(X, count()) :- p(X), r(Y).",
        "q(count(X), sum(X + 1)) :- p(X).",
    ],
)
def test_a_rule_is_accepted_when_everything_gets_a_value(rule):
    Program.parse(rule)


def test_a_variable_is_reported_once_at_its_first_use():
    assert places("p(?y) :- q(?x), ?y < 3, not r(?y).") == [(1, 3, "unsafe-variable")]
    assert places("q(?x) + ?y < 3 + not r(?y) -> p(?y)") == [(1, 9, "unsafe-variable")]


def test_what_waits_for_an_unbound_group_is_no_fault_of_its_own():
    (fault,) = found("n(M, Y) :- N = count : { q(Y) }, M = N + 1.")
    assert (fault.column, fault.message) == (
        6,
        "'Y' is not bound by any positive condition outside of the braces",
    )
    assert fault.help.startswith("bind it outside")


def test_under_not_the_help_names_the_wildcard():
    assert only("p(X) :- q(X), not r(X, ?all).").help == (
        "use it in a condition on facts, or write '_' for 'none at all'"
    )


def test_a_variable_within_arithmetic_is_pointed_at():
    (fault,) = found("p(X) :- q(X), X > 10 * (Total + 1).")
    assert (fault.column, fault.width) == (25, 5)


def test_the_help_says_that_an_argument_is_not_solved_for_its_variable():
    for text in ("p(X) :- q(X + 1).", "p :- q(2 * X).", "p :- 1 < count { q(X + 1) }."):
        fault = only(text)
        assert fault.code == "unsafe-variable"
        assert ("not solved backwards" in fault.help) == ("count" not in text)


def test_an_aggregate_in_a_conclusion_is_pointed_at_where_it_was_written():
    assert places("n(F, sum(Lost)) :- issue(F, _).") == [(1, 10, "unsafe-variable")]


# strata


@st.composite
def graphs(draw):
    """Rules over a few predicates, each with conditions of random kinds."""
    rules = []
    for _ in range(draw(st.integers(1, 7))):
        head, *body = (Atom(name) for name in draw(st.lists(st.sampled_from("abcde"), min_size=2)))
        kinds = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=len(body)))
        one = Variable("N")
        parts = [
            (atom, Negation(atom), Aggregate("count", one, None, (atom,)))[kind]
            for atom, kind in zip(body, kinds, strict=False)
        ]
        rules.append(Rule(head, tuple(parts)))
    return rules


def links(rules):
    for rule in rules:
        for part in rule.body:
            if isinstance(part, Atom):
                yield rule.head.predicate, part.predicate, ""
            elif isinstance(part, Negation):
                yield rule.head.predicate, part.atom.predicate, "not"
            else:
                yield rule.head.predicate, part.body[0].predicate, "count"


def closure(pairs):
    pairs = set(pairs)
    while longer := {(a, d) for (a, b), (c, d) in product(pairs, pairs) if b == c} - pairs:
        pairs |= longer
    return pairs


@given(graphs())
def test_rules_are_refused_exactly_when_a_cycle_has_a_negation_or_an_aggregate(rules):
    edges = set(links(rules))
    reach = closure((head, on) for head, on, _ in edges)
    guilty = {(head, on) for head, on, via in edges if via and (head == on or (on, head) in reach)}
    reported = list(unstratified(rules))
    assert bool(reported) == bool(guilty)
    shown = set()
    for fault in reported:
        words = fault.message.partition(": ")[2].split()
        assert words[0] == words[-1]
        for head, arrow, on in zip(words[::2], words[1::2], words[2::2], strict=False):
            via = arrow.removesuffix("->").strip("-[]")
            assert (head, on, via) in edges
            shown.add((head, on))
    assert guilty <= shown


@given(graphs())
def test_strata_cover_the_concluded_predicates_in_order(rules):
    assume(not list(unstratified(rules)))
    reach = closure((head, on) for head, on, _ in links(rules))
    strata = Strata(rules)
    found, clauses = strata.components, strata.clauses
    place = {name: at for at, part in enumerate(found) for name in part.predicates}
    heads = {rule.head.predicate for rule in rules}
    assert heads == {name for name in place if not hidden(name)}
    assert sorted(number for part in found for number in part.numbers) == list(range(len(clauses)))
    for part in found:
        assert all(clauses[number].predicate in part.predicates for number in part.numbers)
        assert list(part.numbers) == sorted(part.numbers)
        assert part.recursive == any((name, name) in reach for name in part.predicates)
    for one, other in product(heads, heads):
        together = one == other or ((one, other) in reach and (other, one) in reach)
        assert (place[one] == place[other]) == together
        assert (one, other) not in reach or place[other] <= place[one]


def test_a_cycle_is_shown_with_the_line_of_each_rule():
    text = "a(X) :- d(X), not b(X).\n\nb(X) :- c(X).\nc(X) :- N = count : { a(_) }, d(X), e(N)."
    fault = only(text)
    assert fault.message == (
        "'a' depends on itself through negation: "
        "a -[not]-> b (team.dl:1) -> c (team.dl:3) -[count]-> a (team.dl:4)"
    )
    assert (fault.line, fault.column, fault.width) == (1, 15, 8)


def test_a_cycle_is_the_fault_of_the_lowest_tier_in_it():
    kernel = Program.parse(".open b(_)\na(X) :- d(X), not b(X).", "kernel.dl")
    team = Program.parse("c: a(?x) -> b(?x)", "team.dl", "workspace")
    for parts in ([kernel, team], [team, kernel]):
        with pytest.raises(RuleError) as caught:
            Program.union(parts)
        (fault,) = caught.value.diagnostics
        assert (fault.source, fault.line, fault.column) == ("team.dl", 1, 4)
        assert fault.message == (
            "'b' depends on itself through negation: b -> a (team.dl:1) -[not]-> b (kernel.dl:2)"
        )


def test_a_long_cycle_is_no_problem():
    rules = [f"p{n} :- p{n + 1}." for n in range(3_000)]
    fault = only("\n".join([*rules, "p3000 :- not p0."]))
    assert (fault.line, len(fault.message) < 400) == (3001, True)


@pytest.mark.parametrize(
    ("rules", "endless"),
    [
        ("n(Y) :- n(X), Y = X + 1.", True),
        ("n(X + 1) :- n(X).", True),
        ("n(Z) :- n(X), Y = X + 1, Z = Y.", True),
        ("n(X) :- m(X). m(Y) :- n(X), Y = X * 2.", True),
        ("n(N) :- n(X), N = count : { q(Y), Y < X }.", True),
        ("n(N) :- n(X), N = max Z : { q(Y), Z = Y + X }.", True),
        ("n(N) :- n(X), N = max Y : { q(Y), Y < X }.", False),
        ("n(Y) :- n(X), Y = X + 1, q(Y).", False),
        ("n(X) :- n(Y), q(X), Z = X + 1, Z > Y.", False),
        ("n(Y) :- q(X), Y = X + 1. n(Y) :- n(X), e(X, Y).", False),
        ("n(Y) :- n(_), Y = 1 + 2.", False),
    ],
)
def test_what_may_never_end_is_told_apart(rules, endless):
    program = Program.parse(rules)
    assert any(part.generates for part in Strata(program.rules).components) == endless


def test_very_large_rules_and_programs_are_checked_in_time():
    count = 2_000
    chain = [f"X{n} = X{n + 1} + 1" for n in range(count)]
    Program.parse(f"p(X0) :- {', '.join(chain)}, q(X{count}).")
    loose = ", ".join(f"X{n} < X{n + 1}" for n in range(count))
    assert {fault.code for fault in found(f"p :- {loose}.")} == {"unsafe-variable"}
    rules = [f"p{n}(X) :- p{n - 1}(X), not q{n}(X)." for n in range(1, count)]
    assert len(Strata(Program.parse("\n".join(rules)).rules).components) == count - 1


def test_chains_of_equations_and_many_aggregates_are_checked_in_time():
    """Each of these took many seconds when every name was looked at for every other."""
    count = 8_000
    chain = ", ".join(f"X{n} = X{n + 1}" for n in reversed(range(count)))
    uses = ", ".join([f"X{count} = X{count}"] * count)
    groups = ", ".join(f"N{n} = count : {{ q(A{n}) }}" for n in range(2 * count))
    for text in (f"p(X0) :- q(X0), {chain}, {uses}.", f"p :- {groups}."):
        start = time.process_time()
        Program.parse(text)
        assert time.process_time() - start < 4


def test_what_an_aggregate_in_a_conclusion_repeats_is_reported_once():
    rule = "n(F, count(), max(L)) :- isue(F, L), "
    (fault,) = found(rule + "matches('(', F).")
    assert (fault.code, fault.column) == ("bad-pattern", 46)
    (warning,) = Program.parse(rule + "F != 'a'.").warnings
    assert warning.code == "unknown-predicate"


# agreement of statements


def test_of_two_that_contradict_the_lower_tier_is_at_fault():
    kernel = Program.parse("same: p(?x, ?y) -> q(?x)", "kernel.dl")
    team = Program.parse(".decl p(only)\nsame: r(?x) -> q(?x)", "team.dl", "workspace")
    for parts in ([kernel, team], [team, kernel]):
        with pytest.raises(RuleError) as caught:
            Program.union(parts)
        assert {(fault.source, fault.code) for fault in caught.value.diagnostics} == {
            ("team.dl", "arity-clash"),
            ("team.dl", "duplicate-name"),
        }
        assert all("kernel.dl:1:" in fault.message for fault in caught.value.diagnostics)


def test_types_of_a_lower_tier_do_not_bind_a_higher_one():
    kernel = Program.parse("p('a').", "kernel.dl")
    team = Program.parse(".decl p(n: int)", "team.dl", "workspace")
    Program.union([kernel, team])
    with pytest.raises(RuleError):
        Program.union([team, Program.parse("p('a').", "learned.dl", "learned")])


def test_declarations_that_agree_may_be_repeated():
    Program.parse(".decl p(x: string, y)\n.decl p(name, n: int)\n")


def test_types_meet_across_equations_and_braces():
    declared = ".decl s(x: string)\n.decl i(x: int)\n"
    for body in (
        "s(X), Y = X, i(Y)",
        "s(X), X = Y, Y = 3",
        "s(X), N = max Y : { i(Y) }, N = X",
        "s(X), N = count : { i(X) }",
        "i(X), not s(X)",
        "i(N), N = sum X : { s(X) }",
    ):
        assert [code for _, _, code in places(f"{declared}q :- {body}.")] == ["type-clash"], body
    for body in (
        "s(X), i(Y), X < Y",
        "N = count : { i(X) }, M = count : { s(X) }, N > M",
        "s(X), N = max Y : { s(Y) }, N = X",
        "u(X), X = 'a', u(Y), Y = 3",
    ):
        Program.parse(f"{declared}q :- {body}.")


def test_what_is_negated_asks_for_no_type_where_it_only_has_no_value():
    for body in (
        "not starts_with(X, 'a'), X + 1 > 0",
        "not path_in('a', X), Y = X + 1",
        "starts_with(X, 'a'), not (X + 1 > 0)",
        "starts_with(X, 'a'), not q(X + 1)",
    ):
        Program.parse(f"p(X) :- q(X), {body}.")
    program = Program.parse("p(X) :- q(X), starts_with(X, 'a'), not (X + 1 > 0).\nq(abc).")
    assert Database(program).holds("p", "abc")


def test_a_pattern_of_a_higher_tier_is_right_about_the_number_of_arguments():
    kernel = Program.parse(".closed w(_, _)", "kernel.dl")
    learned = Program.parse("w(1).", "learned.dl", "learned")
    for parts in ([kernel, learned], [learned, kernel]):
        with pytest.raises(RuleError) as caught:
            Program.union(parts)
        assert caught.value.first_line == (
            "learned.dl:1:1: error[arity-clash]: 'w' has 1 argument here and 2 at kernel.dl:1:9"
        )


def test_parts_without_places_are_checked_as_well():
    head = Atom("p", (NAMES[0],))
    parts = Parts((Rule(head, (Atom("q"),)), Rule(Atom("p"), (Negation(Atom("p")),))))
    assert [fault.code for fault in faults(parts)] == [
        "unsafe-variable",
        "arity-clash",
        "not-stratifiable",
    ]


# warnings


def warned(text):
    return [(each.line, each.column, each.code) for each in Program.parse(text).warnings]


def test_an_unknown_predicate_is_noticed_wherever_it_is_asked_for():
    text = (
        ".decl known(x)\n"
        "a(X) :- known(X), not knwon(X).\n"
        "b(N) :- N = count : { knowm(_) }.\n"
        "?- kown(X).\n"
        ".closed konwn(_)\n"
    )
    assert warned(text) == [
        (2, 23, "unknown-predicate"),
        (3, 23, "unknown-predicate"),
        (4, 4, "unknown-predicate"),
        (5, 9, "unknown-predicate"),
    ]
    assert {each.help for each in Program.parse(text).warnings} == {"did you mean 'known'?"}


def test_a_lone_variable_beside_a_similar_one_is_noticed():
    declared = ".decl p(x)\n.decl r(x, y)\n"
    assert warned(f"{declared}p(?file) + r(?flie, ?test) -> q(?file)") == [
        (3, 14, "singleton-variable")
    ]
    for other in ("?_file", "?f", "?file_2", "?path"):
        assert warned(f"{declared}p(?file) + r({other}, ?test) -> q(?file)") == []
    assert warned(f"{declared}q(File, sum(Files)) :- p(File), r(File, Files).") == []


def test_a_rule_that_is_there_already_is_noticed():
    text = ".decl p(x)\none: p(?x) -> q(?x)\nq(?x) :- p(?x).\np(1).\np(1).\n"
    (warning,) = Program.parse(text, "team.dl").warnings
    assert (warning.line, warning.code) == (3, "duplicate-rule")
    assert warning.message == "this rule says the same as 'one' at team.dl:2:1"


def test_a_built_in_condition_is_suggested_too():
    (warning,) = Program.parse(".decl q(x)\np(X) :- q(X), match('a', X).").warnings
    assert warning.help == "did you mean 'matches'?"


@pytest.mark.parametrize(
    ("rule", "column"),
    [
        ("path(x, z) :- edge(x, y), path(y, z).", 6),
        ("path(a, b) :- edge(1, y), not edge(y, _).", 23),
        ("path(1, n) :- n = count : { edge(_, _) }, edge(n, 2).", None),
    ],
)
def test_a_rule_without_variables_and_the_same_word_twice_is_noticed(rule, column):
    text = f".decl edge(a, b)\n{rule}"
    if column:
        assert warned(text) == [(2, column, "disguised-variable")]
    for other in (
        "path('x', 'z') :- edge('x', 'y'), edge('y', 'z').",
        "path(x, 1) :- edge('x', y), edge(z, z).",
        "path(x, Y) :- edge(x, Y).",
        "path(x, x).",
    ):
        assert warned(f".decl edge(a, b)\n{other}") == []


def test_comments_that_are_directives_elsewhere_are_noticed():
    text = (
        '#include "x.dl"\n#const n = 3.\n#show a/1.\n'
        "# show a\n#showing\np('#const ').  #show a\n#includes 'x'\n"
    )
    program = Program.parse(text, "team.dl", "workspace")
    places = [(each.line, each.column, each.code) for each in program.warnings]
    assert places == [(line, 1, "disguised-directive") for line in (1, 2, 3)]
    assert ".include" in program.warnings[0].help
    only_comments = Program.parse("#include 'y.dl'", "y.dl")
    whole = Program.union([program, only_comments])
    assert [each.source for each in whole.warnings] == ["team.dl"] * 3 + ["y.dl"]
    assert whole.without(["x"]).warnings == whole.warnings


def test_warnings_of_very_large_texts_are_found_in_time():
    """Each of these took seconds, or minutes, when every name was compared with every other."""
    pairs = ", ".join(f"q(Vari{word}ble, Varj{word}ble)" for word in words(400))
    many = "\n".join(f"p(X) :- q(X, File{word}), q(X, Fild{word})." for word in words(2_000))
    unknown = "\n".join(f"known_{w}(1).\np(X) :- konwn_{w}(X)." for w in words(2_000))
    for text in (f"p(X) :- {pairs}, q(X, X).", many, unknown):
        program = Program.parse(f".decl q(x, y)\n{text}")
        start = time.process_time()
        warnings = program.warnings
        assert time.process_time() - start < 1
        assert len(warnings) <= 100
    assert warnings[0].help == "did you mean 'known_aaaa'?"
    huge = "x" * 100_000
    assert len(Program.parse(f"{huge}(1).\np :- {huge}y(1).").warnings) == 1


def words(count):
    """Different words of four letters."""
    return ["".join(letters) for letters in islice(product("abcdefghijkl", repeat=4), count)]
