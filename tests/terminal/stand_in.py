"""A small session without a model, for driving the face: `python -m tests.terminal.stand_in`.

What it does depends on the first word of the request.
"""

import argparse
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.errors import UserError
from harness.journal import Journal
from harness.reports import EntryLine, ProposalLine, RuleLine, RulesCheck, RulesReport
from harness.terminal import repl
from harness.terminal.console import open_console
from harness.tools.approval import Answer, ApprovalRequest, Asker

DIFF = """--- a/auth.py
+++ b/auth.py
@@ -6,7 +6,7 @@
     def __init__(self):
         self.users_db = {}
-        self.max_attempts = 3
+        self.max_attempts = 5
"""
PROOF = """verify_gate('run_tests')
  by tdd_gate
    file_modified('auth.py')
    test_covers('test_auth.py', 'auth.py')"""


@dataclass(frozen=True)
class Outcome:
    kind: str
    exit_code: int = 0
    message: str = ""
    answer: str = ""


def _nobody(request: ApprovalRequest) -> Answer:
    return Answer(False, by="mode")


TDD = "tdd_gate: file_modified(?file) + test_covers(?t, ?file) -> verify_gate('run_tests')"
API = "api: file_modified(?f) -> verify_gate('security')"
REFUSED = """the rule:1:8: error[syntax]: a condition is missing
    1 | bad: ->
      |      ^"""


@dataclass
class StandInRules:
    session: "StandIn"

    def report(self) -> RulesReport:
        return RulesReport(
            self.session.facts,
            (
                RuleLine("kernel", TDD, "kernel.dl:7", "tdd_gate"),
                RuleLine("default", "p(?x) -> q(?x)", "default.dl:3", "rule@default.dl:3", True),
                RuleLine("workspace", API, "local.dl:1", "api"),
                RuleLine("workspace", "p(1).", "local.dl:2", "rule@local.dl:2", stated=True),
            ),
            ("verify_gate('run_tests')", "gate_target('run_tests', 'test_auth.py')"),
            self.session.dropped,
        )

    def why(self, fact: str, *, as_json: bool = False) -> str:
        if fact != "verify_gate('run_tests')":
            raise UserError(f"{fact!r} is no fact")
        return '{"fact": 1}' if as_json else PROOF

    def check(self, path: str) -> RulesCheck:
        refused = path != "good.dl"
        return RulesCheck(() if refused else (API,), (REFUSED,) if refused else (), refused)

    def add(self, text: str, *, everywhere: bool = False) -> RulesCheck:
        if text == "bad: ->":
            return RulesCheck((), (REFUSED,), True)
        on_again = ("api",) if text == API else ()
        return RulesCheck((text,), (), False, "global.dl" if everywhere else "local.dl", on_again)

    def switch(self, name: str, *, on: bool) -> str:
        if name != "api":
            raise UserError(f"there is no rule {name!r}")
        return API

    def propose(self) -> tuple[ProposalLine, ...]:
        reason = "'b.py' changed in 3 of the 3 sessions that changed 'a.py'"
        return (ProposalLine(1, (API, TDD), reason, ("s1", "s2", "s3")),)

    def accept(self, number: int) -> tuple[tuple[str, ...], str]:
        return (API,), "learned.dl"

    def reject(self, number: int) -> tuple[str, ...]:
        return (API,)


@dataclass
class StandIn:
    journal: Journal = field(default_factory=Journal)
    asker: Asker = _nobody
    ooda: bool = True
    id: str = "20260101-abc"
    requests: list[str] = field(default_factory=list)
    resets: int = 0
    facts: tuple[str, ...] = ("has_tests", "file_modified('auth.py')")
    dropped: tuple[tuple[str, str], ...] = ()

    def run(self, request: str) -> Outcome:
        self.requests.append(request)
        act = getattr(self, f"_{request.split()[0]}", self._say)
        try:
            outcome = act(request)
        except KeyboardInterrupt:
            outcome = Outcome("interrupted", 130, "stopped by Ctrl-C, the session is saved")
        self.journal.emit(
            "outcome",
            kind=outcome.kind,
            exit_code=outcome.exit_code,
            message=outcome.message,
            answer=outcome.answer,
        )
        return outcome

    def reset(self) -> None:
        self.resets += 1
        self.facts = ("has_tests",)

    @property
    def rules(self) -> "StandInRules":
        return StandInRules(self)

    def entries(self) -> tuple[EntryLine, ...]:
        text = "Passwords must be at least 8 chars and contain a digit"
        return (EntryLine("password_rules", text, "workspace", "picked in this turn"),)

    def memory(self) -> tuple[tuple[str, str], ...]:
        return (("turns", str(len(self.requests))), ("estimated tokens", "1,234"))

    def info(self) -> tuple[tuple[str, str], ...]:
        return (
            ("id", self.id),
            ("workspace", "/home/ada/projects/shop/backend/services/authentication"),
            ("model", "qwen3-coder:30b"),
            ("host", "http://127.0.0.1:11434"),
        )

    def diff(self) -> str:
        return DIFF if self.requests else ""

    def _say(self, request: str) -> Outcome:
        text = f"You said {request!r}."
        self.journal.emit("model_request", request=len(self.requests))
        for word in text.split(" "):
            self.journal.live("text", text=word + " ")
        self.journal.emit("model_reply", text=text, error=None)
        return Outcome("answered", 0, "nothing was changed", text)

    def _slow(self, request: str) -> Outcome:
        self.journal.emit("model_request", request=len(self.requests))
        self.journal.live("text", text="Let me think")
        time.sleep(30)
        return Outcome("answered", 0, "", "thought")

    def _stubborn(self, request: str) -> Outcome:
        try:
            return self._slow(request)
        except KeyboardInterrupt:
            self.journal.emit("notice", level="info", text="saving")
            time.sleep(30)
            raise

    def _wait(self, request: str) -> Outcome:
        self.journal.emit("notice", level="info", text="waiting")
        time.sleep(0.5)
        return self._shell("shell make all")

    def _down(self, request: str) -> Outcome:
        return Outcome("model_error", 4, "no server at http://127.0.0.1:11434: connection refused")

    def _shell(self, request: str) -> Outcome:
        command = request.partition(" ")[2] or "rm -rf build"
        self.journal.emit("tool_call", id="c1", name="run_shell", arguments={}, summary=command)
        answer = self.asker(ApprovalRequest("run_shell", command, "it may change files", command))
        decision = "allow" if answer.allow else "deny"
        self.journal.emit(
            "approval",
            id="c1",
            tool="run_shell",
            decision=decision,
            by=answer.by,
            comment=answer.comment,
        )
        note = "exit 0, 1 line" if answer.allow else ""
        self._result("c1", "run_shell", answer.allow, note)
        return Outcome("answered", 0, "nothing was changed", f"{decision} {answer.scope}")

    def _edit(self, request: str) -> Outcome:
        emit = self.journal.emit
        emit(
            "context",
            picks=[
                {"kind": "entry", "name": "password_rules", "score": 0.41}
                | {"reason": "matched 'password' in key, 0.41"},
                {"kind": "code", "name": "auth.py", "reason": "named", "score": 1.0},
            ],
            left_out=2,
        )
        emit("facts", added=[], lines=["  [facts] assert test_covers('test_auth.py', 'auth.py')"])
        emit("model_request", request=1)
        self.journal.live("text", text="I will raise the limit.")
        emit("model_reply", text="I will raise the limit.", error=None)
        emit("tool_call", id="c1", name="read_file", arguments={}, summary="auth.py")
        self._result("c1", "read_file", True, "29 lines")
        emit("tool_call", id="c2", name="patch_file", arguments={}, summary="auth.py")
        self._result("c2", "patch_file", True, "+1 -1", diff=DIFF)
        emit("tool_call", id="c3", name="read_file", arguments={}, summary="../../etc/passwd")
        self._result("c3", "read_file", False, "", text="'../../etc/passwd' is outside")
        emit("model_retry", error_class="timeout", message="no byte in 120 s", wait=2)
        self._verdict("syntax_check", "passed", summary="1 file", seconds=0.01)
        lockout = "1 failed: test_auth.py::TestLockout::test_lockout_after_max_attempts"
        self._verdict("run_tests", "failed", reason=lockout, seconds=1.24)
        self._verdict("lint", "skipped", reason="ruff is not installed", seconds=0)
        emit("attempt_started", attempt=2)
        self._verdict("run_tests", "passed", summary="5 passed", seconds=0.93)
        return Outcome("verified", 0, "2 gates passed (syntax_check, run_tests)", "Done.")

    def _verdict(
        self, gate: str, status: str, summary: str = "", reason: str = "", seconds: float = 0
    ) -> None:
        word = {"passed": "pass", "failed": "fail"}.get(status, status)
        self.journal.emit(
            "verdict",
            gate=gate,
            status=status,
            summary=summary,
            reason=reason,
            seconds=seconds,
            line=f"  [verify] {gate}: {word}",
        )

    def _result(
        self, call: str, name: str, ok: bool, note: str, diff: str = "", text: str = ""
    ) -> None:
        self.journal.emit(
            "tool_result", id=call, name=name, ok=ok, text=text, note=note, diff=diff, seconds=0.1
        )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path())
    parser.add_argument("--history", type=Path)
    parser.add_argument("--no-ooda", action="store_true")
    parser.add_argument("--trace", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    console = open_console(sys.stdin, sys.stdout, sys.stderr, trace=given.trace, json=given.json)
    session = StandIn(Journal(), console.ask, ooda=not given.no_ooda)
    session.journal.sinks.extend(console.sinks)
    return repl.run(session, console, root=given.root, history_file=given.history, version="0.1.0")


if __name__ == "__main__":
    sys.exit(main())
