"""Which model was taken is said when there was a choice."""

import io

import pytest

from harness.journal import Event
from harness.terminal.render import Renderer


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        (
            "took 'a' of 2 models at http://h/v1: a qwen",
            "· took 'a' of 2 models at http://h/v1: a qwen\n",
        ),
        ("took '\x1b[2J'", "· took '\\x1b[2J'\n"),
        ("", ""),
    ],
    ids=range(3),
)
def test_the_reason_is_shown_if_there_is_one(reason: str, shown: str) -> None:
    out = io.StringIO()
    renderer = Renderer(out)
    renderer(Event(1, 0.0, "connected", {"backend": "x", "model": "a", "reason": reason}))
    assert out.getvalue() == shown
