from hypothesis import given
from hypothesis import strategies as st

from harness.process.capture import Capture


@given(st.lists(st.binary(max_size=60), max_size=30), st.integers(2, 64))
def test_head_and_tail_and_the_count_of_the_rest_make_up_the_whole(
    chunks: list[bytes], keep: int
) -> None:
    capture = Capture(keep, None)
    for chunk in chunks:
        capture.add(chunk)
    whole = b"".join(chunks)
    text = capture.text()
    assert capture.total == len(whole)
    if len(whole) <= keep // 2 * 2:
        assert text == whole.decode("utf-8", "replace")
    assert len(text) <= keep + 60


@given(st.text(alphabet="aé€🙂", min_size=50, max_size=200), st.integers(4, 40))
def test_no_character_is_cut_in_two(text: str, keep: int) -> None:
    capture = Capture(keep, None)
    data = text.encode()
    for at in range(0, len(data), 7):
        capture.add(data[at : at + 7])
    assert "\N{REPLACEMENT CHARACTER}" not in capture.text()
