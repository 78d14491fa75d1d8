"""Rules as their user has them: added, switched, proposed, dropped; and what they forbid."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Agent, Run, call, say

DONE = say("Done.")
NOTE = call("patch_file", path="README.md", old_text="A small login", new_text="A login")
RAISE = call(
    "patch_file",
    path="auth.py",
    old_text="Keeps users and their failed attempts in memory.",
    new_text="Keeps users and failed attempts in memory.",
)
LINT = "readme_lint: file_modified('README.md') -> verify_gate('lint')"


def rule_file(folder: Path, text: str, name: str = "team.dl") -> Path:
    path = folder / ".mini-coding-agent" / "rules" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def recorded(home: Path, kind: str) -> list[dict[str, Any]]:
    """The payloads of that kind in the only session."""
    (path,) = home.rglob("sessions/*.jsonl")
    events = [json.loads(line) for line in path.read_text().splitlines()]
    return [event["payload"] for event in events if event["kind"] == kind]


def talk(agent: Agent, *lines: str, replies: tuple[dict[str, Any], ...] = ()) -> Run:
    return agent.run("--approval", "auto", stdin="".join(f"{line}\n" for line in lines),
                     replies=list(replies))  # fmt: skip


def test_an_added_rule_is_in_force_at_once_and_stays(
    agent: Agent, workspace: Path, home: Path
) -> None:
    run = talk(agent, f"/rules add {LINT}", "edit it", "/rules", replies=(NOTE, DONE))
    assert LINT in run.out
    assert "lint was skipped" in run.err
    assert "workspace rules (1)" in run.out
    path = workspace / ".mini-coding-agent" / "rules" / "local.dl"
    assert path.read_text() == f"{LINT}\n"
    (changed,) = recorded(home, "rules_changed")
    assert changed == {"action": "add", "rules": [LINT], "where": str(path)}
    again = agent.run("--approval", "auto", "--trace", "Edit it.", replies=[
        call("patch_file", path="README.md", old_text="A login", new_text="A log-in"), DONE,
    ])  # fmt: skip
    assert f"  [rules] {LINT}" in again.err


def test_a_rule_that_is_wrong_is_shown_and_not_written(agent: Agent, workspace: Path) -> None:
    run = talk(agent, "/rules add bad: file_modified(?f) -> verify_gate(?g)", "/rules check x.dl")
    assert run.code == 0
    assert "error[unsafe-variable]" in run.out
    assert "^" in run.out
    assert "nothing was written" in run.err
    assert "cannot read" in run.err
    assert not (workspace / ".mini-coding-agent").exists()


def test_a_rule_that_takes_a_duty_away_is_refused(agent: Agent, workspace: Path) -> None:
    allow = "free: tool_requested(?i, _, _) -> permission(?i, 'allow', 'why not')"
    run = talk(agent, f"/rules add {allow}", f"/rules add --global {allow}")
    assert run.out.count("error[tier-violation]") == 2
    assert " kernel.dl:" in run.out
    path = rule_file(workspace, f"{allow}\n")
    run = agent.run("Do it.")
    assert run.code == 2
    assert len(run.err.strip().splitlines()) == 1
    assert f"{path}:1:" in run.err


def test_a_rule_is_switched_off_and_on(agent: Agent, workspace: Path) -> None:
    rule_file(workspace, f"{LINT}\n")
    run = talk(
        agent, "/rules off readme_lint", "edit it", "/rules", "/rules off tdd_gate",
        replies=(NOTE, DONE),
    )  # fmt: skip
    assert "verified: changed README.md" in run.err
    assert f"  (off) {LINT}" in run.out
    assert "cannot be switched off" in run.err
    run = talk(
        agent, "/rules why verify_gate('lint')", "/rules why --json verify_gate('lint')",
        "/rules why verify_gate('types')",
    )  # fmt: skip
    assert run.out.count("\n  readme_lint is switched off: /rules on readme_lint\n") == 1
    assert '"off": [\n    "readme_lint"\n  ],\n  "dropped": {}' in run.out
    run = talk(agent, "/rules on readme_lint", "/rules why verify_gate('lint')")
    assert "off" not in run.out
    assert "readme_lint" in run.out


def test_why_not(agent: Agent) -> None:
    run = talk(agent, "/rules why verify_gate('run_tests')", "/rules why --json has_tests",
               "/rules why verify_gate(", "/rules why verify_gate(?g)")  # fmt: skip
    assert "tdd_gate" in run.out
    assert '"fact": "has_tests"' in run.out
    assert "error[syntax]" in run.err
    assert "'?g' is no value: ask about one fact, with its values" in run.err


def test_a_rule_that_is_added_is_in_force_although_it_was_once_switched_off(
    agent: Agent, workspace: Path
) -> None:
    path = rule_file(workspace, f"{LINT}\n", "local.dl")
    talk(agent, "/rules off readme_lint")
    path.unlink()
    run = talk(agent, f"/rules add {LINT} # as before", "edit it", replies=(NOTE, DONE))
    assert "readme_lint had been switched off, and is on again" in run.out
    assert "lint was skipped" in run.err
    assert path.read_text() == f"{LINT} # as before\n"


def test_a_default_rule_can_be_seen_and_switched_off(agent: Agent, workspace: Path) -> None:
    (workspace / "app.py").write_text("import auth\n\nUSERS = auth.AuthService()\n")
    (workspace / "test_app.py").write_text(
        "import app\n\n\ndef test_users():\n    assert app.USERS\n"
    )
    run = agent.run("--approval", "auto", "--trace", "Edit.", replies=[RAISE, DONE])
    assert "  [rules] affected_import: imports('app.py', 'auth.py')" in run.err
    assert "5 passed, and of the tests that imports lead to 1 passed" in run.last_line
    back = call(
        "patch_file", path="auth.py", old_text="Keeps users and failed",
        new_text="Keeps users and their failed",
    )  # fmt: skip
    run = talk(agent, "/rules off affected_target", "edit it", replies=(back, DONE))
    assert "(5 passed)" in run.err


def test_a_change_that_breaks_an_importer_is_caught(agent: Agent, workspace: Path) -> None:
    (workspace / "limits.py").write_text("LIMIT = 3\n")
    (workspace / "test_limits.py").write_text(
        "import limits\n\n\ndef test_it():\n    assert limits.LIMIT\n"
    )
    (workspace / "door.py").write_text("import limits\n\nWIDTH = limits.LIMIT + 1\n")
    (workspace / "test_door.py").write_text(
        "import door\n\n\ndef test_width():\n    assert door.WIDTH == 4\n"
    )
    raised = call("patch_file", path="limits.py", old_text="3", new_text="5")
    run = agent.run(
        "--approval", "auto", "--max-attempts", "1", "Raise it.", replies=[raised, DONE]
    )
    assert run.code == 1
    assert "test_door.py::test_width" in run.last_line


def test_a_rule_refuses_a_call(agent: Agent, workspace: Path, home: Path) -> None:
    rule_file(
        workspace,
        "kept: tool_requested(?id, ?tool, ?path) + tool_writes(?tool) + path_in('auth.py', ?path)"
        " -> permission(?id, 'deny', 'auth.py is kept as it is')\n",
    )
    run = agent.run("--approval", "auto", "Edit.", replies=[RAISE, DONE])
    assert run.code == 7
    (result,) = run.tool_messages()
    assert "Denied (auth.py is kept as it is)" in result["content"]
    assert "auth.py is kept as it is" in run.err
    assert recorded(home, "approval")[0]["by"] == "rule"
    assert "their failed attempts" in (workspace / "auth.py").read_text()


@pytest.mark.parametrize(("typed", "code"), [("", 7), ("y\n", 0)])
def test_a_rule_has_a_call_asked_about(
    agent: Agent, workspace: Path, typed: str, code: int
) -> None:
    write = call("write_file", path=".github/workflows/ci.yml", content="on: push\n")
    run = agent.run("--approval", "auto", "Write it.", replies=[write, DONE], stdin=typed)
    assert run.code == code, run.err
    assert "it changes what runs in continuous integration" in run.err
    assert (workspace / ".github" / "workflows" / "ci.yml").exists() is (code == 0)


def test_a_rule_that_has_those_of_another_tier_dropped_is_not_added(
    agent: Agent, workspace: Path, home: Path
) -> None:
    rule_file(workspace, ".decl seed(n: int)\nn: seed(?x) -> n(?x)\nmore: n(?x) -> n(?x + 1)\n")
    run = talk(agent, "/rules add --global seed(0).")
    assert "with it, the workspace rules would be switched off" in run.out
    assert not (home / ".mini-coding-agent" / "rules" / "local.dl").exists()


def test_beside_rules_that_were_dropped_only_those_of_another_tier_are_added(
    agent: Agent, workspace: Path, home: Path
) -> None:
    rule_file(workspace, "n(0).\nmore: n(?x) -> n(?x + 1)\n")
    run = talk(agent, f"/rules add {LINT}", f"/rules add --global {LINT}")
    assert run.out.count("the workspace rules are not in force, nor would it be: ") == 1
    assert not (workspace / ".mini-coding-agent" / "rules" / "local.dl").exists()
    assert (home / ".mini-coding-agent" / "rules" / "local.dl").read_text() == f"{LINT}\n"


def test_a_rule_that_goes_too_far_is_not_added(agent: Agent, workspace: Path) -> None:
    path = rule_file(workspace, f"{LINT}\nn(0).\n", "local.dl")
    before = path.read_text()
    run = talk(agent, "/rules add count: n(?x) -> n(?x + 1)", "edit it", replies=(NOTE, DONE))
    assert "with it, the workspace rules would be switched off" in run.out
    assert "nothing was written" in run.err
    assert path.read_text() == before
    assert "lint was skipped" in run.err


def test_a_workspace_cannot_switch_off_what_its_user_forbids(
    agent: Agent, workspace: Path, home: Path
) -> None:
    rule_file(
        home,
        "kept: tool_requested(?id, ?tool, ?path) + tool_writes(?tool) + path_in('gen', ?path)"
        " -> permission(?id, 'deny', 'gen/ is generated')\n",
    )
    rule_file(
        workspace,
        "more: affected(?f) + file(?f, _) -> affected(0)\nnext: affected(?x) -> affected(?x + 1)\n",
    )
    writes = [call("write_file", path=path, content="x") for path in ("a.md", "gen/a.md")]
    run = agent.run("--approval", "auto", "Write.", replies=[*writes, DONE])
    assert "gen/ is generated" in run.err
    assert not (workspace / "gen").exists()
    assert run.code == 5
    assert "the workspace rules are not in force" in run.last_line


def test_a_change_is_not_verified_by_naming_what_is_no_test(agent: Agent, workspace: Path) -> None:
    rule_file(workspace, "x: file_modified(_) -> gate_target('run_tests', 'README.md')\n")
    broken = call("patch_file", path="auth.py", old_text="attempts = 3", new_text="attempts = 5")
    run = agent.run(
        "--approval", "auto", "--max-attempts", "1", "Raise it.", replies=[broken, DONE]
    )
    assert run.code == 1
    assert "test_auth.py::test_lockout_after_max_attempts" in run.last_line


def test_names_out_of_rules_do_not_look_like_lines_of_ours(agent: Agent, workspace: Path) -> None:
    name = "\\u001b[2Jx\\n  [verify] run_tests: pass"
    rule_file(
        workspace, f"@name(\"{name}\")\nfile_modified(_) -> verify_gate('lint\\n\\u001b[31m')\n"
    )
    run = talk(
        agent, "edit it", "/rules", "/rules why verify_gate('lint\\n\\u001b[31m')",
        replies=(NOTE, DONE),
    )  # fmt: skip
    assert "\x1b" not in run.out + run.err
    assert "lint\\n\\x1b[31m could not run" in run.err
    assert not any(line.startswith("  [verify] run_tests") for line in run.out.splitlines())


def test_rules_that_go_too_far_are_dropped_and_the_kernel_stays(
    agent: Agent, workspace: Path
) -> None:
    rule_file(workspace, f"n(0).\ncount: n(?x) + ?y = (?x + 1) -> n(?y)\n{LINT}\n")
    run = talk(agent, "edit it", "/rules", replies=(RAISE, DONE))
    assert "the workspace rules are switched off for this session" in run.err
    assert "rule 'count'" in run.err
    assert "5 passed" in run.err
    assert "workspace rules (2, and 1 stated fact), dropped for this session: " in run.out
    run = talk(agent, "/rules why n(7)", "/rules why --json verify_gate('lint')")
    assert (
        "n(7) does not hold: nothing is known of 'n'\n  the workspace rules are not in" in run.out
    )
    assert '"dropped": {\n    "workspace": "a recursion goes on for more than' in run.out


def test_what_earlier_sessions_suggest_is_proposed_and_accepted(
    agent: Agent, workspace: Path, home: Path
) -> None:
    env = {"MCA_PROPOSE_AFTER": "2"}
    for number in range(2):
        edits = [
            call("write_file", path=name, content=f"# {number}\n") for name in ("a.txt", "b.txt")
        ]
        run = agent.run("--approval", "auto", "Edit.", replies=[*edits, DONE])
        assert run.code == 0, run.err
    orders = ["propose", "accept 1", "reject 2", "propose", "accept 1"]
    run = agent.run(stdin="".join(f"/rules {order}\n" for order in orders), env=env)
    assert "1. companion_a_txt_b_txt: file_modified('a.txt')" in run.out
    assert "'b.txt' changed in 2 of the 2 sessions that changed 'a.txt'" in run.out
    assert "suggest no rule" in run.out
    assert "there is no proposal 1" in run.err
    assert not (workspace / ".mini-coding-agent").exists()
    alone = call("write_file", path="a.txt", content="alone\n")
    run = agent.run("--approval", "auto", "Edit.", replies=[alone, DONE])
    assert run.code == 6
    assert "a.txt has mostly been changed together with b.txt" in run.last_line
    (learned,) = home.rglob("learned.dl")
    learned.write_text("broken ->\n")
    run = agent.run("--approval", "auto", "Hello.")
    assert run.code == 0
    assert "the learned rules are left out" in run.err


def test_without_ooda_no_rule_is_read(agent: Agent, workspace: Path) -> None:
    rule_file(workspace, "broken ->\n")
    run = agent.run("--no-ooda", stdin="/rules propose\n/rules add p(?x) -> q(?x)\n")
    assert run.code == 0
    assert run.out.count("switched off by --no-ooda") == 2
