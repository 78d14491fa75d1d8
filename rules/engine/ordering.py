"""The order in which the steps of a clause run, chosen from what is bound and from sizes."""

from collections import deque
from collections.abc import Callable, Iterable

from rules.engine.normal import Absent, Scan, Step, given, variables
from rules.engine.relation import Relation
from rules.terms import Variable

_ONE_OF_FEW = 0.5
"""How often a row is there that is wholly known, for want of better knowledge."""

RelationOf = Callable[[str], Relation]


def ordered(steps: Iterable[Step], bound: set[Variable], relation_of: RelationOf) -> list[Step]:
    """Tests as soon as they can run, then the scan that is expected to multiply least.

    `bound` holds the variables with values before the first step.
    """
    order: list[Step] = []
    waiting, bound = list(steps), set(bound)
    while waiting:
        waiting = _settle(waiting, bound, order)
        scans = [step for step in waiting if isinstance(step, Scan)]
        if not scans:
            return order
        best = min(scans, key=lambda scan: _fan_out(scan, bound, relation_of))
        waiting = [step for step in waiting if step is not best]
        bound.update(variables(best))
        order.append(best)
    return order


def _settle(waiting: list[Step], bound: set[Variable], order: list[Step]) -> list[Step]:
    """Move what can run without a scan to the order; what is left.

    A step that has to wait is looked at again when one of its variables gets a value.
    """
    left = dict(enumerate(waiting))
    tests = [at for at, step in left.items() if not isinstance(step, Scan)]
    users: dict[Variable, list[int]] = {}
    for at in tests:
        for variable in set(variables(left[at])) - bound:
            users.setdefault(variable, []).append(at)
    ready = deque(tests)
    while ready:
        at = ready.popleft()
        gives = given(left[at], bound) if at in left else None
        if gives is not None:
            order.append(left.pop(at))
            for variable in gives - bound:
                ready.extend(users.pop(variable, ()))
            bound |= gives
    return list(left.values())


def _fan_out(scan: Scan, bound: set[Variable], relation_of: RelationOf) -> float:
    """How many rows the scan is expected to give for each row it is joined with."""
    relation = relation_of(scan.predicate)
    columns = bound_columns(scan, bound)
    if len(columns) == len(scan.args):
        return 0.0
    return relation.fan_out(columns)


def expected_work(body: Iterable[Step], lead: int, rows: int, relation_of: RelationOf) -> float:
    """About how many rows a clause looks at when its lead, a scan, goes through so many."""
    steps = list(body)
    bound = set(variables(steps.pop(lead)))
    work = reached = float(rows)
    for step in ordered(steps, bound, relation_of):
        if isinstance(step, Scan):
            reached *= max(_fan_out(step, bound, relation_of), _ONE_OF_FEW)
            work += reached
        bound.update(variables(step))
    return work


def bound_columns(step: Scan | Absent, bound: set[Variable]) -> tuple[int, ...]:
    """The arguments with known values."""
    return tuple(
        column
        for column, term in enumerate(step.args)
        if not isinstance(term, Variable) or term in bound
    )
