"""The search for all ways to satisfy a body: depth first, the most selective condition next."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

from rules.answers.body import Body, Equation, Group, Match
from rules.answers.folds import fold
from rules.answers.frames import Budget, Frame, OutOfBudget
from rules.answers.slots import OPEN
from rules.answers.view import View
from rules.statements import Atom, Literal
from rules.terms import Row, Value, Variable

Allowed = Callable[[Atom, Row], bool]

_PATIENCE = 200_000
"""Rows looked at for an aggregate before its value is believed."""

_WINDOW = 16
"""So many conditions are compared to find the most selective one."""


def solve(
    body: Sequence[Literal],
    view: View,
    binding: Mapping[Variable, Value],
    allowed: Allowed | None = None,
    budget: Budget | None = None,
) -> Iterator[dict[Variable, Value]]:
    """Each binding of the named variables outside of braces that satisfies the body, once.

    Found lazily, in an order that depends on the facts and their order alone. Variables of
    `binding` count as used outside of the body: within braces they are given. `allowed` may
    refuse a row for a positive condition. Raises OutOfBudget.
    """
    ready = Body(body, binding)
    slots = ready.named()
    known = [(ready.table.of(variable), value) for variable, value in binding.items()]
    for values in Search(ready, view, allowed, budget).solutions(known):
        found = {variable: values[slot] for variable, slot in slots}
        yield {variable: value for variable, value in found.items() if value is not None}


class Search:
    """One search of a body; `values` and `rows` hold the current solution.

    Each step of the search is a frame on a stack: a condition, and the rows yet to be tried.
    """

    def __init__(
        self,
        body: Body,
        view: View,
        allowed: Allowed | None = None,
        budget: Budget | None = None,
        trusting: bool = False,
    ) -> None:
        """`trusting` believes that an aggregate which takes too long has the value it should."""
        self.values = list(body.initial)
        self._body = body
        self._view = view
        self._allowed = allowed
        self._budget = budget
        self._trusting = trusting and budget is not None
        self._counts = list(body.counts)
        self._frames: list[Frame] = []
        self._trail: list[int] = []
        # a ring of the conditions not yet joined; its last place is the anchor
        size = len(body.matches)
        self._after = [*range(1, size + 1), 0]
        self._before = [size, *range(size)]
        self._open_groups = dict(enumerate(body.groups))
        self._group_values: dict[tuple[int, Row], Value | None] = {}

    def solutions(self, known: Iterable[tuple[int, Value]]) -> Iterator[list[Value | None]]:
        """The values of all slots, in a list that changes when the search goes on."""
        if not self._start(known):
            return
        frames = self._frames
        while True:
            frame = self._next()
            if frame is None:
                yield self.values
            else:
                frames.append(frame)
            while frames and not self._advance(frames[-1]):
                self._close(frames.pop())
            if not frames:
                return

    def count(self, known: Iterable[tuple[int, Value]]) -> int:
        """How many solutions there are; what no more condition depends on is multiplied."""
        if not self._start(known):
            return 0
        frames, total = self._frames, 0
        while True:
            ways = self._independent()
            frame = self._next() if ways is None else None
            if frame is not None:
                frames.append(frame)
            else:
                total += 1 if ways is None else ways
                if self._budget is not None:
                    self._budget.spend()
            while frames and not self._advance(frames[-1]):
                self._close(frames.pop())
            if not frames:
                return total

    def rows(self) -> dict[int, Row]:
        """The rows in use, by the place of their condition in the body."""
        return {
            frame.match.at: frame.row for frame in self._frames if isinstance(frame.match, Match)
        }

    # choosing

    def _next(self) -> "Frame | None":
        """A frame for the most selective condition, None when nothing is left to do."""
        best: tuple[int, Match, Collection[Row]] | None = None
        anchor = number = len(self._after) - 1
        for _ in range(_WINDOW):
            number = self._after[number]
            if number == anchor or (best is not None and len(best[2]) <= 1):
                break
            match = self._body.matches[number]
            rows = self._candidates(match)
            if best is None or len(rows) < len(best[2]):
                best = (number, match, rows)
        if self._open_groups and (best is None or len(best[2]) > 1):
            frame = self._group_frame()
            if frame is not None:
                return frame
        return None if best is None else self._match_frame(*best)

    def _independent(self) -> int | None:
        """The ways to meet the conditions that are left, where they do not touch each other.

        None where they do, or where a test or an aggregate waits for them.
        """
        if self._open_groups:
            return None
        ways, seen = 1, {OPEN}
        anchor = number = len(self._after) - 1
        for _ in range(_WINDOW):
            number = self._after[number]
            if number == anchor:
                return ways
            match = self._body.matches[number]
            for slot in match.slots:
                if self.values[slot] is None:
                    if slot in seen or self._body.uses[slot]:
                        return None
                    seen.add(slot)
            ways *= len(self._candidates(match))
        return None

    def _candidates(self, match: Match) -> Collection[Row]:
        values, slots = self.values, match.slots
        columns = tuple([column for column, slot in enumerate(slots) if values[slot] is not None])
        row = tuple([value for slot in slots if (value := values[slot]) is not None])
        if len(row) == len(slots):
            return (row,) if row in self._view.rows(match.atom.predicate) else ()
        return self._view.matching(match.atom.predicate, columns, row)

    def _match_frame(self, number: int, match: Match, rows: Collection[Row]) -> "Frame":
        before, after = self._before[number], self._after[number]
        self._after[before], self._before[after] = after, before
        new = [
            (c, slot) for c, slot in enumerate(match.slots) if slot and self.values[slot] is None
        ]
        return Frame(number, match, len(self._trail), iter(rows), new)

    def _group_frame(self) -> "Frame | None":
        """A frame for the first aggregate whose group is known."""
        values = self.values
        for number, group in self._open_groups.items():
            key = tuple([value for slot, _ in group.given if (value := values[slot]) is not None])
            if len(key) == len(group.given):
                del self._open_groups[number]
                value = self._group_value(number, group, key)
                rows: Collection[Row] = () if value is None else ((value,),)
                return Frame(number, group, len(self._trail), iter(rows), [(0, group.result)])
        return None

    def _group_value(self, number: int, group: Group, key: Row) -> Value | None:
        if (number, key) not in self._group_values:
            wanted = self.values[group.result] if self._trusting else None
            if wanted is not None and self._budget is not None:
                return self._trusted(group, key, wanted, self._budget)
            found = aggregate_value(group, key, self._view, self._budget)
            self._group_values[number, key] = found
        return self._group_values[number, key]

    def _trusted(self, group: Group, key: Row, wanted: Value, budget: Budget) -> Value | None:
        with budget.part(_PATIENCE) as part:
            try:
                return aggregate_value(group, key, self._view, part)
            except OutOfBudget:
                return wanted

    def _close(self, frame: "Frame") -> None:
        self._undo(frame.mark)
        number = frame.number
        if isinstance(frame.match, Group):
            self._open_groups[number] = frame.match
            return
        self._after[self._before[number]] = self._before[self._after[number]] = number

    # filling slots

    def _start(self, known: Iterable[tuple[int, Value]]) -> bool:
        """Fill the known slots and make the tests that wait for nothing."""
        waiting: list[tuple[int, Value | None]] = []
        for test, count in zip(self._body.tests, self._counts, strict=True):
            if count == 0 and not test.holds(self.values, self._view):
                return False
            if count == 1 and isinstance(test, Equation):
                solved = test.solved(self.values)
                waiting += [solved] if solved else []
        return self._fill([*known, *waiting])

    def _advance(self, frame: "Frame") -> bool:
        """Take the next row of the frame that goes with all tests; False if there is none."""
        self._undo(frame.mark)
        new = frame.new
        for row in frame.rows:
            if self._budget is not None:
                self._budget.spend()
            if isinstance(frame.match, Match):
                if self._allowed is not None and not self._allowed(frame.match.atom, row):
                    continue
                if frame.match.open and not frame.is_fresh(row):
                    continue
            frame.row = row
            if self._fill([(slot, row[column]) for column, slot in new]):
                return True
            self._undo(frame.mark)
        return False

    def _fill(self, waiting: list[tuple[int, Value | None]]) -> bool:
        """Fill slots, and further ones by equations; False when a test fails."""
        values, counts, tests = self.values, self._counts, self._body.tests
        for slot, value in waiting:  # which grows
            if value is None or (values[slot] is not None and values[slot] != value):
                return False
            if values[slot] is not None:
                continue
            values[slot] = value
            self._trail.append(slot)
            users = self._body.uses[slot]
            for number in users:
                counts[number] -= 1
            for number in users:
                test = tests[number]
                if counts[number] == 0:
                    if not test.holds(values, self._view):
                        return False
                elif counts[number] == 1 and isinstance(test, Equation):
                    solved = test.solved(values)
                    if solved is not None:
                        waiting.append(solved)
        return True

    def _undo(self, mark: int) -> None:
        trail, values, counts, uses = self._trail, self.values, self._counts, self._body.uses
        while len(trail) > mark:
            slot = trail.pop()
            values[slot] = None
            for number in uses[slot]:
                counts[number] += 1


def aggregate_value(
    group: Group, key: Row, view: View, budget: Budget | None = None
) -> Value | None:
    """The value of an aggregate for one group, None where it has none."""
    if group.term is None:
        return Search(group.body, view, budget=budget).count(_given(group, key))
    term, found = group.term, group_solutions(group, key, view, budget)
    return fold(group.function, (values[term] for values, _ in found))


def group_solutions(
    group: Group, key: Row, view: View, budget: Budget | None = None
) -> Iterator[tuple[list[Value | None], Search]]:
    """Each combination of values between the braces, with the search that stands at it."""
    search = Search(group.body, view, budget=budget)
    for values in search.solutions(_given(group, key)):
        yield values, search


def _given(group: Group, key: Row) -> list[tuple[int, Value]]:
    return [(inner, value) for (_, inner), value in zip(group.given, key, strict=True)]
