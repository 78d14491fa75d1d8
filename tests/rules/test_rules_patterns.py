"""Regular expressions (`matches`) and path patterns (`glob`)."""

import gc
import re
import threading
import warnings

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from rules.patterns import glob, matches, pattern_fault
from rules.patterns.automaton import Automaton, Machine
from rules.patterns.nodes import MAX_SIZE, Characters
from rules.patterns.regex import read_expression

ALPHABET = "ab_1. \n\0é٣-]"
TEXTS = st.text(ALPHABET, max_size=4)  # on longer ones Python may take seconds


def by_python(pattern, text):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return re.compile(pattern).fullmatch(text) is not None


# patterns are drawn together with a text that each describes

LETTERS = st.sampled_from(ALPHABET).map(lambda letter: (re.escape(letter), letter))
KINDS = st.sampled_from(
    [(r"\d", "1"), (r"\w", "é"), (r"\s", "\n"), (r"\D", "a"), (r"\W", "."), (r"\S", "-")]
)
MEMBERS = st.one_of(LETTERS, KINDS, st.sampled_from([("a-b", "b"), ("0-9", "1"), ("\0-é", "é")]))


@st.composite
def classes(draw):
    members = draw(st.lists(MEMBERS, min_size=1, max_size=3))
    written = "".join(pattern for pattern, _ in members)
    if draw(st.booleans()):
        return f"[{written}]", draw(st.sampled_from(members))[1]
    described = [letter for letter in ALPHABET if by_python(f"[^{written}]", letter)]
    assume(described)
    return f"[^{written}]", draw(st.sampled_from(described))


QUANTIFIERS = st.sampled_from(
    "1 1* 0* 2* 1+ 3+ 0? 1? 2{2} 1{1,} 3{1,} 0{0,2} 2{0,2} 1{,2} 0{0} 2*? 0?? 2{1,2}?".split()
)


@st.composite
def repeated(draw, inner):
    pattern, text = draw(inner)
    quantifier = draw(st.one_of(st.just("1"), QUANTIFIERS))
    return pattern + quantifier[1:], text * int(quantifier[0])


@st.composite
def groups(draw, inner):
    choices = draw(st.lists(st.lists(inner, max_size=2), min_size=1, max_size=3))
    written = "|".join("".join(pattern for pattern, _ in parts) for parts in choices)
    text = "".join(text for _, text in draw(st.sampled_from(choices)))
    return f"{draw(st.sampled_from(['(', '(?:']))}{written})", text


ATOMS = st.one_of(LETTERS, KINDS, st.sampled_from([(".", "a"), ("()", "")]), classes())
PARTS = st.recursive(repeated(ATOMS), lambda inner: repeated(groups(inner)), max_leaves=5)
EXPRESSIONS = st.lists(PARTS, min_size=1, max_size=3).map(
    lambda parts: tuple(map("".join, zip(*parts, strict=True)))
)


@given(EXPRESSIONS, st.lists(TEXTS, min_size=1, max_size=6))
@settings(max_examples=400, deadline=None)
def test_expressions_match_what_they_match_in_python(drawn, texts):
    pattern, described = drawn
    assert pattern_fault("matches", pattern) is None
    assert matches(pattern, described)
    for text in (*texts, described[:4], described[-4:]):
        assert matches(pattern, text) == by_python(pattern, text)


@given(st.text(r"ab()[]{}*+?|\^$.-,10dwx:\n=<!é", max_size=12), TEXTS)
@settings(max_examples=800, deadline=None)
@example("[]-a]", "]")
@example("[^]a]", "b")
@example("a{,2}", "aa")
@example("^a$|^b$", "b")
@example("[a\\]]", "]")
def test_whatever_is_valid_here_means_the_same_in_python(pattern, text):
    fault = pattern_fault("matches", pattern)
    if fault is None:
        assert matches(pattern, text) == by_python(pattern, text)
    else:
        assert fault.isprintable()
        assert not matches(pattern, text)


@given(st.text(max_size=20), st.text(max_size=20))
@settings(deadline=None)
def test_escaped_text_matches_itself_alone(text, other):
    pattern = re.escape(text)
    assert matches(pattern, text)
    assert matches(pattern, other) == (text == other)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("", ""),
        ("^$", ""),
        ("^a|b$", "a"),
        ("a|", ""),
        ("test_.*[.]py", "test_x.py"),
        ("a.c", "a\0c"),
        (r"\x41\u00e9\U0001F600", "Aé😀"),
        (r"\t\n\r\f\v\a", "\t\n\r\f\v\a"),
        (r"\w+", "naïve_日本"),
        (r"\d+", "1٣"),
        (r"\s", "\u2003"),
        ("[^a]", "\n"),
        (".", "\ud800"),
        ("}]", "}]"),
        ("a{2,3}", "aaa"),
        ("(a{2}){2}", "aaaa"),
        ("(a*)*", "aaa"),
        ("()*", ""),
        (".{1,1000}", "x" * 1000),
    ],
)
def test_matches(pattern, text):
    assert pattern_fault("matches", pattern) is None
    assert matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        ("a", "ab"),
        ("b", "ab"),
        ("a", "A"),
        ("a$", "a\n"),
        (".", "\n"),
        (".", ""),
        ("e\u0301", "é"),
        ("a{2,3}", "aaaa"),
        ("a{0}", "a"),
        (".{1,1000}", "x" * 1001),
        (r"\d", "²"),
    ],
)
def test_does_not_match(pattern, text):
    assert pattern_fault("matches", pattern) is None
    assert not matches(pattern, text)


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("(", "'(' at character 1 is never closed"),
        ("a)", "')' at character 2 closes no group"),
        ("[ab", "'[' at character 1 is never closed"),
        ("[]", "'[' at character 1 is never closed"),
        ("*a", "'*' at character 1 has nothing to repeat"),
        ("a|+", "'+' at character 3 has nothing to repeat"),
        ("^*", "'*' at character 2 has nothing to repeat"),
        ("a**", "'*' at character 3 repeats what is repeated already"),
        ("a*+", "'+' at character 3 repeats"),
        ("a{2}{3}", "'{' at character 5 repeats"),
        ("a{", "'{' at character 2 begins no quantifier"),
        ("a{x}", "'{' at character 2 begins no quantifier"),
        ("a{}", "'{' at character 2 begins no quantifier"),
        ("a{3,2}", "'{3,2}' at character 2 has its bounds the wrong way round"),
        ("a{99999999}", "'{99999999}' at character 2 repeats too often"),
        ("a{9999}", "'a{9999}' at character 1 is more than 5000 steps"),
        ("((a{99}){99}){99}", "'(a{99}){99}' at character 2 is more than 5000 steps"),
        ("(a{900})(a{900})(a{900})", "it is too large"),
        ("a" * 2001, "it is longer than 2000 characters"),
        ("(" * 41 + ")" * 41, "'(' at character 41 is nested more than 40 groups deep"),
        ("a^b", "'^' at character 2 can only stand at the beginning"),
        ("(^a)", "'^' at character 2 can only stand at the beginning"),
        ("a$b", "'$' at character 2 can only stand at the end"),
        ("(a$)", "'$' at character 3 can only stand at the end"),
        ("(?=a)", "'(?=' at character 1 is look-ahead, which is not supported"),
        ("(?!a)", "look-ahead"),
        ("(?<=a)b", "'(?<=' at character 1 is look-behind"),
        ("(?<!a)b", "look-behind"),
        ("(?i)a", "'(?' at character 1 is a flag"),
        ("(?P<n>a)(?P=n)", "a named group"),
        ("(?>a)", "an atomic group"),
        (r"(a)\1", r"'\\1' at character 4 is a back-reference"),
        (r"\bword", r"'\\b' at character 1 is an assertion"),
        (r"\q", r"'\\q' at character 1 is no escape"),
        (r"\0", r"'\\0' at character 1 is no escape"),
        (r"\x4", r"'\\x4' at character 1 needs the 2 hexadecimal digits"),
        (r"\U00110000", "needs the 8 hexadecimal digits"),
        ("a\\", "it ends too early"),
        ("[b-a]", "'b-a' at character 2 is no range: its ends are the wrong way round"),
        (r"[a-\d]", "is no range: it needs a character at both ends"),
        (r"[\d-a]", "is no range"),
        (7, "a pattern is a string, not an integer"),
    ],
)
def test_invalid_expressions_are_named_and_match_nothing(pattern, reason):
    fault = pattern_fault("matches", pattern)
    assert fault is not None
    assert reason in fault
    assert fault.isprintable()
    if isinstance(pattern, str):
        assert not matches(pattern, pattern)


class Visits:
    """How often a machine is asked whether a place reads a character."""

    def __init__(self, pattern):
        self.count = 0
        visits = self

        class Counted(Characters):
            def __contains__(self, character):
                visits.count += 1
                return super().__contains__(character)

        self.machine = Machine(read_expression(pattern))
        for place, wanted in enumerate(self.machine.wants):
            if wanted is not None:
                counted = Counted(wanted.bounds, wanted.kinds, wanted.negated)
                self.machine.wants[place] = counted


HOSTILE = [
    "(a+)+",
    "(a|a)*b{0,200}",
    "(a*)*(a*)*(a*)*c",
    "(a|b)*a(a|b){200}",
    "(a?){300}a{300}",
    "(.*)(.*)(.*)(.*)(.*)x",
    "((a|b)?){300}c",
    "(.{1,30}){1,30}[^a]",
    "(()*)*((a*|b*)*)*",
]
LONG = ["a" * 1500 + "!", "ab" * 700, "".join("ab"[n * n // 7 % 2] for n in range(1500))]


@pytest.mark.parametrize("pattern", HOSTILE)
def test_a_hostile_pattern_visits_each_place_at_most_once_a_character(pattern):
    assert pattern_fault("matches", pattern) is None
    for text in LONG:
        visits = Visits(pattern)
        automaton = Automaton(visits.machine)
        automaton.accepts(text)
        assert visits.count <= len(text) * len(visits.machine.wants)
        assert automaton.memory_used <= 10_000 + MAX_SIZE + 1


def test_what_was_seen_before_is_only_looked_up():
    visits = Visits("(a|b)+(c|d)*[.]py")
    automaton = Automaton(visits.machine)
    assert automaton.accepts("abba" * 1000 + "cd.py")
    assert visits.count < 100
    before = visits.count
    assert automaton.accepts("abba" * 500 + "cd.py")
    assert visits.count == before


def remembered(automaton):
    """How many entries there are in all tables that the automaton leads to."""
    seen, waiting, count = set(), [automaton], 0
    while waiting:
        item = waiting.pop()
        if id(item) not in seen and not callable(item):  # which would lead to modules
            seen.add(id(item))
            count += len(item) if isinstance(item, dict | frozenset) else 0
            waiting += gc.get_referents(item)
    return count


@pytest.mark.parametrize("pattern", [r"\w*x\w*|(.[^y])+", "(.?.?[^b])*", "[a-z]*a.{14}"])
def test_memory_is_bounded_over_many_texts_and_characters(pattern):
    automaton = Automaton(read_expression(pattern))
    for start in range(97, 0x8000, 128):
        automaton.accepts("".join(map(chr, range(start, start + 128))))
        automaton.accepts(f"{pow(3, start, 1 << 128):0128b}".translate({48: 97, 49: 98}) * 2)
        assert automaton.memory_used <= 10_000 + MAX_SIZE + 1
    assert remembered(automaton) <= 20_000


@given(st.lists(st.text("ab", min_size=20, max_size=400), min_size=1, max_size=4))
@settings(max_examples=20, deadline=None)
def test_answers_stay_right_when_the_memory_is_emptied(texts):
    automaton = Automaton(read_expression("(a|b)*a(a|b){14}"))
    for _ in range(4):
        for text in texts:
            assert automaton.accepts(text) == (text[-15] == "a")


def test_threads_may_share_a_pattern():
    texts = [f"{n * 2654435761 % 2**60:060b}{n:020b}" * 4 for n in range(100)]
    wrong = []

    def run():
        wrong.extend(t for t in texts if matches("(0|1)*1(0|1){15}", t) != (t[-16] == "1"))

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


GLOBS = [
    ("*.py", "x.py a-b.py .py", "src/x.py x.pyc x.PY"),
    ("**/*.py", "x.py src/x.py a/b/c/x.py /x.py", "x.pyc"),
    ("**/x", "x a/x a/b/x", "ax a/bx x/a"),
    ("src/**", "src/x src/a/b src/.git/x", "src src/ asrc/x a/src/x"),
    ("src/**/x.py", "src/x.py src/a/x.py src/a/b/x.py", "src/ax.py x.py src"),
    ("**", "x a/b/c .env", ""),
    ("**/test_*/**", "test_a/x a/test_b/c/d", "test_a a/test_b"),
    ("**/a/**/b", "a/b x/a/b a/x/y/b", "ab a/xb"),
    ("src/*", "src/x src/.x src/", "src/a/b src"),
    ("src/*/x", "src/a/x", "src/x src/a/b/x"),
    ("?.py", "a.py é.py", "ab.py .py /.py"),
    ("a?b", "axb a-b", "a/b ab"),
    ("[abc].py", "a.py c.py", "d.py A.py"),
    ("[!abc].py", "d.py !.py", "a.py /.py"),
    ("[^abc].py", "d.py", "a.py"),
    ("[a-c]x", "ax cx", "dx"),
    ("[+-9]x", "+x 9x", "/x"),
    ("[!a]x", "bx", "/x"),
    ("[]a]", "] a", "b"),
    ("[a-]", "- a", "b"),
    ("a{b,c}d", "abd acd", "ad abcd a{b,c}d"),
    ("{a,b}{1,2}", "a1 a2 b1 b2", "a b 12"),
    ("*.{js,ts,{m,c}js}", "x.js x.ts x.mjs x.cjs", "x.s x.js/y"),
    ("a{,.txt}", "a a.txt", "atxt"),
    ("{**/,}x", "x a/x", "ax"),
    ("**{/x,}", "a/x x b", ""),
    ("{src,tests}/**/*.py", "src/x.py tests/a/x.py", "docs/x.py"),
    ("a,b", "a,b", "a b"),
    (r"\*\{\}\[\\", r"*{}[\ ".strip(), "x"),
    (r"[\]]", "]", "x"),
    ("[{,}]", "{ , }", "x"),
    ("/etc/*", "/etc/passwd", "etc/passwd"),
]


@pytest.mark.parametrize(("pattern", "those", "not_those"), GLOBS)
def test_path_patterns(pattern, those, not_those):
    assert pattern_fault("glob", pattern) is None
    assert [path for path in those.split() if not glob(pattern, path)] == []
    assert [path for path in not_those.split() if glob(pattern, path)] == []


def test_path_patterns_and_odd_characters():
    assert glob("*", "a\nb\0c d")
    assert glob("a\n?", "a\n\n")
    assert glob("**", "\ud800")
    assert glob("*", "")
    assert glob("", "")
    assert not glob("", "a")
    assert not glob("?", "")
    assert not glob("**", "")


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        ("**.py", "'**' stands for whole folders"),
        ("src/**x", "'**' stands for whole folders"),
        ("a**/b", "'**' stands for whole folders"),
        ("{a,b**}/x", "'**' stands for whole folders"),
        ("***", "'***' at character 1 is one '*' too many"),
        ("[a", "'[' at character 1 is never closed"),
        ("x[]", "'[' at character 2 is never closed"),
        ("[[:alpha:]]", "a class with a name"),
        ("[b-a]", "the wrong way round"),
        ("{a", "'{' is never closed"),
        ("{a,{b}", "'{' is never closed"),
        ("a}", "a '}' closes nothing"),
        ("a\\", "it ends too early"),
        ("{,}" * 30, "too many alternatives"),
        ("{a,b}" * 12, "too many alternatives"),
        ("{a,b}{c,d}" + "x" * 1980, "too large"),
        ("{" * 60 + "}" * 60, "nested more than 40 deep"),
        ("?" * 2001, "longer than 2000"),
        (3, "a pattern is a string"),
    ],
)
def test_invalid_path_patterns_are_named_and_match_nothing(pattern, reason):
    fault = pattern_fault("glob", pattern)
    assert fault is not None
    assert reason in fault
    assert fault.isprintable()
    if isinstance(pattern, str):
        assert not glob(pattern, pattern)


DEEP = "\0"
"""Stands for `**`, which two stars around an empty alternative do not become."""


def written_out(pattern):
    """Every reading of the alternatives in braces, which are not nested."""
    pattern = pattern.replace("**", DEEP)
    return [re.sub(r"\*+", "*", text) for text in without_braces(pattern)]


def without_braces(pattern):
    found = re.search(r"\{(.*?)\}", pattern)
    if found is None:
        return [pattern]
    readings = [pattern[: found.start()] + c + pattern[found.end() :] for c in found[1].split(",")]
    return [text for reading in readings for text in without_braces(reading)]


def folders_match(patterns, names):
    if not patterns:
        return not names
    first, *rest = patterns
    if first == DEEP:
        if not rest:
            return "/".join(names) != ""
        return any(folders_match(rest, names[skipped:]) for skipped in range(len(names)))
    return bool(names) and name_matches(first, names[0]) and folders_match(rest, names[1:])


def name_matches(pattern, name):
    if not pattern:
        return not name
    if pattern[0] == "*":
        return any(name_matches(pattern[1:], name[at:]) for at in range(len(name) + 1))
    if not name:
        return False
    if pattern[0] == "[":
        inside, _, after = pattern[1:].partition("]")
        negated, members = inside[0] == "!", inside.lstrip("!")
        return ((name[0] in members) != negated) and name_matches(after, name[1:])
    return pattern[0] in {"?", name[0]} and name_matches(pattern[1:], name[1:])


NAMES = st.lists(
    st.sampled_from(["a", "b", "*", "?", "[ab]", "[!b]", "{a,b}", "{,b?}", "."]), max_size=3
).map(lambda parts: re.sub(r"\*+", "*", "".join(parts)))
PATTERNS = st.lists(st.one_of(st.just("**"), NAMES, st.just("{b,**}")), min_size=1, max_size=3)
PATHS = st.text("ab./c\n", max_size=8)


@given(PATTERNS.map("/".join), st.lists(PATHS, min_size=1, max_size=8))
@example("*{,b?}*", ["", "a", "a/b"])
@settings(max_examples=300, deadline=None)
def test_path_patterns_match_what_a_naive_reading_matches(pattern, paths):
    readings = [reading.split("/") for reading in written_out(pattern)]
    for path in paths:
        expected = any(folders_match(reading, path.split("/")) for reading in readings)
        if pattern_fault("glob", pattern) is None:
            assert glob(pattern, path) == expected, (pattern, path)


@given(st.text("ab*?/[]{},\\!-", max_size=14), PATHS)
@settings(max_examples=300, deadline=None)
def test_any_text_is_a_path_pattern_or_has_a_fault(pattern, path):
    assert isinstance(glob(pattern, path), bool)
    assert pattern_fault("glob", pattern) is None or not glob(pattern, path)
