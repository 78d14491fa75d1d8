"""Tiers: what a lower one may not conclude, state or assert."""

import time
from itertools import product
from timeit import repeat

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rules import Fact, Program, RuleError, kernel, parse_atom
from rules.analysis.governance import Governance
from rules.analysis.unification import covers, unify
from rules.statements import Aggregate, Atom, Guard, Negation, Rule
from rules.terms import TIERS, Expression, Variable
from tests.rules.naive import evaluate

KERNEL = """\
.decl changed(file)
.decl reviewed(file)
.closed permission(_, 'allow')
review: changed(?file) + not excused(?file) -> gate('review', ?file)
excuse: reviewed(?file) -> excused(?file)
many: ?n = count : { noted(_) } + ?n < 3 -> gate('notes', ?n)
ask: changed(?file) -> permission(?file, 'ask')
"""


def refused(text, tier="workspace", above=KERNEL):
    """The faults of a lower tier's text, beside the kernel's."""
    with pytest.raises(RuleError) as caught:
        Program.union([Program.parse(above, "kernel.dl"), Program.parse(text, "team.dl", tier)])
    assert {fault.code for fault in caught.value.diagnostics} == {"tier-violation"}
    assert {fault.source for fault in caught.value.diagnostics} == {"team.dl"}
    return caught.value.diagnostics


def accepted(text, tier="workspace", above=KERNEL):
    return Program.union([Program.parse(above, "kernel.dl"), Program.parse(text, "team.dl", tier)])


def governance(program):
    return Governance(program.rules, program.guards)


def test_what_a_pattern_closes_is_for_its_tier_alone():
    (fault,) = refused("yes: changed(?file) -> permission(?file, 'allow')")
    assert (fault.line, fault.column, fault.width) == (1, 24, 10)
    assert fault.message == (
        "'permission' is closed to the tier 'workspace' by "
        "'.closed permission(_, 'allow')' of 'kernel' at kernel.dl:3:1"
    )
    refused("permission('a.py', 'allow').")
    accepted("no: changed(?file) -> permission(?file, 'deny')\npermission('b', 'ask').")
    Program.parse(KERNEL + "permission('a.py', 'allow').")


def test_a_decision_left_open_may_be_the_closed_one():
    (fault,) = refused("some: asked(?id, ?what) -> permission(?id, ?what)")
    assert fault.help == "write a value other than 'allow' in place of ?what"


def test_what_a_higher_tier_negates_or_counts_is_not_for_a_lower_one():
    (fault,) = refused("easy: tiny(?file) -> excused(?file)")
    assert fault.message == (
        "'excused' may not come from the tier 'workspace': through a negation the rule 'review' "
        "of 'kernel' at kernel.dl:4:1 depends on it: gate -[not]-> excused (kernel.dl:4)"
    )
    assert "'.open' for 'excused'" in fault.help
    (fault,) = refused("reviewed('a.py').")
    assert "gate -[not]-> excused (kernel.dl:4) -> reviewed (kernel.dl:5)" in fault.message
    (fault,) = refused("noted(1).", "learned")
    assert "through 'count' the rule 'many'" in fault.message


def test_adding_duties_and_reading_anything_is_free():
    accepted(
        "changed('b.py').\n"
        "more: changed(?file) + not reviewed(?file) -> gate('lint', ?file)\n"
        "own: excused(?file) -> seen(?file)\n"
    )


def test_an_open_guard_lets_lower_tiers_in_where_it_covers_all():
    opened = KERNEL + ".open reviewed('docs')\n.open noted(_)\n"
    accepted("reviewed('docs').\nnoted(1).\nnoted(?x) :- own(?x).", above=opened)
    refused("reviewed('a.py').", above=opened)
    refused("reviewed(?x) :- own(?x).", above=opened)
    refused("excused('docs').", above=opened)


def test_a_lower_tier_cannot_open_what_a_higher_one_needs():
    text = "@global\n.open reviewed(_)\n@workspace\nreviewed('a.py')."
    refused(text, "global")
    refused(".open reviewed(_)\nreviewed('a.py').")


ALLOWING = """\
.closed permission(_, 'allow')
easy: asked(?id, ?tool) + safe(?tool) -> permission(?id, 'allow')
safe: harmless(?tool, 'always') -> safe(?tool)
twice: permission(?id, 'allow') + same(?id, ?other) -> permission(?other, 'allow')
ask: asked(?id, ?tool) + risky(?tool) -> permission(?id, 'ask')
"""


def test_what_a_closed_conclusion_follows_from_is_closed_as_well():
    (fault,) = refused("safe('bash').", "learned", ALLOWING)
    assert fault.message == (
        "'safe' may not come from the tier 'learned': the rule 'easy' of 'kernel' at kernel.dl:2:1 "
        "concludes from it what '.closed permission(_, 'allow')' of 'kernel' at kernel.dl:1:1 "
        "closes: permission -> safe (kernel.dl:2)"
    )
    assert "'.open' for 'safe'" in fault.help
    (fault,) = refused("mine: own(?tool) -> harmless(?tool, 'always')", above=ALLOWING)
    assert "permission -> safe (kernel.dl:2) -> harmless (kernel.dl:3)" in fault.message
    refused("harmless(?tool, ?when) :- own(?tool, ?when).", above=ALLOWING)
    refused("same(1, 2).\nasked(1, 'bash').", above=ALLOWING)


def test_what_cannot_be_part_of_a_closed_conclusion_is_free():
    accepted(
        "risky('bash').\nharmless('bash', 'never').\npermission(1, 'deny').\nown(1).\n"
        "seen(?tool) :- safe(?tool).",
        above=ALLOWING,
    )


def test_an_open_guard_lets_lower_tiers_take_part_in_a_closed_conclusion():
    opened = ALLOWING + ".open safe('ls')\n.open asked(_, _)\n"
    accepted("safe('ls').\nasked(1, 'ls').\nsafe('ls') :- own(_).", above=opened)
    refused("safe('bash').\nsafe(?tool) :- own(?tool).", above=opened)
    refused(".open safe(_)\nsafe('bash').", above=ALLOWING)


def test_only_rules_of_the_tier_that_closes_conclude_what_is_closed():
    middle = "@global\n.closed own(_)\nyes: mine(?x) -> own(?x)\n"
    with pytest.raises(RuleError, match="the rule 'yes' of 'global'"):
        Program.parse(middle + "@workspace\nmine(1).")
    Program.parse(middle + "mine(1).")


def test_facts_asserted_later_take_no_part_in_a_closed_conclusion():
    judge = governance(Program.parse(ALLOWING, "kernel.dl"))
    assert "'easy'" in judge.refusal(Fact("safe", ("bash",)), "learned")
    assert judge.refusal(Fact("harmless", ("bash", "never")), "learned") is None


def test_very_many_patterns_facts_and_conditions_are_judged_in_time():
    count = 3_000
    closed = "\n".join(f".closed w({n})\n.open v({n})" for n in range(count))
    ladder = "\n".join(f"w(X, {n}) :- p(a{n}, X), w(X, b{n})." for n in range(count))
    above = Program.parse(f"{closed}\nq :- not v(_).", "kernel.dl")
    steps = Program.parse(f".closed w(_, _)\n{ladder}", "kernel.dl")
    facts = "\n".join(f"w(a{n}).\nv({n})." for n in range(count))
    others = "\n".join(f"free({n})." for n in range(count))
    for kernel_rules, text in ((above, facts), (steps, others)):
        lower = Program.parse(text, "team.dl", "learned")
        start = time.process_time()
        Program.union([kernel_rules, lower])
        assert time.process_time() - start < 2.5


def test_judging_by_patterns_without_end_is_given_up():
    """A file may hold them of its own, and `@learned` facts to be judged by them."""
    repeated = [f".closed p(X, X, {n}, _)" for n in range(1_500)]
    shapes = [
        ".closed p(" + ", ".join("_1"[n >> b & 1] for b in range(11)) + ")" for n in range(1500)
    ]
    rules, facts = ["p(1, 2, Z, 0) :- q(Z)."] * 2_000, [f"p({'2, ' * 10}2)."] * 2_000
    learned = ["@learned"]
    for lines in (
        [*repeated, *learned, *rules],
        [*shapes[1:], *learned, *facts],
        [*repeated, *rules, *learned, "free."],
    ):
        start = time.process_time()
        with pytest.raises(RuleError) as caught:
            Program.parse("\n".join(lines), tier="workspace")
        assert time.process_time() - start < 2
        assert [fault.code for fault in caught.value.diagnostics] == ["tier-violation"]
        assert "too many patterns" in caught.value.first_line


def test_each_tier_guards_against_those_below_it():
    between = (
        KERNEL + "@global\n.closed own(_)\ncalm: changed(?f) + not loud(?f) -> gate('calm', ?f)\n"
    )
    with pytest.raises(RuleError):
        Program.parse(between + "@workspace\nloud('a').")
    with pytest.raises(RuleError):
        Program.parse(between + "@learned\nown('a').")
    Program.parse(between + "loud('a').\nown('a').")
    Program.parse(KERNEL + "@workspace\n.closed own(_)\n@global\nown(1).")


def test_all_refusals_are_reported():
    assert [fault.line for fault in refused("noted(1).\nfine(1).\nreviewed(2).")] == [1, 3]


def test_facts_asserted_later_are_refused_alike():
    judge = governance(Program.parse(KERNEL, "kernel.dl"))
    allow, deny = Fact("permission", ("a", "allow")), Fact("permission", ("a", "deny"))
    for tier in TIERS[1:]:
        assert "kernel.dl:3:1" in judge.refusal(allow, tier)
        assert judge.refusal(deny, tier) is None
        assert "'review'" in judge.refusal(Fact("reviewed", ("a",)), tier)
        assert judge.refusal(Fact("changed", ("a",)), tier) is None
    assert judge.refusal(allow, "kernel") is None
    assert judge.refusal(parse_atom("permission(?x, ?y)"), "learned") is not None
    with pytest.raises(KeyError):
        judge.refusal(allow, "nobody")


def test_a_fact_of_the_kernel_costs_next_to_nothing():
    judge = governance(kernel())
    fact = Fact("file_modified", ("a.py",))
    times = repeat(lambda: judge.refusal(fact, "kernel"), number=10_000, repeat=5)
    assert min(times) < 0.02


# guards and atoms

SIMPLE = [Variable("X"), Variable("Y"), "a", "b", 1]
PATTERNS = st.lists(st.sampled_from([Variable("_"), *SIMPLE]), min_size=3, max_size=3)
ARGS = st.lists(
    st.sampled_from([*SIMPLE, Expression("+", Variable("X"), 1)]), min_size=3, max_size=3
)
VALUES = ("a", "b", "c", 1, 2)


def ground_rows(args):
    """All rows that the arguments may become; the values stand for all there are."""
    columns = dict.fromkeys(term for term in args if term != Variable("_"))
    choices = [
        VALUES
        if isinstance(term, Variable)
        else (1, 2)
        if isinstance(term, Expression)
        else (term,)
        for term in columns
    ]
    for chosen in product(*choices):
        value = dict(zip(columns, chosen, strict=True))
        yield from product(*((value[term],) if term in value else VALUES for term in args))


@settings(max_examples=150, deadline=None)
@given(PATTERNS, ARGS)
def test_unification_and_cover_agree_with_all_rows(pattern, args):
    closed, possible = set(ground_rows(pattern)), set(ground_rows(args))
    if not closed.isdisjoint(possible):
        assert unify(pattern, args)
    elif not any(isinstance(term, Expression) for term in args):
        assert not unify(pattern, args)
    if covers(pattern, args):
        assert possible <= closed
    elif not any(isinstance(term, Expression) for term in args):
        assert not possible <= closed


# polarity

NAMES = "abcde"


@st.composite
def programs(draw):
    rules = []
    for _ in range(draw(st.integers(1, 8))):
        head, *body = (Atom(name) for name in draw(st.lists(st.sampled_from(NAMES), min_size=2)))
        kinds = draw(st.lists(st.sampled_from([0, 0, 1, 2]), min_size=len(body)))
        parts = [
            (atom, Negation(atom), Aggregate("count", Variable("N"), None, (atom,)))[kind]
            for atom, kind in zip(body, kinds, strict=False)
        ]
        rules.append(Rule(head, tuple(parts), tier=draw(st.sampled_from(TIERS))))
    opened = draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(TIERS)), max_size=2))
    return rules, [Guard("open", Atom(name), tier) for name, tier in opened]


def feeds(rules, above):
    """Which predicate feeds which conclusion of a tier, with and without a strict step."""
    pairs = set()
    for rule in rules:
        if TIERS.index(rule.tier) <= above:
            for part in rule.body:
                atom = part
                if isinstance(part, Negation):
                    atom = part.atom
                elif isinstance(part, Aggregate):
                    (atom,) = part.body
                pairs.add((atom.predicate, rule.head.predicate, atom is not part))
    while True:
        longer = {
            (a, d, one or other) for (a, b, one), (c, d, other) in product(pairs, pairs) if b == c
        }
        if longer <= pairs:
            return pairs
        pairs |= longer


@settings(max_examples=200, deadline=None)
@given(programs())
def test_polarity_is_what_a_search_of_all_paths_finds(sample):
    rules, guards = sample
    judge = Governance(rules, guards)
    for name, tier in product(NAMES, TIERS):
        wanted = False
        for above in range(TIERS.index(tier)):
            heads = {rule.head.predicate for rule in rules if rule.tier == TIERS[above]}
            fed = any(
                start == name and end in heads and strict
                for start, end, strict in feeds(rules, above)
            )
            allowed = any(
                guard.atom.predicate == name and TIERS.index(guard.tier) <= above
                for guard in guards
            )
            wanted = wanted or (fed and not allowed)
        assert (judge.refusal(Fact(name), tier) is not None) == wanted


# what all this is for

LOWER = st.lists(
    st.builds(
        "{} :- {}.".format,
        st.sampled_from(
            "gate('x', ?f);changed(?f);excused(?f);reviewed(?f);noted(?f);own(?f);"
            "permission(?f, 'deny');permission(?f, 'allow')".split(";")
        ),
        st.sampled_from(
            "changed(?f);own(?f);seen(?f), not own2(?f);excused(?f);gate(_, ?f);"
            "seen(?f), not reviewed(?f);seen(?f), 2 < count { own(_) }".split(";")
        ),
    ),
    min_size=1,
    max_size=5,
)
ASSERTED = st.sets(
    st.builds(
        lambda name, value: Fact(name, (value,)),
        st.sampled_from(["changed", "reviewed", "excused", "seen", "own", "own2", "noted"]),
        st.sampled_from(["a", "b"]),
    )
)


@settings(max_examples=100, deadline=None)
@given(LOWER, ASSERTED)
def test_no_lower_tier_takes_a_conclusion_of_the_kernel_away(texts, facts):
    above = Program.parse(KERNEL, "kernel.dl")
    program = above
    for text in texts:
        try:
            program = program.extend(Program.parse(text, "team.dl", "workspace"))
        except RuleError:
            continue
    assert evaluate(above, facts) <= evaluate(program, facts)
    judge = governance(program)
    for extra in product(["noted", "excused", "changed", "own2"], "ab"):
        fact = Fact(extra[0], (extra[1],))
        if judge.refusal(fact, "workspace") is None:
            assert evaluate(above, facts) <= evaluate(program, {*facts, fact})


LOWER_FACTS = st.lists(
    st.builds(
        "{} :- {}.".format,
        st.sampled_from(
            "safe(?x);asked(?x, ?x);same(?x, ?x);harmless(?x, 'always');harmless(?x, 'never');"
            "risky(?x);own(?x);permission(?x, 'deny');permission(?x, 'ask')".split(";")
        ),
        st.sampled_from(
            "own(?x);risky(?x);safe(?x);asked(?x, _);harmless(?x, _);permission(?x, _);"
            "own(?x), not safe(?x)".split(";")
        ),
    ),
    min_size=1,
    max_size=5,
)
ROWS = st.sets(
    st.one_of(
        st.builds(
            lambda name, value: Fact(name, (value,)),
            st.sampled_from(["own", "risky", "safe"]),
            st.sampled_from(["a", "b"]),
        ),
        st.builds(
            lambda name, one, other: Fact(name, (one, other)),
            st.sampled_from(["asked", "same", "harmless"]),
            st.sampled_from(["a", "b"]),
            st.sampled_from(["a", "b", "always", "never"]),
        ),
    )
)


@settings(max_examples=100, deadline=None)
@given(LOWER_FACTS, ROWS)
def test_no_lower_tier_has_a_part_in_what_the_kernel_closes(texts, facts):
    facts = {*facts, Fact("asked", ("a", "a")), Fact("own", ("a",)), Fact("risky", ("b",))}
    above = Program.parse(ALLOWING, "kernel.dl")
    program = above
    for text in texts:
        try:
            program = program.extend(Program.parse(text, "team.dl", "workspace"))
        except RuleError:
            continue

    def allowed(rules, known):
        found = evaluate(rules, known)
        return {fact for fact in found if fact[0] == "permission" and fact[1][1] == "allow"}

    assert allowed(above, facts) == allowed(program, facts)
    judge = governance(program)
    for name, row in (("safe", ("a",)), ("own", ("a",)), ("harmless", ("a", "never"))):
        if judge.refusal(Fact(name, row), "workspace") is None:
            assert allowed(above, facts) == allowed(program, {*facts, Fact(name, row)})


def test_of_two_names_the_one_of_the_lower_tier_is_to_change():
    above = Program.parse("r: p(X) -> q(X)", "kernel.dl")
    with pytest.raises(RuleError) as raised:
        above.extend(Program.parse("r: p(X) -> s(X)", "team.dl", "workspace"))
    (fault,) = raised.value.diagnostics
    assert (fault.source, fault.help) == ("team.dl", "give this one another name")
