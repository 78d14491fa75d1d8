"""What holds for every request that this program sends, whatever the server would say of it."""

import json
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

from tests.cases.wire_rules import ALWAYS, RULES, broken

_SHOWN = 4_000


def check_requests(requests: Sequence[dict[str, Any]], rules: Iterable[str] = ALWAYS) -> None:
    """Raise AssertionError when a strict server would refuse one of the requests of a session,
    and show it."""
    rules = tuple(rules)
    for number, body in enumerate(requests, 1):
        found = broken(body, rules)
        assert not found, f"request {number} breaks {'; '.join(found)}:\n{shown(body)}"


def rules_for(flags: Sequence[str]) -> tuple[str, ...]:
    """All rules; but a command line that asks for no other protocol may send tools."""
    chosen = [word for flag, word in pairwise(flags) if flag == "--protocol"]
    return tuple(RULES) if {"constrained", "text"} & set(chosen) else ALWAYS


def shown(body: dict[str, Any]) -> str:
    """The messages of a request, one a line, and the end of a long one."""
    lines = [json.dumps(message, ensure_ascii=False) for message in body.get("messages") or ()]
    return "\n".join(lines)[-_SHOWN:]
