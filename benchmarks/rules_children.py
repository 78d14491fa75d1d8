"""Measurements as child processes: what they report, and an end to those that take too long."""

import json
import queue
import statistics
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Any

Task = dict[str, Any]
Answer = list[list[int | None]]
"""For each output the number of rows, and a digest of them or None."""


@dataclass
class Outcome:
    """What came of an engine on a workload, over all rounds."""

    figures: dict[str, list[float]] = field(default_factory=dict)
    answers: dict[str, list[Answer]] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)
    over: str | None = None
    """The figure which passed the limit."""
    problem: str = ""
    detail: str = ""

    def median(self, figure: str) -> float | None:
        values = self.figures.get(figure)
        return statistics.median(values) if values and self.over != figure else None

    def most(self, figure: str) -> float | None:
        values = self.figures.get(figure)
        return max(values) if values and self.over != figure else None

    def take(self, line: dict[str, Any]) -> str | None:
        """Add a line of the child; gives the figure which it says is under way."""
        if "figure" in line:
            self.figures.setdefault(line["figure"], []).append(line["value"])
        elif "answer" in line:
            self.answers.setdefault(line["answer"], []).append(line["value"])
        elif "wrong" in line:
            self.wrong.append(line["wrong"])
        elif "problem" in line:
            self.problem, self.detail = line["problem"], line["detail"]
        begun = line.get("begin")
        return begun if isinstance(begun, str) else None


def run(task: Task, limit: float, outcome: Outcome, cpu: bool = False) -> None:
    """Measure in a new process; each step of it may take `limit` seconds."""
    command = [sys.executable, "-m", "benchmarks.rules_measures", json.dumps({**task, "cpu": cpu})]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as child:
        assert child.stdout is not None
        under_way = "scratch"
        try:
            for line in _lines(child.stdout, limit):
                under_way = outcome.take(line) or under_way
        except TimeoutError:
            outcome.over = under_way
            child.kill()
    if child.returncode and outcome.over is None:
        outcome.problem, outcome.detail = "failed", f"exit {child.returncode} in {under_way}"


def _lines(stream: IO[str], limit: float) -> Iterator[dict[str, Any]]:
    """Raises TimeoutError when nothing comes for `limit` seconds."""
    lines: queue.Queue[str] = queue.Queue()

    def read() -> None:
        for text in stream:
            lines.put(text)
        lines.put("")

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            text = lines.get(timeout=limit)
        except queue.Empty:
            raise TimeoutError from None
        if not text:
            return
        yield json.loads(text)


def rounds(tasks: dict[str, Task], limit: float, runs: int, cpu: bool) -> dict[str, Outcome]:
    """Every engine in turn, `runs` times over; updates are measured in the first round only."""
    outcomes = {engine: Outcome() for engine in tasks}
    for number in range(runs):
        for engine, task in tasks.items():
            outcome = outcomes[engine]
            slow = (outcome.median("scratch") or 0) > limit / 10
            if number and (slow or outcome.over or outcome.problem):
                continue
            run(task if number == 0 else {**task, "updates": 0}, limit, outcome, cpu)
    return outcomes


def disagreements(workload: str, outcomes: dict[str, Outcome]) -> list[str]:
    """Where engines found different answers, or an engine did after undoing a change."""
    found = [f"{workload}: {name}: {text}" for name, o in outcomes.items() for text in o.wrong]
    first: dict[str, tuple[str, Answer]] = {}
    for engine, outcome in outcomes.items():
        for moment, answers in outcome.answers.items():
            for answer in answers:
                other, known = first.setdefault(moment, (engine, answer))
                if not _same(answer, known):
                    found.append(
                        f"{workload}, {moment}: {engine} found {answer}, {other} found {known}"
                    )
    return found


def _same(answer: Answer, known: Answer) -> bool:
    return len(answer) == len(known) and all(
        a == b or a is None or b is None
        for one, other in zip(answer, known, strict=True)
        for a, b in zip(one, other, strict=True)
    )
