"""Which tests cover which source."""

import pytest

from harness.code.coverage import is_test
from tests.code.trees import index_of


@pytest.mark.parametrize("path", ["test_a.py", "a_test.py", "x/test_a.py", "tests/unit/a_test.py"])
def test_files_that_pytest_collects_are_tests(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    ["conftest.py", "tests/helper.py", "latest.py", "testing.py", "test_a.pyi", "test_a.txt"],
)
def test_other_files_are_not(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    "test", ["test_auth.py", "tests/test_auth.py", "tests/unit/test_auth.py", "auth_test.py"]
)
@pytest.mark.parametrize("text", ["", "from auth import AuthService\n"])
def test_a_test_covers_what_it_is_named_after(test: str, text: str) -> None:
    assert index_of({"auth.py": "", test: text}).covers() == {"auth.py": {test: "name"}}


@pytest.mark.parametrize(
    "text",
    [
        "import auth as a\n",
        "from auth import X as Y\n",
        'import importlib\nauth = importlib.import_module("auth")\n',
        "def test_it():\n    import auth\n",
    ],
)
def test_a_test_covers_what_it_imports_under_any_name(text: str) -> None:
    index = index_of({"auth.py": "", "tests/test_login.py": text})
    assert index.covers() == {"auth.py": {"tests/test_login.py": "import"}}
    assert index.tests() == {"tests/test_login.py"}


@pytest.mark.parametrize(
    ("test", "text", "covered"),
    [
        ("a/test_utils.py", "from a.utils import f\n", {"a/utils.py"}),
        ("tests/test_utils.py", "from b.utils import f\n", {"b/utils.py"}),
        ("tests/test_utils.py", "from b import utils\n", {"b/utils.py"}),
        ("tests/a/test_utils.py", "", {"a/utils.py"}),
        ("b/tests/test_utils.py", "", {"b/utils.py"}),
        ("tests/test_utils.py", "", {"a/utils.py", "b/utils.py"}),
    ],
)
def test_of_two_sources_with_one_name_the_right_one_is_covered(
    test: str, text: str, covered: set[str]
) -> None:
    files = {
        "a/__init__.py": "",
        "a/utils.py": "",
        "b/__init__.py": "",
        "b/utils.py": "",
        test: text,
    }
    found = index_of(files).covers()
    assert {source for source in found if source.endswith("utils.py")} == covered


def test_a_package_is_covered_by_the_test_of_its_name() -> None:
    index = index_of({"auth/__init__.py": "", "auth/core.py": "", "tests/test_auth.py": ""})
    assert index.covers() == {"auth/__init__.py": {"tests/test_auth.py": "name"}}


def test_a_private_module_is_covered_by_the_test_without_the_underscore() -> None:
    assert index_of({"pkg/_make.py": "", "tests/test_make.py": ""}).covers() == {
        "pkg/_make.py": {"tests/test_make.py": "name"}
    }


def test_a_conftest_speaks_for_the_tests_below_it() -> None:
    index = index_of(
        {
            "auth.py": "",
            "tests/unit/conftest.py": "from auth import AuthService\n",
            "tests/unit/test_login.py": "",
            "tests/test_other.py": "",
        }
    )
    assert index.covers() == {
        "auth.py": {"tests/unit/test_login.py": "import"},
        "tests/unit/conftest.py": {"tests/unit/test_login.py": "import"},
    }


def test_a_helper_of_the_tests_is_covered_by_those_that_import_it() -> None:
    index = index_of({"tests/helpers.py": "", "tests/test_a.py": "from helpers import x\n"})
    assert index.covers() == {"tests/helpers.py": {"tests/test_a.py": "import"}}


def test_without_a_direct_test_those_that_reach_the_source_cover_it() -> None:
    index = index_of(
        {
            "core.py": "",
            "api.py": "import core\n",
            "lonely.py": "",
            "tests/test_web.py": "import api\n",
            "tests/test_none.py": "",
            "tests/sub/conftest.py": "import api\n",
            "tests/sub/test_deep.py": "",
        }
    )
    assert index.covering("api.py") == {
        "tests/test_web.py": "import",
        "tests/sub/test_deep.py": "import",
    }
    assert index.covering("core.py") == {
        "tests/sub/test_deep.py": "imports, transitively",
        "tests/test_web.py": "imports, transitively",
    }
    assert index.covering("lonely.py") == {}
    assert index.covering("README.md") == {}


def test_a_workspace_without_tests_covers_nothing() -> None:
    index = index_of({"auth.py": "", "main.py": "import auth\n"})
    assert index.covers() == {}
    assert index.tests() == set()
