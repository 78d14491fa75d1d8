"""Noticing a model that repeats itself."""

import json
import re
from collections import Counter
from dataclasses import replace

from harness.errors import ModelFailure
from harness.model.values import Call
from harness.ooda import prompts
from harness.tools.base import Result

HINT_AT = 3
END_AT = 6
MALFORMED_END_AT = 3

_TOOK = re.compile(r"\bin \d+\.\d+ ?s(?:econds)?\b")
"""How long tests took, as pytest, unittest and cargo tell it: no news."""


class Guard:
    """Notices calls that go round in circles within an attempt.

    A call with a result that was not there before is progress, and so is a changed file: the
    count starts anew after it. What is counted is how often a model goes through calls that it
    has all made before, whatever the length of the circle: A-A-A, A-B-A-B, A-B-C-A-B-C. The very
    same edit can be made again only where it was undone, so these are counted throughout.
    """

    def __init__(self) -> None:
        self._known: set[tuple[str, str, str]] = set()
        self._round: Counter[tuple[str, str, str]] = Counter()
        self._edits: Counter[tuple[str, str, str]] = Counter()
        self._malformed: Counter[tuple[str, str]] = Counter()

    def note(self, call: Call, result: Result) -> Result:
        """Count the call; from the third time round on the result carries a hint."""
        if result.diff:
            self.changed()
            return self._note_edit(call, result)
        key = (*_key(call), _TOOK.sub("", result.text))
        if key not in self._known:
            self._known.add(key)
            self._round.clear()
        self._round[key] += 1
        if result.malformed:
            self._malformed[_key(call)] += 1
        if self._round[key] < HINT_AT:
            return result
        return replace(result, text=f"{result.text}\n{self._hint(self._round[key])}")

    def _note_edit(self, call: Call, result: Result) -> Result:
        edit = (*_key(call), result.diff)
        self._edits[edit] += 1
        if self._edits[edit] < HINT_AT:
            return result
        hint = prompts.UNDONE.format(count=self._edits[edit])
        return replace(result, text=f"{result.text}\n{hint}")

    def changed(self) -> None:
        """Files changed: what was tried before may give another result now."""
        self._known.clear()
        self._round.clear()

    def check(self, call: Call) -> None:
        """Raise ModelFailure when this call has been repeated too often."""
        if self._malformed[_key(call)] >= MALFORMED_END_AT:
            raise ModelFailure(
                "invalid_arguments",
                f"the model sent the same call to {call.name!r}, which cannot be understood, "
                f"{MALFORMED_END_AT} times",
            )
        if any(n >= END_AT and key[:2] == _key(call) for key, n in self._edits.items()):
            told = f"the model made the same edit with {call.name!r} {END_AT} times and undid it"
            raise ModelFailure("loop_detected", told)
        most = max((n for key, n in self._round.items() if key[:2] == _key(call)), default=0)
        if most >= END_AT:
            raise ModelFailure("loop_detected", self._told(call, most))

    def _hint(self, count: int) -> str:
        if len(self._round) == 1:
            return prompts.REPEATED.format(count=count)
        return prompts.CIRCLING.format(calls=len(self._round), count=count)

    def _told(self, call: Call, count: int) -> str:
        if len(self._round) == 1:
            return (
                f"the model made the same call to {call.name!r} with the same result {count} times"
            )
        names = ", ".join(sorted({repr(name) for name, _, _ in self._round}))
        return (
            f"the model went round in circles: {len(self._round)} calls ({names}) with the same "
            f"results {count} times"
        )


def _key(call: Call) -> tuple[str, str]:
    if call.arguments is None:
        return call.name, call.raw
    return call.name, json.dumps(dict(call.arguments), sort_keys=True, default=str)
