"""What an edit did to the tests of a file."""

import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.code.test_shape import HELPERS, ShapeChange, compare

BEFORE = """
import pytest

from auth import AuthService

LIMIT = 3


@pytest.fixture
def service():
    service = AuthService()
    service.add_user("alice", "wonderland1")
    return service


def test_accepts(service):
    assert service.authenticate("alice", "wonderland1")


def test_lockout(service):
    for _ in range(3):
        service.authenticate("alice", "no")
    assert service.is_locked("alice")
    assert not service.authenticate("alice", "wonderland1")


@pytest.mark.parametrize("n,expected", [(1, True), (2, False)])
def test_values(n, expected):
    with pytest.raises(ValueError, match="x"):
        run(n)
    assert run(0) == pytest.approx(expected)


class TestReset:
    def setup_method(self):
        self.service = AuthService()

    def test_reset(self):
        assert self.service.reset() is None
"""


def change(old: str, new: str) -> ShapeChange:
    assert old in BEFORE
    return compare(BEFORE.encode(), BEFORE.replace(old, new, 1).encode())


def test_the_same_file_is_no_change() -> None:
    assert not compare(BEFORE.encode(), BEFORE.encode())
    assert compare(BEFORE.encode(), BEFORE.encode()) == ShapeChange()


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("range(3)", "range(5)", "test_lockout"),
        (
            'assert service.is_locked("alice")',
            'assert not service.is_locked("alice")',
            "test_lockout",
        ),
        ('    assert service.is_locked("alice")\n', "", "test_lockout"),
        ('"no")\n    assert', '"no")\n        assert', "test_lockout"),
        ("    for _ in", "    service.max_attempts = 3\n    for _ in", "test_lockout"),
        ("(2, False)", "(2, True)", "test_values"),
        (", (2, False)", "", "test_values"),
        ("ValueError", "TypeError", "test_values"),
        ('match="x"', 'match="y"', "test_values"),
        ("approx(expected)", "approx(expected, abs=9)", "test_values"),
        ("def test_accepts(service)", "def test_accepts(other)", "test_accepts"),
        ("def test_accepts", "@patch('auth.X')\ndef test_accepts", "test_accepts"),
        ("reset() is None", "reset() is not None", "TestReset.test_reset"),
        ("LIMIT = 3", "LIMIT = 5", HELPERS),
        ('add_user("alice"', 'add_user("bob"', HELPERS),
        ("    return service", "    service.max_attempts = 3\n    return service", HELPERS),
        ("from auth import AuthService", "from fake import AuthService", HELPERS),
        ("\n\nLIMIT", "\nclass AuthService: ...\n\nLIMIT", HELPERS),
        ("self.service = AuthService()", "self.service = Fake()", HELPERS),
    ],
)
def test_a_changed_expectation_names_the_test(old: str, new: str, name: str) -> None:
    assert change(old, new) == ShapeChange(expectation_changed=(name,))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    assert run(0)", "    # why\n    assert  run( 0 )"),
        ("def test_accepts(service):\n", 'def test_accepts(service):\n    """Yes."""\n'),
        ("    service = AuthService()\n", "    # made anew\n    service = AuthService()\n"),
        ("    return service", "    '''doc'''\n    return service"),
        ("for _ in range(3)", "for attempt in range(3)"),
        ("(2, False)]", "(2, False), (3, True)]"),
        ("def test_accepts", "def test_more():\n    assert 1\n\n\ndef test_accepts"),
        ('"wonderland1")\n\n\ndef test_lock', '"wonderland1")\n    assert 2\n\n\ndef test_lock'),
        ("    assert run(0)", "    assert run(5)\n    assert run(0)"),
        (
            "    assert run(0)",
            "    with pytest.raises(OSError):\n        run(7)\n    assert run(0)",
        ),
        ("reset() is None\n", "reset() is None\n        more = 1\n        assert more\n"),
        ("def test_accepts", "@pytest.mark.slow\ndef test_accepts"),
        ("def test_accepts(service)", "def test_granted(service)"),
        ("from auth import AuthService", "from auth import AuthService, Error"),
        ("LIMIT = 3", "LIMIT = 3\nOTHER = 4"),
        ("import pytest\n", "import os\nimport pytest\n"),
    ],
)
def test_what_adds_or_only_looks_different_is_no_change(old: str, new: str) -> None:
    assert not change(old, new)


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("def test_lockout", "@pytest.mark.skip\ndef test_lockout", "test_lockout"),
        (
            "def test_lockout",
            "@pytest.mark.skipif(True, reason='')\ndef test_lockout",
            "test_lockout",
        ),
        ("def test_lockout", "@pytest.mark.xfail(strict=False)\ndef test_lockout", "test_lockout"),
        ("    for _ in", "    pytest.skip('flaky')\n    for _ in", "test_lockout"),
        ("    for _ in", "    return\n    for _ in", "test_lockout"),
        ("    for _ in", "    if True:\n        return\n    for _ in", "test_lockout"),
        ("    for _ in", "    os._exit(0)\n    for _ in", "test_lockout"),
        ("    assert run(0)", "    if False:\n        assert run(0)", "test_values"),
        (
            "    assert run(0)",
            "    try:\n        assert run(0)\n    except Exception:\n        pass\n    X",
            "test_values",
        ),
        (
            "    assert run(0)",
            "    with contextlib.suppress(AssertionError):\n        assert run(0)",
            "test_values",
        ),
        ("        assert self.service.reset() is None\n", "        pass\n", "TestReset.test_reset"),
        ("class TestReset:\n", "@unittest.skip('x')\nclass TestReset:\n", "TestReset.test_reset"),
        ("class TestReset:\n", "class TestReset:\n    __test__ = False\n", "TestReset.test_reset"),
        (
            "class TestReset:\n",
            "class TestReset:\n    pytestmark = pytest.mark.skip\n",
            "TestReset.test_reset",
        ),
        ("[(1, True), (2, False)]", "[]", "test_values"),
        (
            "(2, False)]",
            "pytest.param(2, False, marks=pytest.mark.xfail)]",
            "test_values",
        ),
        ("class TestReset", "test_accepts.__test__ = False\n\n\nclass TestReset", "test_accepts"),
        ("class TestReset", "def test_accepts():\n    pass\n\n\nclass TestReset", "test_accepts"),
    ],
)
def test_a_test_switched_off_is_named(old: str, new: str, name: str) -> None:
    assert change(old, new) == ShapeChange(switched_off=(name,))


@pytest.mark.parametrize(
    "line",
    [
        "pytestmark = pytest.mark.skip(reason='later')\n",
        "pytestmark = [pytest.mark.xfail]\n",
        "pytest.skip('later', allow_module_level=True)\n",
        "__test__ = False\n",
    ],
)
def test_a_file_switched_off_names_all_its_tests(line: str) -> None:
    changed = change("LIMIT", f"{line}LIMIT")
    assert changed.switched_off == (
        "TestReset.test_reset",
        "test_accepts",
        "test_lockout",
        "test_values",
    )


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("def test_lockout", "def check_lockout", ("test_lockout",)),
        ("class TestReset", "class ResetChecks", ("TestReset.test_reset",)),
        ("class TestReset", "del test_values\n\n\nclass TestReset", ("test_values",)),
        ("class TestReset", "test_values = None\n\n\nclass TestReset", ("test_values",)),
        ("def test_accepts", "if False:\n  def test_accepts", ("test_accepts",)),
        (
            "    def setup_method",
            "    def __init__(self): ...\n\n    def setup_method",
            ("TestReset.test_reset",),
        ),
    ],
)
def test_a_test_that_is_gone_is_named(old: str, new: str, names: tuple[str, ...]) -> None:
    assert change(old, new).removed == names


def test_an_empty_file_has_lost_every_test() -> None:
    assert len(compare(BEFORE.encode(), b"").removed) == 4


def test_what_does_not_parse_says_nothing() -> None:
    assert not compare(BEFORE.encode(), b"def broken(:\n")
    assert not compare(b"\x00", BEFORE.encode())
    assert not compare(b"\xff\xfe", BEFORE.encode())


def test_switching_a_test_on_again_is_no_change() -> None:
    skipped = BEFORE.replace("def test_lockout", "@pytest.mark.skip\ndef test_lockout")
    assert not compare(skipped.encode(), BEFORE.encode())


def test_a_new_test_may_be_skipped() -> None:
    assert not change(
        "class TestReset", "@pytest.mark.skip\ndef test_new(): ...\n\n\nclass TestReset"
    )


def test_assertions_moved_to_a_helper_of_the_file_are_not_gone() -> None:
    changed = change(
        '    assert service.authenticate("alice", "wonderland1")\n',
        "    accepted(service)\n\n\ndef accepted(service):\n    assert service.authenticate\n",
    )
    assert changed == ShapeChange(expectation_changed=("test_accepts",))


def test_a_skip_method_of_the_code_itself_is_no_skip() -> None:
    before = b"def test_a():\n    assert read(1)\n"
    after = b"def test_a():\n    assert read(1)\n    reader.skip(3)\n    assert reader.left\n"
    assert not compare(before, after)


def test_local_variables_may_be_renamed() -> None:
    before = b"def test_a():\n    x = make()\n    y = x.z\n    assert y == x\n"
    after = b"def test_a():\n    made = make()\n    got = made.z\n    assert got == made\n"
    swapped = b"def test_a():\n    x = make()\n    y = x.z\n    assert x == x\n"
    assert not compare(before, after)
    assert compare(before, swapped).expectation_changed == ("test_a",)


def test_cases_of_unittest_are_seen() -> None:
    before = textwrap.dedent(
        """
        class LoginCase(unittest.TestCase):
            def test_login(self):
                self.assertEqual(login(), 3)
        """
    )
    after = before.replace("3)", "4)")
    skipped = before.replace("self.assert", "self.skipTest('x')\n        self.assert")
    name = ("LoginCase.test_login",)
    assert compare(before.encode(), after.encode()) == ShapeChange(expectation_changed=name)
    assert compare(before.encode(), skipped.encode()) == ShapeChange(switched_off=name)


def test_an_invalid_escape_is_not_our_business() -> None:
    source = b"def test_a():\n    assert match('\\d')\n"
    assert not compare(source, source)


lines = st.lists(
    st.sampled_from(
        [
            "def test_a():",
            "def test_b(x):",
            "    assert a == 1",
            "    assert b",
            "    with c:",
            "        assert d",
            "    return",
            "X = 1",
            "@mark.skip",
        ]
    ),
    max_size=8,
)


@given(lines, lines)
def test_any_two_files_can_be_compared_and_a_file_is_like_itself(
    one: list[str], other: list[str]
) -> None:
    before, after = "\n".join(one).encode(), "\n".join(other).encode()
    compare(before, after)
    assert not compare(before, before)


@given(lines, lines)
def test_each_test_is_named_in_one_place(one: list[str], other: list[str]) -> None:
    found = compare("\n".join(one).encode(), "\n".join(other).encode())
    named = [*found.expectation_changed, *found.removed, *found.switched_off]
    assert len(named) == len(set(named))
