"""`python -m tests.cases KIND PATH [options]`: one line for each failure, then the count.

Ends with 0 when all passed, 1 when any failed, 2 when there was nothing to run; the count is always
the last line. A kind is a
module with `run(path, options)`, which yields an Outcome for each case or raises Unusable.
"""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from tests.cases.outcome import Unusable

KINDS = {"rules": "tests.cases.rules", "wire": "tests.cases.wire"}


def parsed(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.cases", description=__doc__)
    parser.add_argument("kind", choices=sorted(KINDS))
    parser.add_argument("path", type=Path, help="a folder of cases, or for wire one file")
    parser.add_argument("--seed", type=int, default=0, help="for what is tried in random order")
    parser.add_argument(
        "--incremental",
        action="store_true",
        help="rules: facts one by one in random order, with retractions between",
    )
    parser.add_argument(
        "--most",
        type=int,
        help="rules: from so many conclusions on, facts are not given one by one",
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    options = parsed(arguments)
    run = import_module(KINDS[options.kind]).run
    passed = failed = 0
    try:
        for outcome in run(options.path, options):
            for line in outcome.lines():
                print(line, flush=True)
            failed += bool(outcome.faults)
            passed += not outcome.faults
    except Unusable as error:
        print(f"tests.cases: {error}", file=sys.stderr)
        print("0 passed, 0 failed")
        return 2
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
