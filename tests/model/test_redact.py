from hypothesis import given
from hypothesis import strategies as st

from harness.model.redact import without_secret

KEYS = st.text("abcdefgh0123-_", min_size=8, max_size=40)


def test_a_key_is_hidden_and_so_is_how_it_begins() -> None:
    key = "sk-proj-4711abcdef"
    told = "Incorrect API key provided: sk-proj-4711abcdef. It began with sk-proj-4711."
    assert without_secret(told, key) == "Incorrect API key provided: ***. It began with ***."


def test_a_short_key_is_hidden_where_it_is_a_word() -> None:
    assert without_secret("key abc is no abcdef", "abc") == "key *** is no abcdef"


def test_without_a_key_nothing_is_hidden() -> None:
    assert without_secret("as it was", None) == without_secret("as it was", "") == "as it was"


@given(st.text("abcdefgh0123-_ ", max_size=60), KEYS, st.text("abcdefgh0123-_ ", max_size=60))
def test_no_piece_of_a_key_is_left_and_nothing_else_is_lost(
    before: str, key: str, after: str
) -> None:
    told = without_secret(before + key + after, key)
    assert not any(key[at : at + 8] in told for at in range(len(key) - 7))
    assert without_secret(told, key) == told
    if "***" not in without_secret(before, key) + without_secret(after, key):
        assert len(told) <= len(before) + 3 + len(after)
    assert without_secret(before, key + "~") == before or "***" in without_secret(before, key)
