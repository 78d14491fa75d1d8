"""Datalog programs with known answers: `cases/`, `updates/` and `errors.json` of a folder.

cases      facts and rules, and what holds of the relations in `expected`
updates    the same with steps of retractions and assertions, and `expected` after each
errors     texts which must be refused, or warned about, with class, line and column
"""

import argparse
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from tests.cases.outcome import Outcome, Unusable
from tests.cases.refusals import check_refusal
from tests.cases.replay import Replay, check_case, check_update

Check = Callable[[dict[str, Any], Replay], Iterator[str]]


def run(path: Path, options: argparse.Namespace) -> Iterator[Outcome]:
    """Raises Unusable where there is no such folder, or nothing in it to run."""
    if not path.is_dir():
        raise Unusable(f"{str(path)!r} is not a folder of cases")
    files = [*named(path, "cases", check_case), *named(path, "updates", check_update)]
    errors = path / "errors.json"
    if not files and not errors.is_file():
        raise Unusable(f"{str(path)!r} holds neither cases/*.json, updates/*.json nor errors.json")
    for file, check in files:
        yield outcome_of(file.relative_to(path), check, file, options)
    if errors.is_file():
        yield from refusals(errors)


def named(path: Path, folder: str, check: Check) -> list[tuple[Path, Check]]:
    return [(file, check) for file in sorted((path / folder).glob("*.json"))]


def outcome_of(name: Path, check: Check, file: Path, options: argparse.Namespace) -> Outcome:
    chance = random.Random(f"{options.seed} {name}")
    replay = Replay(chance, options.incremental, options.most)
    return faults_of(str(name), lambda: check(json.loads(file.read_bytes()), replay))


def refusals(errors: Path) -> Iterator[Outcome]:
    try:
        entries = json.loads(errors.read_bytes())
    except ValueError as error:
        raise Unusable(f"{str(errors)!r} cannot be read: {error}") from None
    for number, entry in enumerate(entries, 1):
        yield faults_of(f"errors.json entry {number}", lambda entry=entry: check_refusal(entry))


def faults_of(name: str, check: Callable[[], Iterator[str]]) -> Outcome:
    """What raises is a fault of this case alone."""
    faults: list[str] = []
    try:
        faults.extend(check())
    except Exception as error:
        faults.append(f"raised {type(error).__name__}: {error}")
    return Outcome(name, tuple(faults))
