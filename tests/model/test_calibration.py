"""Estimates held against what servers count, whatever they say."""

from hypothesis import given
from hypothesis import strategies as st

from harness.model.tokens import PLAUSIBLE, Calibration


def seen(*pairs: tuple[int, int]) -> Calibration:
    calibration = Calibration()
    for estimate, counted in pairs:
        calibration.note(estimate, counted)
    return calibration


def test_what_was_counted_is_the_base_and_only_what_is_new_is_estimated() -> None:
    assert Calibration().tokens(1000) == 1000
    assert seen((1000, 1300)).tokens(1000) == 1300
    assert seen((1000, 1300)).tokens(1100) == 1430
    assert seen((1000, 1300), (2000, 2200)).tokens(2000) == 2200


def test_a_template_that_leaves_out_the_tools_does_not_make_new_text_cheap() -> None:
    assert seen((1800, 500)).tokens(2800) >= 500 + 700


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(-5, 10**12)), max_size=8))
def test_no_count_makes_an_estimate_absurd(pairs: list[tuple[int, int]]) -> None:
    calibration = seen(*pairs)
    for estimate in (1, 1000, 100_000):
        assert 0 <= calibration.tokens(estimate) <= 4 * 10**6 + 3 * estimate
    assert PLAUSIBLE[0] <= calibration.ratio <= PLAUSIBLE[1]


def test_counts_of_nothing_and_of_far_too_much_are_ignored() -> None:
    assert seen((1000, 1100), (1200, 0), (1200, 10**9)).tokens(1000) == 1100


def test_a_refusal_raises_an_estimate_that_was_too_low() -> None:
    calibration = seen((1000, 900))
    calibration.at_least(4000, 4096)
    assert calibration.tokens(4000) > 4096
    calibration.at_least(4000, 100)
    assert calibration.tokens(4000) > 4096


def test_a_prompt_that_grows_while_its_count_does_not_was_cut() -> None:
    calibration = seen((3000, 2800), (4200, 4096))
    assert calibration.is_cut(4300, 2800, 4096)
    calibration.forget_end(4096)
    assert calibration.tokens(3000) == 2800


def test_a_count_far_below_was_cut_and_one_a_little_below_was_not() -> None:
    assert seen((4000, 3600)).is_cut(9000, 7500, 3500)
    assert not seen((4000, 3600)).is_cut(5000, 3500, 4300)
    assert not seen((4000, 3600)).is_cut(4020, 2520, 3560)


def test_a_bad_reply_needs_less_evidence() -> None:
    calibration = seen((2700, 2700))
    assert not calibration.is_cut(5400, 3900, 4096)
    assert calibration.is_cut(5400, 3900, 4096, good=False)


def test_the_first_count_may_leave_out_the_tools_but_not_half_of_the_messages() -> None:
    assert not Calibration().is_cut(4000, 2500, 2000)
    assert Calibration().is_cut(12_000, 10_500, 4096)


def test_a_count_that_no_context_is_so_short_as_is_no_cut() -> None:
    assert not seen((8000, 7600)).is_cut(9000, 7500, 900)
    assert not Calibration().is_cut(9000, 7500, 10)


def test_after_a_compaction_fewer_tokens_are_no_cut() -> None:
    calibration = seen((1000, 2500), (4000, 4100))
    calibration.compacted()
    assert not calibration.is_cut(2000, 500, 1900)
