"""How one event reads: from a payload of docs/journal.md to what a line says."""

from collections.abc import Mapping
from typing import Any

from harness.model.prices import dollars
from harness.terminal.layout import Row
from harness.terminal.style import Glyphs

Payload = Mapping[str, Any]

SLOW = 1.0
"""Seconds from which a tool call's duration is worth a note."""


def tool_row(glyphs: Glyphs, payload: Payload, summary: str, denied: str | None) -> Row:
    """`denied` is None or who said no, with the comment if there was one."""
    name, note = str(payload.get("name", "")), str(payload.get("note") or "")
    if denied is not None:
        return Row(glyphs.denied, "attention", name, summary, note or denied)
    if not payload.get("ok"):
        first_line = str(payload.get("text", "")).strip().partition("\n")[0]
        return Row(glyphs.failed, "bad", name, summary, note or first_line or "failed")
    seconds = float(payload.get("seconds") or 0)
    if seconds >= SLOW:
        note = f"{note} {seconds:.1f}s".lstrip()
    return Row(glyphs.passed, "good", name, summary, note)


def verdict_row(glyphs: Glyphs, payload: Payload) -> Row:
    status = str(payload.get("status", ""))
    glyph, style = _marks(glyphs).get(status, (glyphs.warning, "attention"))
    reason, summary = str(payload.get("reason") or ""), str(payload.get("summary") or "")
    about = summary or reason if status == "passed" else reason or summary
    if status == "could_not_run":
        about = f"could not run: {about}" if about else "could not run"
    note = f"{float(payload.get('seconds') or 0):.1f}s"
    return Row(glyph, style, str(payload.get("gate", "")), about, note, cut="end")


def outcome_line(glyphs: Glyphs, payload: Payload) -> tuple[str, str, str]:
    """(glyph, style, text)"""
    kind, message = str(payload.get("kind", "")), str(payload.get("message") or "")
    glyph, style = _marks(glyphs).get(kind, (glyphs.warning, "attention"))
    text = f"{kind}: {message}" if message else kind
    used = used_line(payload)
    return glyph, style, f"{text} [{used}]" if used else text


def used_line(payload: Payload) -> str:
    """`12,345 tokens, $0.0123`, '' when no model was asked; a cost only where it is known."""
    tokens = int(payload.get("prompt_tokens") or 0) + int(payload.get("completion_tokens") or 0)
    if not tokens:
        return ""
    about = "about " if payload.get("estimated") else ""
    cost = payload.get("cost")
    told = f", {dollars(float(cost))}" if cost is not None else ""
    return f"{about}{tokens:,} tokens{told}"


def context_line(payload: Payload) -> str:
    """`context: password_rules (matched 'password' in key, 0.41), auth.py`, '' for nothing."""
    picks = [_pick(pick) for pick in payload.get("picks") or ()]
    if not picks:
        return ""
    left_out = int(payload.get("left_out") or 0)
    return f"context: {', '.join(picks)}" + (f"; {left_out} left out" if left_out else "")


def compacted_line(payload: Payload) -> str:
    """`shortened the conversation from about 3,900 to 1,800 tokens (6 results, 4 steps)`"""
    counts = {
        "result": len(payload.get("shrunk") or ()),
        "step": int(payload.get("steps") or 0),
        "turn": int(payload.get("turns") or 0),
    }
    parts = [f"{n} {name}" + "s" * (n != 1) for name, n in counts.items() if n]
    before, after = int(payload.get("before") or 0), int(payload.get("after") or 0)
    what = f" ({', '.join(parts)})" if parts else ""
    return f"shortened the conversation from about {before:,} to {after:,} tokens{what}"


def retry_line(payload: Payload) -> str:
    wait = float(payload.get("wait") or 0)
    again = f"again in {wait:g}s" if wait else "again now"
    return f"{payload.get('error_class')}: {payload.get('message')}; {again}"


def _pick(pick: Payload) -> str:
    name = str(pick.get("name", ""))
    if pick.get("kind") != "entry":
        return name
    return f"{name} ({pick['reason']})" if pick.get("reason") else name


def _marks(glyphs: Glyphs) -> Mapping[str, tuple[str, str]]:
    """Glyph and style of each status of a verdict and each kind of outcome."""
    return {
        "passed": (glyphs.passed, "good"),
        "verified": (glyphs.passed, "good"),
        "answered": (glyphs.info, "dim"),
        "failed": (glyphs.failed, "bad"),
        "model_error": (glyphs.failed, "bad"),
        "needs_review": (glyphs.review, "attention"),
        "denied": (glyphs.denied, "attention"),
        "skipped": (glyphs.skipped, "dim"),
        "interrupted": (glyphs.skipped, "attention"),
    }
