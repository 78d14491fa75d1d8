"""Which entries a text brings."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knowledge import Entry, select
from knowledge.retrieval import estimate_tokens

PASSWORDS = Entry(
    "password_rules", "Passwords must be at least 8 chars and contain a digit", "workspace"
)
_OTHERS = """
money_type|Monetary amounts are stored as integer cents, never as floats.
db_migrations|Schema changes go through Alembic revisions in migrations/.
api_pagination|List endpoints must paginate with limit and offset.
api_errors|Errors returned to clients use the problem+json body.
pii_logging|Do not write emails, phone numbers or card data to logs.
http_client|Outbound HTTP goes through core.http.Session, which sets retries.
feature_flags|New behaviour ships behind a flag registered in flags.yaml.
changelog|Every user-visible change adds a fragment to changes/.
i18n|All strings shown to users pass through gettext.
lockout|Accounts lock after 5 failed logins and unlock after 15 minutes.
cache_keys|Redis keys are prefixed with the service name and a version.
background_jobs|Anything slower than 200 ms runs as a Celery task.
idempotency|POST endpoints that create payments require an Idempotency-Key header.
uploads|User uploads are limited to 5 MB and scanned by clamd.
timestamps|Store timestamps in UTC and convert them only when rendering.
soft_delete|Rows are never removed; set deleted_at and filter them.
secrets|Credentials come from Vault; never commit them.
docstrings|Public functions have docstrings with Args and Returns.
branching|Branch names are type/ticket-slug; squash-merge only.
metrics|Every new endpoint emits a request counter.
authorization|Each view checks permissions with @require(role).
email_sending|Mail goes out through the outbox table.
dependency_policy|New third-party packages need an entry in docs/dependencies.md.
csv_export|CSV exports escape leading = to stop formula injection.
rate_limits|Public endpoints are limited to 60 requests a minute.
"""


def fifty() -> list[Entry]:
    lines = [line.split("|") for line in _OTHERS.strip().splitlines()]
    named = [Entry(key, content, "workspace") for key, content in lines]
    numbered = [
        Entry(f"module_{n}_owner", f"Module {n} belongs to team {n % 7}.", "workspace")
        for n in range(49 - len(named))
    ]
    return [*named, PASSWORDS, *numbered]


def keys(entries: list[Entry], query: str) -> list[str]:
    return [selected.entry.key for selected in select(entries, query)]


def test_a_single_entry_is_found() -> None:
    assert keys([PASSWORDS], "add a change_password method") == ["password_rules"]


@pytest.mark.parametrize(
    "request_text",
    [
        "add a change_password method",
        "Add a ChangePassword method to AuthService",
        "please implement change_password(username, old_password, new_password) in auth.py",
        "let users change their passwords",
    ],
)
def test_of_fifty_entries_the_one_about_passwords_is_found_and_none_of_the_others(
    request_text: str,
) -> None:
    assert len(fifty()) == 50
    assert keys(fifty(), request_text) == ["password_rules"]


@pytest.mark.parametrize("request_text", ["rename a variable", "", "fix it please", "make it work"])
def test_a_request_that_says_nothing_brings_nothing(request_text: str) -> None:
    assert keys(fifty(), request_text) == []


def test_a_request_about_something_else_brings_nothing() -> None:
    assert keys(fifty(), "draw the org chart from the employee list") == []


def test_the_reason_names_the_word_the_place_and_the_score() -> None:
    (selected,) = select([PASSWORDS], "add a change_password method")
    assert selected.reason == f"matched 'password' in key, {selected.score:.2f}"
    assert 0.28 <= selected.score <= 1


def test_words_in_several_places_are_told_apart() -> None:
    (selected,) = select([PASSWORDS], "password with a digit")
    assert selected.reason.startswith("matched 'password' in key and 'digit' in content, ")


def test_tags_are_searched() -> None:
    entry = Entry("house_rule_7", "Ask the second floor first.", "workspace", tags=("payments",))
    (selected,) = select([entry, *fifty()[:5]], "refund payments")
    assert selected.entry is entry
    assert "'payments' in tags" in selected.reason


def test_the_best_come_first_and_never_more_than_the_limit() -> None:
    entries = [Entry(f"password_{n}", "about passwords", "global") for n in range(9)]
    assert len(select(entries, "password")) == 5
    assert len(select(entries, "password", limit=2)) == 2
    scores = [selected.score for selected in select([*entries, PASSWORDS], "password digit")]
    assert scores == sorted(scores, reverse=True)


def test_a_chinese_request_finds_a_chinese_entry() -> None:
    entry = Entry("密码规则", "密码至少八个字符", "workspace")
    assert keys([*fifty(), entry], "修改密码") == ["密码规则"]
    assert keys([*fifty(), entry], "添加修改密码的方法") == ["密码规则"]
    assert keys([*fifty(), entry], "重命名变量") == []


def test_a_megabyte_is_cut_and_says_so() -> None:
    entry = Entry("password_rules", "password " * 120_000, "workspace")
    (selected,) = select([entry], "password")
    assert estimate_tokens(selected.entry.content) <= 400
    assert selected.entry.content.endswith(f"[... cut: {len(entry.content)} characters in all]")
    assert f"of {len(entry.content)} characters" in selected.reason


def test_the_budget_holds() -> None:
    entries = [Entry(f"password_{n}", "password " * 150, "global") for n in range(5)]
    picked = select(entries, "password", token_budget=600)
    spent = sum(estimate_tokens(each.entry.key + each.entry.content) for each in picked)
    assert 0 < spent <= 600


@given(st.lists(st.text(min_size=1), max_size=5), st.text())
def test_every_pick_shares_a_word_with_the_request(contents: list[str], query: str) -> None:
    entries = [Entry(f"k{n}", content, "global") for n, content in enumerate(contents)]
    for selected in select(entries, query):
        assert selected.reason.startswith("matched ")
        assert 0 < selected.score <= 1
