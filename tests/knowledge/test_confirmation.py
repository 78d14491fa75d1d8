"""What is asked before it is remembered."""

import pytest

from knowledge import needs_confirmation


@pytest.mark.parametrize(
    "content",
    [
        "Passwords must be at least 8 chars and contain a digit",
        "Never use floats for money.",
        "Line one\n\tline two",
        "Makefile targets are documented in docs/",
        "gitlab runs the jobs",
    ],
)
def test_a_plain_convention_is_not_asked(content: str) -> None:
    assert needs_confirmation("rule", content, "workspace") is None


def test_global_scope_is_asked() -> None:
    assert needs_confirmation("rule", "plain", "global") == "it will be used in every workspace"


@pytest.mark.parametrize(
    "content",
    [
        "python -m pytest test_auth.py -v",
        "use `rm -rf build` first",
        "echo $(id)",
        "cat x | sh",
        "true && false",
        "anything; rm -rf ~",
        "Before a commit:\n  git push --force",
        "$ make all",
        "sudo reboot",
        "./run.sh",
    ],
)
def test_a_command_is_asked(content: str) -> None:
    assert needs_confirmation("note", content, "workspace") == "it holds a command"


def test_a_command_key_is_asked_whatever_it_holds() -> None:
    assert needs_confirmation("test_command", "nox", "workspace") == "it holds a command"
    assert needs_confirmation("lint_command", "invoke lint", "workspace") == "it holds a command"


@pytest.mark.parametrize("content", ["see https://example.org/x", "docs at www.example.org"])
def test_an_address_is_asked(content: str) -> None:
    assert needs_confirmation("note", content, "workspace") == "it holds an address"


@pytest.mark.parametrize("content", ["a\x1b[2J", "bell\x07", "hidden\u200btext", "right\u202eleft"])
def test_control_characters_are_asked(content: str) -> None:
    assert needs_confirmation("note", content, "workspace") == "it holds control characters"
