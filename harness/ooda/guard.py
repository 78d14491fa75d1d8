"""Noticing a model that repeats itself."""

import json
from dataclasses import replace

from harness.errors import ModelFailure
from harness.model.values import Call
from harness.ooda import prompts
from harness.tools.base import Result

HINT_AT = 3
END_AT = 6
MALFORMED_END_AT = 3


class Guard:
    """Counts equal calls with equal results within an attempt; a changed file starts anew."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], int] = {}
        self._malformed: dict[tuple[str, str], int] = {}

    def note(self, call: Call, result: Result) -> Result:
        """Count the call; from the third on the result carries a hint."""
        if result.diff:
            self._seen.clear()
        key = (*_key(call), result.text)
        count = self._seen[key] = self._seen.get(key, 0) + 1
        if result.malformed:
            self._malformed[_key(call)] = self._malformed.get(_key(call), 0) + 1
        if count < HINT_AT:
            return result
        hint = prompts.REPEATED.format(count=count)
        return replace(result, text=f"{result.text}\n{hint}")

    def changed(self) -> None:
        """Files changed: what was tried before may give another result now."""
        self._seen.clear()

    def check(self, call: Call) -> None:
        """Raise ModelFailure when this call has been repeated too often."""
        if self._malformed.get(_key(call), 0) >= MALFORMED_END_AT:
            raise ModelFailure(
                "invalid_arguments",
                f"the model sent the same call to {call.name!r}, which cannot be understood, "
                f"{MALFORMED_END_AT} times",
            )
        most = max((n for key, n in self._seen.items() if key[:2] == _key(call)), default=0)
        if most >= END_AT:
            raise ModelFailure(
                "loop_detected",
                f"the model made the same call to {call.name!r} with the same result {most} times",
            )


def _key(call: Call) -> tuple[str, str]:
    if call.arguments is None:
        return call.name, call.raw
    return call.name, json.dumps(dict(call.arguments), sort_keys=True, default=str)
