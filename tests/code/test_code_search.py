"""Which files a request is about."""

from pathlib import Path

import pytest

from harness.code.index import CodeIndex
from tests.code.trees import Tree, index_of

EXAMPLE = Path(__file__).parents[2] / "example_workspace"
OTHERS = {f"other_{n}.py": f"def compute_{n}(x):\n    return x + {n}\n" for n in range(20)}


@pytest.fixture
def example() -> CodeIndex:
    files: dict[str, str | bytes] = dict(OTHERS)
    files |= {path.name: path.read_bytes() for path in EXAMPLE.iterdir() if path.is_file()}
    return Tree(files).index()


def paths(index: CodeIndex, query: str) -> list[str]:
    return [match.path for match in index.search(query)]


@pytest.mark.parametrize(
    "query",
    [
        "lockout threshold",
        "raise the lockout threshold from 3 to 5 attempts",
        "add a change_password method",
        "raise max_attempts from 3 to 5",
        "Where does AuthService lock a user?",
    ],
)
def test_the_source_comes_first_and_its_test_with_it(example: CodeIndex, query: str) -> None:
    assert paths(example, query) == ["auth.py", "test_auth.py"]


def test_the_reason_names_the_words(example: CodeIndex) -> None:
    (match, _) = example.search("add a change_password method")
    assert "matches 'password'" in match.reason
    assert {symbol.name for symbol in match.symbols} == {"add_user", "authenticate"}


def test_what_only_the_test_says_finds_the_source(example: CodeIndex) -> None:
    (match, _) = example.search("lockout threshold")
    assert match.reason == "covered by test_auth.py, which matches 'lockout'"


def test_a_compound_word_finds_the_word_it_begins_with() -> None:
    files = {"auth.py": "def is_locked(user): ...\n", "other.py": "x = 1\n"}
    assert paths(index_of(files), "lockout threshold") == ["auth.py"]


@pytest.mark.parametrize("query", ["rename a variable", "", "fix it", "quaternions"])
def test_what_matches_nothing_brings_nothing(example: CodeIndex, query: str) -> None:
    assert example.search(query) == []


@pytest.mark.parametrize(
    "query",
    [
        "rename compute_3 in other_7.py",
        "compute_3: see ./other_7.py.",
        "open /workspace/other_7.py (compute_3)",
    ],
)
def test_a_file_that_is_named_comes_first(example: CodeIndex, query: str) -> None:
    first, second = example.search(query, limit=2)
    assert first.path == "other_7.py"
    assert first.reason.startswith("named as ")
    assert first.score > 1 >= second.score
    assert (second.path, second.reason) == ("other_3.py", "defines 'compute_3'")


def test_a_path_means_the_file_there() -> None:
    index = index_of({"a/utils.py": "", "b/utils.py": "", "tests/test_x.py": ""})
    assert [match.score > 1 for match in index.search("look at b/utils.py")] == [True, False]
    assert paths(index, "look at b/utils.py")[0] == "b/utils.py"
    assert paths(index, "look at utils.py") == ["a/utils.py", "b/utils.py"]


def test_after_an_edit_the_new_code_is_found() -> None:
    tree = Tree({"a.py": "def old(): ...\n"} | OTHERS)
    index = tree.index()
    tree.files["a.py"] = b"def throttle_logins(): ...\n"
    index.refresh(tree.hashes())
    assert paths(index, "throttle login") == ["a.py"]


def test_the_limit_holds_and_equal_scores_are_in_order() -> None:
    index = index_of({f"m{n}.py": "def same(): ...\n" for n in range(9)})
    assert paths(index, "same_thing") == []
    files = index_of({f"m{n}.py": "def invoice(): ...\n" for n in range(9)})
    assert [match.path for match in files.search("invoice", limit=3)] == ["m0.py", "m1.py", "m2.py"]
