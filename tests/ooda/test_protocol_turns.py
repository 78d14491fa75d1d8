"""Whole turns with a model that has no tool calls of its own; the gates are real."""

from itertools import pairwise
from pathlib import Path

import pytest
from sessions import Talk, session_at, step, written

from harness.errors import UserError
from tests.cases.wire_rules import RULES, broken

REQUEST = "change the limit of attempts from 3 to 5"
LIMIT = {"path": "auth.py", "old_text": "max_attempts = 3", "new_text": "max_attempts = 5"}


def in_test(name: str) -> dict[str, str]:
    line = f"def {name}(service):\n    for _ in range("
    return {"path": "test_auth.py", "old_text": f"{line}3):", "new_text": f"{line}5):"}


LOCKOUT, RESET = map(in_test, ("test_lockout_after_max_attempts", "test_reset_unlocks_the_user"))


def legal(talk: Talk) -> bool:
    """Every request would be taken by the strictest server, and none holds tools."""
    return not any(broken(body, RULES) for body in talk.bodies)


def test_the_lockout_is_changed_step_by_step(workspace: Path) -> None:
    replies = [
        step("read_file", path="auth.py"),
        step("patch_file", **LIMIT),
        step("answer", text="The limit is 5."),
        step("read_file", path="test_auth.py"),
        step("patch_file", **LOCKOUT),
        step("patch_file", **RESET),
        step("answer", text="The limit and its tests are changed."),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        outcome = talk.session.run(REQUEST)
        assert (outcome.kind, outcome.attempts) == ("verified", 2)
        assert outcome.answer == "The limit and its tests are changed."
        assert len(talk.bodies) == len(replies)
        assert legal(talk)
        first, read, patched, failed = map(talk.steps, range(4))
    assert {"read_file", "list_files", "search"} <= first.keys()
    assert first.keys().isdisjoint({"patch_file", "write_file", "run_shell", "answer", "remember"})
    assert first["read_file"]["path"] == ["auth.py", "test_auth.py", "README.md"]
    assert read["patch_file"]["path"] == ["auth.py"]
    assert "write_file" not in read
    assert "answer" in read
    assert "run_shell" in read
    assert "patch_file" in patched  # what it wrote itself it knows
    assert "answer" not in failed  # what it saw before the checks failed is not enough
    assert "max_attempts = 5" in (workspace / "auth.py").read_text()


def test_the_lockout_is_changed_with_calls_in_the_text(workspace: Path) -> None:
    replies = [
        written("read_file", path="auth.py"),
        written("patch_file", **LIMIT),
        {"text": "The limit is 5."},
        written("patch_file", **LOCKOUT),
        written("patch_file", **RESET),
        {"text": "Done."},
    ]
    with session_at(workspace, replies, protocol="text") as talk:
        outcome = talk.session.run(REQUEST)
        assert (outcome.kind, outcome.attempts) == ("verified", 2)
        assert legal(talk)
        assert not any("response_format" in body for body in talk.bodies)
        feedback = talk.bodies[3]["messages"][-1]
    assert feedback["role"] == "user"
    assert "test_lockout_after_max_attempts" in feedback["content"]


def test_what_was_sent_stays_the_beginning_of_what_is_sent(workspace: Path) -> None:
    replies = [
        step("list_files"),
        step("search", pattern="limit"),
        step("answer", text="3"),
        step("read_file", path="auth.py"),
        step("answer", text="Still 3."),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run("what is the limit?")
        talk.session.run("and now?")
        sent = [body["messages"] for body in talk.bodies]
    for former, latter in pairwise(sent):
        assert latter[: len(former)] == former


def test_a_model_that_gives_trouble_goes_on_in_the_same_turn(workspace: Path) -> None:
    replies = [
        {"text": "I will change the limit."},
        {"text": "Let me do that:\n```python\nmax_attempts = 5\n```"},
        step("read_file", path="auth.py"),
        step("answer", text="I could not."),
    ]
    with session_at(workspace, replies) as talk:
        outcome = talk.session.run(REQUEST)
        assert outcome.kind == "answered"
        ((chosen),) = talk.kinds("protocol")
        nudges = [m["content"] for m in talk.kinds("user_message") if m["cause"] == "nudge"]
        assert ["tools" in body for body in talk.bodies] == [True, True, False, False]
        assert dict(talk.session.info())["protocol"].startswith("constrained - ")
    assert chosen["protocol"] == "constrained"
    assert chosen["model"] == "scripted-qwen"
    assert "prose where a call was due" in chosen["why"]
    assert len(nudges) == 2
    assert all("tool call" in nudge for nudge in nudges)


def test_promises_without_end_end_the_turn(workspace: Path) -> None:
    with session_at(workspace, [{"text": "I will do it."}] * 9, protocol="native") as talk:
        outcome = talk.session.run(REQUEST)
        assert (outcome.kind, outcome.answer) == ("answered", "I will do it.")
        assert len(talk.bodies) == 3


def test_without_rules_nothing_is_narrowed(workspace: Path) -> None:
    replies = [step("patch_file", **LIMIT), step("answer", text="Done.")]
    with session_at(workspace, replies, protocol="constrained", ooda=False) as talk:
        assert talk.session.run(REQUEST).kind == "answered"
        steps = talk.steps(0)
    assert {"patch_file", "write_file", "answer", "forget"} <= steps.keys()
    assert steps["patch_file"]["path"] is None


class TestExplaining:
    def test_the_rules_tell_why_a_tool_is_offered_and_why_not(self, workspace: Path) -> None:
        replies = [step("read_file", path="auth.py"), step("answer", text="3")]
        with session_at(workspace, replies, protocol="constrained") as talk:
            talk.session.run("what is the limit?")
            rules = talk.session.rules
            assert "offer_answer" in rules.why("tool_offered('answer')")
            refused = rules.why("tool_offered('patch_file')")
            allowed = rules.why("argument_allowed('read_file', 'path', 'auth.py')")
            report = rules.report()
        assert "request_asks('change')" in refused
        assert "path_candidate('auth.py', " in allowed
        assert "file_read('auth.py')" in report.facts
        assert "tool_offered('read_file')" in report.derived

    def test_native_calls_are_not_narrowed_but_the_question_is_answered(
        self, workspace: Path
    ) -> None:
        with session_at(workspace, [{"text": "ok"}]) as talk:
            talk.session.run(REQUEST)
            rules = talk.session.rules
            assert not any("constrained" in fact for fact in rules.report().facts)
            told = rules.why("tool_offered('read_file')")
            assert "offer_reading" in told
            assert "--protocol constrained" in told
            assert "file_read(_)" in rules.why("tool_offered('patch_file')")
            assert not any("constrained" in fact for fact in rules.report().facts)

    def test_facts_are_taken_back_when_the_protocol_falls_to_text(self, workspace: Path) -> None:
        replies = [{"text": ""}, {"text": ""}, *[written("list_files")] * 3, {"text": "ok"}]
        with session_at(workspace, replies) as talk:
            talk.session.run(REQUEST)
            ways = [each["protocol"] for each in talk.kinds("protocol")]
            assert ways == ["constrained", "text"]
            assert not any("constrained" in fact for fact in talk.session.rules.report().facts)


def rule_file(workspace: Path, text: str) -> None:
    path = workspace / ".mini-coding-agent" / "rules" / "team.dl"
    path.parent.mkdir(parents=True)
    path.write_text(text)


def test_a_rule_of_the_workspace_leaves_less_on_offer(workspace: Path) -> None:
    rule_file(
        workspace,
        "no_shell: constrained -> tool_withheld('run_shell')\n"
        "docs: path_candidate(?path, _) + ends_with(?path, '.md')"
        " -> value_withheld('read_file', 'path', ?path)\n"
        "secret: tool_requested(?id, _, 'test_auth.py') -> permission(?id, 'deny', 'secret')\n",
    )
    replies = [step("read_file", path="auth.py"), step("answer", text="ok")]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run(REQUEST)
        first, later = talk.steps(0), talk.steps(1)
    assert first["read_file"]["path"] == ["auth.py"]
    assert first["outline"]["path"] == ["auth.py", "README.md"]
    assert "run_shell" not in later
    assert "patch_file" in later


@pytest.mark.parametrize(
    "rule",
    [
        "more: constrained -> tool_offered('run_shell')",
        "more: constrained -> argument_allowed('patch_file', 'path', 'auth.py')",
        "more: constrained -> any_value('patch_file', 'path')",
        "file_read('auth.py').",
        "request_asks('change').",
        "looked.",
    ],
)
def test_no_rule_of_a_workspace_offers_more(workspace: Path, rule: str) -> None:
    rule_file(workspace, rule + "\n")
    with (
        pytest.raises(UserError, match=r"team\.dl"),
        session_at(workspace, [{"text": "ok"}], protocol="constrained"),
    ):
        pass


def test_a_file_that_changed_since_it_was_read_has_to_be_read_again(workspace: Path) -> None:
    replies = [
        step("read_file", path="README.md"),
        step("run_shell", command="echo more >> README.md"),
        step("answer", text="ok"),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run(REQUEST)
        assert "patch_file" in talk.steps(1)
        assert "patch_file" not in talk.steps(2)


def test_after_failed_checks_an_answer_needs_a_change_or_long_looks(workspace: Path) -> None:
    looks = [step("read_file", path="auth.py"), step("list_files"), step("search", pattern="5")]
    replies = [
        looks[0],
        step("patch_file", **{**LIMIT, "new_text": "max_attempts = ("}),
        step("answer", text="Done."),
        *looks,
        step("list_files", path="."),
        step("answer", text="I give up."),
    ]
    with session_at(workspace, replies, protocol="constrained", max_attempts=2) as talk:
        assert talk.session.run(REQUEST).kind == "failed"
        offered = ["answer" in talk.steps(number) for number in range(8)]
    assert offered == [False, True, True, False, False, False, False, True]


def test_a_file_that_a_patch_did_not_fit_has_to_be_read_again(workspace: Path) -> None:
    replies = [
        step("read_file", path="auth.py"),
        step("patch_file", **{**LIMIT, "old_text": "no such text"}),
        step("answer", text="ok"),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run(REQUEST)
        assert "patch_file" in talk.steps(1)
        assert "patch_file" not in talk.steps(2)


def test_a_file_that_patches_never_fit_is_left_alone_for_the_attempt(workspace: Path) -> None:
    miss = [
        step("read_file", path="auth.py"),
        step("patch_file", **{**LIMIT, "old_text": "no such text"}),
    ]
    replies = [*miss * 3, miss[0], step("answer", text="I cannot.")]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run(REQUEST)
        offered = ["patch_file" in talk.steps(number) for number in range(8)]
    assert offered == [False, True, False, True, False, True, False, False]


def test_a_new_file_may_have_any_name_when_one_is_asked_for(workspace: Path) -> None:
    replies = [
        step("write_file", path="docs/limits.md", content="Three attempts.\n"),
        step("answer", text="Written."),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        outcome = talk.session.run("write docs/limits.md about the lockout")
        assert outcome.changed == ("docs/limits.md",)
        first, second = talk.steps(0), talk.steps(1)
    assert first["write_file"] == {"tool": ["write_file"], "path": None, "content": None}
    assert "patch_file" not in first
    assert second["patch_file"]["path"] == ["docs/limits.md"]


@pytest.mark.parametrize(
    "request_", ["Erstelle eine Datei limits.md", "there should be a word on it in limits.md"]
)
def test_a_new_file_can_be_had_in_other_words_and_languages(workspace: Path, request_: str) -> None:
    replies = [step("write_file", path="limits.md", content="3\n"), step("answer", text="ok")]
    with session_at(workspace, replies, protocol="constrained") as talk:
        assert talk.session.run(request_).changed == ("limits.md",)
        assert "write_file" in talk.steps(0)


def test_many_files_are_ranked_and_cut(workspace: Path) -> None:
    (workspace / "many").mkdir()
    for number in range(100):
        (workspace / "many" / f"part_{number:03}.py").write_text(f"VALUE = {number}\n")
    (workspace / "many" / "part_077.py").write_text("def needle():\n    return 1\n")
    replies = [
        step("search", pattern="VALUE = 9[0-9]"),
        step("read_file", path="many/part_099.py"),
        step("answer", text="ok"),
    ]
    with session_at(workspace, replies, protocol="constrained") as talk:
        talk.session.run("what does needle do in part_005.py?")
        first, second = (talk.steps(n)["read_file"]["path"] for n in range(2))
        places = talk.steps(0)["search"]["path"]
    assert len(first) == len(second) == 40
    assert first[0] == "many/part_005.py"
    assert "many/part_077.py" in first
    assert "many/part_099.py" not in first
    assert "many/part_099.py" in second
    assert places == [".", "many"]
