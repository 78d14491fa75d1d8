"""Warnings: what is allowed and yet likely a mistake.

They are looked for whenever rules are loaded, so each search costs about the size of the text.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator
from itertools import islice

from rules.analysis.places import argument_fault, fault, occurrences, place_of, predicate_fault
from rules.analysis.spelling import Names
from rules.builtins import BUILTINS
from rules.errors import Diagnostic
from rules.statements import Atom, Declaration, Guard, Literal, Query, Rule, atoms_of
from rules.terms import is_name

MOST_NAMES = 50
"""In a rule with more variables than this none is thought to be misspelt."""

ASSERTED = "declare it with '.decl' if it is asserted"


def unknown_predicates(
    statements: Collection[Rule],
    declarations: Iterable[Declaration],
    guards: Iterable[Guard],
    queries: Iterable[Query],
) -> Iterator[Diagnostic]:
    """Conditions which no rule, fact or declaration can ever make true."""
    known = {statement.head.predicate for statement in statements}
    known.update(declaration.predicate for declaration in declarations)
    names = Names([*known, *filter(is_name, BUILTINS)])
    near: dict[str, str] = {}
    bodies = (*(rule.body for rule in statements), *(query.body for query in queries))
    conditions = [atom for body in bodies for atom in atoms_of(body)]
    for condition in (*conditions, *(guard.atom for guard in guards)):
        name = condition.predicate
        if name in known or name in BUILTINS:
            continue
        if name not in near:
            near[name] = names.nearest(name)
        advice = f"did you mean {near[name]!r}?" if near[name] else ASSERTED
        note = "is not concluded, stated or declared anywhere"
        yield predicate_fault(condition, "unknown-predicate", note, advice, "warning")


def nearest(name: str, known: Iterable[str]) -> str:
    """The known name most like this one, or nothing."""
    return Names(known).nearest(name)


def disguised_variables(statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Bare words in rules that also use a variable of that name, or that have no variables at all
    and yet the same word in two places."""
    for rule in statements:
        if not rule.body:
            continue
        atoms = (rule.head, *atoms_of(rule.body))
        names = {variable.name for atom in atoms for variable in atom.variables}
        if not names:
            yield from _shared_word(atoms)
            continue
        for atom, at in _bare_words(atoms):
            if atom.args[at] in names:
                advice = f"write ?{atom.args[at]} for the variable, or the string in quotes"
                note = "is a string here, and a variable elsewhere in this rule"
                yield argument_fault(atom, at, "disguised-variable", note, advice, "warning")


def _bare_words(atoms: Iterable[Atom]) -> Iterator[tuple[Atom, int]]:
    """Arguments that are strings without quotes, by their atoms and places there."""
    for atom in atoms:
        for at, (term, span) in enumerate(zip(atom.args, atom.spans[1:], strict=False)):
            if isinstance(term, str) and span.text == term:
                yield atom, at


def _shared_word(atoms: Iterable[Atom]) -> Iterator[Diagnostic]:
    """The first word in two of the atoms, as in `path(x, z) :- edge(x, y), path(y, z).`"""
    first: dict[str, tuple[Atom, int]] = {}
    for atom, at in _bare_words(atoms):
        word = str(atom.args[at])
        earlier, place = first.setdefault(word, (atom, at))
        if earlier is not atom:
            advice = f"write ?{word} for a variable, or the string in quotes"
            note = "is a string, and this rule has no variables: words in small letters are none"
            yield argument_fault(earlier, place, "disguised-variable", note, advice, "warning")
            return


def lone_variables(statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Variables used once beside one of a similar name: one of the two is likely misspelt.

    A variable that is used once is in itself a good way to say what a value is.
    """
    for rule in statements:
        if not rule.body:
            continue
        counts = Counter(_names_in(rule))
        lone = [name for name, count in counts.items() if count == 1 and name[0] != "_"]
        if not lone or len(counts) > MOST_NAMES:
            continue
        names = Names(counts)
        for name in lone:
            near = _similar(name, names)
            if near and (warning := _lone(rule, name, near)):
                yield warning


def _similar(name: str, names: Names) -> str:
    """Another name that may be meant. Names that differ by a number are chosen on purpose."""
    stem = _stem(name)
    near = (other for other in names.one_slip_away(name) if _stem(other) != stem)
    return next(near, "")


def _stem(name: str) -> str:
    return "".join(character for character in name if character not in "_0123456789")


def _names_in(rule: Rule) -> Iterator[str]:
    yield from (variable.name for variable in rule.head.variables)
    for literal in rule.body:
        yield from (variable.name for variable in literal.variables)


def _lone(rule: Rule, name: str, near: str) -> Diagnostic | None:
    """Nothing where the text has the variable more often than the rule made of it, as for an
    aggregate in a conclusion."""
    spans = list(islice(occurrences(rule.span, name), 2)) if rule.span else []
    if len(spans) > 1:
        return None
    span = spans[0] if spans else rule.span
    message = f"'?{name}' is used once, and '?{near}' has a similar name"
    advice = f"write ?{near} if that is meant, or ?_{name} if it stands for itself"
    return fault(span, "singleton-variable", message, advice, "warning")


def repeated_rules(statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Rules that say what another says."""
    first: dict[tuple[Atom, tuple[Literal, ...]], Rule] = {}
    for rule in statements:
        if rule.body:
            earlier = first.setdefault((rule.head, rule.body), rule)
            if earlier is not rule:
                message = f"this rule says the same as {earlier.name!r}{place_of(earlier.span)}"
                yield fault(rule.span, "duplicate-rule", message, "drop one of them", "warning")
