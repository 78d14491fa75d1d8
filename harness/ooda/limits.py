"""Counting what a turn and a session use, and stopping before the next request."""

import time
from dataclasses import dataclass

from harness.errors import LimitReached
from harness.model.prices import dollars
from harness.model.values import Usage


@dataclass(frozen=True)
class Limits:
    """Bounds of one turn; 0 is no bound. Seconds are wall clock; `cost` is in US dollars and of
    the whole session."""

    steps: int = 50
    attempts: int = 3
    seconds: float = 1800.0
    tokens: int = 0
    cost: float = 0.0


class Spent:
    """Tokens and dollars of a number of requests. `known` is what those cost whose price is
    known, `unpriced` how many there are of the others."""

    def __init__(self) -> None:
        self.prompt_tokens = 0
        self.completion_tokens = 0
        self.cached_tokens = 0
        self.estimated = False
        self.requests = 0
        self.known = 0.0
        self.unpriced = 0

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens

    @property
    def cost(self) -> float | None:
        """In US dollars; None when nothing was asked, or the price of a part is not known."""
        return self.known if self.requests and not self.unpriced else None

    def told_cost(self, unknown: str = "") -> str:
        """For people. `unknown` says why the model has no price, "" where it has one."""
        if self.cost is not None:
            return ("about " if self.estimated else "") + dollars(self.cost)
        if self.known:
            return f"at least {dollars(self.known)}"
        if not self.requests and not unknown:
            return "nothing yet"
        return f"unknown: {unknown}" if unknown else "unknown"

    def count(self, usage: Usage) -> None:
        self.requests += 1
        self.prompt_tokens += usage.prompt_tokens
        self.completion_tokens += usage.completion_tokens
        self.cached_tokens += usage.cached_tokens
        self.estimated = self.estimated or usage.estimated
        if usage.cost is None:
            self.unpriced += 1
        else:
            self.known += usage.cost


class Meter:
    """What one turn has used so far, and its session in all."""

    def __init__(self, limits: Limits, session: Spent | None = None) -> None:
        """`session` is counted up with the turn."""
        self.limits = limits
        self.steps = 0
        self.spent = Spent()
        self._session = session if session is not None else Spent()
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
        used = self.spent.tokens
        if limits.tokens and used >= limits.tokens:
            met = f"token limit of {limits.tokens} reached (--max-tokens; used {used})"
            raise LimitReached(met)
        self._check_cost()

    def check_time(self) -> None:
        """Raise LimitReached when the wall clock of the turn is used up."""
        if self.limits.seconds and self.seconds >= self.limits.seconds:
            limit = self.limits.seconds
            raise LimitReached(f"time limit of {limit:g} s reached (--max-seconds)")

    def count(self, usage: Usage) -> None:
        self.steps += 1
        self.spent.count(usage)
        self._session.count(usage)

    def _check_cost(self) -> None:
        limit, session = self.limits.cost, self._session
        if not limit:
            return
        if session.unpriced:
            raise LimitReached(
                f"what this session has cost is not known, so the cost limit of {dollars(limit)} "
                f"cannot be kept (--max-cost; {session.unpriced} of {session.requests} requests "
                "have no price)"
            )
        if session.known >= limit:
            raise LimitReached(
                f"cost limit of {dollars(limit)} reached (--max-cost; this session has cost "
                f"{session.told_cost()})"
            )
