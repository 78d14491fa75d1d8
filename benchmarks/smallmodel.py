"""A model of 1.5 billion parameters on six tiny tasks, asked in three ways.

`native` is the API's tool calls, with calls found in the text; `fixed` is one JSON object a step,
held to a schema that is always the same; `narrowed` the same with the schema of each step narrowed
by rules. Everything else is alike: the whole loop, temperature 0, one model server.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.smallmodel_tasks import TASKS, Task
from harness.config import Options, Places
from harness.errors import UserError
from harness.journal import Event
from harness.model.gguf import read_model_file
from harness.model.local import LocalServer
from harness.model.values import Asked, Reply, RetryNote
from harness.ooda.act import Model
from harness.session import Session
from harness.tools.approval import Answer

WAYS = {"native": "native", "fixed": "constrained", "narrowed": "constrained"}
"""What is compared, and the protocol of each."""


@dataclass(frozen=True)
class Result:
    """One task in one way. `tokens` are those read and written; `cached` were in the server's
    cache already."""

    way: str
    task: str
    solved: bool
    outcome: str
    steps: int
    prompt_tokens: int
    cached_tokens: int
    completion_tokens: int
    seconds: float


class Unnarrowed:
    """A model that is not told what its next step may be."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def complete(
        self,
        asked: Asked,
        on_text: Callable[[str], None],
        on_retry: Callable[[RetryNote], None],
    ) -> Reply:
        return self._model.complete(replace(asked, narrow=None), on_text, on_retry)


def attempt(way: str, task: Task, server: LocalServer, folder: Path, verbose: bool) -> Result:
    """One turn in a new workspace with a new home."""
    workspace = folder / "workspace"
    task.prepare(workspace)
    options = Options(
        model=server.model.name,
        host=server.base_url,
        protocol=WAYS[way],
        approval="auto",
        temperature=0.0,
        max_steps=12,
        max_seconds=900.0,
        max_new_tokens=400,
    )
    where = Places(home=folder / "home", workspace=workspace)
    sinks = [_print_event] if verbose else []
    session = Session(options, where, lambda _asked: Answer(False), version="", sinks=sinks)
    if way == "fixed":
        # the one part that no option leaves out
        session._parts.act._model = Unnarrowed(session.connection)
    started = time.monotonic()
    try:
        outcome = session.run(task.request)
    finally:
        session.close("end")
    return Result(
        way,
        task.name,
        task.solved(workspace, outcome),
        outcome.kind,
        outcome.steps,
        outcome.prompt_tokens,
        outcome.cached_tokens,
        outcome.completion_tokens,
        round(time.monotonic() - started, 1),
    )


def _print_event(event: Event) -> None:
    if event.kind in ("tool_call", "tool_result", "model_reply", "notice", "user_message"):
        sys.stderr.write(f"    {event.kind} {json.dumps(event.payload, default=str)[:1500]}\n")


def report(results: Sequence[Result], model: str, threads: int) -> None:
    print(HEAD)
    for way in dict.fromkeys(result.way for result in results):
        own = [result for result in results if result.way == way]
        for one in own:
            print(_row(one))
        print(f"{_summary(own, results)}\n")
    figures = {"model": model, "threads": threads, "runs": [asdict(each) for each in results]}
    print(json.dumps(figures))


def _summary(own: Sequence[Result], results: Sequence[Result]) -> str:
    """One way's totals; its time as a multiple of that of the fastest."""
    seconds = {way: sum(one.seconds for one in results if one.way == way) for way in WAYS}
    times = seconds[own[0].way] / min(filter(None, seconds.values()))
    solved, steps = sum(one.solved for one in own), sum(one.steps for one in own)
    read, cached = sum(one.prompt_tokens for one in own), sum(one.cached_tokens for one in own)
    written = sum(one.completion_tokens for one in own)
    return (
        f"{own[0].way:<9} solved {solved} of {len(own)}: {steps} steps, {read:,} tokens read "
        f"({cached:,} cached), {written:,} written, {times:.1f} times the fastest"
    )


HEAD = (
    f"{'way':<9} {'task':<16} {'solved':<6} {'outcome':<13} {'steps':>5} "
    f"{'read':>6} {'cached':>6} {'written':>7} {'seconds':>7}"
)


def _row(one: Result) -> str:
    return (
        f"{one.way:<9} {one.task:<16} {'yes' if one.solved else 'no':<6} {one.outcome:<13} "
        f"{one.steps:>5} {one.prompt_tokens:>6} {one.cached_tokens:>6} "
        f"{one.completion_tokens:>7} {one.seconds:>7.1f}"
    )


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks smallmodel")
    parser.add_argument("--model", help="a GGUF file (default: the one that was fetched)")
    parser.add_argument("--threads", type=int, help="default: one less than there are cores")
    parser.add_argument("--ways", default=",".join(WAYS), help="which of them, with commas")
    parser.add_argument("--only", default="", help="tasks with this in their name")
    parser.add_argument("--verbose", action="store_true", help="show each step as it is done")
    options = parser.parse_args(argv)
    ways = options.ways.split(",")
    if unknown := set(ways) - set(WAYS):
        parser.error(f"no such way: {', '.join(sorted(unknown))}; there are {', '.join(WAYS)}")
    tasks = [task for task in TASKS if options.only in task.name]
    path = Path(options.model) if options.model else fetched()
    try:
        model = read_model_file(path)
        with LocalServer(model, threads=options.threads) as server:
            # what a user sets would be another measurement
            os.environ["MCA_API_KEY"] = server.key
            results = measure(ways, tasks, server, options.verbose)
    except UserError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    report(results, model.name, server.threads)
    return 0


def measure(
    ways: Sequence[str], tasks: Sequence[Task], server: LocalServer, verbose: bool
) -> list[Result]:
    results: list[Result] = []
    for way in ways:
        for task in tasks:
            with tempfile.TemporaryDirectory(prefix="benchmark-") as folder:
                results.append(attempt(way, task, server, Path(folder), verbose))
            sys.stderr.write(f"{_row(results[-1])}\n")
    return results


def fetched() -> Path:
    from tests.realmodel.fetch import SOURCES, folder

    return folder() / SOURCES["qwen"].file
