"""Patterns for texts (`matches`) and for paths (`glob`), in time linear in the text.

regex      reads regular expressions
globs      reads path patterns
scanner    a pattern as it is read, and character classes
nodes      what both become
automaton  runs it: no backtracking, a bounded memory of what it saw
"""

from collections.abc import Callable
from functools import lru_cache

from rules.patterns.automaton import Automaton
from rules.patterns.globs import read_glob
from rules.patterns.nodes import MAX_LENGTH, MAX_SIZE, Node, PatternFault
from rules.patterns.regex import read_expression

Test = Callable[[str], bool]

_BUILD = 10
"""What it takes to make one place of an automaton, as compared with looking at a row."""

_KEPT = 256
"""Compiled patterns of each kind; each may fill about a megabyte while it is in use."""


def matches(pattern: str, text: str) -> bool:
    """Whether a regular expression describes the whole text; an invalid one describes none."""
    return expression(pattern)(text)


def glob(pattern: str, path: str) -> bool:
    """Whether a path pattern describes the whole path; an invalid one describes none."""
    return path_pattern(pattern)(path)


def pattern_fault(kind: str, pattern: str | int) -> str | None:
    """Why a pattern of a kind, `matches` or `glob`, is invalid, in one line; None if it is not."""
    if not isinstance(pattern, str):
        return "a pattern is a string, not an integer"
    try:
        _read(read_glob if kind == "glob" else read_expression, pattern)
    except PatternFault as fault:
        return str(fault)
    return None


@lru_cache(_KEPT)
def expression(pattern: str) -> Test:
    """The test for texts of a regular expression."""
    return _test(read_expression, pattern)


@lru_cache(_KEPT)
def path_pattern(pattern: str) -> Test:
    """The test for paths of a path pattern."""
    return _test(read_glob, pattern)


def within(kind: str, pattern: str, spend: Callable[[int], None]) -> Test:
    """The test of a pattern which tells `spend` of its work; see `Automaton.accepts_within`."""
    compiled = path_pattern if kind == "glob" else expression
    before = compiled.cache_info().misses
    automaton = getattr(compiled(pattern), "__self__", None)
    if not isinstance(automaton, Automaton):
        return _never
    if compiled.cache_info().misses != before:
        spend(_BUILD * automaton.size)
    return lambda text: automaton.accepts_within(text, spend)


def _test(read: Callable[[str], Node], pattern: str) -> Test:
    try:
        return Automaton(_read(read, pattern)).accepts
    except PatternFault:
        return _never


def _never(_: str) -> bool:
    return False


def _read(read: Callable[[str], Node], pattern: str) -> Node:
    if len(pattern) > MAX_LENGTH:
        raise PatternFault(f"it is longer than {MAX_LENGTH} characters")
    node = read(pattern)
    if node.size > MAX_SIZE:
        raise PatternFault(f"it is too large: more than {MAX_SIZE} steps when written out")
    return node
