"""`rules check|run|why|query`: trying out rules without a model."""

import io
import json
import os
from pathlib import Path

import pytest

from harness.cli import main
from harness.errors import UserError
from harness.rules_command import rules_command
from harness.usage import RULES_HELP
from tests.conftest import Agent

API = """\
# the interface is looked at
api_gate: file_modified(?f) + path_in('api', ?f) -> verify_gate('security')
file_modified('api/views.py').
?- verify_gate(Gate).
"""
CLOSURE = """\
path(X, Y) :- edge(X, Y).
path(X, Z) :- path(X, Y), edge(Y, Z).
edge(1, 2). edge(2, 3).
"""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "api.dl").write_text(API)
    (tmp_path / "closure.dl").write_text(CLOSURE)
    return tmp_path


def done(*argv: str) -> tuple[int, str]:
    out = io.StringIO()
    return rules_command(argv, out), out.getvalue()


def refused(*argv: str) -> str:
    with pytest.raises(UserError) as raised:
        done(*argv)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_check_counts_and_is_content() -> None:
    assert done("check", "api.dl") == (0, "2 statements, 0 errors, 0 warnings\n")
    assert done("check", "api.dl", "closure.dl")[0] == 0


def test_check_shows_every_fault_of_every_file(folder: Path) -> None:
    (folder / "a.dl").write_text("a: p(?x) -> q(?y)\nb: p(?x) -> r(?z)\n")
    (folder / "b.dl").write_text("p(1)\n")
    code, text = done("check", "a.dl", "api.dl", "b.dl")
    assert code == 2
    for place in ("a.dl:1:", "a.dl:2:", "b.dl:"):
        assert place in text
    assert text.endswith("\n3 errors, 0 warnings\n")
    assert "^" in text


def test_check_holds_the_files_against_the_shipped_rules(folder: Path) -> None:
    (folder / "a.dl").write_text("waived('run_tests', 'auth.py').\n")
    code, text = done("check", "a.dl")
    assert code == 2
    assert "tier-violation" in text
    assert " kernel.dl:" in text
    assert done("check", "--alone", "a.dl")[0] == 0


def test_check_holds_the_files_against_each_other(folder: Path) -> None:
    (folder / "a.dl").write_text("api_gate: file_modified(?f) -> verify_gate('x')\n")
    code, text = done("check", "api.dl", "a.dl")
    assert code == 2
    assert "duplicate-name" in text


def test_a_warning_is_no_error(folder: Path) -> None:
    (folder / "a.dl").write_text("a: file_modifed(?f) -> verify_gate('x')\n")
    code, text = done("check", "a.dl")
    assert code == 0
    assert "warning[unknown-predicate]" in text
    assert text.endswith("1 statement, 0 errors, 1 warning\n")


def test_check_for_programs(folder: Path) -> None:
    (folder / "a.dl").write_text("a: p(?x) -> q(?y)\n")
    code, text = done("check", "--json", "a.dl")
    assert code == 2
    (fault,) = (each for each in json.loads(text) if each["severity"] == "error")
    assert (fault["file"], fault["line"], fault["code"]) == ("a.dl", 1, "unsafe-variable")
    assert json.loads(done("check", "--json", "api.dl")[1]) == []


def test_run_prints_what_follows_sorted() -> None:
    assert done("run", "closure.dl") == (0, "path(1, 2)\npath(1, 3)\npath(2, 3)\n")
    assert "verify_gate('security')\n" in done("run", "api.dl")[1]
    assert done("run", "--predicate", "affected", "api.dl") == (0, "affected('api/views.py')\n")
    assert "no predicate" not in done("run", "api.dl", "--predicate", "verify_gate")[1]


def test_run_for_programs() -> None:
    _, text = done("run", "--json", "--alone", "closure.dl")
    assert json.loads(text)[0] == {"predicate": "path", "args": [1, 2]}


def test_run_without_the_shipped_rules(folder: Path) -> None:
    (folder / "mine.dl").write_text("file('one argument').\nf: file(?x) -> seen(?x)\n")
    assert done("run", "--alone", "mine.dl") == (0, "seen('one argument')\n")
    assert done("run", "mine.dl")[0] == 2


def test_an_unknown_predicate_to_print_is_an_error() -> None:
    assert "--predicate nope" in refused("run", "closure.dl", "--predicate", "nope")


def test_rules_without_end_are_stopped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a.dl").write_text("n(0).\ncount: n(?x) + ?x >= 0 + ?y = (?x + 1) -> n(?y)\n")
    assert done("run", "a.dl")[0] == 3
    said = capsys.readouterr().err
    assert "count" in said
    assert said.endswith(" or raise the limit with --max-rounds N\n")


def test_the_bounds_can_be_raised_and_lowered(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.dl").write_text("n(0).\ncount: n(?x) + ?x < 11000 -> n(?x + 1)\n")
    assert done("run", "a.dl")[0] == 3
    assert len(done("run", "--max-rounds", "20000", "a.dl")[1].splitlines()) == 11_000
    assert done("why", "path(1, 3)", "closure.dl", "--max-derived", "3")[0] == 0
    assert done("why", "path(1, 3)", "closure.dl", "--max-derived", "2")[0] == 3
    assert "raise the limit with --max-derived N" in capsys.readouterr().err
    assert done("query", "closure.dl", "--max-work", "1", "--query", "?- path(X, Y).")[0] == 3
    for wrong in ("0", "-1", "x", "9" * 30):
        with pytest.raises(SystemExit) as raised:
            done("run", "closure.dl", f"--max-work={wrong}")
        assert raised.value.code == 2


def test_a_query_that_goes_too_far_names_no_option(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.dl").write_text("".join(f"s({number}).\n" for number in range(400)))
    assert done("query", "a.dl", "--query", "?- s(X), s(Y).")[0] == 3
    assert capsys.readouterr().err.endswith(" answers: add conditions\n")


def test_why_shows_the_proof() -> None:
    code, text = done("why", "verify_gate('security')", "api.dl")
    assert code == 0
    assert text.splitlines()[0].startswith("verify_gate('security')  [api_gate")
    assert "file_modified('api/views.py')" in text
    assert done("why", "api.dl", "--fact", "verify_gate(security)") == (code, text)


def test_why_says_what_is_missing_for_a_fact_that_does_not_hold() -> None:
    code, text = done("why", "path(3, 1)", "closure.dl")
    assert code == 1
    assert "path(3, 1)" in text
    code, text = done("why", "--json", "path(3, 1)", "closure.dl")
    assert code == 1
    assert json.loads(text)["fact"] == "path(3, 1)"


def test_why_for_programs() -> None:
    _, text = done("why", "--json", "path(1, 3)", "closure.dl")
    assert json.loads(text)["fact"] == "path(1, 3)"


def test_why_of_what_is_no_fact_is_one_line() -> None:
    assert "syntax" in refused("why", "path(1", "closure.dl")
    assert refused("why", "path(1, X)", "closure.dl").endswith(
        "'X' is no value: ask about one fact, with its values"
    )
    assert "which fact" in refused("why")
    assert "which files" in refused("why", "path(1, 2)")


def test_query_answers_what_is_asked_and_what_the_files_ask() -> None:
    code, text = done(
        "query", "closure.dl", "--query", "?- path(1, X).", "--query", "?- path(9, _)."
    )
    assert code == 0
    assert text.splitlines() == ["?- path(1, X).", "  ?X", "  2", "  3", "?- path(9, _).", "  no"]
    code, text = done("query", "api.dl")
    assert code == 0
    assert text.splitlines()[0] == "?- verify_gate(Gate)."
    assert "  'security'" in text.splitlines()
    assert "no query" in refused("query", "closure.dl")
    assert "syntax" in refused("query", "closure.dl", "--query", "?- path(1")


def test_query_for_programs() -> None:
    _, text = done("query", "--json", "closure.dl", "--query", "?- path(1, X).")
    assert json.loads(text) == [{"query": "?- path(1, X).", "variables": ["X"], "rows": [[2], [3]]}]


def test_a_query_of_a_file_shows_no_variable_that_nobody_wrote(folder: Path) -> None:
    (folder / "count.dl").write_text(
        "edge(1, 2). edge(2, 3).\n?- edge(1, X), count : { edge(_, _) } > 1.\n"
    )
    _, text = done("query", "--alone", "count.dl")
    assert text.splitlines()[1:] == ["  ?X", "  2"]


def test_a_file_that_is_also_included_counts_once(folder: Path) -> None:
    (folder / "all.dl").write_text(".include 'api.dl'\nall: verify_gate(_) -> any\n")
    once = (0, "3 statements, 0 errors, 0 warnings\n")
    assert done("check", "api.dl", "all.dl") == once
    assert done("check", "all.dl", "./api.dl", str(folder / "api.dl")) == once
    assert done("run", "all.dl", "api.dl") == done("run", "all.dl")
    assert done("query", "all.dl", "api.dl")[1].count("?- ") == 1


def test_faults_are_shown_although_another_file_is_missing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad.dl").write_text("p(1\n")
    for word in ("check", "run"):
        out = io.StringIO()
        with pytest.raises(UserError, match=r"nope\.dl"):
            rules_command([word, "bad.dl", "nope.dl"], out)
        assert "bad.dl:2:1: error" in out.getvalue() + capsys.readouterr().err


def test_a_search_without_end_is_stopped(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    facts = "".join(f"s({number}).\n" for number in range(400))
    (folder / "x.dl").write_text(f"{facts}p(1) :- s(X), s(Y), s(Z), X + Y + Z > 1197.\n")
    assert done("run", "x.dl")[0] == 3
    assert "max_work" in capsys.readouterr().err


def test_options_may_stand_before_it(agent: Agent, workspace: Path) -> None:
    (workspace / "mine.dl").write_text(CLOSURE)
    run = agent.run("rules", "run", "mine.dl", "--alone")
    assert (run.code, run.out) == (0, "path(1, 2)\npath(1, 3)\npath(2, 3)\n")
    run = agent.run("--json", "rules", "check", "mine.dl")
    assert (run.code, run.out) == (0, "[]\n")
    run = agent.run("--json", "--trace", "rules are made to be broken")
    assert len(run.requests) == 1


def test_files_that_cannot_be_used_are_one_line(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    (folder / "long.dl").write_text("#" * 1024 * 1024 + "\n")
    for name, said in (
        ("missing.dl", "No such file"),
        (".", "is a folder"),
        ("pipe", "is a pipe or a device"),
        ("long.dl", "has more than 1048576 bytes"),
        ("", "'' is no name of a file"),
    ):
        for word in ("check", "run", "query"):
            message = refused(word, name)
            assert repr(name) in message
            assert said in message
    assert "which files" in refused("check")
    assert "only once" in refused("check", "-", "-")


def test_faults_of_rules_that_shall_run_are_all_shown(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.dl").write_text("a: p(?x) -> q(?y)\n")
    (folder / "b.dl").write_text("b: p(?x) -> q(?y)\n")
    assert done("run", "a.dl", "b.dl") == (2, "")
    errors = capsys.readouterr().err
    assert "a.dl:1:" in errors
    assert "b.dl:1:" in errors


def test_a_file_includes_another(folder: Path) -> None:
    (folder / "all.dl").write_text(".include 'closure.dl'\n")
    assert done("run", "--alone", "all.dl")[1].startswith("path(1, 2)\n")


def test_the_command_line(agent: Agent, folder: Path) -> None:
    run = agent.run_plain("rules", "--help", cwd=folder)
    assert (run.code, run.out, run.err) == (0, RULES_HELP, "")
    run = agent.run_plain("rules", "run", "-", "--alone", stdin=CLOSURE, cwd=folder)
    assert (run.code, run.out, run.err) == (0, "path(1, 2)\npath(1, 3)\npath(2, 3)\n", "")
    run = agent.run_plain("rules", "check", "-", stdin="p(?x) -> q\nbad(", cwd=folder)
    assert run.code == 2
    assert "<stdin>:2:" in run.out
    run = agent.run_plain("rules", "check", "no.dl", cwd=folder)
    assert run.code == 2
    assert run.err == "mini-coding-agent: cannot read 'no.dl': No such file or directory\n"
    run = agent.run_plain("rules", "run", "--nonsense", "a.dl", cwd=folder)
    assert run.code == 2
    assert len(run.err.splitlines()) == 1


def test_a_request_may_begin_with_the_word(agent: Agent) -> None:
    run = agent.run("rules", "are", "made", "to", "be", "broken")
    assert run.code == 0
    assert "rules are made to be broken" in run.contents(0)
    for words in (
        ["rules"], ["--", "rules"], ["rules check", "is what team.dl needs"],
        ["rules", "in", "this file"], ["rules", "checked by hand"],
    ):  # fmt: skip
        run = agent.run("--max-steps", "3", *words)
        assert (run.code, len(run.requests)) == ((2, 0) if words == ["rules"] else (0, 1)), words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "rules takes check, run, why, query"),
        (["--json"], "rules takes check, run, why, query"),
        (["chek", "team.dl"], "not 'chek': did you mean 'check'?"),
        (["wy", "verify_gate('x')", "team.dl"], "not 'wy': did you mean 'why'?"),
        (["show", "team.dl"], "not 'show'"),
        (["rn", "-"], "did you mean 'run'?"),
        (["chekc", "team.txt"], "did you mean 'check'?"),
    ],
)
def test_a_sub_command_that_was_mistyped_is_no_request(
    folder: Path, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "team.txt").write_text("p(1).\n")
    assert main(["rules", *words]) == 2
    message = capsys.readouterr().err
    assert len(message.splitlines()) == 1
    assert said in message
    assert "rules --help" in message


def test_other_help_stays_what_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "rules check|run|why|query" in capsys.readouterr().out
    assert main(["rules", "-h"]) == 0
    assert capsys.readouterr().out == RULES_HELP
    assert all(len(line) <= 80 for line in RULES_HELP.splitlines())


def test_no_model_and_no_editor_is_loaded(agent: Agent, folder: Path) -> None:
    command = ["-X", "importtime", *agent.command("rules", "run", "closure.dl")[1:]]
    import subprocess
    import sys

    run = subprocess.run(
        [sys.executable, *command], capture_output=True, text=True, timeout=30, cwd=folder
    )
    assert run.returncode == 0
    loaded = {line.rsplit("|", 1)[-1].strip() for line in run.stderr.splitlines()}
    assert not loaded & {"openai", "prompt_toolkit", "tree_sitter", "harness.session", "asyncio"}
