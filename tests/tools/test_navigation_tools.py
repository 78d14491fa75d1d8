"""find_definitions, find_references, outline and read_symbol on the example workspace."""

from pathlib import Path

import pytest
from toolrig import Rig, rigged


@pytest.fixture
def base(workspace: Path, tmp_path: Path) -> Path:
    workspace.rename(tmp_path / "ws")
    return tmp_path


def text(rig: Rig, tool: str, **arguments: str) -> str:
    return rig(tool, **arguments).text


def test_definitions_name_place_kind_and_signature(base: Path) -> None:
    with rigged(base) as rig:
        found = text(rig, "find_definitions", name="AuthService.authenticate")
        assert found == (
            "auth.py:14: method AuthService.authenticate  "
            "def authenticate(self, username, password)"
        )
        assert rig.last("tool_result")["note"] == "1 definition"
        assert text(rig, "find_definitions", symbol=" authenticate ") == found
        assert text(rig, "find_definitions", name="nope").endswith("try search.")


def test_references_name_the_line_and_what_encloses_it(base: Path) -> None:
    with rigged(base) as rig:
        found = text(rig, "find_references", name="max_attempts").split("\n")
        assert found[0] == "auth.py:9: assignment in AuthService.__init__: self.max_attempts = 3"
        assert any(line.startswith("auth.py:22: ") for line in found)
        assert text(rig, "find_references", name="nope").endswith("try search.")


def test_many_results_are_cut_with_a_count(base: Path) -> None:
    calls = "".join(f"use({n})\n" for n in range(80))
    (base / "ws" / "many.py").write_text(calls + "def f(): pass\n" * 70)
    with rigged(base) as rig:
        assert text(rig, "find_references", name="use").endswith("\n... and 20 more")
        assert text(rig, "find_definitions", name="f").endswith("\n... and 20 more")


def test_an_outline_shows_lines_and_nesting(base: Path) -> None:
    with rigged(base) as rig:
        lines = text(rig, "outline", path="auth.py").split("\n")
        assert lines[0].startswith("4-33 class AuthService  # Keeps users")
        assert "  30-33 def reset(self, username)" in lines
        assert text(rig, "outline", path="README.md") == (
            "Error: 'README.md' has no outline; read_file shows it."
        )
        assert text(rig, "outline", path="/auth.py").startswith("(There is no '/auth.py';")


def test_a_symbol_is_read_with_its_line_numbers(base: Path) -> None:
    with rigged(base) as rig:
        lines = text(rig, "read_symbol", path="auth.py", name="AuthService.reset").split("\n")
        assert lines[:2] == [
            "auth.py: method AuthService.reset",
            "   30      def reset(self, username):",
        ]
        assert len(lines) == 5
        unknown = text(rig, "read_symbol", path="auth.py", name="resett")
        assert unknown.startswith("Error: 'auth.py' defines no 'resett'; it defines: AuthService, ")


def test_a_symbol_that_is_too_long_says_how_to_go_on(base: Path) -> None:
    body = "".join(f"    x{n} = '{'y' * 100}'\n" for n in range(500))
    (base / "ws" / "long.py").write_text(f"def f():\n{body}")
    with rigged(base) as rig:
        head, *lines = text(rig, "read_symbol", path="long.py", name="f").split("\n")
        last = int(lines[-1].split()[0])
        assert head == (
            f"long.py: function f (to line 501; read_file with start={last + 1} shows more)"
        )


def test_an_edit_is_seen_at_once(base: Path) -> None:
    with rigged(base) as rig:
        rig("write_file", path="new.py", content="def fresh():\n    pass\n")
        assert text(rig, "find_definitions", name="fresh").startswith("new.py:1: function fresh")
        rig("patch_file", path="new.py", old_text="fresh", new_text="stale")
        assert "nowhere" in text(rig, "find_definitions", name="fresh")
        assert rig("read_symbol", path="new.py", name="stale").ok
