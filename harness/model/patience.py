"""How long one request may keep us waiting."""

import time
from typing import Literal

from harness.model.failures import RequestFailed
from harness.model.values import Timeouts

ENDING_GRACE = 1.0
"""Seconds for the token counts and the end of a stream after the model has finished."""

ERROR_SECONDS = 5.0
"""For the body of an error, which no model has to think about."""

Phase = Literal["connect", "first_token", "idle"]


class Patience:
    """The limits of one request: a longest silence for each phase, and a deadline over all."""

    def __init__(self, timeouts: Timeouts, deadline: float | None) -> None:
        """`deadline` is a time of time.monotonic()."""
        self.phase: Phase = "connect"
        self._timeouts = timeouts
        self._deadline = float("inf") if deadline is None else deadline
        self._ending = False

    def seconds(self) -> float:
        """How long the next wait may be. Raises RequestFailed when the time is up."""
        left = self._deadline - time.monotonic()
        if left <= 0:
            raise RequestFailed("deadline")
        return min(self._silence(), left)

    def expired(self) -> RequestFailed:
        """The failure after a wait of `seconds()` brought nothing."""
        if self._deadline <= time.monotonic():
            return RequestFailed("deadline")
        if self.phase == "connect":
            return RequestFailed("refused", f"no connection within {self._silence():g} s")
        if self.phase == "first_token":
            return RequestFailed("timeout", f"nothing came for {self._silence():g} s")
        return RequestFailed("stalled", f"nothing more came for {self._silence():g} s")

    def end(self, seconds: float = ENDING_GRACE) -> None:
        """The model has finished: only a moment more, whatever still comes."""
        if not self._ending:
            self._ending = True
            self._deadline = min(self._deadline, time.monotonic() + seconds)

    def _silence(self) -> float:
        timeouts = self._timeouts
        return {
            "connect": timeouts.connect,
            "first_token": timeouts.first_token,
            "idle": timeouts.idle,
        }[self.phase]
