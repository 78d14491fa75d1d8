from hypothesis import given
from hypothesis import strategies as st

from harness.gates.feedback import bounded, compose, plain

text = st.text(st.characters(codec="utf-8"), max_size=400)


@given(text, st.lists(text, max_size=8), text, text, st.integers(200, 2000))
def test_feedback_is_never_longer_than_its_limit(
    heading: str, failures: list[str], output: str, ending: str, limit: int
) -> None:
    assert len(compose(heading, failures, output * 20, ending, limit)) <= limit


@given(text, st.integers(60, 500))
def test_a_bounded_text_keeps_both_ends(content: str, limit: int) -> None:
    content = plain(content * 10)
    short = bounded(content, limit)
    assert len(short) <= limit
    if len(content) > limit:
        assert short[:5] == content[:5]
        assert "characters left out" in short
    else:
        assert short == content


def test_sequences_for_a_terminal_are_taken_out() -> None:
    hostile = (
        "\x1b[31mred\x1b[0m \x1b]0;title\x07a\x00b\x9bc\r\n\N{RIGHT-TO-LEFT OVERRIDE}d\te\ud800"
    )
    assert plain(hostile) == "red abc\nd\te"


def test_all_failures_are_named_before_any_output() -> None:
    failures = [f"test_a.py::test_{number}\n> assert {number}\n" + "E x\n" * 50 for number in "123"]
    composed = compose("heading", failures, "noise\n" * 5000, "log: /tmp/log", limit=1500)
    positions = [composed.index(f"test_a.py::test_{number}") for number in "123"]
    assert positions == sorted(positions)
    assert composed.startswith("heading\n\n")
    assert composed.endswith("\n\nlog: /tmp/log")


def test_very_many_failures_are_named_and_then_counted() -> None:
    failures = [f"test_a.py::test_{number}\nE x" for number in range(500)]
    composed = compose("heading", failures, "", limit=2000)
    assert "test_a.py::test_0\nE x" in composed
    assert " more" in composed
