"""Where a name is used, and how."""

from tests.code.trees import Tree, index_of

USES = {
    "auth.py": (
        "MAX = 3\n"
        "class Service:\n"
        "    def reset(self, name):\n"
        "        self.reset = name\n"
        "        self.count += 1\n"
        "def reset(): ...\n"
    ),
    "app.py": (
        "from auth import reset as r, Service\n"
        "import auth.reset\n"
        "@reset\n"
        "def go(x: Service = reset):\n"
        "    reset(1)\n"
        "    s.reset(reset, key=reset, reset=2)\n"
        "    y = s.reset\n"
        "    for reset in x: pass\n"
        "    with x as reset: pass\n"
        "    (reset := 3)\n"
        "    # reset in a comment\n"
        "    'reset in a text'\n"
        "    f'{reset}'\n"
        "    preset = resets\n"
    ),
}


def test_each_use_has_its_kind_and_what_is_around_it() -> None:
    found = index_of(USES).references("reset")
    assert [(r.path, r.line, r.kind, r.enclosing) for r in found] == [
        ("app.py", 1, "import", ""),
        ("app.py", 2, "import", ""),
        ("app.py", 3, "call", ""),
        ("app.py", 4, "name", "go"),
        ("app.py", 5, "call", "go"),
        ("app.py", 6, "call", "go"),
        ("app.py", 6, "argument", "go"),
        ("app.py", 6, "argument", "go"),
        ("app.py", 6, "argument", "go"),
        ("app.py", 7, "attribute", "go"),
        ("app.py", 8, "assignment", "go"),
        ("app.py", 9, "assignment", "go"),
        ("app.py", 10, "assignment", "go"),
        ("app.py", 13, "name", "go"),
        ("auth.py", 4, "assignment", "Service.reset"),
    ]
    assert found[4].text == "reset(1)"


def test_the_last_part_of_a_dotted_name_is_looked_for() -> None:
    assert len(index_of(USES).references("auth.Service")) == 2


def test_columns_count_characters_and_names_may_be_of_any_script() -> None:
    index = index_of({"a.py": "é = größe('日本', größe)\nübergröße = 1\n"})
    assert [(r.line, r.column) for r in index.references("größe")] == [(1, 5), (1, 17)]


def test_only_files_that_hold_the_word_are_read() -> None:
    tree = Tree(USES | {"other.py": "preset = 1\n"})
    index = tree.index()
    tree.reads.clear()
    index.references("reset")
    assert tree.reads == ["app.py", "auth.py"]
    assert index.references("absent") == []
    assert index.references("") == []
    assert tree.reads == ["app.py", "auth.py"]


def test_a_file_that_is_gone_is_left_out() -> None:
    tree = Tree(USES)
    index = tree.index()
    del tree.files["app.py"]
    assert {r.path for r in index.references("reset")} == {"auth.py"}
