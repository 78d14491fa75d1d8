"""Programs out of files, put together, and what they warn of."""

import pytest

from rules import Program, RuleError


def test_a_file_is_loaded_under_its_name(tmp_path):
    path = tmp_path / "team.dl"
    path.write_bytes(b"\xef\xbb\xbfp(?x) -> q(?x)\r\np('\xc3\xa9').\r\n")
    program = Program.load(path, tier="workspace")
    assert program.rules[0].source == str(path)
    assert program.rules[0].tier == "workspace"
    assert program.rules[0].name == "rule@team.dl:1"
    assert [str(fact) for fact in program.facts] == ["p('é')"]


def test_a_file_that_is_not_there_is_an_ordinary_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        Program.load(tmp_path / "none.dl")


def test_an_unknown_tier_is_refused():
    with pytest.raises(ValueError, match="unknown tier 'user'; tiers are kernel, global"):
        Program.parse("", tier="user")


def test_programs_keep_their_order_when_put_together():
    first = Program.parse("b: p(?x) -> q(?x)\np(2).", tier="kernel")
    second = Program.parse("a: p(?x) -> r(?x)\np(1).", tier="workspace")
    both = first.extend(second)
    assert [rule.name for rule in both.rules] == ["b", "a"]
    assert [rule.tier for rule in both.rules] == ["kernel", "workspace"]
    assert [fact.args for fact in both.facts] == [(2,), (1,)]
    assert Program.union([first, second]).rules == both.rules
    assert len(first.rules) == 1


def test_contradictions_between_files_name_both_places():
    kernel = Program.parse(".decl file(path, language)\ngate: p(?x) -> q(?x)", source="kernel.dl")
    team = Program.parse("gate: file(?x) -> q(?x)", source="team.dl", tier="workspace")
    with pytest.raises(RuleError) as caught:
        Program.union([kernel, team])
    assert [fault.first_line for fault in caught.value.diagnostics] == [
        "team.dl:1:7: error[arity-clash]: 'file' has 1 argument here and 2 at kernel.dl:1:7",
        "team.dl:1:1: error[duplicate-name]: the rule name 'gate' is already used at kernel.dl:2:1",
    ]


def test_rules_without_a_name_never_clash():
    same = "p(?x) -> q(?x)"
    assert len(Program.union([Program.parse(same), Program.parse(same)]).rules) == 2


def test_an_unknown_predicate_is_a_warning_with_a_near_name():
    program = Program.parse(".decl file_modified(path)\nfile_modifed(?f) -> q(?f)", source="t.dl")
    (warning,) = program.warnings
    assert warning.first_line == (
        "t.dl:2:1: warning[unknown-predicate]: "
        "'file_modifed' is not concluded, stated or declared anywhere"
    )
    assert warning.help == "did you mean 'file_modified'?"


def test_a_predicate_is_known_by_a_declaration_a_rule_or_a_fact():
    text = ".decl a/1\n.decl b\nc(1).\na(?x) -> d(?x)\na(?x) + b + c(?x) + d(?x) -> e"
    assert Program.parse(text).warnings == ()
    assert len(Program.parse("unheard(?x) -> e").warnings) == 1


def test_a_predicate_declared_in_another_file_is_known_together_with_it():
    team = Program.parse("file_modified(?f) -> q(?f)")
    kernel = Program.parse(".decl file_modified(path).")
    assert len(team.warnings) == 1
    assert kernel.extend(team).warnings == ()


def test_a_bare_word_that_looks_like_a_variable_of_its_rule_is_a_warning():
    program = Program.parse("p(?file, file) + p('file', ?x) -> q(?x)", source="t.dl")
    codes = [warning.code for warning in program.warnings]
    assert codes == ["unknown-predicate", "unknown-predicate", "disguised-variable"]
    assert program.warnings[-1].column == 10


def test_declarations_in_all_forms():
    text = ".decl a(x, Y)\n.decl b()\n.decl c\n.decl d/3\n.decl Edge(a, b). .decl f/0"
    assert Program.parse(text).arities == {"a": 2, "b": 0, "c": 0, "d": 3, "Edge": 2, "f": 0}
