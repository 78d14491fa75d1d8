"""What a request asks for, and when prose is not enough of a reply."""

import pytest

from harness.ooda.asking import asked_for, call_was_due, named_paths
from harness.ooda.candidates import names_new_file

CHANGES = (
    "change max_attempts from 3 to 5", "add a change_password method", "Fix the failing test",
    "the lockout should happen after five attempts", "can you rename authenticate?", "yes, do it",
    "lock users after 5 attempts", "Ändere das Limit auf 5", "把限制改成5", "make it faster",
    "Why does login fail? Please repair it.", "max_attempts = 5", "go ahead", "bump the version",
    "how do I add a user", "Could you limit the attempts to 5?", "please handle empty names",
    "which function is fixing the attempts?", "find the limit and set it to 5", "what about 6?",
    "why is the limit 3? it should be 5", "show me auth.py, then please raise the limit",
)  # fmt: skip
LOOKS = (
    "what is the value of max_attempts?", "which function locks a user?", "Where are the tests?",
    "explain auth.py", "list the files", "how many tests are there?", "hello", "thanks!",
    "show me the README", "is the lockout tested?", "tell me about the code",
    "read auth.py and test_auth.py and tell me what they do", "what should happen then",
)  # fmt: skip


@pytest.mark.parametrize("request_", CHANGES)
def test_what_may_be_a_change_is_one(request_: str) -> None:
    assert "change" in asked_for(request_)


@pytest.mark.parametrize("request_", LOOKS)
def test_who_only_wants_to_know_gets_no_tools_to_write(request_: str) -> None:
    assert "change" not in asked_for(request_)


@pytest.mark.parametrize(
    ("request_", "kinds"),
    [
        ("create a file notes.md", {"change", "create"}),
        ("write tests for auth.py", {"change", "create", "run"}),
        ("run pytest", {"change", "run"}),
        ("remember that we use tabs", {"change", "memory"}),
        ("what does git log say?", {"run"}),
        ("", set()),
    ],
)
def test_new_files_commands_and_memory_are_asked_for_by_words(
    request_: str, kinds: set[str]
) -> None:
    assert asked_for(request_) == kinds


@pytest.mark.parametrize(
    "request_",
    [
        "Was ist das Limit? Bitte setze es auf 5.", "Was ich brauche: \u00e4ndere das Limit auf 5",
        "Erstelle eine Datei notes.md", "\u521b\u5efa\u4e00\u4e2a\u6587\u4ef6 notes.md",
        "\u7528 list \u66ff\u6362 dict", "Ajoute une m\u00e9thode logout",
        "Do arquivo auth.py mude o limite para 5", "Merke dir bitte: Limit ist 5",
    ],
)  # fmt: skip
def test_another_language_may_ask_for_anything(request_: str) -> None:
    assert asked_for(request_) == {"change", "create", "run", "memory"}


@pytest.mark.parametrize(
    ("request_", "kinds"),
    [
        ("rename caf\u00e9 to cafe", {"change", "create"}),
        ("what does the word \u201enaïve\u201c mean here?", set()),
        ("say \u4f60\u597d in the greeting", {"change"}),
        ("fix os import in auth.py", {"change"}),
        ("use the MIT license", {"change"}),
        ("Hi! What can you do?", {"talk"}),
    ],
)
def test_foreign_words_in_english_make_no_other_language(request_: str, kinds: set[str]) -> None:
    assert asked_for(request_) == kinds


@pytest.mark.parametrize(
    ("request_", "new"),
    [
        ("there should be a helper in utils.py", True),
        ("put it into docs/auth.md", True),
        ("fix auth.py and ./src/hash.py", False),
        ("fix hash.py", False),
        ("fix self.users", False),
        ("make it faster", False),
    ],
)
def test_a_file_that_is_named_and_not_there_is_one_to_create(request_: str, new: bool) -> None:
    assert names_new_file(request_, ["auth.py", "src/hash.py"]) is new


def test_paths_are_found_in_words() -> None:
    text = "move ./src/a.py and src\\b.tsx to lib/ (v1.2, e.g. README.md), not a.c or b.md."
    assert named_paths(text) == ("./src/a.py", "src/b.tsx", "README.md", "a.c", "b.md")


@pytest.mark.parametrize(
    "text",
    [
        "I will change the limit in auth.py.",
        "Sure. Let me look at auth.py first.",
        "First, I need to read the file.",
        "I\u2019ll update it now.",
        "```python\nself.max_attempts = 5\n```",
        "Here is the change:\n\n~~~\nmax_attempts = 5\n~~~\n",
    ],
)
def test_a_promise_or_the_code_alone_is_no_change(text: str) -> None:
    assert call_was_due("change the limit to 5", text)
    assert call_was_due("can you change the limit?", text)
    assert not call_was_due("what is the limit?", text)
    assert not call_was_due("hello", text)


@pytest.mark.parametrize(
    "text",
    [
        "Done.",
        "ok",
        "The limit is 5 now.",
        "Let me know if you need more.",
        "I will need to know: which limit do you mean?",
        "The limit is already 5 (`max_attempts`).",
    ],
)
def test_what_is_an_answer_or_a_question_stays_one(text: str) -> None:
    assert not call_was_due("change the limit to 5", text)


def test_who_asked_for_a_text_is_not_told_to_make_a_call() -> None:
    assert not call_was_due("write a haiku about the lockout", "```\nThree tries, and no more\n```")
