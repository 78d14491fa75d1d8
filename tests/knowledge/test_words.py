"""Text to words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge.words import query_words, split_identifier, stem, words


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("change_password", ["change", "password"]),
        ("ChangePassword", ["Change", "Password"]),
        ("HTTPServer", ["HTTP", "Server"]),
        ("parseHTTPResponse2xx", ["parse", "HTTP", "Response2xx"]),
        ("md5", ["md5"]),
        ("_private__name", ["private", "name"]),
        ("größeÄndern", ["größe", "Ändern"]),
    ],
)
def test_identifiers_are_split_where_the_case_changes(text: str, parts: list[str]) -> None:
    assert list(split_identifier(text)) == parts


@pytest.mark.parametrize(
    "family",
    [
        "cache caches cached caching",
        "log logs logged logging",
        "password passwords",
        "policy policies",
        "validate validated validation",
        "lock locks locked locking",
        "address addresses",
    ],
)
def test_forms_of_a_word_share_a_stem(family: str) -> None:
    assert len({stem(word) for word in family.split()}) == 1


@pytest.mark.parametrize("word", ["string", "status", "this", "analysis", "red", "speed", "class"])
def test_words_which_only_look_like_forms_are_left_alone(word: str) -> None:
    assert stem(word) == word


def test_width_and_case_do_not_matter() -> None:
    assert words("ＰＡＳＳＷＯＲＤ Straße") == words("password STRASSE")


def test_chinese_and_japanese_are_cut_into_pairs() -> None:
    assert [term for term, _ in words("密码规则 v2")] == ["密码", "码规", "规则", "v2"]


def test_a_request_keeps_only_what_tells_things_apart() -> None:
    assert query_words("please add a change_password method to auth.py") == {
        "password": "password",
        "auth": "auth",
    }
    assert query_words("rename a variable") == {}
    assert query_words("from 3 to 5, not 404") == {"404": "404"}


@given(st.text())
def test_any_text_has_words_that_are_found_again(text: str) -> None:
    for term, written in words(text):
        assert term
        assert written
