"""Wire cases: `*.json` files in a folder, each a reply, a failing request, a scripted turn, a tool
call or a server to recognise, played to our real parts.

The format: `layer` names what plays the case, `expect` what must come of it. Cases run at the
same time, because some wait for seconds by their nature; they are told of in the folder's order.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.cases.outcome import Outcome, Unusable
from tests.cases.wire_client import check_http, check_request, check_timing
from tests.cases.wire_course import unread
from tests.cases.wire_decode import check_decode
from tests.cases.wire_discovery import check_discovery
from tests.cases.wire_files import check_tool
from tests.cases.wire_loop import check_loop
from tests.cases.wire_rules import Json

Check = Callable[[Json], Iterator[str]]

LAYERS: Mapping[str, Check] = {
    "decode": check_decode,
    "http": check_http,
    "sse": check_http,
    "request": check_request,
    "timing": check_timing,
    "loop": check_loop,
    "tool": check_tool,
    "discovery": check_discovery,
}
AT_ONCE = 16
"""Cases that run at the same time: most of them wait."""


def run(path: Path, options: argparse.Namespace) -> Iterator[Outcome]:
    """Plays the cases of a folder, or one file; what holds no case is a failed one. Raises Unusable
    where there is nothing to run."""
    files = [path] if path.is_file() else sorted(path.glob("*.json")) if path.is_dir() else []
    if not files:
        raise Unusable(f"{str(path)!r} is no folder of *.json cases, and no case")
    cases = {file.name: loaded_or_fault(file) for file in files}
    first = sorted(cases, key=lambda name: not waits(cases[name]))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        started = {name: pool.submit(outcome_of, name, cases[name]) for name in first}
        for name in cases:
            yield started[name].result()


def loaded_or_fault(file: Path) -> Json:
    """A case, or one that can only fail."""
    try:
        return loaded(file)
    except Unusable as error:
        return {"layer": None, "expect": {}, "unusable": str(error)}


def loaded(file: Path) -> Json:
    """Raises Unusable for a file that holds no case."""
    try:
        case: Json = json.loads(file.read_bytes())
        known = {"layer", "expect"} <= case.keys() and isinstance(case["expect"], dict)
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise Unusable(f"{str(file)!r} cannot be read: {error}") from None
    if not known:
        raise Unusable(f"{str(file)!r} has no layer or no expect")
    return case


def outcome_of(name: str, case: Json) -> Outcome:
    """What raises is a fault of this case alone."""
    faults: list[str] = []
    if "unusable" in case:
        return Outcome(name, (case["unusable"],))
    try:
        for phrase in unread(case["expect"]):
            print(f"{name}: must_not {phrase!r} is not checked", file=sys.stderr)
        check = LAYERS.get(case["layer"])
        faults.extend(check(case) if check else [f"unknown layer {case['layer']!r}"])
    except Exception as error:
        faults.append(f"raised {type(error).__name__}: {error}")
    return Outcome(name, tuple(dict.fromkeys(faults)))


def waits(case: Json) -> bool:
    """Whether a case takes seconds by its nature."""
    return case.get("layer") == "timing" or case.get("expect", {}).get("retry") == "backoff"
