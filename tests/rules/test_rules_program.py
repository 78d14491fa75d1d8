"""Programs out of files, put together, and what they warn of."""

import os
import time

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


def write(folder, **texts):
    """Files with the ending `.dl`; a double underscore in a name stands for a folder."""
    for name, text in texts.items():
        path = folder.joinpath(*name.split("__")).with_suffix(".dl")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder / "top.dl"


def refusals(path):
    with pytest.raises(RuleError) as caught:
        Program.load(path)
    return [fault.first_line.removeprefix(f"{path.parent}/") for fault in caught.value.diagnostics]


def test_an_included_file_stands_where_it_is_included(tmp_path):
    top = write(
        tmp_path,
        top="a.\n.include 'sub/more.dl'\nb.",
        sub__more="c. .include 'rest.dl'\n.include '../other.dl'",
        sub__rest="d.",
        other="e.",
    )
    program = Program.load(top)
    assert [str(fact) for fact in program.facts] == ["a", "c", "d", "e", "b"]
    assert program.axioms[2].source == str(tmp_path / "sub" / "rest.dl")


def test_a_file_is_read_once_however_often_it_is_included(tmp_path):
    top = write(
        tmp_path,
        top=".include 'a.dl'\n.include './a.dl'\n.include 'b.dl'\n.include 'top.dl'\nt.",
        a="a. .include 'b.dl'",
        b="b. .include 'a.dl'\n.include 'top.dl'",
    )
    assert [str(fact) for fact in Program.load(top).facts] == ["a", "b", "t"]


def test_a_very_long_chain_of_includes(tmp_path):
    chain = {f"f{n}": f".include 'f{n + 1}.dl'\np({n})." for n in range(1500)}
    top = write(tmp_path, top=".include 'f0.dl'", f1500="p(1500).", **chain)
    assert len(Program.load(top).facts) == 1501


def test_an_included_file_has_the_tier_of_its_place(tmp_path):
    top = write(
        tmp_path,
        top="a.\n@workspace\n.include 'low.dl'\nb.\n@kernel\n.include 'high.dl'",
        low="c. @learned\nd.",
        high="e.",
    )
    tiers = {str(axiom.head): axiom.tier for axiom in Program.load(top).axioms}
    assert tiers == {
        "a": "kernel",
        "b": "workspace",
        "c": "workspace",
        "d": "learned",
        "e": "kernel",
    }


def test_an_included_file_cannot_raise_its_tier(tmp_path):
    top = write(tmp_path, top="@workspace\n.include 'low.dl'", low="@kernel\np(1).")
    assert refusals(top) == [
        "low.dl:1:2: error[tier-violation]: '@kernel' is above 'workspace', the tier of this file"
    ]


def test_faults_are_named_by_file_in_the_order_of_reading(tmp_path):
    top = write(
        tmp_path,
        top="p(1 2).\n.include 'a.dl'\nq(X) :- p(Y).",
        a="p(.\n.include 'none.dl'\nr(?x) -> s(?y)",
    )
    assert [line.partition(": ")[0] for line in refusals(top)] == [
        "top.dl:1:5",
        "top.dl:3:3",
        "a.dl:1:3",
        "a.dl:2:1",
        "a.dl:3:12",
    ]


def test_a_missing_file_is_one_fault_at_its_place(tmp_path):
    top = write(tmp_path, top="p(1).\n  .include 'none.dl'\n.include 'none.dl'\nq(2).")
    assert refusals(top) == [
        "top.dl:2:3: error[include]: 'none.dl' cannot be read: No such file or directory",
    ]


def test_files_outside_of_the_folder_cannot_be_included(tmp_path):
    inside = tmp_path / "inside"
    write(tmp_path, out="secret.", inside__sub__x=".include '../../out.dl'")
    (inside / "link.dl").symlink_to(tmp_path / "out.dl")
    top = write(
        inside,
        top=".include '../out.dl'\n.include 'link.dl'\n.include 'sub/x.dl'\n"
        f".include '{inside / 'sub' / 'x.dl'}'\n.include '../inside/ok.dl'",
        ok="fine.",
    )
    assert [line.partition(" is ")[0] for line in refusals(top)] == [
        "top.dl:1:1: error[include]: '../out.dl'",
        "top.dl:2:1: error[include]: 'link.dl'",
        f"top.dl:4:1: error[include]: '{inside / 'sub' / 'x.dl'}'",
        "sub/x.dl:1:1: error[include]: '../../out.dl'",
    ]


def test_only_regular_files_of_a_bounded_size_can_be_included(tmp_path):
    os.mkfifo(tmp_path / "pipe.dl")
    (tmp_path / "folder.dl").mkdir()
    (tmp_path / "large.dl").write_text("#" * (1024 * 1024) + "\n")
    (tmp_path / "full.dl").write_text("p(1).\n" + "#" * (1024 * 1024 - 6))
    (tmp_path / "latin.dl").write_bytes(b"\xe9")
    top = write(
        tmp_path,
        top=".include 'pipe.dl'\n.include 'folder.dl'\n.include 'large.dl'\n.include 'full.dl'\n"
        ".include 'latin.dl'\n.include '\\udc80'\n.include ''",
    )
    assert refusals(top) == [
        "top.dl:1:1: error[include]: 'pipe.dl' is not a regular file",
        "top.dl:2:1: error[include]: 'folder.dl' is not a regular file",
        "top.dl:3:1: error[include]: 'large.dl' has more than 1 MiB",
        "top.dl:6:1: error[include]: '\\udc80' cannot be read: No such file or directory",
        f"top.dl:7:1: error[include]: '' is outside of the folder of '{top}'",
        "latin.dl:1:1: error[encoding]: byte 0xe9 is not valid UTF-8",
    ]


def test_a_text_that_is_no_file_includes_nothing():
    with pytest.raises(RuleError) as caught:
        Program.parse("p(1).\n.include 'other.dl'", source="team.dl")
    assert caught.value.first_line == (
        "team.dl:2:1: error[include]: a text that is not a file cannot include one"
    )


def tiered():
    return Program.union(
        [
            Program.parse(".decl p(x: int)\n.closed k\na: p(?x) -> q(?x)\n?- q(X)."),
            Program.parse("b: q(?x) -> r(?x)\np(1).\n.decl r/1\n.open r(_)", tier="global"),
            Program.parse("q(?x) -> s(?x)\np(2).", source="team.dl", tier="learned"),
        ]
    )


def test_a_program_knows_its_tiers():
    assert tiered().tiers == ("kernel", "global", "learned")
    assert Program().tiers == ()


def test_a_tier_can_be_left_out():
    program = tiered().without_tier("global")
    assert [rule.name for rule in program.rules] == ["a", "rule@team.dl:1"]
    assert [fact.args for fact in program.facts] == [(2,)]
    assert [each.predicate for each in program.declarations] == ["p"]
    assert [str(guard) for guard in program.guards] == [".closed k", ".open r(_)"]
    assert len(program.queries) == 1
    assert len(tiered().rules) == 3
    with pytest.raises(ValueError, match="unknown tier 'user'"):
        tiered().without_tier("user")


def test_single_rules_can_be_left_out_by_name():
    program = tiered().without(["rule@team.dl:1", "a", "unheard"])
    assert [rule.name for rule in program.rules] == ["b"]
    assert len(program.facts) == 2


def test_rules_of_files_with_one_base_name_have_names_of_their_own():
    mine = Program.parse("p(?x) -> q(?x)\nnamed: p(?x) -> r(?x)", "/home/x/team/t.dl", "global")
    ours = Program.parse("p(?x) -> s(?x)\np(1).", "/ws/rules/t.dl", "workspace")
    sub = Program.parse("p(?x) -> t(?x)", "/ws/more/rules/t.dl", "workspace")
    assert mine.rules[0].name == ours.rules[0].name == "rule@t.dl:1"
    two = Program.union([mine, ours])
    assert [each.name for each in two.statements] == [
        "rule@team/t.dl:1",
        "named",
        "rule@rules/t.dl:1",
        "rule@rules/t.dl:2",
    ]
    three = two.extend(sub)
    assert [rule.name for rule in three.rules] == [
        "rule@x/team/t.dl:1",
        "named",
        "rule@ws/rules/t.dl:1",
        "rule@more/rules/t.dl:1",
    ]
    kept = three.without(["rule@ws/rules/t.dl:1", "rule@t.dl:1"])
    assert [rule.head.predicate for rule in kept.rules] == ["q", "r", "t"]
    assert [rule.name for rule in kept.rules if not rule.label] == [
        "rule@x/team/t.dl:1",
        "rule@more/rules/t.dl:1",
    ]
    assert three == Program.union([mine, ours, sub])


def test_a_file_may_be_named_as_the_end_of_another():
    parts = [Program.parse("p -> q", name) for name in ("t.dl", "a/t.dl", "/a/t.dl", "u.dl")]
    names = [rule.name for rule in Program.union(parts).rules]
    assert names == ["rule@t.dl:1", "rule@a/t.dl:1", "rule@/a/t.dl:1", "rule@u.dl:1"]


@pytest.mark.parametrize("label", ["rule@t.dl:1", "rule@"])
def test_a_label_cannot_look_like_a_place(label):
    with pytest.raises(RuleError) as caught:
        Program.parse(f"p(1).\n@name('{label}') p(?x) -> q(?x)", "t.dl")
    (fault,) = caught.value.diagnostics
    assert (fault.code, fault.line, fault.column) == ("reserved-name", 2, 1)


def test_programs_that_say_the_same_are_equal():
    one = Program.parse("a: p(?x) -> q(?x)\np(1).")
    other = Program.parse("a: q(?x) :- p(?x).\n\np(  1 ).", source="other.dl")
    assert one == other
    assert hash(one) == hash(other)
    assert one != Program.parse("b: p(?x) -> q(?x)\np(1).")
    assert one != "a"
    assert Program.union([one, Program()]) == one


def test_arities_are_known_from_everything_that_is_written():
    text = ".decl a/1\n.closed b(_, _)\nc(1). d(X) :- c(X), not e(X, 1), 1 < count { f }.\n?- g(_)."
    assert Program.parse(text).arities == {
        "a": 1,
        "b": 2,
        "c": 1,
        "d": 1,
        "e": 2,
        "f": 0,
        "g": 1,
    }


def test_a_thousand_rules_are_read_and_checked_soon():
    text = "\n".join(
        f"gate_{n}: file_modified(?file) + test_covers(?test, ?file) + path_in('api/{n}', ?file)"
        f" -> verify_gate('run_{n}')"
        for n in range(1000)
    )
    times = []
    for _ in range(3):
        start = time.process_time()
        Program.parse(text)
        times.append(time.process_time() - start)
    assert min(times) < 0.3
