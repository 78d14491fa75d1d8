"""What the rules have to reach, as ratios within one run, and how it is printed."""

import sys
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.rules_children import Outcome

Outcomes = dict[str, Outcome]
NONE = Outcome()


@dataclass(frozen=True)
class Target:
    """A figure beside its bound; `value` is None where it could not be measured."""

    name: str
    value: float | None
    bound: float
    unit: str = "x"
    at_least: bool = False
    note: str = ""

    @property
    def holds(self) -> bool | None:
        """None where there is nothing to compare with."""
        if self.value is None:
            return False if self.note else None
        return self.value >= self.bound if self.at_least else self.value <= self.bound

    def line(self) -> str:
        verdict = {True: "holds", False: "does not hold", None: "no comparison"}[self.holds]
        value = self.note or "-" if self.value is None else f"{self.value:.3g} {self.unit}"
        sign = "at least" if self.at_least else "at most"
        return f"  {self.name:<54}{value:>12}  {sign} {self.bound:g} {self.unit}: {verdict}"

    def figures(self) -> dict[str, Any]:
        return {**asdict(self), "holds": self.holds}


def ratio(
    name: str, ours: float | None, theirs: float | None, bound: float, note: str = ""
) -> Target:
    value = ours / theirs if ours is not None and theirs else None
    return Target(name, value, bound, note=note if ours is None else "")


def note_of(outcome: Outcome, limit: float) -> str:
    """Why a figure of ours is missing."""
    return f"> {limit:g} s" if outcome.over else outcome.problem


def with_reading(outcome: Outcome) -> float | None:
    scratch, read = outcome.median("scratch"), outcome.median("read")
    return None if scratch is None or read is None else scratch + read


def scratch_targets(outcomes: Outcomes, bound: float, limit: float) -> list[Target]:
    """Against clingo twice: the answer in the engine's own form, and as Python values."""
    ours, clingo = outcomes.get("rules", NONE), outcomes.get("clingo", NONE)
    note = note_of(ours, limit)
    return [
        ratio(
            "from scratch / clingo's grounding",
            ours.median("scratch"),
            clingo.median("scratch"),
            bound,
            note,
        ),
        ratio(
            "the same with the answer read into Python",
            with_reading(ours),
            with_reading(clingo),
            bound,
            note,
        ),
    ]


def affected_targets(outcomes: Outcomes, size: int, change: str, limit: float) -> list[Target]:
    ours = outcomes.get("rules", NONE)
    found = scratch_targets(outcomes, 1, limit)
    if change == "hub":
        hand = ours.median("bound")
        for name, figure in (("one more", "restore"), ("one fewer", "retract")):
            label = f"{name} / breadth-first search, in turn"
            found.append(ratio(label, ours.median(figure), hand, 4, note_of(ours, limit)))
        return found
    for name, figure in (("one more", "insert"), ("one fewer", "undo")):
        seconds = ours.median(figure)
        value = None if seconds is None else seconds * 1000
        found.append(Target(name, value, 0.3, "ms", note=note_of(ours, limit)))
        clingo, ours_too = outcomes.get("clingo", NONE).median(figure), ours.median(figure)
        if size == 10_000 and clingo and ours_too:
            label = f"clingo's re-run / {name}"
            found.append(Target(label, clingo / ours_too, 1000, at_least=True))
    return found


def recursive_targets(outcomes: Outcomes, limit: float) -> list[Target]:
    ours = outcomes.get("rules", NONE)
    scratch, note = ours.median("scratch"), note_of(ours, limit)
    return [
        *scratch_targets(outcomes, 2, limit),
        ratio("insertion / from scratch, median", ours.median("insert"), scratch, 0.1, note),
        ratio("retraction / from scratch, median", ours.median("retract"), scratch, 3, note),
        ratio("retraction / from scratch, most", ours.most("retract"), scratch, 3, note),
    ]


COLUMNS = {
    "scratch": "from scratch",
    "read": "+ reading",
    "insert": "+1",
    "undo": "-1 again",
    "retract": "-1",
    "restore": "+1 again",
}


def duration(seconds: float) -> str:
    if seconds >= 1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-4 else f"{seconds * 1e6:.3g} us"


def cell(outcome: Outcome, figure: str, limit: float, most: bool = False) -> str:
    if outcome.over == figure:
        return f"> {limit:g} s"
    seconds = outcome.most(figure) if most else outcome.median(figure)
    return "" if seconds is None else duration(seconds)


def table(title: str, outcomes: Outcomes, limit: float) -> None:
    """One line an engine; medians, and for retractions the most as well."""
    out = sys.stdout.write
    shown = [f for f in COLUMNS if any(f in o.figures or o.over == f for o in outcomes.values())]
    heads = [COLUMNS[figure] for figure in shown]
    heads += ["-1, most"] if "retract" in shown else []
    out(f"\n{title}\n  {'':<16}" + "".join(f"{head:>14}" for head in heads) + "\n")
    for engine, outcome in outcomes.items():
        cells = [cell(outcome, figure, limit) for figure in shown]
        cells += [cell(outcome, "retract", limit, True)] if "retract" in shown else []
        line = f"  {engine:<16}" + "".join(f"{text:>14}" for text in cells)
        problem = f"  {outcome.problem}: {outcome.detail}" if outcome.problem else ""
        out((line.rstrip() + problem).splitlines()[0] + "\n")
    sys.stdout.flush()
