"""`python -m tests.rules.stress --programs 2000 --seed 1`: more random programs than the suite.

Prints each failing seed with the program and its updates, and ends with 1 if there was any. With
`--large` fixed programs run on large random graphs instead.
"""

import argparse
import random
import sys
import traceback
from collections.abc import Callable, Iterator

from tests.rules import large
from tests.rules.naive import TooMuch
from tests.rules.programs import random_program
from tests.rules.updates import Session

Attempt = Callable[[int, int], str | None]
"""What went wrong with a seed and so many updates; None if nothing did."""


def attempt(seed: int, steps: int) -> str | None:
    """With a small random program, against the definition."""
    chance = random.Random(seed)
    sample = random_program(chance)
    session = None
    try:
        session = Session(sample, chance)
        session.run(steps)
    except TooMuch:
        return None
    except Exception:
        script = session.script() if session else sample.text
        return f"seed {seed}\n{script}\n{traceback.format_exc(limit=-2)}"
    return None


def failures(programs: int, seed: int, steps: int, one: Attempt = attempt) -> Iterator[str]:
    for number in range(seed, seed + programs):
        fault = one(number, steps)
        if fault is not None:
            yield fault


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.rules.stress", description=__doc__)
    parser.add_argument("--programs", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1, help="of the first program")
    parser.add_argument("--steps", type=int, help="updates of each program")
    parser.add_argument("--first", action="store_true", help="stop at the first failure")
    parser.add_argument("--large", action="store_true", help="large graphs, and no definition")
    options = parser.parse_args()
    failed = 0
    one, steps = (large.attempt, 24) if options.large else (attempt, 12)
    for fault in failures(options.programs, options.seed, options.steps or steps, one):
        failed += 1
        print(fault, flush=True)
        if options.first:
            break
    print(f"{options.programs} programs, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
