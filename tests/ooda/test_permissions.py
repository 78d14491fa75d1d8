"""What rules say of the calls that a model asks for."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from harness.code.index import CodeIndex
from harness.journal import Event, Journal
from harness.model.values import Call
from harness.ooda.decide import Decide
from harness.ooda.facts import Facts
from harness.ooda.observe import Observe
from harness.ooda.orient import Orient
from harness.ooda.turn import Turn
from harness.rulebook import files
from harness.tools.approval import Answer, ApprovalRequest, Approvals, Requested, Ruling
from harness.tools.base import Prepared, Result, ToolContext
from harness.tools.toolbox import Toolbox
from harness.tools.write_file import TOOL
from harness.workspace.changes import Tracker
from harness.workspace.root import Root
from knowledge import Store
from rules import Program

PROD = """
no_prod: tool_requested(?id, ?tool, ?path) + tool_writes(?tool) + path_in('prod', ?path)
    -> permission(?id, 'deny', 'prod/ is changed by its owners')
secret: tool_requested(?id, _, ?path) + glob('**/*.pem', ?path)
    -> permission(?id, 'deny', 'keys are not read')
look: tool_requested(?id, ?tool, ?path) + tool_writes(?tool) + path_in('docs', ?path)
    -> permission(?id, 'ask', 'docs are published at once')
force: command_requested(?id, ?text) + contains(?text, '--force')
    -> permission(?id, 'deny', 'nothing is forced')
slow: command_requested(?id, ?text) + starts_with(?text, 'make ')
    -> permission(?id, 'ask', 'make takes an hour')
odd: tool_requested(?id, _, 'odd.txt') -> permission(?id, 'forbid', 'odd')
"""


class Rig:
    """Toolbox and decide as a session joins them, and a person who answers as told."""

    def __init__(self, base: Path, mode: str, answers: list[Answer], rules: str) -> None:
        self.workspace = base / "ws"
        self.workspace.mkdir(parents=True)
        self.events: list[Event] = []
        self.asked: list[ApprovalRequest] = []
        self._answers = answers
        root = Root(self.workspace)
        tracker = Tracker(root, base / "files.json")
        self.index = CodeIndex(root.read)
        journal = Journal()
        journal.sinks.append(self.events.append)
        program = Program.parse(rules, "team.dl", "workspace")
        shipped = [files.read(file) for file in files.shipped()]
        self.facts = Facts(Program.union([*shipped, program]), journal)
        store = Store(self.workspace / "a" / "b" / "entries.json", base / "entries.json")
        context = ToolContext(
            root, tracker, self._fresh_index, store, base, 30, "ws",
            withheld=lambda tool, paths: self.decide.withheld(tool, paths),
        )  # fmt: skip
        self._tracker = tracker
        approvals = Approvals(mode, self._ask)
        self.toolbox = Toolbox(
            context, approvals, journal, lambda requested: self.decide.permission(requested)
        )
        observe = Observe(root, tracker)
        self.decide = Decide(
            self.facts, self.index, lambda now: None, observe, tracker, root, self.toolbox.access
        )
        self.decide.begin(Turn(1, "x", observe.now()))
        self._calls = 0

    def __call__(self, tool: str, /, **arguments: Any) -> Result:
        """One call, as the loop makes it."""
        self._calls += 1
        call = Call(f"c{self._calls}", tool, arguments, "")
        self.decide.requested(call, self.toolbox.path_of(call))
        result = self.toolbox.run(call)
        self.toolbox.report(call, result)
        return result

    def last(self, kind: str) -> dict[str, Any]:
        return dict(next(event for event in reversed(self.events) if event.kind == kind).payload)

    def kinds(self) -> list[str]:
        return [event.kind for event in self.events]

    def _fresh_index(self) -> CodeIndex:
        self.index.refresh(self._tracker.snapshot())
        return self.index

    def _ask(self, request: ApprovalRequest) -> Answer:
        self.asked.append(request)
        return self._answers.pop(0) if self._answers else Answer(False, by="end of input")


@contextmanager
def rigged(base: Path, mode: str = "auto", *answers: Answer, rules: str = PROD) -> Iterator[Rig]:
    rig = Rig(base, mode, list(answers), rules)
    yield rig
    rig.index.close()


@pytest.mark.parametrize("mode", ["auto", "ask", "never"])
def test_a_refusal_is_the_result_of_the_call_with_its_reason(tmp_path: Path, mode: str) -> None:
    with rigged(tmp_path, mode, Answer(True)) as rig:
        result = rig("write_file", path="./prod/../prod/a.txt", content="x")
        assert result.denied
        assert "Denied (prod/ is changed by its owners): write_file was not run." in result.text
        assert rig.asked == []
        assert rig.last("approval") == {
            "id": "c1",
            "tool": "write_file",
            "decision": "deny",
            "by": "rule",
            "comment": "prod/ is changed by its owners",
        }
        assert rig.last("derived")["line"] == (
            "  [rules] no_prod: tool_requested('c1', 'write_file', 'prod/a.txt')"
            " + tool_writes('write_file') + path_in('prod', 'prod/a.txt')"
            " -> permission('c1', 'deny', 'prod/ is changed by its owners')"
        )
        assert not (rig.workspace / "prod").exists()


def test_a_link_does_not_lead_around_a_rule(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        (rig.workspace / "prod").mkdir()
        (rig.workspace / "prod" / "a.txt").write_text("one\n")
        (rig.workspace / "link.txt").symlink_to("prod/a.txt")
        assert rig("patch_file", path="link.txt", old_text="one", new_text="two").denied
        assert (rig.workspace / "prod" / "a.txt").read_text() == "one\n"


def test_reading_can_be_refused_too(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        (rig.workspace / "a.pem").write_text("key")
        (rig.workspace / "a.txt").write_text("text")
        assert "keys are not read" in rig("read_file", path="a.pem").text
        assert rig("read_file", path="a.txt").ok
        assert rig.kinds().count("approval") == 1


def test_a_refused_call_tells_nothing_of_the_file(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        (rig.workspace / "a.pem").write_text("top secret\n")
        for spelling in ("a.pem", "/workspace/a.pem", "x/../a.pem"):
            result = rig("patch_file", path=spelling, old_text="top sekret", new_text="x")
            assert result.denied, result.text
            assert "secret" not in result.text


def test_invalid_arguments_are_never_asked_about(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True)) as rig:
        assert rig("patch_file", path="docs/no.md", old_text="a", new_text="b").text.startswith(
            "Error: "
        )
        assert rig("write_file", path="docs/a.md").malformed
        assert rig.asked == []


def test_a_question_is_asked_also_where_the_mode_would_allow(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True)) as rig:
        assert rig("write_file", path="docs/a.md", content="x").ok
        (request,) = rig.asked
        assert request.reason == "docs are published at once"
        assert "+x" in request.preview
        assert rig.last("approval")["by"] == "user"
        assert rig("write_file", path="other/a.md", content="x").ok
        assert len(rig.asked) == 1


def test_without_an_answer_the_call_is_not_run_and_the_model_is_told_why(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto") as rig:
        result = rig("write_file", path="docs/a.md", content="x")
        assert result.denied
        assert "docs are published at once" in result.text
        assert rig.last("approval")["by"] == "end of input"
        assert not (rig.workspace / "docs").exists()


def test_under_never_nobody_is_asked(tmp_path: Path) -> None:
    with rigged(tmp_path, "never", Answer(True)) as rig:
        assert rig("write_file", path="docs/a.md", content="x").denied
        assert rig.asked == []


def test_an_allowance_for_the_session_is_for_this_file_and_reason(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True, scope="session"), Answer(True)) as rig:
        for _ in range(2):
            assert rig("write_file", path="docs/a.md", content=f"{len(rig.events)}").ok
        assert len(rig.asked) == 1
        assert rig("write_file", path="docs/b.md", content="x").ok
        assert len(rig.asked) == 2


def test_an_edit_tool_allowed_for_the_session_is_still_asked_about_by_rules(tmp_path: Path) -> None:
    with rigged(tmp_path, "ask", Answer(True, scope="session")) as rig:
        assert rig("write_file", path="a.md", content="x").ok
        assert rig("write_file", path="docs/a.md", content="x").denied


def test_the_text_of_a_command_is_a_fact(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True)) as rig:
        assert rig("run_shell", command="echo a  --force").denied
        assert rig("run_shell", cmd="echo a").ok
        assert rig.asked == []
        rig("run_shell", command="make  x")
        assert [request.reason for request in rig.asked] == ["make takes an hour"]


def test_a_refusal_goes_before_a_question(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True)) as rig:
        assert rig("run_shell", command="make --force").denied
        assert rig.asked == []


def test_a_decision_with_an_unknown_name_is_asked_about(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", Answer(True)) as rig:
        assert rig("write_file", path="odd.txt", content="x").ok
        assert rig.asked[0].reason == "a rule says 'forbid': odd"


def test_what_was_said_of_one_call_does_not_hold_for_another(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        assert rig("write_file", path="prod/a", content="x").denied
        assert rig("write_file", path="a", content="x").ok


def test_the_kernel_may_allow_and_a_reading_mode_stays_one() -> None:
    free = Ruling("allow", "it is free")
    asked: list[ApprovalRequest] = []

    def nobody(request: ApprovalRequest) -> Answer:
        asked.append(request)
        return Answer(False)

    prepared = Prepared(lambda: Result(""), path="a")
    assert Approvals("ask", nobody).decide(TOOL, prepared, "a", free).by == "rule"
    assert not Approvals("never", nobody).decide(TOOL, prepared, "a", free).allow
    assert asked == []


@pytest.mark.parametrize(
    "path", [".github/workflows/ci.yml", "web/package-lock.json", "api/x_pb2.py", "x.min.js"]
)
def test_the_shipped_defaults_ask_before_some_files_are_written(tmp_path: Path, path: str) -> None:
    with rigged(tmp_path, "auto", rules="") as rig:
        assert rig("write_file", path=path, content="x").denied
        assert len(rig.asked) == 1


@pytest.mark.parametrize("command", ["cd x && git push origin", "git reset --hard HEAD~1"])
def test_the_shipped_defaults_ask_before_some_commands(tmp_path: Path, command: str) -> None:
    with rigged(tmp_path, "auto", rules="") as rig:
        assert rig("run_shell", command=command).denied


def test_a_workspace_makes_a_shipped_list_longer(tmp_path: Path) -> None:
    with rigged(tmp_path, "auto", rules="ci_path('deploy/**').") as rig:
        assert rig("write_file", path="deploy/a/b", content="x").denied
        assert rig("write_file", path="depl0y/a/b", content="x").ok


def test_the_facts_of_a_turn_end_with_it(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        rig("run_shell", command="echo a --force")
        assert rig.facts.database.facts("command_requested")
        rig.decide.forget()
        for name in ("command_requested", "tool_requested", "permission"):
            assert rig.facts.database.facts(name) == rig.facts.database.derived(name) == []


def test_a_workspace_that_stayed_as_it_was_is_not_gone_through_again(tmp_path: Path) -> None:
    refreshed: list[object] = []
    with rigged(tmp_path) as rig:
        root = Root(rig.workspace)
        tracker = Tracker(root, tmp_path / "again.json")
        observe = Observe(root, tracker)
        decide = Decide(
            rig.facts, rig.index, refreshed.append, observe, tracker, root, rig.toolbox.access
        )
        turn = Turn(1, "x", observe.now())
        decide.begin(turn)
        (rig.workspace / "a.txt").write_text("one\n")
        first = decide.look(turn, "scan")
        times = len(refreshed)
        assert decide.look(turn, "scan") == first
        assert len(refreshed) == times
        decide.forget()
        assert decide.look(turn, "scan") == first
        assert rig.facts.database.holds("file_modified", "a.txt")
        (rig.workspace / "a.txt").unlink()
        assert not decide.look(turn, "scan")
        assert not rig.facts.database.holds("file_modified", "a.txt")


def test_a_request_that_is_judged_twice_is_one_fact(tmp_path: Path) -> None:
    with rigged(tmp_path) as rig:
        requested = Requested("c9", "write_file", "prod/a", "")
        for _ in range(2):
            assert rig.decide.permission(requested) == Ruling(
                "deny", "prod/ is changed by its owners"
            )
        assert rig.kinds().count("derived") == 1


SECRETS = """
secrets: tool_requested(?id, _, ?path) + glob('secret/**', ?path)
    -> permission(?id, 'deny', 'it is secret')
"""


def with_secrets(rig: Rig) -> None:
    (rig.workspace / "secret").mkdir()
    (rig.workspace / "secret" / "key.py").write_text("TOKEN = 'hunter2'\n")
    (rig.workspace / "open.py").write_text("from secret.key import TOKEN\n")


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("search", {"pattern": "TOKEN"}),
        ("find_definitions", {"name": "TOKEN"}),
        ("find_references", {"name": "TOKEN"}),
    ],
)
def test_what_may_not_be_read_is_not_found_either(
    tmp_path: Path, tool: str, arguments: dict[str, str]
) -> None:
    with rigged(tmp_path, rules=SECRETS) as rig:
        with_secrets(rig)
        text = rig(tool, **arguments).text
        assert "hunter2" not in text
        assert "secret/key.py:1" not in text
        assert "(1 file left out by a rule, secret/key.py: it is secret)" in text
        if tool != "find_definitions":
            assert "open.py:1" in text
        assert rig("search", pattern="TOKEN", path="secret/key.py").denied


def test_rules_about_writing_do_not_look_at_what_is_found(tmp_path: Path) -> None:
    writes = SECRETS.replace("tool_requested(?id, _,", "tool_writes(?t) + tool_requested(?id, ?t,")
    with rigged(tmp_path, rules=writes) as rig:
        with_secrets(rig)
        assert "hunter2" in rig("search", pattern="TOKEN").text
        asserted = [e.payload["added"] for e in rig.events if e.kind == "facts"]
        assert not any("secret/key.py" in text for texts in asserted for text in texts)


def test_a_question_about_a_file_leaves_no_fact_behind(tmp_path: Path) -> None:
    with rigged(tmp_path, rules=SECRETS) as rig:
        with_secrets(rig)
        rig("search", pattern="TOKEN")
        requested = rig.facts.database.facts("tool_requested")
        assert [fact.args for fact in requested] == [("c1", "search", ""), ("c1", "search", ".")]


def test_many_files_that_may_not_be_read_take_time_in_proportion(tmp_path: Path) -> None:
    secret = "x: tool_requested(?id, 'search', ?path) + path_in('s', ?path) -> "
    with rigged(tmp_path, rules=f"{secret}permission(?id, 'deny', 'secret')") as rig:

        def seconds(count: int) -> float:
            paths = [f"s/{number}.txt" for number in range(count)]
            began = time.process_time()
            assert len(rig.decide.withheld("search", paths)) == count
            return time.process_time() - began

        seconds(1)
        assert seconds(1_600) < 25 * seconds(200)


def test_context_is_not_picked_from_what_may_not_be_read(tmp_path: Path) -> None:
    with rigged(tmp_path, rules=SECRETS) as rig:
        with_secrets(rig)
        root = Root(rig.workspace)
        store = Store(tmp_path / "a.json", tmp_path / "b.json")
        turn = Turn(1, "what is the TOKEN in key.py", {})
        for withheld, shown in [
            (lambda paths: {}, True),
            (lambda paths: rig.decide.withheld("read_file", paths), False),
        ]:
            context = Orient(root, rig._fresh_index, store, withheld)(turn)
            assert ("hunter2" in context.text) is shown


def test_while_rules_are_lost_what_they_may_refuse_is_asked(tmp_path: Path) -> None:
    greedy = "n(0).\nmore: n(?x) -> n(?x + 1)\n"
    with rigged(tmp_path, "auto", Answer(True), rules=greedy + PROD) as rig:
        (rig.workspace / "a.txt").write_text("x\n")
        assert rig("write_file", path="b.txt", content="x").ok
        assert rig("read_file", path="a.txt").denied
        assert rig.asked[0].reason == (
            "the workspace rules are not in force: one of them may refuse it"
        )
    with rigged(tmp_path / "other", rules=greedy) as rig:
        assert rig("write_file", path="b.txt", content="x").ok
        assert rig.asked == []
