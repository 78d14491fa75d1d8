"""`demo`: the lockout task without and with OODA, on real files, HTTP, rules and pytest.

Only the model is not real: a script answers on a loopback port in its place.
"""

import shutil
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

from harness.config import Options, places
from harness.gates.registry import run_gate
from harness.gates.values import GateContext, Verdict
from harness.journal import Event
from harness.model.script import Script
from harness.model.scripted import ScriptedServer
from harness.ooda.turn import Outcome
from harness.session import Session
from harness.tools.approval import Answer, ApprovalRequest

REQUEST = "Raise the lockout threshold from 3 to 5 failed attempts."
_HERE = Path(__file__).parent
_NARROW = 60


@dataclass(frozen=True)
class Side:
    """One of the two runs."""

    title: str
    outcome: Outcome
    events: tuple[Event, ...]
    truth: Verdict


def demo(out: TextIO) -> int:
    """Run both and print them side by side; 0 when the OODA run ended verified."""
    folder = Path(tempfile.mkdtemp(prefix="mini-coding-agent-demo-"))
    try:
        out.write(_INTRODUCTION)
        out.flush()
        sides = [_run(folder, "--no-ooda", False), _run(folder, "OODA", True)]
        width = min(shutil.get_terminal_size((100, 24)).columns, 120)
        out.write("\n".join(_table(sides, width)) + "\n\n" + _why(sides[1]) + "\n")
        out.write(_CONCLUSION)
        return 0 if sides[1].outcome.kind == "verified" else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


_INTRODUCTION = f"""\
The task: {REQUEST!r}, on a copy of example_workspace.
The model's replies are scripted, so this needs no server, key or network. Everything else is
real: the HTTP server on loopback, the tools, the files, the rules, the tests that run.

"""
_CONCLUSION = """
The same replies were given in both runs. Without OODA the first "done" was believed; with it,
the failing test went back to the model, which then sent its next replies.
Now try it with a local model: mini-coding-agent "your request" (see the README).
"""


def _run(folder: Path, title: str, ooda: bool) -> Side:
    workspace = folder / ("ooda" if ooda else "baseline")
    shutil.copytree(_example(), workspace, ignore=shutil.ignore_patterns("__pycache__", ".*"))
    events: list[Event] = []
    with ScriptedServer(Script.load(_HERE / "demo_script.json")) as server:
        options = Options(host=server.base_url, backend="openai", approval="auto", ooda=ooda)
        where = places(workspace, home=folder / "home")
        session = Session(options, where, _never_asked, version="demo", sinks=[events.append])
        try:
            outcome = session.run(REQUEST)
        finally:
            session.close("end")
    return Side(title, outcome, tuple(events), _truth(workspace, folder))


def _example() -> Path:
    return _HERE.parent / "example_workspace"


def _never_asked(request: ApprovalRequest) -> Answer:
    return Answer(False, by="mode")


def _truth(workspace: Path, folder: Path) -> Verdict:
    """What the tests say of the files as the run left them."""
    context = GateContext(root=workspace.resolve(), private=folder, seconds=60)
    return run_gate("run_tests", ("test_auth.py",), context)


def _table(sides: Sequence[Side], width: int) -> list[str]:
    rows = [("", [side.title for side in sides])]
    rows += [
        (label, [value(side) for side in sides])
        for label, value in (
            ("claimed", lambda s: s.outcome.answer.strip()),
            ("the tests say", lambda s: _tests_say(s.truth)),
            ("outcome", lambda s: f"{s.outcome.kind}: {s.outcome.message}"),
            ("gates due", lambda s: ", ".join(_gates(s.events)) or "none"),
            ("attempts", lambda s: str(s.outcome.attempts)),
            ("steps", lambda s: str(s.outcome.steps)),
            ("tokens", _tokens),
            ("time", lambda s: f"{s.outcome.seconds:.2f} s"),
        )
    ]
    return _stacked(rows, width) if width < _NARROW else _columns(rows, width)


def _columns(rows: Iterable[tuple[str, list[str]]], width: int) -> list[str]:
    from itertools import zip_longest
    from textwrap import wrap

    label_width = 14
    column = (width - label_width - 2) // 2
    lines: list[str] = []
    for label, cells in rows:
        wrapped = [wrap(cell, column) or [""] for cell in cells]
        for number, parts in enumerate(zip_longest(*wrapped, fillvalue="")):
            head = label if number == 0 else ""
            body = "  ".join(f"{part:<{column}}" for part in parts)
            lines.append(f"{head:<{label_width}}{body}".rstrip())
    return lines


def _stacked(rows: Sequence[tuple[str, list[str]]], width: int) -> list[str]:
    from textwrap import wrap

    lines: list[str] = []
    for index, title in enumerate(rows[0][1]):
        lines.append(title)
        for label, cells in rows[1:]:
            text = f"{label}: {cells[index]}"
            lines += wrap(text, width, initial_indent="  ", subsequent_indent="    ")
    return lines


def _tests_say(verdict: Verdict) -> str:
    told = verdict.summary or verdict.reason
    names = [finding.where.split("::")[-1] for finding in verdict.findings]
    return f"{told}: {', '.join(names)}" if verdict.status == "failed" and names else told


def _gates(events: Iterable[Event]) -> list[str]:
    names: list[str] = []
    for event in events:
        if event.kind == "gates_due":
            names += [gate["name"] for gate in event.payload["gates"] if gate["name"] not in names]
    return names


def _tokens(side: Side) -> str:
    total = side.outcome.prompt_tokens + side.outcome.completion_tokens
    return f"{total:,} (counted by the scripted server, about 4 characters each)"


def _why(side: Side) -> str:
    """The derivations of the gates, as the trace shows them."""
    lines = ["Why those gates were due, and what they said:"]
    for event in side.events:
        line = str(event.payload.get("line", ""))
        if event.kind == "verdict" or (event.kind == "derived" and "-> verify_gate" in line):
            lines.append(line)
    return "\n".join(lines)
