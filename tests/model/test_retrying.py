import time
from collections.abc import Callable
from itertools import chain, repeat

import pytest

from harness.model.failures import CAUSES, RequestFailed
from harness.model.retrying import LONGEST_WAITING, MOST_CHANGES, Waits, persist
from harness.model.values import Reply, RetryNote

DONE = Reply(text="done")


class Attempts:
    """A request that fails in the given ways, one after the other, and is then answered; no wait
    takes time."""

    def __init__(self, *failures: RequestFailed, ever: RequestFailed | None = None) -> None:
        self._failures = chain(failures, repeat(ever) if ever else ())
        self.count = 0
        self.notes: list[RetryNote] = []
        self.waited: list[float] = []

    def run(
        self,
        deadline: float | None = None,
        mend: Callable[[RequestFailed], str] = lambda _: "",
        loading: float = 600,
    ) -> Reply:
        return persist(
            self._attempt,
            lambda failed: f"told: {failed.cause}",
            self.notes.append,
            deadline,
            mend=mend,
            pause=lambda _, seconds: self.waited.append(seconds),
            loading=loading,
        )

    def _attempt(self) -> Reply:
        self.count += 1
        failure = next(self._failures, None)
        if failure is not None:
            raise failure
        return DONE


@pytest.mark.parametrize("cause", CAUSES)
def test_a_failure_that_stays_ends_after_as_many_requests_as_its_row_says(cause: str) -> None:
    attempts = Attempts(ever=RequestFailed(cause))
    with pytest.raises(RequestFailed) as caught:
        attempts.run()
    row = CAUSES[cause]
    assert caught.value.cause == cause
    if cause == "loading":
        assert 590 <= sum(attempts.waited) <= 600
    else:
        assert attempts.count == row.most_requests - row.fixed
        assert attempts.waited == list(row.waits)
    assert (row.again == "backoff") == bool(attempts.waited)


def test_each_wait_is_told() -> None:
    attempts = Attempts(RequestFailed("busy"), RequestFailed("interrupted"))
    assert attempts.run() == DONE
    assert [(note.error_class, note.message, note.wait) for note in attempts.notes] == [
        ("backend_unavailable", "told: busy", 1.0),
        ("stream_interrupted", "told: interrupted", 0.2),
    ]


def test_each_cause_has_its_own_bound() -> None:
    other = RequestFailed("server_error")
    attempts = Attempts(RequestFailed("interrupted"), other, RequestFailed("busy"))
    assert attempts.run() == DONE


def test_what_a_server_asks_for_is_waited_unless_it_is_too_long() -> None:
    attempts = Attempts(RequestFailed("busy", wait=7.0))
    assert attempts.run() == DONE
    assert attempts.waited == [7.0]
    with pytest.raises(RequestFailed):
        Attempts(RequestFailed("busy", wait=LONGEST_WAITING + 1)).run()


def test_the_waits_of_one_request_are_bounded_together() -> None:
    waits = Waits(None)
    assert waits.next(RequestFailed("busy", wait=40.0)) == 40.0
    assert waits.next(RequestFailed("busy", wait=30.0)) is None


def test_loading_is_waited_for_as_long_as_the_caller_has_patience() -> None:
    attempts = Attempts(ever=RequestFailed("loading"))
    with pytest.raises(RequestFailed):
        attempts.run(loading=20)
    assert attempts.waited == [1, 2, 4, 8]


def test_a_server_that_loads_is_not_asked_faster_because_it_says_now() -> None:
    attempts = Attempts(ever=RequestFailed("loading", wait=0.0))
    with pytest.raises(RequestFailed):
        attempts.run(loading=20)
    assert attempts.waited == [1, 2, 4, 8]
    later = Attempts(RequestFailed("loading", wait=5.0))
    assert later.run() == DONE
    assert later.waited == [5.0]


def test_a_server_that_always_wants_another_change_is_given_up() -> None:
    attempts = Attempts(ever=RequestFailed("room"))
    with pytest.raises(RequestFailed):
        attempts.run(mend=lambda _: "Smaller")
    assert attempts.count == MOST_CHANGES + 1


def test_no_wait_begins_that_would_reach_the_deadline() -> None:
    attempts = Attempts(RequestFailed("loading"))
    with pytest.raises(RequestFailed):
        attempts.run(deadline=time.monotonic() + 0.5)
    assert not attempts.notes


def test_a_change_is_told_and_tried_at_once() -> None:
    attempts = Attempts(RequestFailed("template"))
    assert attempts.run(mend=lambda _: "Sent otherwise") == DONE
    assert attempts.waited == []
    assert [note.message for note in attempts.notes] == ["told: template. Sent otherwise"]
