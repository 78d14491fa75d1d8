"""What is read from one Python source."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.code.parse import Parser
from harness.code.records import FileRecord, Import, Symbol
from harness.code.source import normalised


@pytest.fixture(scope="module")
def parser() -> Parser:
    return Parser()


def record(parser: Parser, source: str | bytes) -> FileRecord:
    return parser.record(source.encode() if isinstance(source, str) else source, "hash")


def symbols(parser: Parser, source: str | bytes) -> dict[str, Symbol]:
    return {symbol.qualified: symbol for symbol in record(parser, source).symbols("a.py")}


AUTH = '''"""Who may log in."""

MAX = 3


class AuthService(Base, metaclass=Meta):
    """Keeps users.

    More about it.
    """

    limit: int = 5

    def __init__(self):
        self.max_attempts = 3
        self.max_attempts = 4

    @property
    @cached
    def users(self) -> list[str]:
        """The users."""
        found = []
        return found

    async def reset(
        self,
        name,  # who
        hard=False,
    ):
        def inner():
            pass
'''


def test_definitions_have_their_place_signature_and_first_line(parser: Parser) -> None:
    found = symbols(parser, AUTH)
    assert list(found) == [
        "MAX",
        "AuthService",
        "AuthService.limit",
        "AuthService.__init__",
        "AuthService.max_attempts",
        "AuthService.users",
        "AuthService.reset",
        "AuthService.reset.inner",
    ]
    service = found["AuthService"]
    assert (service.kind, service.start_line, service.end_line) == ("class", 6, 31)
    assert service.signature == "class AuthService(Base, metaclass=Meta)"
    assert service.doc == "Keeps users."
    users = found["AuthService.users"]
    assert (users.kind, users.start_line, users.end_line) == ("method", 18, 23)
    assert users.signature == "def users(self) -> list[str]"
    assert found["AuthService.reset"].signature == "async def reset( self, name, hard=False, )"
    assert found["AuthService.reset.inner"].kind == "function"


def test_assignments_are_those_of_modules_classes_and_self(parser: Parser) -> None:
    found = symbols(parser, AUTH)
    assert found["MAX"].signature == "MAX = 3"
    assert found["AuthService.limit"].kind == "assignment"
    assert found["AuthService.max_attempts"].start_line == 15
    assert "found" not in {symbol.name for symbol in found.values()}


def test_names_bound_together_are_each_found(parser: Parser) -> None:
    assert list(symbols(parser, "a, (b) = 1, 2\nc = d = 3\nif x:\n    e: int\n")) >= ["a", "c"]
    assert {"a", "c", "d", "e"} <= symbols(parser, "a, b = 1, 2\nc = d = 3\ne: int\n").keys()


def test_lines_and_text_hold_with_characters_of_several_bytes(parser: Parser) -> None:
    source = (
        '# ✓✓✓ äöü\nNAME = "日本語"; größe = 1\n\n\n'
        'def prüfe(wörter="日本"):\n    """Prüft 日本語."""\n'
    )
    found = symbols(parser, source)
    assert found["größe"].start_line == 2
    check = found["prüfe"]
    assert (check.start_line, check.end_line) == (5, 6)
    assert check.signature == 'def prüfe(wörter="日本")'
    assert check.doc == "Prüft 日本語."


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfdef f():\n    pass\n",
        b"def f():\r\n    pass\r\n",
        b"x = 1\rdef f():\r    pass\r",
        b"# -*- coding: latin-1 -*-\n# \xe4\ndef f():\n    pass\n",
        b"#!/bin/python\n# vim: set fileencoding=cp1252 :\ndef f(): pass\n",
        b"# coding: no-such-codec\ndef f(): pass\n",
        b"\xff\xfe\ndef f(): pass\n",
        b"x = (\ndef f():\n    pass\n",
        b"class Broken(:\n    pass\n\ndef f():\n    pass\n",
        b"print 'python 2'\ndef f():\n    pass\n",
        b"x = '\x00'\ndef f():\n    pass\n",
    ],
)
def test_a_definition_is_found_whatever_is_wrong_around_it(parser: Parser, source: bytes) -> None:
    assert "f" in symbols(parser, source)


def test_a_name_in_latin_1_is_read_as_declared(parser: Parser) -> None:
    assert "größe" in symbols(parser, "# coding: latin-1\ngröße = 1\n".encode("latin-1"))


def test_lines_are_kept_when_a_source_is_normalised() -> None:
    for source in (b"a\r\nb\rc\nd", b"\xef\xbb\xbfa\rb"):
        text = source.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
        assert normalised(source).replace(b"\r\n", b"\n").decode() == text


def test_imports_are_read_as_written(parser: Parser) -> None:
    source = (
        "import a.b as c, d\n"
        "from .x.y import (z as w,\n    q)\n"
        "from . import k\n"
        "from m import *\n"
        "def f():\n    import late\n"
        "importlib.import_module('auth')\n"
        "pytest.importorskip('plugin', reason='x')\n"
        "import_module(name)\n"
        "other('not.this')\n"
    )
    assert list(record(parser, source).imports) == [
        Import("a.b", 0, (), (), 1),
        Import("d", 0, (), (), 1),
        Import("x.y", 1, ("z", "q"), ("w", "q"), 2),
        Import("", 1, ("k",), ("k",), 4),
        Import("m", 0, ("*",), ("*",), 5),
        Import("late", 0, (), (), 7),
        Import("auth", 0, (), (), 8),
        Import("plugin", 0, (), (), 9),
    ]


def test_words_weigh_more_in_names_and_docstrings(parser: Parser) -> None:
    words = record(parser, AUTH).words
    assert words["reset"] > words["hard"] > 0
    assert words["user"] > words["hard"]
    assert "the" not in words


def test_equal_sources_give_equal_records() -> None:
    assert Parser().record(AUTH.encode(), "h") == Parser().record(AUTH.encode(), "h")


@settings(deadline=None, max_examples=60)
@given(st.text(alphabet="def class():\n\t =x.é'\"#[]@,*", max_size=80))
def test_any_text_has_a_record(text: str) -> None:
    made = Parser().record(text.encode(), "h")
    for symbol in made.symbols("a.py"):
        assert 1 <= symbol.start_line <= symbol.end_line <= text.count("\n") + 1
