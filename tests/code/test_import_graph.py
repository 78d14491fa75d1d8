"""Which file an import means."""

import pytest

from tests.code.trees import index_of


def imported(files: dict[str, str], path: str) -> set[str]:
    return set(index_of(files).imports()[path])


@pytest.mark.parametrize(
    ("statement", "target"),
    [
        ("import auth", "auth.py"),
        ("import auth as a", "auth.py"),
        ("from auth import X as Y", "auth.py"),
        ("import importlib\nm = importlib.import_module('auth')", "auth.py"),
        ("def f():\n    from auth import X", "auth.py"),
        ("from pkg import mod", "pkg/mod.py"),
        ("from pkg.mod import x", "pkg/mod.py"),
        ("import pkg.mod", "pkg/mod.py"),
        ("from space.deep import thing", "space/deep/thing.py"),
        ("import space.deep.thing", "space/deep/thing.py"),
        ("import stubs", "stubs.pyi"),
    ],
)
def test_absolute_imports(statement: str, target: str) -> None:
    files = {
        "auth.py": "",
        "pkg/__init__.py": "",
        "pkg/mod.py": "",
        "space/deep/thing.py": "",
        "stubs.pyi": "",
        "main.py": statement + "\n",
    }
    assert target in imported(files, "main.py")
    assert imported(files, "main.py") <= {target, "pkg/__init__.py"}


@pytest.mark.parametrize(
    ("statement", "targets"),
    [
        ("from . import b", {"pkg/b.py", "pkg/__init__.py"}),
        ("from .b import x", {"pkg/b.py"}),
        ("from .. import pkg", {"pkg/__init__.py"}),
        ("from ..top import x", {"top.py"}),
        ("from .sub import c", {"pkg/sub/c.py"}),
        ("from ....far import x", set()),
        ("from .absent import x", set()),
    ],
)
def test_relative_imports(statement: str, targets: set[str]) -> None:
    files = {
        "pkg/__init__.py": "",
        "pkg/a.py": statement + "\n",
        "pkg/b.py": "",
        "pkg/sub/c.py": "",
        "top.py": "",
    }
    assert imported(files, "pkg/a.py") == targets


def test_a_re_exported_name_leads_to_where_it_is_defined() -> None:
    files = {
        "pkg/__init__.py": "from .api import Thing as Item, other\nfrom .deep import *\n",
        "pkg/api.py": "from pkg._impl import Thing\ndef other(): ...\n",
        "pkg/_impl.py": "class Thing: ...\n",
        "pkg/deep/__init__.py": "from .inner import hidden\n",
        "pkg/deep/inner.py": "def hidden(): ...\n",
        "pkg/alone.py": "",
        "one.py": "from pkg import Item\n",
        "two.py": "from pkg import hidden\n",
        "three.py": "import pkg\npkg.other()\n",
        "four.py": "from pkg import *\nItem()\n",
    }
    index = index_of(files)
    assert index.imports()["one.py"] == {"pkg/__init__.py", "pkg/api.py", "pkg/_impl.py"}
    assert index.imports()["two.py"] >= {"pkg/deep/__init__.py", "pkg/deep/inner.py"}
    assert "pkg/api.py" in index.imports()["three.py"]
    assert "pkg/_impl.py" not in index.imports()["three.py"]
    assert "pkg/_impl.py" in index.imports()["four.py"]


def test_circles_end() -> None:
    files = {
        "a/__init__.py": "from b import x\nfrom b import *\n",
        "b/__init__.py": "from a import x\nfrom a import *\n",
        "c.py": "from a import x\n",
    }
    assert imported(files, "c.py") == {"a/__init__.py", "b/__init__.py"}


def test_packages_on_the_way_run_too() -> None:
    files = {"p/__init__.py": "", "p/q/__init__.py": "", "p/q/m.py": "", "x.py": "import p.q.m\n"}
    assert imported(files, "x.py") == {"p/__init__.py", "p/q/__init__.py", "p/q/m.py"}


@pytest.mark.parametrize(
    ("source", "test"),
    [
        ("src/auth.py", "tests/test_auth.py"),
        ("src/auth.py", "tests/unit/test_auth.py"),
        ("lib/auth.py", "test_it.py"),
        ("app/auth.py", "app/tests/test_it.py"),
        ("backend/service/auth.py", "tests/test_it.py"),
        ("tests/auth.py", "tests/test_it.py"),
        ("auth/__init__.py", "deep/down/test_it.py"),
    ],
)
def test_any_folder_may_be_an_import_root(source: str, test: str) -> None:
    assert imported({source: "", test: "from auth import X\n"}, test) == {source}


def test_the_nearest_root_is_meant() -> None:
    files = {
        "a/utils.py": "",
        "b/utils.py": "",
        "utils.py": "",
        "a/tests/test_it.py": "import utils\n",
        "b/test_it.py": "import utils\n",
        "c/test_it.py": "import utils\n",
    }
    index = index_of(files)
    assert index.imports()["a/tests/test_it.py"] == {"a/utils.py"}
    assert index.imports()["b/test_it.py"] == {"b/utils.py"}
    assert index.imports()["c/test_it.py"] == {"utils.py"}


def test_within_a_package_the_top_is_meant_before_the_neighbour() -> None:
    files = {"pkg/__init__.py": "", "pkg/log.py": "", "log.py": "", "pkg/a.py": "import log\n"}
    assert imported(files, "pkg/a.py") == {"log.py"}


@pytest.mark.parametrize("name", ["json", "logging", "types"])
def test_a_module_of_python_is_not_taken_for_one_somewhere_in_the_workspace(name: str) -> None:
    files = {
        f"pkg/{name}.py": "",
        "pkg/__init__.py": "",
        "pkg/a.py": f"import {name}\n",
        "test_it.py": f"import {name}\n",
        f"{name}/readme/x.py": "",
    }
    assert imported(files, "pkg/a.py") == set()
    assert imported(files, "test_it.py") == set()
