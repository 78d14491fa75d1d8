"""The gates that are built in, cheapest first, and how one is run."""

import time
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import cast

from harness.errors import TurnEnd
from harness.gates.values import Gate, GateContext, Verdict

GATES: Mapping[str, str] = MappingProxyType(
    {
        "syntax_check": "harness.gates.syntax_check",
        "run_tests": "harness.gates.run_tests",
        "integrity": "harness.gates.integrity",
    }
)
"""Each gate's name and the module that holds a function of that name, in order of cost."""

_NOT_INSTALLED = ("lint", "types", "security", "coverage")


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """`names` cheapest first, those that are not built in at the end by name."""
    order = {name: index for index, name in enumerate(GATES)}
    return tuple(sorted(set(names), key=lambda name: (order.get(name, len(order)), name)))


def run_gate(name: str, targets: tuple[str, ...], context: GateContext) -> Verdict:
    """The verdict of one gate, with the seconds it took. A gate that breaks could not run."""
    started = time.monotonic()
    verdict = _verdict(name, targets, context)
    return replace(verdict, seconds=time.monotonic() - started)


def _verdict(name: str, targets: tuple[str, ...], context: GateContext) -> Verdict:
    if name in _NOT_INSTALLED:
        return Verdict(name, "skipped", "not installed")
    if name not in GATES:
        return Verdict(name, "could_not_run", f"no gate named {name!r} is built in")
    try:
        return _load(name)(targets, context)
    except TurnEnd:
        raise
    except Exception as error:
        reason = f"the gate itself broke: {type(error).__name__}: {error}"
        return Verdict(name, "could_not_run", reason)


def _load(name: str) -> Gate:
    from importlib import import_module

    return cast(Gate, getattr(import_module(GATES[name]), name))
