"""Asking again: how often, after which wait, and only where that may help.

What may be tried again is written in failures.CAUSES. A request that was refused for what is in
it is never sent again as it was: `mend` changes it, or it was the last one.
"""

import time
from collections.abc import Callable

from harness.model.failures import CAUSES, RequestFailed
from harness.model.values import Reply, RetryNote

LONGEST_WAITING = 60.0
"""Seconds that all waits of one request may take together; loading a model has its own bound."""

LONGEST_LOADING = 600.0
"""Seconds that a model may take to load, unless the caller knows better."""

MOST_CHANGES = 6
"""How often one request is changed: a server that is helped by none of so many will not be."""


def persist(
    attempt: Callable[[], Reply],
    told: Callable[[RequestFailed], str],
    on_retry: Callable[[RetryNote], None],
    deadline: float | None,
    *,
    mend: Callable[[RequestFailed], str] = lambda _failed: "",
    pause: Callable[[RequestFailed, float], None] = lambda _failed, seconds: time.sleep(seconds),
    loading: float = LONGEST_LOADING,
) -> Reply:
    """The reply of the first attempt that gives one. Raises the RequestFailed of the last.

    `attempt` sends one request and raises RequestFailed; `told` is a line for the user.
    `mend` changes what the next attempt sends and says in a sentence what it changed, or "" when
    there is nothing to change. `pause` waits, and may return early. `deadline` is a time of
    time.monotonic(): no wait begins that would reach it. `loading` bounds the waits for a model
    that is being loaded, in seconds.
    """
    waits = Waits(deadline, loading)
    changes = 0
    while True:
        try:
            return attempt()
        except RequestFailed as failed:
            change = mend(failed) if changes < MOST_CHANGES else ""
            if change:
                changes += 1
                on_retry(RetryNote(failed.error_class, f"{told(failed)}. {change}", 0.0))
                continue
            seconds = waits.next(failed)
            if seconds is None:
                raise
            on_retry(RetryNote(failed.error_class, told(failed), seconds))
            pause(failed, seconds)


class Waits:
    """What one request has waited so far, and what it may still wait."""

    def __init__(self, deadline: float | None, loading: float = LONGEST_LOADING) -> None:
        self._deadline = float("inf") if deadline is None else deadline
        self._loading = loading
        self._failures: dict[str, int] = {}
        self._waited = {"loading": 0.0, "other": 0.0}

    def next(self, failed: RequestFailed) -> float | None:
        """Seconds to wait before the next try, or None when there is none."""
        waits = CAUSES[failed.cause].waits
        failures = self._failures.get(failed.cause, 0)
        self._failures[failed.cause] = failures + 1
        if failures >= len(waits):
            return None
        seconds = waits[failures] if failed.wait is None else failed.wait
        kind, longest = "other", LONGEST_WAITING
        if failed.cause == "loading":
            kind, longest = "loading", self._loading
            # a proxy that says "now" is not the one who loads
            seconds = max(seconds, waits[failures])
        late = time.monotonic() + seconds >= self._deadline
        if late or self._waited[kind] + seconds > longest:
            return None
        self._waited[kind] += seconds
        return seconds
