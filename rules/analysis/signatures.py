"""Whether statements agree on their predicates: reserved names, arguments, names of rules."""

from collections.abc import Iterable, Iterator, Sequence

from rules.analysis.places import fault, place_of, predicate_fault, predicate_span
from rules.builtins import BUILTINS
from rules.errors import Diagnostic
from rules.source import Span
from rules.statements import PLACE_NAME, Atom, Declaration, Guard, Query, Rule, atoms_of
from rules.terms import TIERS

BUILTIN_ARITY = 2
RANK = {tier: rank for rank, tier in enumerate(TIERS)}
"""0 is the strongest tier."""


def reserved_names(
    statements: Iterable[Rule], declarations: Iterable[Declaration], guards: Iterable[Guard]
) -> Iterator[Diagnostic]:
    """Built-in conditions that are concluded, stated, declared or guarded."""
    note = "is a built-in condition and cannot be concluded, stated or declared"
    advice = "choose another name"
    for atom in (*(rule.head for rule in statements), *(guard.atom for guard in guards)):
        if atom.predicate in BUILTINS:
            yield predicate_fault(atom, "reserved-name", note, advice)
    for declaration in declarations:
        if declaration.predicate in BUILTINS:
            message = f"'{declaration.predicate}' {note}"
            yield fault(declaration.span, "reserved-name", message, advice)


def reserved_labels(statements: Iterable[Rule]) -> Iterator[Diagnostic]:
    """Names that look as if they were made of a place."""
    for rule in statements:
        if rule.label.startswith(PLACE_NAME):
            message = f"the rule name {rule.label!r} begins with {PLACE_NAME!r}"
            advice = "so begin the names of rules that have none; choose another one"
            yield fault(_label_span(rule), "reserved-name", message, advice)


def duplicate_names(statements: Sequence[Rule]) -> Iterator[Diagnostic]:
    """Two rules of one name; the one of the lower tier, or else the later, is at fault."""
    first: dict[str, Rule] = {}
    for rule in strongest_first(statements):
        if not rule.label:
            continue
        earlier = first.setdefault(rule.label, rule)
        if earlier is not rule:
            message = f"the rule name {rule.label!r} is already used{place_of(earlier.span)}"
            which = "one of them" if rule.tier == earlier.tier else "this one"
            advice = f"give {which} another name"
            yield fault(_label_span(rule), "duplicate-name", message, advice)


def _label_span(rule: Rule) -> Span | None:
    if rule.span is None or not rule.span.text.startswith(rule.label):
        return rule.span
    return Span(rule.span.source, rule.span.start, rule.span.start + len(rule.label))


def strongest_first(statements: Sequence[Rule]) -> Sequence[Rule]:
    """In order of tiers, so that of two that contradict the lower one comes later."""
    if all(rule.tier == TIERS[0] for rule in statements):
        return statements
    return sorted(statements, key=lambda rule: RANK[rule.tier])


def duplicate_declarations(declarations: Iterable[Declaration]) -> Iterator[Diagnostic]:
    """Two declarations of a predicate that cannot both be right."""
    first: dict[str, Declaration] = {}
    for declaration in sorted(declarations, key=lambda each: RANK[each.tier]):
        known = first.setdefault(declaration.predicate, declaration)
        if known is not declaration and _contradict(known, declaration):
            message = f"'{declaration.predicate}' is declared otherwise{place_of(known.span)}"
            advice = f"the other one is '{known}'; drop one of them"
            yield fault(declaration.span, "duplicate-declaration", message, advice)


def _contradict(left: Declaration, right: Declaration) -> bool:
    if left.arity != right.arity:
        return True
    pairs = zip(left.types, right.types, strict=True)
    return any(one and other and one != other for one, other in pairs)


def arity_clashes(
    statements: Sequence[Rule],
    declarations: Iterable[Declaration],
    guards: Iterable[Guard],
    queries: Iterable[Query],
) -> Iterator[Diagnostic]:
    """Predicates with different numbers of arguments, and built-ins without their two.

    In each tier declarations are right, then statements in their order, then guards; the lower
    tier is at fault.
    """
    uses = _Uses()
    declarations, guards = tuple(declarations), tuple(guards)
    for tier in TIERS:
        for declaration in declarations:
            if declaration.tier == tier:
                yield from uses.declare(declaration)
        for atom in _of_tier(tier, statements, guards):
            yield from uses.check(atom)
    for query in queries:
        for atom in atoms_of(query.body):
            yield from uses.check(atom)


def _of_tier(tier: str, statements: Iterable[Rule], guards: Iterable[Guard]) -> Iterator[Atom]:
    for rule in statements:
        if rule.tier == tier:
            yield rule.head
            yield from atoms_of(rule.body)
    yield from (guard.atom for guard in guards if guard.tier == tier)


class _Uses:
    """The first number of arguments of each predicate, and where it was seen."""

    def __init__(self) -> None:
        self._first: dict[str, tuple[int, Span | None]] = {}
        self._declared: set[str] = set()

    def declare(self, declaration: Declaration) -> Iterator[Diagnostic]:
        """Two declarations are compared elsewhere."""
        predicate = declaration.predicate
        if predicate in self._declared or predicate in BUILTINS:
            return
        self._declared.add(predicate)
        known = self._first.setdefault(predicate, (declaration.arity, declaration.span))
        if known[0] != declaration.arity:
            yield _clash(predicate, declaration.arity, declaration.span, known)

    def check(self, atom: Atom) -> Iterator[Diagnostic]:
        arity = len(atom.args)
        known = self._first.get(atom.predicate)
        if known is None:
            if atom.predicate not in BUILTINS:
                self._first[atom.predicate] = arity, atom.span
            elif arity != BUILTIN_ARITY:
                note = f"takes {BUILTIN_ARITY} arguments, not {arity}"
                yield predicate_fault(atom, "arity-clash", note)
        elif known[0] != arity:
            yield _clash(atom.predicate, arity, predicate_span(atom), known)


def _clash(
    predicate: str, arity: int, span: Span | None, known: tuple[int, Span | None]
) -> Diagnostic:
    here = "1 argument" if arity == 1 else f"{arity} arguments"
    message = f"'{predicate}' has {here} here and {known[0]}{place_of(known[1])}"
    advice = "one predicate has one number of arguments everywhere; is one of them misspelt?"
    return fault(span, "arity-clash", message, advice)
