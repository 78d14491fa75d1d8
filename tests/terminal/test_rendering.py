"""What a run looks like."""

import io

import pytest

from harness.journal import Journal
from harness.terminal.layout import cells
from harness.terminal.render import Renderer
from tests.terminal.stand_in import DIFF, StandIn


def shown(request: str, *, encoding: str = "utf-8", color: bool = False, **options: object) -> str:
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    session = StandIn()
    session.journal.sinks.append(Renderer(out, color=color, **options))  # type: ignore[arg-type]
    session.run(request)
    out.flush()
    text = raw.getvalue().decode(encoding)
    out.detach()
    return text


def events(*emitted: tuple[str, dict[str, object]], **options: object) -> list[str]:
    out = io.StringIO()
    journal = Journal()
    journal.sinks.append(Renderer(out, **options))  # type: ignore[arg-type]
    for kind, payload in emitted:
        journal.emit(kind, **payload)
    return out.getvalue().splitlines()


def test_a_turn_at_100_columns() -> None:
    assert shown("edit it", width=100).splitlines() == [
        "context: password_rules (matched 'password' in key, 0.41), auth.py; 2 left out",
        "✓ read_file    auth.py" + "29 lines".rjust(77),
        "✓ patch_file   auth.py" + "+1 -1".rjust(77),
        *(f"  {line}" for line in DIFF.splitlines()),
        "✗ read_file    ../../etc/passwd" + "'../../etc/passwd' is outside".rjust(68),
        "↻ timeout: no byte in 120 s; again in 2s",
        "✓ syntax_check 1 file" + "0.0s".rjust(78),
        "✗ run_tests    1 failed: test_auth.py::TestLockout::test_lockout_after_max_attempts"
        + "1.2s".rjust(16),
        "– lint         ruff is not installed" + "0.0s".rjust(63),
        "attempt 2",
        "✓ run_tests    5 passed" + "0.9s".rjust(76),
        "✓ verified: 2 gates passed (syntax_check, run_tests)",
    ]


def test_single_lines_fit_into_40_columns() -> None:
    lines = shown("edit it", width=40).splitlines()
    messages = ("✓ verified", "↻")
    assert all(cells(line) < 40 for line in lines if not line.startswith(messages))
    assert "✓ patch_file auth.py              +1 -1" in lines
    assert lines[-1] == "✓ verified: 2 gates passed (syntax_check, run_tests)"


def test_failure_denial_skip_and_review_have_glyphs_of_their_own() -> None:
    verdicts = [
        ("verdict", {"gate": "g", "status": status, "seconds": 0.1})
        for status in ("passed", "failed", "skipped", "needs_review", "could_not_run")
    ]
    assert [line[0] for line in events(*verdicts)] == ["✓", "✗", "–", "?", "!"]
    denied = events(
        ("tool_call", {"id": "1", "name": "run_shell", "summary": "ls"}),
        ("approval", {"id": "1", "tool": "run_shell", "decision": "deny", "by": "mode"}),
        ("tool_result", {"id": "1", "name": "run_shell", "ok": False, "text": "t", "note": ""}),
    )
    assert denied[0].startswith("⊘ run_shell    ls")
    assert denied[0].endswith("denied by mode")


@pytest.mark.parametrize(
    ("kind", "glyph"),
    [
        ("answered", "·"),
        ("verified", "✓"),
        ("needs_review", "?"),
        ("failed", "✗"),
        ("unverified", "!"),
        ("limit", "!"),
        ("denied", "⊘"),
        ("model_error", "✗"),
        ("interrupted", "–"),
    ],
)
def test_the_last_line_says_how_the_turn_ended(kind: str, glyph: str) -> None:
    lines = events(("outcome", {"kind": kind, "message": "because\nof this", "answer": "x"}))
    assert lines == [f"{glyph} {kind}: because of this"]


@pytest.mark.parametrize(
    ("used", "told"),
    [
        ({"prompt_tokens": 12_000, "completion_tokens": 345}, " [12,345 tokens]"),
        ({"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.0123}, " [10 tokens, $0.0123]"),
        ({"prompt_tokens": 9, "estimated": True, "cost": None}, " [about 9 tokens]"),
        ({"prompt_tokens": 0, "completion_tokens": 0, "cost": None}, ""),
    ],
)
def test_the_last_line_tells_tokens_and_the_cost_that_is_known(
    used: dict[str, object], told: str
) -> None:
    lines = events(("outcome", {"kind": "answered", "message": "", "answer": "", **used}))
    assert lines == [f"· answered{told}"]


def test_a_failed_call_without_a_note_shows_the_first_line_of_its_text() -> None:
    result = {"id": "1", "name": "patch_file", "ok": False, "note": ""}
    lines = events(
        ("tool_call", {"id": "1", "name": "patch_file", "summary": "a.py"}),
        ("tool_result", {**result, "text": "old_text was found 2 times\nlines 3, 9"}),
    )
    assert lines[0].endswith("old_text was found 2 times")


def test_a_slow_call_says_how_long_it_took() -> None:
    result = {"id": "1", "name": "run_shell", "ok": True, "text": "", "note": "exit 0"}
    assert events(("tool_result", {**result, "seconds": 12.34}))[0].endswith("exit 0 12.3s")


def test_several_calls_keep_their_arguments_apart() -> None:
    calls = [
        ("tool_call", {"id": str(n), "name": "read_file", "summary": f"{n}.py"}) for n in (1, 2)
    ]
    results = [
        ("tool_result", {"id": str(n), "name": "read_file", "ok": True, "text": "", "note": ""})
        for n in (2, 1)
    ]
    assert events(*calls, *results) == ["✓ read_file    2.py", "✓ read_file    1.py"]


def test_a_long_diff_is_bounded() -> None:
    diff = "--- a/x\n+++ b/x\n@@ -0,0 +1,100 @@\n" + "".join(f"+line {n}\n" for n in range(100))
    result = {"id": "1", "name": "write_file", "ok": True, "text": "", "note": "+100"}
    lines = events(("tool_result", {**result, "diff": diff}))
    assert len(lines) == 42
    assert lines[-1] == "  … 63 more lines"


def test_a_diff_is_coloured_only_with_color() -> None:
    assert "\x1b[32m+        self.max_attempts = 5\x1b[0m" in shown("edit it", color=True)
    assert "\x1b" not in shown("edit it", color=False, width=40)


def test_an_ascii_stream_gets_ascii_glyphs() -> None:
    text = shown("edit it", encoding="ascii", width=40)
    assert "+ read_file auth.py            29 lines" in text
    assert "x run_tests 1 failed: test_au" in text


def test_trace_lines_are_exact_and_only_with_trace() -> None:
    line = (
        "  [rules] tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
        " -> verify_gate('run_tests')"
    )
    emitted = [
        ("facts", {"lines": ["  [facts] assert test_covers('test_auth.py', 'auth.py')"]}),
        ("derived", {"line": line}),
        (
            "verdict",
            {"gate": "run_tests", "status": "failed", "line": "  [verify] run_tests: fail"},
        ),
    ]
    traced = events(*emitted, trace=True, width=40, color=True)
    assert traced[:3] == [
        "  [facts] assert test_covers('test_auth.py', 'auth.py')",
        line,
        "  [verify] run_tests: fail",
    ]
    untraced = events(*emitted, width=40)
    assert len(untraced) == 1
    assert "[verify]" not in untraced[0]


def test_streamed_text_comes_once() -> None:
    text = shown("hello", stream_text=True)
    assert text == "You said 'hello'. \n· answered: nothing was changed\n"


def test_an_answer_that_was_not_streamed_is_shown_before_the_outcome() -> None:
    text = shown("edit it", stream_text=True)
    assert text.endswith("Done.\n✓ verified: 2 gates passed (syntax_check, run_tests)\n")
    assert text.count("I will raise the limit.\n") == 1


def test_without_streaming_the_answer_is_not_in_the_way() -> None:
    assert "You said" not in shown("hello", stream_text=False)


def test_an_unknown_kind_is_passed_over() -> None:
    assert events(("something_new", {"x": 1})) == []


def test_a_resumed_session_tells_repairs_and_another_workspace() -> None:
    resumed = {"session": "s", "workspace": "/b", "repairs": ["a line was cut"], "moved_from": "/a"}
    assert events(("session_resumed", resumed)) == [
        "! a line was cut",
        "! this session began in another workspace, '/a'",
    ]


def test_a_change_of_the_protocol_is_told_with_its_reason() -> None:
    why = "its server does not show it the tools"
    (line,) = events(
        ("protocol", {"protocol": "constrained", "model": "qwen", "why": why}), width=200
    )
    assert line.endswith(
        f"qwen is asked for one step at a time, held to a schema, from now on: {why}"
    )
