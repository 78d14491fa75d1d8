"""What requests used and cost, in a turn and in a session."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import LimitReached
from harness.model.values import Usage
from harness.ooda.limits import Limits, Meter, Spent

costs = st.lists(st.one_of(st.none(), st.floats(0, 10)), max_size=20)


def spent(*amounts: float | None, estimated: bool = False) -> Spent:
    found = Spent()
    for amount in amounts:
        found.count(Usage(100, 10, estimated, cached_tokens=40, cost=amount))
    return found


@given(costs)
def test_a_sum_with_an_unknown_part_is_unknown(amounts: list[float | None]) -> None:
    found = spent(*amounts)
    if not amounts or None in amounts:
        assert found.cost is None
    else:
        assert found.cost == pytest.approx(sum(amount for amount in amounts if amount is not None))
    assert found.tokens == 110 * len(amounts)
    assert found.cached_tokens == 40 * len(amounts)


@pytest.mark.parametrize(
    ("found", "unknown", "told"),
    [
        (spent(), "", "nothing yet"),
        (spent(), "it runs here", "unknown: it runs here"),
        (spent(0.5), "", "$0.5000"),
        (spent(0.5, estimated=True), "", "about $0.5000"),
        (spent(0.5, None), "", "at least $0.5000"),
        (spent(None), "it runs here", "unknown: it runs here"),
        (spent(None), "", "unknown"),
    ],
)
def test_a_cost_is_told_as_far_as_it_is_known(found: Spent, unknown: str, told: str) -> None:
    assert found.told_cost(unknown) == told


def test_the_limit_is_of_the_session_and_checked_before_a_request() -> None:
    session = Spent()
    limits = Limits(cost=1.0)
    first = Meter(limits, session)
    first.check()
    first.count(Usage(cost=0.6))
    first.check()
    second = Meter(limits, session)
    second.check()
    second.count(Usage(cost=0.6))
    with pytest.raises(LimitReached, match=r"\$1\.00 .*--max-cost.*\$1\.20"):
        second.check()
    with pytest.raises(LimitReached):
        Meter(limits, session).check()
    assert second.spent.cost == 0.6
    Meter(Limits(), session).check()


def test_a_limit_that_cannot_be_kept_is_no_limit_passed_over() -> None:
    session = spent(0.1, None)
    with pytest.raises(LimitReached, match="1 of 2 requests have no price"):
        Meter(Limits(cost=5), session).check()
