"""Our rules beside clingo, pyDatalog, DuckDB, SQLite and Python by hand, in one run.

Every measurement runs in a process of its own, engines in turn; figures are medians. "From
scratch" is from Python lists to the answer in the engine's own form, "reading" turns that into
Python values. Engines that keep no answer up to date begin again for "+1" and "-1". Exit status
1 where engines disagree about an answer; a target that does not hold is printed, no more.
"""

import argparse
import json
import platform
import statistics
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from benchmarks import rules_targets as targets
from benchmarks.rules_children import Outcome, disagreements, rounds, run
from benchmarks.rules_engines import ENGINES
from benchmarks.rules_workloads import RECURSIVE

KEEPS_UP = ("rules", "by hand", "sqlite", "duckdb", "clingo external")
"""Engines quick enough at one more fact for a session of them."""
EXTRA = ("affected", "recursive", "session", "permission", "parse", "memory")
NAMES = (*EXTRA, *(name.replace(" ", "-") for name in RECURSIVE))


@dataclass
class Report:
    """What the run has found so far."""

    options: argparse.Namespace
    figures: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)
    reached: list[dict[str, Any]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def add(self, title: str, outcomes: dict[str, Outcome]) -> None:
        self.figures[title] = {
            engine: {
                name: float(f"{outcome.median(name):.4g}")
                for name in outcome.figures
                if outcome.median(name) is not None
            }
            | ({"over": self.options.limit} if outcome.over else {})
            for engine, outcome in outcomes.items()
        }
        for text in disagreements(title, outcomes):
            self.wrong.append(text)
            sys.stdout.write(f"  DISAGREEMENT: {text}\n")

    def judge(self, title: str, found: Iterable[targets.Target]) -> None:
        for target in found:
            sys.stdout.write(target.line() + "\n")
            self.reached.append({"workload": title, **target.figures()})
        sys.stdout.flush()


def affected(report: Report) -> None:
    options = report.options
    given_up: dict[tuple[str, str], Outcome] = {}
    for size in options.sizes:
        for change in ("few", "hub"):
            tasks = {
                engine: {
                    "measure": "updates",
                    "engine": engine,
                    "workload": f"affected {size} {change}",
                    "updates": options.small if engine in KEEPS_UP else options.updates,
                    "bound": engine == "rules" and change == "hub",
                }
                for engine in options.engines
                if (engine, change) not in given_up
            }
            done = rounds(tasks, options.limit, options.runs, options.cpu)
            gone = {e: given_up.get((e, change)) for e in options.engines}
            outcomes = {e: gone[e] or done[e] for e in options.engines}
            given_up |= {(e, change): o for e, o in done.items() if o.over == "scratch"}
            title = f"affected tests, {size:,} files, {change}"
            targets.table(title, outcomes, options.limit)
            report.add(title, outcomes)
            report.judge(title, targets.affected_targets(outcomes, size, change, options.limit))


def recursive(report: Report, names: Iterable[str]) -> None:
    options = report.options
    for name in names:
        tasks = {
            engine: {
                "measure": "updates",
                "engine": engine,
                "workload": name,
                "updates": options.updates,
            }
            for engine in options.engines
            if engine != "clingo external"
        }
        outcomes = rounds(tasks, options.limit, options.runs, options.cpu)
        targets.table(name, outcomes, options.limit)
        report.add(name, outcomes)
        report.judge(name, targets.recursive_targets(outcomes, options.limit))


def session(report: Report) -> None:
    options, files = report.options, 10_000
    title = f"session: 200 of {files:,} files modified one by one, 50 of them put back"
    outcomes: dict[str, Outcome] = {}
    sys.stdout.write(
        f"\n{title}\n  {'':<16}{'':<12}{'median':>12}{'p95':>12}{'most':>12}{'total':>12}\n"
    )
    for engine in options.engines:
        if engine in KEEPS_UP:
            outcome = outcomes[engine] = Outcome()
            run(
                {"measure": "session", "engine": engine, "files": files},
                options.limit,
                outcome,
                options.cpu,
            )
            for figure in ("insert", "retract"):
                cells = spread(outcome.figures.get(figure, ()))
                name = targets.COLUMNS[figure]
                text = "".join(f"{targets.duration(value):>12}" for value in cells)
                problem = f"{outcome.problem} {outcome.detail}".strip().partition("\n")[0]
                sys.stdout.write(f"  {engine:<16}{name:<12}{text}{problem}\n")
    report.add(title, outcomes)


def spread(values: Iterable[float]) -> tuple[float, ...]:
    """Median, 95th percentile, most and sum; nothing of nothing."""
    ordered = sorted(values)
    if not ordered:
        return ()
    p95 = ordered[min(len(ordered) - 1, len(ordered) * 95 // 100)]
    return statistics.median(ordered), p95, ordered[-1], sum(ordered)


def permission(report: Report) -> None:
    title = "permission decision, 200 rules, 20,000 facts"
    decisions = 100 if report.options.quick else 1000
    outcome = _alone(report, title, {"measure": "permission", "decisions": decisions})
    cells = spread(outcome.figures.get("decision", ()))
    median = cells[0] * 1e3 if cells else None
    if cells:
        sys.stdout.write(
            f"  median {targets.duration(cells[0])}, "
            f"p95 {targets.duration(cells[1])}, most {targets.duration(cells[2])}\n"
        )
    note = targets.note_of(outcome, report.options.limit)
    report.judge(title, [targets.Target("a decision, median", median, 0.2, "ms", note=note)])


def parse(report: Report) -> None:
    title = "1,000 rules"
    outcome = _alone(report, title, {"measure": "parse", "rules": 1000, "runs": 5})
    seconds, database = outcome.median("parse"), outcome.median("database")
    if database is not None:
        sys.stdout.write(f"  a database of them: {targets.duration(database)}\n")
    note = targets.note_of(outcome, report.options.limit)
    report.judge(title, [targets.Target("load and check", seconds, 0.3, "s", note=note)])


def _alone(report: Report, title: str, task: dict[str, Any]) -> Outcome:
    """A measurement of our rules only."""
    outcome = Outcome()
    sys.stdout.write(f"\n{title}\n")
    run(task, report.options.limit, outcome, report.options.cpu)
    if outcome.problem:
        sys.stdout.write(f"  {outcome.problem}: {outcome.detail}".splitlines()[0] + "\n")
    report.add(title, {"rules": outcome})
    return outcome


def memory(report: Report) -> None:
    options = report.options
    # resident memory grows by pages: too coarse for a few hundred facts
    largest = f"affected {max(10_000, *options.sizes)} hub"
    for name in ("random", largest):
        title = f"memory, {name}: growth of resident memory / derived facts"
        sys.stdout.write(f"\n{title}\n")
        outcomes: dict[str, Outcome] = {}
        wanted = ("rules",) if name == largest else options.engines
        for engine in options.engines:
            if engine in wanted and engine not in ("pyDatalog", "clingo external"):
                outcome = outcomes[engine] = Outcome()
                task = {"measure": "memory", "engine": engine, "workload": name}
                run(task, options.limit, outcome)
                grown = outcome.median("bytes")
                text = "" if grown is None else f"{grown:>8.0f} bytes"
                sys.stdout.write(f"  {engine:<16}{text}{outcome.problem}\n")
        report.add(title, outcomes)
        ours = outcomes.get("rules", targets.NONE)
        note = targets.note_of(ours, options.limit)
        found = targets.Target("a derived fact", ours.median("bytes"), 400, "bytes", note=note)
        report.judge(title, [found])


def main(argv: list[str]) -> int:
    report = Report(_options(argv))
    only = report.options.only or EXTRA
    sys.stdout.write(
        f"Python {platform.python_version()}, the collector is on and ran before each measurement, "
        f"limit {report.options.limit:g} s, medians of {report.options.runs} runs, "
        f"{'processor' if report.options.cpu else 'wall'} time\n"
    )
    plain: dict[str, Callable[[Report], None]] = {
        "session": session,
        "permission": permission,
        "parse": parse,
        "memory": memory,
    }
    if "affected" in only:
        affected(report)
    every = "recursive" in only
    recursive(report, [n for n in RECURSIVE if every or n.replace(" ", "-") in only])
    for name, measure in plain.items():
        if name in only:
            measure(report)
    missed = [t for t in report.reached if t["holds"] is False]
    sys.stdout.write(
        f"\n{len(missed)} of {len(report.reached)} targets do not hold; "
        f"{len(report.wrong)} disagreements\n"
    )
    result = {"figures": report.figures, "targets": report.reached, "disagreements": report.wrong}
    sys.stdout.write(json.dumps(result) + "\n")
    return 1 if report.wrong else 0


def _options(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks rules")
    parser.add_argument("--only", type=_names(NAMES), help=f"of {', '.join(NAMES)}")
    parser.add_argument("--engines", type=_names(tuple(ENGINES)), default=list(ENGINES))
    parser.add_argument("--sizes", type=_sizes, help="files of the repositories: 1000,10000")
    parser.add_argument("--limit", type=float, help="seconds that a measurement may take")
    parser.add_argument("--quick", action="store_true", help="fewer and smaller measurements")
    parser.add_argument(
        "--cpu", action="store_true", help="processor time, on a machine that is not quiet"
    )
    options = parser.parse_args(argv)
    quick = options.quick
    options.sizes = options.sizes or ([1000, 10_000] if quick else [1000, 10_000, 100_000])
    options.limit = options.limit or (10.0 if quick else 60.0)
    options.runs = 1 if quick else 3
    options.updates, options.small = (3, 10) if quick else (7, 20)
    return options


def _names(known: tuple[str, ...]) -> Callable[[str], list[str]]:
    def names(text: str) -> list[str]:
        found = text.split(",")
        for name in found:
            if name not in known:
                raise argparse.ArgumentTypeError(f"{name!r} is none of {', '.join(known)}")
        return found

    return names


def _sizes(text: str) -> list[int]:
    return sorted(int(part) for part in text.split(","))
