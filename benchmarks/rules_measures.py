"""One measurement of one engine, in a process of its own that can be killed.

`python -m benchmarks.rules_measures JSON` writes a JSON line for everything it begins, measures
or finds. The garbage collector is on in every engine, and runs before each measurement from
scratch and before each series of updates.
"""

import gc
import json
import os
import resource
import sys
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks import rules_gates as gates
from benchmarks.rules_engines import ENGINES, Engine
from benchmarks.rules_workloads import (
    RECURSIVE,
    CannotExpress,
    Facts,
    Row,
    Update,
    Workload,
    affected,
    repository,
)

SESSION = 200
"""Files modified one by one."""


def emit(**line: Any) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


@dataclass(frozen=True)
class Meter:
    """Times by the wall, or by what this process used of a processor."""

    clock: Callable[[], float]

    def timed(self, figure: str, work: Callable[[], Any]) -> Any:
        emit(begin=figure)
        started = self.clock()
        result = work()
        emit(figure=figure, value=self.clock() - started)
        return result


def digest(rows: list[Row]) -> int:
    """The same for the same set of rows in any order."""
    return sum(zlib.crc32(repr(row).encode()) for row in rows) % 2**32


def workload(name: str, updates: int) -> Workload:
    """`affected SIZE few`, `affected SIZE hub`, or the name of a recursive one."""
    if name.startswith("affected"):
        _, size, change = name.split()
        return affected(repository(int(size)), change, max(updates, 1))
    return RECURSIVE[name](max(updates, 1))


def updates(meter: Meter, engine: Engine, work: Workload, most: int, bound: Engine | None) -> None:
    """From scratch, then `most` new facts in and out, and `most` old ones out and in again.

    `bound` does the last in turn with the engine, so that their ratio is free of drift.
    """
    gc.collect()
    meter.timed("scratch", lambda: engine.load(work))
    rows = meter.timed("read", lambda: [engine.read(name) for name in work.outputs])
    emit(answer="scratch", value=[[len(found), digest(found)] for found in rows])
    del rows
    gc.collect()
    for number, fact in enumerate(work.added[:most]):
        _change(meter, engine, work, "insert", f"insert {number}", [fact], [])
        _change(meter, engine, work, "undo", "scratch", [], [fact])
    if bound:
        bound.load(work)
    gc.collect()
    for number, fact in enumerate(work.removed[:most]):
        same = work.name == "affected"
        _change(
            meter, engine, work, "retract", "retract" if same else f"retract {number}", [], [fact]
        )
        _change(meter, engine, work, "restore", "scratch", [fact], [])
        if bound:
            bound.update([], [fact])
            meter.timed("bound", lambda fact=fact: bound.update([fact], []))  # type: ignore[misc]


def _change(
    meter: Meter,
    engine: Engine,
    work: Workload,
    figure: str,
    moment: str,
    added: list[Update],
    removed: list[Update],
) -> None:
    meter.timed(figure, lambda: engine.update(added, removed))
    emit(answer=moment, value=[[engine.count(name), None] for name in work.outputs])


def session(meter: Meter, engine: Engine, files: int) -> None:
    """Files of a repository modified one by one, then some of them put back."""
    repo = repository(files)
    base = affected(repo, "few", 1)
    facts: Facts = {**base.facts, "file_modified": []}
    work = Workload(base.name, base.rules, facts, base.outputs)
    step = len(repo.files) // SESSION
    changed: list[Update] = [
        ("file_modified", (repo.files[(number * 37 + 11) % SESSION * step],))
        for number in range(SESSION)
    ]
    gc.collect()
    meter.timed("scratch", lambda: engine.load(work))
    gc.collect()
    for fact in changed:
        meter.timed("insert", lambda fact=fact: engine.update([fact], []))  # type: ignore[misc]
    emit(answer="all", value=[[engine.count(name), None] for name in work.outputs])
    gc.collect()
    for fact in changed[::4]:
        meter.timed("retract", lambda fact=fact: engine.update([], [fact]))  # type: ignore[misc]
    emit(answer="three quarters", value=[[engine.count(name), None] for name in work.outputs])


def memory(engine: Engine, name: str) -> None:
    """Growth of resident memory over the number of derived facts."""
    work = workload(name, 1)
    hub: list[Update] = []
    if work.name == "affected":
        # the facts are in before the first reading, so that only conclusions count
        hub = [work.removed[0]]
        facts: Facts = {**work.facts, "file_modified": []}
        engine.load(Workload(work.name, work.rules, facts, work.outputs))
    gc.collect()
    before = resident()
    emit(begin="bytes")
    if hub:
        engine.update(hub, [])
    else:
        engine.load(work)
    gc.collect()
    grown = resident() - before
    derived = sum(engine.count(output) for output in work.outputs)
    emit(figure="bytes", value=grown / derived)
    emit(figure="derived", value=derived)


def resident() -> int:
    """Bytes of this process in memory; where /proc is missing, the most there ever were."""
    try:
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most if sys.platform == "darwin" else most * 1024


def permission(meter: Meter, decisions: int) -> None:
    """One decision: the request goes in, its permissions are read, the request goes out."""
    from rules import Database, Program

    database = Database(Program.parse(gates.permission_text()))
    facts = gates.permission_facts()
    with database.transaction():
        for predicate, rows in facts.items():
            for row in rows:
                database.assert_fact(predicate, *row)
    asked = gates.requests(facts, decisions + 20)
    wanted = gates.expected(facts, asked)
    gc.collect()
    for number, ((call, tool, path), right) in enumerate(zip(asked, wanted, strict=True)):
        started = meter.clock()
        database.assert_fact("tool_requested", call, tool, path)
        found = database.query(f"permission('{call}', Decision, Reason)")
        allowed = database.holds("allowed", call)
        database.retract_fact("tool_requested", call, tool, path)
        seconds = meter.clock() - started
        if {(row[1], row[2]) for row in found} != right or allowed == bool(right):
            emit(wrong=f"{tool} {path}: {found}, expected {sorted(right)}")
        if number >= 20:
            emit(figure="decision", value=seconds)


def parse(meter: Meter, rules: int, runs: int) -> None:
    """Reading and checking the text; making a database of it, which compiles, apart."""
    from rules import Database, Program

    text = gates.gate_text(rules)
    for _ in range(runs):
        gc.collect()
        program = meter.timed("parse", lambda: Program.parse(text))
        if len(program.rules) != rules:
            emit(wrong=f"{len(program.rules)} rules of {rules}")
        meter.timed("database", lambda program=program: Database(program))  # type: ignore[misc]


def main() -> int:
    task = json.loads(sys.argv[1])
    try:
        _run(task)
    except CannotExpress as error:
        emit(problem="cannot express", detail=str(error))
    except ModuleNotFoundError as error:
        emit(problem="not installed", detail=str(error))
    except Exception as error:  # a figure that is missing must say why
        emit(problem="failed", detail=f"{type(error).__name__}: {error}"[:300])
    return 0


def _run(task: dict[str, Any]) -> None:
    meter = Meter(time.process_time if task.get("cpu") else time.perf_counter)
    if task["measure"] == "permission":
        permission(meter, task["decisions"])
    elif task["measure"] == "parse":
        parse(meter, task["rules"], task["runs"])
    else:
        engine = ENGINES[task["engine"]]()
        if task["measure"] == "session":
            session(meter, engine, task["files"])
        elif task["measure"] == "memory":
            memory(engine, task["workload"])
        else:
            work = workload(task["workload"], task["updates"])
            emit(ready=True)
            bound = ENGINES["by hand"]() if task.get("bound") and task["updates"] else None
            updates(meter, engine, work, task["updates"], bound)


if __name__ == "__main__":
    sys.exit(main())
