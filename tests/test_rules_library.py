"""The rules of docs/rules-library.md do what is said of them."""

import re
from pathlib import Path

import pytest

from harness.rulebook import files
from rules import Database, Fact, Program

PAGE = Path(__file__).resolve().parent.parent / "docs" / "rules-library.md"
BLOCKS = re.findall(r"^```dl\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)

WRITES = ["tool_writes('write_file')", "tool_reads('read_file')"]
TAKES = ["constrained", "tool_reads('read_file')", "takes_file('read_file', 'path')"]
MANY = [f"imports('f{number}.py', 'hub.py')" for number in range(11)]


def database(first_line: str, *facts: str) -> Database:
    """The block that begins so, with the shipped rules and these facts."""
    (text,) = (block for block in BLOCKS if block.startswith(first_line))
    program = Program.union(
        [
            *(files.read(file) for file in files.shipped()),
            Program.parse(text, "team.dl", "workspace"),
        ]
    )
    assert program.warnings == ()
    made = Database(program)
    with made.transaction():
        for fact in Program.parse("".join(f"{fact}.\n" for fact in facts)).facts:
            made.assert_fact(fact.predicate, *fact.args)
    return made


def test_every_block_has_a_test() -> None:
    tested = {case.values[0] for case in CASES}
    for block in BLOCKS:
        assert any(block.startswith(first) for first in tested), block


def case(first_line: str, facts: list[str], *conclusions: str) -> object:
    return pytest.param(first_line, facts, conclusions, id=f"{first_line}-{len(conclusions)}")


REVIEW = "integrity('review', '{}', '{}')"
HARD = "integrity('hard', '{}', '{}')"
MIGRATION = "a migration that others may have run was changed: add a new one"
LAYER = "it imports from a layer above its own"
ASKED = "tool_requested('c1', 'write_file', '{}')"
CASES = [
    case(
        "ci_path('deploy/**').",
        [*WRITES, ASKED.format("deploy/x.sh"), "command_requested('c2', 'terraform  apply')"],
        "permission('c1', 'ask', 'it changes what runs in continuous integration')",
    ),
    case(
        "ci_path('deploy/**').",
        [*WRITES, ASKED.format("src/api/schema_types.py"),
         "command_requested('c2', 'cd x && terraform apply')"],
        "permission('c1', 'ask', 'it is generated: change what it is generated from')",
        "permission('c2', 'ask', 'it changes what is running')",
    ),
    case("api_gate:", ["file_modified('apiary/x.py')"]),
    case(
        "api_gate:",
        ["file_modified('api/x.py')"],
        "verify_gate('security')",
        "gate_target('security', 'api/x.py')",
    ),
    case(
        "template_gate:",
        ["file_modified('templates/a.txt')", "is_test('test_a.py')", "has_tests"],
    ),
    case(
        "template_gate:",
        ["file_modified('templates/a/b.html')", "is_test('test_a.py')", "has_tests"],
        "verify_gate('run_tests')",
        "gate_target('run_tests', 'test_a.py')",
    ),
    case(
        "migration_review:",
        ["file_modified('shop/migrations/2.py')", "file_created('shop/migrations/2.py')"],
        REVIEW.format("a migration was added", "shop/migrations/2.py"),
        "verify_gate('integrity')",
        "gate_target('integrity', 'shop/migrations/2.py')",
    ),
    case(
        "migration_review:",
        ["file_modified('migrations/1.py')"],
        HARD.format(MIGRATION, "migrations/1.py"),
        "verify_gate('integrity')",
        "gate_target('integrity', 'migrations/1.py')",
    ),
    case("changelog:", ["file_modified('src/a.txt')", "file_modified('CHANGELOG.md')"]),
    case(
        "changelog:",
        ["file_modified('src/a.txt')"],
        REVIEW.format("CHANGELOG.md says nothing of it", "src/a.txt"),
        "verify_gate('integrity')",
        "gate_target('integrity', 'src/a.txt')",
    ),
    case(
        "uncovered_review:",
        ["file_modified('a.py')", "file('a.py', 'python')"],
        REVIEW.format("no test covers it", "a.py"),
    ),
    case("uncovered_review:", ["file_modified('a.md')", "file('a.md', 'markdown')"]),
    case(
        "licence_review:",
        ["file_created('a.py')", "file('a.py', 'python')"],
        REVIEW.format("it is new: does it carry the licence header?", "a.py"),
    ),
    case(
        "licence_review:",
        ["file_created('test_a.py')", "file('test_a.py', 'python')", "is_test('test_a.py')"],
    ),
    case("hub_review:", ["file_modified('hub.py')", *MANY[1:]]),
    case(
        "hub_review:",
        ["file_modified('hub.py')", *MANY],
        REVIEW.format("many files depend on it", "hub.py"),
    ),
    case(
        "layer('storage', 1).",
        ["file_modified('web/a.py')", "imports('web/a.py', 'storage/b.py')"],
    ),
    case(
        "layer('storage', 1).",
        ["file_modified('domain/a.py')", "imports('domain/a.py', 'web/b.py')"],
        HARD.format(LAYER, "domain/a.py"),
    ),
    case(
        "needs_first:",
        ["file_modified('a')", "imports('b', 'c')", "imports('c', 'b')", "imports('a', 'b')"],
    ),
    case(
        "needs_first:",
        ["file_modified('a')", "imports('a', 'b')", "imports('b', 'c')", "imports('c', 'a')"],
        REVIEW.format("it imports itself by way of others", "a"),
    ),
    case(
        "network_test:",
        ["file_modified('tests/network/test_a.py')", "is_test('tests/network/test_a.py')",
         "imports('tests/network/test_a.py', 'src/http_client.py')"],
    ),
    case(
        "network_test:",
        ["file_modified('tests/test_a.py')", "is_test('tests/test_a.py')",
         "imports('tests/test_a.py', 'src/http_client.py')"],
        HARD.format("a test that uses the network belongs in tests/network", "tests/test_a.py"),
    ),
    case("read_first:", ["constrained"], "tool_withheld('run_shell')"),
    case("read_first:", ["constrained", "file_read('a.py')"]),
    case("read_first:", []),
    case(
        "seldom_used('find_references').",
        ["constrained", "tool_reads('outline')", "tool_reads('read_file')"],
        "tool_withheld('outline')",
        "tool_offered('read_file')",
    ),
    case("seldom_used('find_references').", ["tool_reads('outline')"]),
    case(
        "no_generated:",
        [*TAKES, "path_candidate('generated/a.py', 1)", "path_candidate('src/a.py', 2)"],
        "value_withheld('read_file', 'path', 'generated/a.py')",
        "argument_allowed('read_file', 'path', 'src/a.py')",
    ),
    case("no_generated:", [*TAKES, "path_candidate('src/generated/a.py', 1)"]),
    case("generated:", [*WRITES, "tool_requested('c1', 'read_file', 'generated/x.py')"]),
    case(
        "generated:",
        [*WRITES, ASKED.format("generated/x.py")],
        "permission('c1', 'deny', 'generated/ is written by make generate: change its input')",
    ),
    case(
        "secret_path(",
        [*WRITES, "tool_requested('c1', 'read_file', 'keys/a.pem')"],
        "permission('c1', 'deny', 'it is secret: ask a person for what you need of it')",
    ),
    case("secret_path(", [*WRITES, ASKED.format("config/test/a.ini")]),
    case(
        "installer(",
        ["command_requested('c1', 'python -m pip install x')"],
        "permission('c1', 'ask', 'it installs something')",
    ),
    case("installer(", ["command_requested('c1', 'pip list')"]),
    case("release.", [*WRITES, ASKED.format("docs/a.md")]),
    case(
        "release.",
        [*WRITES, ASKED.format("src/a.py")],
        "permission('c1', 'deny', 'a release is being made: only docs/ may change')",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("first_line", "facts", "conclusions"), CASES)
def test_facts_in_conclusions_out(
    first_line: str, facts: list[str], conclusions: tuple[str, ...]
) -> None:
    made = database(first_line, *facts)
    derived = {str(fact) for fact in made.derived()}
    assert set(conclusions) <= derived
    if not conclusions:
        wanted = ("verify_gate", "integrity", "permission", "tool_withheld", "value_withheld")
        own = {
            fact
            for name in wanted
            for fact in made.derived(name)
            if made.derivation(fact).rule.tier == "workspace"
        }
        assert own == set[Fact]()
