"""Whether the patterns that stand in rules can be read; others show only when they are used."""

from collections.abc import Iterable, Iterator

from rules.analysis.places import argument_span, fault
from rules.errors import Diagnostic
from rules.statements import Literal, atoms_of
from rules.terms import quote

_MATCHERS = ("glob", "matches")


def bad_patterns(body: Iterable[Literal]) -> Iterator[Diagnostic]:
    for atom in atoms_of(body):
        if atom.predicate in _MATCHERS and len(atom.args) == 2 and isinstance(atom.args[0], str):
            from rules.patterns import pattern_fault  # most rules have no pattern

            reason = pattern_fault(atom.predicate, atom.args[0])
            if reason is not None:
                kind = "path pattern" if atom.predicate == "glob" else "regular expression"
                message = f"{quote(atom.args[0])} is no {kind}: {reason}"
                advice = "docs/rules.md lists what patterns may contain"
                yield fault(argument_span(atom, 0), "bad-pattern", message, advice)
