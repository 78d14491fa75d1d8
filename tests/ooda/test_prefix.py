"""What a local server can reuse of a turn, and that the check of it can fail."""

import pytest

from benchmarks.prefix import AT_LEAST, STEPS, report, run, shared
from tests.prefix import assert_stable


def test_nearly_all_of_each_request_was_in_the_one_before(
    capsys: pytest.CaptureFixture[str],
) -> None:
    requests, events, kind = run()
    assert kind == "verified"
    assert len(requests) == STEPS
    assert report(requests, events, kind) == 0
    assert f'"at_least": {AT_LEAST}' in capsys.readouterr().out.splitlines()[-1]
    assert_stable(requests, [])


def test_shared_is_what_two_requests_begin_with_alike() -> None:
    assert [shared(b"abc", b"abd"), shared(b"ab", b"abc"), shared(b"", b"a")] == [2, 2, 0]


@pytest.mark.parametrize("key", ["messages", "tools"])
def test_a_changed_beginning_needs_a_reason(key: str) -> None:
    before = {"messages": [{"role": "system", "content": "s"}], "tools": [{"type": "function"}]}
    after = {**before, key: [{"role": "system", "content": "the 3rd of May"}]}
    with pytest.raises(AssertionError, match=r"\[2\]"):
        assert_stable([before, after], [{"kind": "notice"}])
    assert_stable([before, after], [{"kind": "compacted"}])
    assert_stable([before, {**before, "messages": [*before["messages"], {}]}], [])
