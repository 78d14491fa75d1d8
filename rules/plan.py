"""Rules as pipelines of joins.

A plan evaluates one rule for new rows of one of its conditions, the lead. It carries flat
tuples (supports): the number of the plan, the constants of the rule, the lead's row, and then
the row of each condition as it is joined. Every variable lives at the place of its first
occurrence, so keys, conclusions and premises are all plain selections from the tuple.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from operator import eq, itemgetter

from rules.filters import FILTERS, Filter
from rules.relation import Key, Model, Support
from rules.terms import Atom, Row, Rule, Term, Variable

Step = Callable[[Model, Iterator[Support]], Iterator[Support]]
Selection = Callable[[Support], Row]

START = ""
"""The lead of rules without conditions on facts: a fact that always holds."""

_LAZY_STEPS = 64
"""Generators nest one frame for each step; longer bodies are cut by full intermediate results."""

_REORDERED = 64
"""Longer bodies are joined in the order in which they are written."""


class Plan:
    """One rule, evaluated from one of its conditions (`lead`, None for START)."""

    def __init__(self, number: int, rule: Rule, lead: int | None) -> None:
        planner = _Planner(number, rule, lead)
        self.rule = rule
        self.prefix = planner.prefix
        self.head = select(planner.places(rule.head))
        self.fixed_head = None if rule.head.variables else self.head(self.prefix)
        self._steps = tuple(planner.steps)
        self._places = tuple(planner.placed[at] for at in range(len(rule.body)))

    def supports(self, model: Model, rows: Iterable[Row]) -> Iterator[Support]:
        """Every instance of the rule in which the lead is one of the rows."""
        prefix = self.prefix
        found: Iterator[Support] = (prefix + row for row in rows)
        for count, step in enumerate(self._steps, 1):
            found = step(model, found)
            if count % _LAZY_STEPS == 0:
                found = iter(list(found))
        return found

    def body(self, support: Support) -> tuple[Atom, ...]:
        """The body of the rule with the values of a support put in."""
        pairs = zip(self.rule.body, self._places, strict=True)
        return tuple(Atom(atom.predicate, select(places)(support)) for atom, places in pairs)


def select(places: tuple[int, ...]) -> Selection:
    """A function that picks values from a tuple, always as a tuple."""
    if not places:
        return lambda support: ()
    if len(places) == 1:
        place = places[0]
        return lambda support: (support[place],)
    return itemgetter(*places)


class _Planner:
    """Puts the conditions of a rule in an order and gives every value its place."""

    def __init__(self, number: int, rule: Rule, lead: int | None) -> None:
        atoms = (rule.head, *rule.body)
        terms = (term for atom in atoms for term in atom.args if not isinstance(term, Variable))
        constants = tuple(dict.fromkeys(terms))
        self.prefix: Support = (number, *constants)
        self.steps: list[Step] = []
        self.placed: dict[int, tuple[int, ...]] = {}
        self._width = len(self.prefix)
        self._place: dict[Term, int] = {term: at for at, term in enumerate(constants, 1)}
        self._uses = Counter(variable for atom in atoms for variable in atom.variables)
        self._body = rule.body
        self._joins = [i for i, atom in enumerate(rule.body) if atom.predicate not in FILTERS]
        self._tests = [i for i, atom in enumerate(rule.body) if atom.predicate in FILTERS]
        self._order(lead)

    def places(self, atom: Atom) -> tuple[int, ...]:
        return tuple(self._place[term] for term in atom.args)

    def _order(self, lead: int | None) -> None:
        if lead is not None:
            self._joins.remove(lead)
            self._append(lead, self._body[lead], range(0))
        self._settle_tests()
        while self._joins:
            at = self._next_join()
            self._joins.remove(at)
            self._join(at, self._body[at])
            self._settle_tests()

    def _next_join(self) -> int:
        """The condition with most of its columns known; the first of several."""
        if len(self._joins) > _REORDERED:
            return self._joins[0]
        return min(self._joins, key=lambda at: self._open_columns(self._body[at]))

    def _open_columns(self, atom: Atom) -> tuple[bool, int]:
        known = sum(term in self._place for term in atom.args)
        return known == 0 and bool(atom.args), len(atom.args) - known

    def _join(self, at: int, atom: Atom) -> None:
        known = tuple(column for column, term in enumerate(atom.args) if term in self._place)
        key = tuple(self._place[atom.args[column]] for column in known)
        if len(known) == len(atom.args):
            self.steps.append(_membership(atom.predicate, select(key)))
            self._finish(at, key)
            return
        kind = _first_match if self._is_question(atom) else _matches
        self.steps.append(kind(atom.predicate, known, key))
        self._append(at, atom, known)

    def _is_question(self, atom: Atom) -> bool:
        """Whether only the existence of a row matters: none of its new values is used."""
        new = [variable for variable in atom.variables if variable not in self._place]
        return all(self._uses[variable] == 1 for variable in new)

    def _append(self, at: int, atom: Atom, known: Iterable[int]) -> None:
        """Give places to the values of a row that now stands at the end of the support."""
        places = tuple(range(self._width, self._width + len(atom.args)))
        self._width += len(atom.args)
        for column, term in enumerate(atom.args):
            if isinstance(term, Variable) and term.anonymous:
                continue
            first = self._place.setdefault(term, places[column])
            if first != places[column] and column not in known:
                self.steps.append(_test(eq, first, places[column]))
        self._finish(at, places)

    def _finish(self, at: int, places: tuple[int, ...]) -> None:
        self.placed[at] = places
        self._uses.subtract(self._body[at].variables)

    def _settle_tests(self) -> None:
        """Add the tests whose values are known, following `=` to new variables."""
        waiting = -1
        while waiting != len(self._tests):
            waiting = len(self._tests)
            self._tests = [at for at in self._tests if not self._settled(at, self._body[at])]

    def _settled(self, at: int, test: Atom) -> bool:
        left, right = test.args
        if test.predicate == "=" and (left in self._place) != (right in self._place):
            known, new = (left, right) if left in self._place else (right, left)
            self._place[new] = self._place[known]
        elif left not in self._place or right not in self._place:
            return False
        else:
            function = FILTERS[test.predicate]
            self.steps.append(_test(function, self._place[left], self._place[right]))
        self._finish(at, self.places(test))
        return True


def _membership(predicate: str, row_of: Selection) -> Step:
    """Keep the supports for which a wholly known row holds."""

    def step(model: Model, supports: Iterator[Support]) -> Iterator[Support]:
        rows = model.relation(predicate).rows
        return (support for support in supports if row_of(support) in rows)

    return step


def _matches(predicate: str, columns: tuple[int, ...], places: tuple[int, ...]) -> Step:
    """Join each support with every row that has its values in these columns."""
    if not columns:
        return _product(predicate)
    key: Callable[[Support], Key] = itemgetter(*places)

    def step(model: Model, supports: Iterator[Support]) -> Iterator[Support]:
        rows = model.relation(predicate).index(columns).get
        return (support + row for support in supports for row in rows(key(support), ()))

    return step


def _first_match(predicate: str, columns: tuple[int, ...], places: tuple[int, ...]) -> Step:
    """Join each support with the first row that has its values in these columns."""
    if not columns:
        return _product(predicate, 1)
    key: Callable[[Support], Key] = itemgetter(*places)

    def step(model: Model, supports: Iterator[Support]) -> Iterator[Support]:
        rows = model.relation(predicate).index(columns).get
        return (support + found[0] for support in supports if (found := rows(key(support))))

    return step


def _product(predicate: str, limit: int | None = None) -> Step:
    """Join each support with every row, or with the first ones."""

    def step(model: Model, supports: Iterator[Support]) -> Iterator[Support]:
        rows = model.relation(predicate).rows
        return (support + row for support in supports for row in islice(rows, limit))

    return step


def _test(function: Filter, left: int, right: int) -> Step:
    def step(model: Model, supports: Iterator[Support]) -> Iterator[Support]:
        return (support for support in supports if function(support[left], support[right]))

    return step
