"""Counting what a turn uses, and stopping it before the next request."""

import time
from dataclasses import dataclass

from harness.errors import LimitReached
from harness.model.values import Usage


@dataclass(frozen=True)
class Limits:
    """Bounds of one turn; 0 is no bound. Seconds are wall clock."""

    steps: int = 50
    attempts: int = 3
    seconds: float = 1800.0
    tokens: int = 0


class Meter:
    """What one turn has used so far."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.steps = 0
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.estimated = False
        self._started = time.monotonic()

    @property
    def seconds(self) -> float:
        return time.monotonic() - self._started

    @property
    def deadline(self) -> float | None:
        """In `time.monotonic()` seconds."""
        return self._started + self.limits.seconds if self.limits.seconds else None

    def check(self) -> None:
        """Raise LimitReached, saying which bound was met and the flag that moves it."""
        limits = self.limits
        if limits.steps and self.steps >= limits.steps:
            raise LimitReached(f"step limit of {limits.steps} reached (--max-steps)")
        self.check_time()
        used = self.prompt_tokens + self.completion_tokens
        if limits.tokens and used >= limits.tokens:
            met = f"token limit of {limits.tokens} reached (--max-tokens; used {used})"
            raise LimitReached(met)

    def check_time(self) -> None:
        """Raise LimitReached when the wall clock of the turn is used up."""
        if self.limits.seconds and self.seconds >= self.limits.seconds:
            limit = self.limits.seconds
            raise LimitReached(f"time limit of {limit:g} s reached (--max-seconds)")

    def count(self, usage: Usage) -> None:
        self.steps += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.estimated = self.estimated or usage.estimated
