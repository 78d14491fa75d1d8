"""Smallest heights of proofs out of given steps (Knuth 1977, with all costs 0 or 1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rules.statements import Rule
from rules.terms import Fact, Row, Value


@dataclass(frozen=True, slots=True)
class Choice:
    """Any fact of a predicate with these values in these columns."""

    predicate: str
    columns: tuple[int, ...]
    values: Row


Goal = Fact | Choice


@dataclass(frozen=True, slots=True)
class Step:
    """A way to a goal. Without a rule it is one of the facts of a choice, which costs nothing."""

    goal: Goal
    premises: tuple[Goal, ...]
    rule: Rule | None = None
    values: tuple[Value | None, ...] = ()


def cheapest(
    steps: Sequence[Step], is_leaf: Callable[[Goal], bool]
) -> tuple[dict[Goal, Step], dict[Goal, int]]:
    """The first step of smallest height for each goal that can be reached, and that height.

    Leaves have height 0; a step adds 1 to its highest premise.
    """
    missing, readers, ready = _waiting(steps, is_leaf)
    heights: dict[Goal, int] = {}
    chosen: dict[Goal, int] = {}
    level = 1
    while ready:
        later: list[int] = []
        for number in ready:  # which grows by steps that cost nothing
            goal = steps[number].goal
            known = heights.setdefault(goal, level)
            if known == level and chosen.get(goal, number) >= number:
                first = goal not in chosen
                chosen[goal] = number
                for reader in readers.get(goal, ()) if first else ():
                    missing[reader] -= 1
                    if missing[reader] == 0:
                        (later if steps[reader].rule else ready).append(reader)
        ready, level = later, level + 1
    return {goal: steps[number] for goal, number in chosen.items()}, heights


def _waiting(
    steps: Sequence[Step], is_leaf: Callable[[Goal], bool]
) -> tuple[list[int], dict[Goal, list[int]], list[int]]:
    """How many goals each step waits for, who waits for each, and the steps that need not."""
    missing: list[int] = []
    readers: dict[Goal, list[int]] = {}
    for number, step in enumerate(steps):
        open_goals = _open(step.premises, is_leaf)
        missing.append(len(open_goals))
        for goal in open_goals:
            readers.setdefault(goal, []).append(number)
    return missing, readers, [number for number, count in enumerate(missing) if count == 0]


def _open(premises: tuple[Goal, ...], is_leaf: Callable[[Goal], bool]) -> set[Goal]:
    return {goal for goal in premises if not is_leaf(goal)}
