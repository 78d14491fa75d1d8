"""Types: no variable has to be both an integer and a string, and values fit the declarations.

Declared types bind statements of the same tier and of lower ones. The values of a predicate
without declared types may be anything, since facts come at run time.
"""

from collections.abc import Iterable, Iterator

from rules.analysis.bindings import names_in, shared_names
from rules.analysis.needs import Need, Needs, variable_key
from rules.analysis.places import fault, occurrences, place_of
from rules.analysis.signatures import RANK
from rules.errors import Diagnostic
from rules.source import Span
from rules.statements import Declaration, Query, Rule
from rules.terms import TIERS, Term, Variable, term_text

NOUNS = {"int": "an integer", "string": "a string"}


def type_clashes(
    statements: Iterable[Rule], declarations: Iterable[Declaration], queries: Iterable[Query]
) -> Iterator[Diagnostic]:
    """Terms that would have to be of two types."""
    declarations = tuple(declarations)
    readers = {tier: Needs(_declared(declarations, tier)) for tier in TIERS}
    for rule in statements:
        needs = readers[rule.tier]
        if rule.body:
            shared = shared_names(rule.body, names_in(rule.head.args))
            found = [*needs.of_body(rule.body, shared), *needs.of_atom(rule.head)]
            if found:
                yield from _clashes(found)
        elif rule.head.predicate in needs.declared:
            yield from _clashes(needs.of_atom(rule.head))
    for query in queries:
        yield from _clashes(readers[TIERS[-1]].of_body(query.body, shared_names(query.body)))


def _declared(declarations: Iterable[Declaration], tier: str) -> dict[str, Declaration]:
    """The first declaration with types for each predicate, of this tier or a higher one."""
    found: dict[str, Declaration] = {}
    for declaration in sorted(declarations, key=lambda each: RANK[each.tier]):
        if any(declaration.types) and RANK[declaration.tier] <= RANK[tier]:
            found.setdefault(declaration.predicate, declaration)
    return found


def _clashes(needs: Iterable[Need]) -> Iterator[Diagnostic]:
    """What one rule or query asks that cannot all be; the later of two needs is at fault."""
    known = _Known()
    for need in needs:
        if need.other is None:
            yield from known.typed(need)
        else:
            yield from known.same(need, need.other)


class _Known:
    """What is known of the variables of a rule; those that are the same share an entry."""

    def __init__(self) -> None:
        self._first: dict[str, Need] = {}
        self._parent: dict[str, str] = {}

    def typed(self, need: Need) -> Iterator[Diagnostic]:
        key = variable_key(need.term, need.scope)
        if key:
            first = self._first.setdefault(self._root(key), need)
            if first.type != need.type:
                yield _clash(need, first)
        elif (kind := type_of(need.term)) not in {"", need.type}:
            yield _misfit(need, kind)

    def same(self, need: Need, other: Term) -> Iterator[Diagnostic]:
        """Two variables share what is known; a value or a calculation tells the type."""
        term = need.term
        if kind := type_of(other):
            yield from self.typed(_told(need, kind, other))
        elif kind := type_of(term):
            told = _told(need, kind, term)
            yield from self.typed(told._replace(term=other, scope=need.other_scope))
        else:
            left = self._root(variable_key(term, need.scope))
            right = self._root(variable_key(other, need.other_scope))
            if left and right and left != right:
                yield from self._join(left, right, need)

    def _join(self, left: str, right: str, need: Need) -> Iterator[Diagnostic]:
        self._parent[right] = left
        later = self._first.pop(right, None)
        if later is not None:
            first = self._first.setdefault(left, later)
            if first.type != later.type:
                yield _clash(later._replace(span=need.span, reason=need.why), first)

    def _root(self, key: str) -> str:
        parent = self._parent
        while (above := parent.get(key)) is not None:
            parent[key] = parent.get(above, above)  # a long way gets shorter each time
            key = above
        return key


def type_of(term: Term) -> str:
    """The type of a value or a calculation; nothing for a variable."""
    if isinstance(term, Variable):
        return ""
    return "string" if isinstance(term, str) else "int"


def _told(need: Need, kind: str, by: Term) -> Need:
    return need._replace(type=kind, other=None, reason=f"{need.why} with {term_text(by, True)}")


def _clash(need: Need, first: Need) -> Diagnostic:
    text, span = _exact(need)
    message = (
        f"'{text}' has to be {NOUNS[need.type]} here ({need.why}) and "
        f"{NOUNS[first.type]}{place_of(_exact(first)[1])} ({first.why})"
    )
    advice = "no value is both, so this never holds: use two variables, or change the declaration"
    return fault(span, "type-clash", message, advice)


def _misfit(need: Need, kind: str) -> Diagnostic:
    text, span = _exact(need)
    message = f"{text} is {NOUNS[kind]} and has to be {NOUNS[need.type]}: {need.why}"
    advice = "a number in quotes is a string, one without is an integer"
    return fault(span, "type-clash", message, advice)


def _exact(need: Need) -> tuple[str, Span | None]:
    """The text of the term and its place, as near as it is known."""
    if isinstance(need.term, Variable):
        name = need.term.name
        found = next(occurrences(need.span, name), None) if need.span else None
        return (found.text if found else str(need.term)), found or need.span
    return term_text(need.term, True), need.span
