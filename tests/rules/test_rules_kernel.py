"""The shipped rules."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import rules
from rules import Database, Program, RuleError, kernel


def default():
    return Program.load(Path(rules.__file__).with_name("default.dl"), tier="global")


@pytest.fixture(params=["kernel", "kernel and default"])
def database(request):
    """Both with and without the defaults, which change nothing of what the kernel wants."""
    parts = [kernel()] if request.param == "kernel" else [kernel(), default()]
    return filled(Program.union(parts))


@pytest.fixture
def whole():
    return filled(Program.union([kernel(), default()]))


def filled(program):
    made = Database(program)
    for path in ("auth.py", "util.py", "test_auth.py", "test_util.py"):
        made.assert_fact("file", path, "python")
    made.assert_fact("file", "README.md", "markdown")
    made.assert_fact("has_tests")
    for name in ("auth", "util"):
        made.assert_fact("is_test", f"test_{name}.py")
        made.assert_fact("test_covers", f"test_{name}.py", f"{name}.py")
    return made


def gates(database):
    return [gate for (gate,) in database.query("verify_gate(G)")]


def targets(database, gate):
    return [path for _, path in database.query(f"gate_target({gate}, P)")]


def further(database, gate):
    return [path for _, path in database.query(f"further_target({gate}, P)")]


def test_the_kernel_has_no_warnings_and_names_all_its_rules():
    program = kernel()
    assert program.warnings == ()
    assert all(rule.label and rule.tier == "kernel" for rule in program.rules)
    assert program.facts == ()


def test_the_defaults_have_no_warnings_and_name_all_their_rules():
    program = Program.union([kernel(), default()])
    assert program.warnings == ()
    assert all(rule.label for rule in program.rules)
    assert program.tiers == ("kernel", "global")


def test_the_shipped_rules_print_and_read_as_themselves():
    for program, tier in ((kernel(), "kernel"), (default(), "global")):
        assert Program.parse(program.as_text(), tier=tier) == program


@pytest.mark.parametrize("tier", ["global", "workspace", "learned"])
@pytest.mark.parametrize(
    "text",
    [
        "r: tool_requested(?id, _, _) -> permission(?id, 'allow', 'x')",
        "r: tool_requested(?id, _, ?how) -> permission(?id, ?how, 'x')",
        "r: file_modified(?file) -> waived('run_tests', ?file)",
        "waived('run_tests', 'auth.py').",
    ],
)
def test_only_the_kernel_takes_a_duty_away(tier, text):
    with pytest.raises(RuleError) as raised:
        Program.union([kernel(), Program.parse(text, "team.dl", tier)])
    (fault,) = raised.value.diagnostics
    assert fault.code == "tier-violation"
    assert "kernel.dl" in fault.message


@pytest.mark.parametrize("text", ["file_created('x').", "r: file(?f, _) -> file_created(?f)"])
def test_a_workspace_cannot_hide_that_many_files_were_deleted(text):
    with pytest.raises(RuleError, match="mass_deletion"):
        Program.union([kernel(), default(), Program.parse(text, "team.dl", "workspace")])


@pytest.mark.parametrize(
    "text",
    [
        "r: tool_requested(?id, _, _) -> permission(?id, 'deny', 'x')",
        "r: tool_requested(?id, _, _) -> permission(?id, 'ask', 'x')",
        "r: file_modified(?file) -> verify_gate('lint')",
        "test_covers('e2e.sh', 'auth.py').",
        "is_test('e2e.sh').",
        "file_deleted('x').",
        "file_modified('x').",
        "r: file_modified(?file) + not waived('x', ?file) -> integrity('review', 'x', ?file)",
    ],
)
def test_duties_are_added_freely(text):
    Program.union([kernel(), default(), Program.parse(text, "team.dl", "workspace")])


def test_nothing_is_due_before_a_change(database):
    assert database.derived() == []


def test_a_changed_source_is_parsed_and_its_tests_run(database):
    database.assert_fact("file_modified", "auth.py")
    assert gates(database) == ["run_tests", "syntax_check"]
    assert targets(database, "syntax_check") == ["auth.py"]
    assert targets(database, "run_tests") == ["test_auth.py"]
    assert str(database.derivation("verify_gate(run_tests)")) == (
        "tdd_gate: file_modified('auth.py') + test_covers('test_auth.py', 'auth.py')"
        " -> verify_gate('run_tests')"
    )


def test_a_changed_text_makes_nothing_due(database):
    database.assert_fact("file_modified", "README.md")
    assert gates(database) == []


def test_a_change_reaches_the_tests_of_what_imports_it(whole):
    whole.assert_fact("imports", "util.py", "deep.py")
    whole.assert_fact("imports", "deep.py", "deeper.py")
    whole.assert_fact("imports", "deeper.py", "deep.py")
    whole.assert_fact("file_modified", "deeper.py")
    assert further(whole, "run_tests") == ["test_util.py"]
    assert whole.derivation("verify_gate(run_tests)").rule.name == "affected_gate"
    whole.retract_fact("file_modified", "deeper.py")
    whole.assert_fact("file_deleted", "deeper.py")
    assert further(whole, "run_tests") == ["test_util.py"]


def test_the_nearest_reason_is_the_one_that_is_shown(whole):
    whole.assert_fact("imports", "util.py", "auth.py")
    whole.assert_fact("file_modified", "auth.py")
    assert whole.derivation("verify_gate(run_tests)").rule.name == "tdd_gate"
    assert whole.why("verify_gate(run_tests)").rule == "tdd_gate"
    assert targets(whole, "run_tests") == ["test_auth.py"]
    assert further(whole, "run_tests") == ["test_auth.py", "test_util.py"]


def test_a_source_without_a_test_is_told(whole):
    whole.assert_fact("file", "lone.py", "python")
    for path in ("lone.py", "auth.py", "README.md", "test_auth.py"):
        whole.assert_fact("file_modified", path)
    assert whole.query("uncovered(F)") == [("lone.py",)]


def test_more_than_twenty_deleted_files_are_looked_at(whole):
    for number in range(21):
        assert whole.query("integrity(L, R, P)") == []
        whole.assert_fact("file_deleted", f"{number}.txt")
    assert whole.query("integrity(L, R, P)") == [("review", "more than 20 files were deleted", ".")]


ASKED = [
    ("ci", ".github/workflows/a.yml"),
    ("ci", "Jenkinsfile"),
    ("lock", "package-lock.json"),
    ("lock", "web/uv.lock"),
    ("lock", "go.sum"),
    ("generated", "api/user_pb2.py"),
    ("generated", "api/user_pb2_grpc.py"),
    ("generated", "a.pb.go"),
    ("generated", "web/app.min.js"),
    (None, "github/workflows/a.yml"),
    (None, "docs/Jenkinsfile.md"),
    (None, "lock.py"),
    (None, "app.js"),
    (None, ""),
]


@pytest.mark.parametrize(("rule", "path"), ASKED)
def test_some_files_are_asked_about_before_they_are_written(whole, rule, path):
    whole.assert_fact("tool_writes", "write_file")
    whole.assert_fact("tool_requested", "c1", "write_file", path)
    whole.assert_fact("tool_requested", "c2", "read_file", path)
    found = whole.derived("permission")
    assert [fact.args[:2] for fact in found] == ([("c1", "ask")] if rule else [])
    assert [whole.derivation(fact).rule.name for fact in found] == ([f"ask_{rule}"] if rule else [])


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("git push", True),
        ("cd x && git push --force origin", True),
        ("git reset --hard HEAD", True),
        ("git reset HEAD", False),
        ("git commit -m 'push'", False),
        ("npm publish", True),
    ],
)
def test_some_commands_are_asked_about(whole, text, asked):
    whole.assert_fact("command_requested", "c1", text)
    assert bool(whole.derived("permission")) is asked


def test_taking_the_change_back_takes_the_gates_back(database):
    database.assert_fact("file_modified", "auth.py")
    database.retract_fact("file_modified", "auth.py")
    assert database.derived() == []


def test_deleting_a_covered_file_runs_its_tests(database):
    database.assert_fact("file_deleted", "util.py")
    assert gates(database) == ["run_tests"]
    assert targets(database, "run_tests") == ["test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "deleted_gate"


def test_a_changed_test_runs_itself(database):
    database.assert_fact("file_modified", "test_util.py")
    assert targets(database, "run_tests") == ["test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "changed_test_gate"


def test_a_changed_setting_runs_all_tests(database):
    database.assert_fact("verify_config_changed", "pyproject.toml")
    assert targets(database, "run_tests") == ["test_auth.py", "test_util.py"]
    assert database.why("verify_gate(run_tests)").rule == "config_gate"


@pytest.mark.parametrize(
    ("predicate", "reason"),
    [
        ("expectation_changed", "a test expectation was changed"),
        ("test_removed", "a test was removed"),
        ("test_switched_off", "a test was switched off"),
    ],
)
def test_weakened_tests_ask_for_a_review(database, predicate, reason):
    database.assert_fact(predicate, "test_auth.py")
    assert database.query("integrity(L, R, P)") == [("review", reason, "test_auth.py")]
    assert gates(database) == ["integrity"]
    assert targets(database, "integrity") == ["test_auth.py"]


def test_gates_become_due_in_the_order_of_the_file(database):
    added = []
    database.on_change(lambda change: added.extend(map(str, change.added)))
    database.assert_fact("file_modified", "auth.py")
    wanted = ["verify_gate('syntax_check')", "verify_gate('run_tests')"]
    assert [text for text in added if text.startswith("verify_gate")] == wanted
    assert "gate_target('run_tests', 'test_auth.py')" in added


FILES = st.sampled_from(["'a.py'", "'b.py'", "'test_a.py'"])
BASE = {
    "file_modified": 1, "file_deleted": 1, "is_test": 1, "test_covers": 2, "imports": 2,
    "expectation_changed": 1, "test_removed": 1, "verify_config_changed": 1, "tool_requested": 3,
}  # fmt: skip
CONCLUDED = {
    "verify_gate": 1, "gate_target": 2, "integrity": 3, "permission": 3, "waived": 2,
    "affected": 1, "uncovered": 1, "mine": 1,
}  # fmt: skip
ANY = {**BASE, **CONCLUDED}
VALUES = st.sampled_from(
    ["'a.py'", "'test_a.py'", "'run_tests'", "'allow'", "'deny'", "?x", "?y", "?z"]
)


@st.composite
def atoms(draw, predicates, values=VALUES):
    name = draw(st.sampled_from(sorted(predicates)))
    return f"{name}({', '.join(draw(values) for _ in range(predicates[name]))})"


@st.composite
def lower_rules(draw):
    """A rule over the kernel's predicates; often one that is refused."""
    body = draw(st.lists(atoms(ANY), min_size=1, max_size=2))
    kind = draw(st.sampled_from(["plain", "plain", "negation", "aggregate"]))
    if kind == "negation":
        body.append(f"not {draw(atoms(ANY))}")
    elif kind == "aggregate":
        body.append(f"?n = count : {{ {draw(atoms(ANY))} }}")
    return f"{' + '.join(body)} -> {draw(atoms(ANY))}"


def accepted(texts, tier):
    """The shipped rules with as many of these as are not refused."""
    whole = Program.union([kernel(), default()])
    for number, text in enumerate(texts):
        try:
            whole = whole.extend(Program.parse(text, f"{number}.dl", tier))
        except RuleError:
            continue
    return whole


@settings(max_examples=60, deadline=None)
@given(
    st.lists(atoms(BASE, FILES), max_size=8),
    st.lists(lower_rules(), min_size=1, max_size=8),
    st.sampled_from(["global", "workspace", "learned"]),
)
def test_whatever_lower_rules_say_the_kernels_duties_stay(facts, texts, tier):
    def model(program):
        made = Database(program)
        with made.transaction():
            for fact in Program.parse("".join(f"{text}.\n" for text in facts)).facts:
                made.assert_fact(fact.predicate, *fact.args)
        return made

    alone, among = model(kernel()), model(accepted(texts, tier))
    assert set(alone.derived()) <= set(among.derived())
    assert not any("allow" in fact.args[1:2] for fact in among.derived("permission"))
    assert among.query("waived(G, P)") == []
