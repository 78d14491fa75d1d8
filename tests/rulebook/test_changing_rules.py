"""Adding rules, checking them, and switching them off and on."""

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rulefiles import LINT, learned, mine, team

from harness.config import Places, places
from harness.errors import ConfigError, UserError
from harness.rulebook import loading, writing
from harness.rulebook.book import Rulebook

UNNAMED = "file_modified(?f) + path_in('docs', ?f) -> verify_gate('types')"
API = "api: file_modified(?f) + path_in('api', ?f) -> verify_gate('security')"


def names(book: Rulebook) -> set[str]:
    return {rule.name for rule in book.program.rules}


def test_an_added_rule_is_in_force_and_in_the_file(where: Places) -> None:
    book = Rulebook(where)
    checked, path = book.add(f"{API}  # the interface\n")
    assert checked.statements == (API,)
    assert path == where.local / "rules" / "local.dl"
    assert path.read_text() == f"{API}  # the interface\n"
    assert "api" in names(book)
    assert "api" in names(Rulebook(where))
    assert "!/rules/" in (where.local / ".gitignore").read_text()


def test_what_was_in_the_file_stays(where: Places) -> None:
    path = team(where, "# ours\r\n\n" + LINT.rstrip(), "local.dl")
    path.chmod(0o640)
    Rulebook(where).add(API)
    assert path.read_bytes().decode() == f"# ours\r\n\n{LINT}{API}\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [each.name for each in path.parent.iterdir()] == ["local.dl"]


@pytest.mark.parametrize(
    "typed",
    [
        f"# because of X\n{API} # and Y\n\nfile_modified(?f) + path_in('docs', ?f) -> seen(?f)",
        "seen(F) :- file_modified(F), path_in('docs', F). # a clause\n.decl later(x)",
        f"@name('other name') file_modified(?f) -> seen(?f)\n{API}",
    ],
)
def test_a_rule_is_kept_as_it_was_typed(where: Places, typed: str) -> None:
    book = Rulebook(where)
    checked, path = book.add(f"  {typed}\n")
    assert path.read_text() == f"{typed}\n"
    own = {str(rule) for file, rule in book.loaded.rules if file.path == path}
    assert own <= set(checked.statements)
    book.add(LINT)
    assert {rule.tier for rule in Rulebook(where).program.rules if rule.name == "lint"} == {
        "workspace"
    }


@pytest.mark.parametrize(
    "typed", [f"{LINT}@learned  # from here on", f"\ufeff{LINT} # café \ud800"]
)
def test_what_would_change_later_lines_is_kept_without_its_comments(
    where: Places, typed: str
) -> None:
    _, path = Rulebook(where).add(typed)
    assert path.read_text() == LINT


def test_a_rule_for_all_workspaces(where: Places, tmp_path: Path) -> None:
    _, path = Rulebook(where).add(API, everywhere=True)
    assert path == where.user / "rules" / "local.dl"
    other = tmp_path / "other"
    other.mkdir()
    rules = {rule.name: rule for rule in Rulebook(places(other, where.home)).program.rules}
    assert rules["api"].tier == "global"
    assert not where.local.exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("api file_modified", "syntax"),
        ("api: file_modified(?f) -> verify_gate(?g)", "unsafe-variable"),
        ("api: file_modified(?f, 1) -> verify_gate('x')", "arity-clash"),
        ("tdd_gate: file_modified(?f) -> verify_gate('x')", "duplicate-name"),
        ("api: tool_requested(?i, _, _) -> permission(?i, 'allow', 'x')", "tier-violation"),
        ("api: q(?x) + not p(?x) -> p(?x)", "not-stratifiable"),
    ],
)
def test_a_rule_that_may_not_be_is_not_written(where: Places, text: str, code: str) -> None:
    book = Rulebook(where)
    before = book.program
    checked, path = book.add(text)
    assert checked.refused
    assert checked.diagnostics[0].code == code
    assert checked.diagnostics[0].source == "the rule"
    assert not path.exists()
    assert book.program is before


def test_nothing_to_add_is_said(where: Places) -> None:
    with pytest.raises(UserError, match="no rule"):
        Rulebook(where).add("# only a comment")


def test_a_file_that_became_wrong_meanwhile_is_left_alone(where: Places) -> None:
    book = Rulebook(where)
    path = team(where, "half a rule ->\n", "local.dl")
    with pytest.raises(
        ConfigError, match=r"local\.dl:.*nothing was written \(/rules check"
    ) as raised:
        book.add(API)
    assert "\n" not in str(raised.value)
    assert path.read_text() == "half a rule ->\n"


def test_where_another_file_became_wrong_meanwhile_what_was_kept_is_said(where: Places) -> None:
    book = Rulebook(where)
    team(where, "half a rule ->\n")
    with pytest.raises(ConfigError, match=r"is kept in '.*local\.dl', but .*team\.dl:"):
        book.add(API)


def test_a_file_that_meanwhile_clashes_with_another_is_left_alone(where: Places) -> None:
    team(where, LINT)
    book = Rulebook(where)
    path = team(where, LINT.replace("lint'", "types'"), "local.dl")
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="duplicate-name"):
        book.add(API)
    assert path.read_bytes() == before


def test_a_folder_that_leads_outside_is_not_written(where: Places, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    book = Rulebook(where)
    where.local.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="outside the workspace"):
        book.add(API)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_file_that_cannot_be_written_is_one_line(where: Places) -> None:
    book = Rulebook(where)
    where.local.write_text("a file in the way of the folder")
    with pytest.raises(UserError, match="cannot be written"):
        book.add(API)


@contextmanager
def without_rights(*folders: Path) -> Iterator[None]:
    """As somebody who cannot write there; root can everywhere."""
    for folder in folders:
        folder.chmod(0o555)
    root = os.geteuid() == 0
    if root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if root:
            os.seteuid(0)
        for folder in folders:
            folder.chmod(0o755)


@pytest.fixture
def open_places() -> Iterator[Places]:
    """Places that other users can reach."""
    with tempfile.TemporaryDirectory() as name:
        base = Path(name)
        base.chmod(0o777)
        for each in ("home", "ws"):
            (base / each).mkdir()
            (base / each).chmod(0o777)
        yield places(base / "ws", base / "home")


@pytest.mark.parametrize("locked_before", [True, False])
def test_a_workspace_that_cannot_be_written_is_told_by_the_file(
    open_places: Places, locked_before: bool
) -> None:
    path = team(open_places, LINT, "local.dl")
    if locked_before:
        (open_places.local / "rules.lock").touch()
        (open_places.local / "rules.lock").chmod(0o666)
    book = Rulebook(open_places)
    with (
        without_rights(path.parent, open_places.local),
        pytest.raises(UserError, match=r"rules/local\.dl' cannot be written: Permission") as raised,
    ):
        book.add(API)
    assert "/rules add --global" in str(raised.value)
    assert "nothing was added" in str(raised.value)
    assert path.read_text() == LINT


def test_a_home_that_cannot_be_written_hinders_no_rule_of_the_workspace(
    tmp_path: Path, where: Places
) -> None:
    (tmp_path / "file").touch()
    book = Rulebook(places(where.workspace, tmp_path / "file"))
    _, path = book.add(API)
    with pytest.raises(UserError, match="make it writable"):
        book.switch("api", on=False)
    assert path.read_text() == f"{API}\n"


@pytest.mark.parametrize("everywhere", [False, True])
@pytest.mark.parametrize("text", [API, UNNAMED])
def test_a_rule_that_was_switched_off_is_on_once_it_is_added_again(
    where: Places, text: str, everywhere: bool
) -> None:
    book = Rulebook(where)
    _, path = book.add(f"{LINT}{text}", everywhere=everywhere)
    name = "api" if text == API else "rule@local.dl:2"
    for each in ("lint", name):
        book.switch(each, on=False)
    path.write_text(LINT)
    book = Rulebook(where)
    checked, _ = book.add(text, everywhere=everywhere)
    assert checked.on_again == (name,)
    for each_book in (book, Rulebook(where)):
        assert name in names(each_book)
        assert each_book.loaded.off == {"lint"}


def test_for_a_rule_that_is_there_and_switched_off_the_way_back_is_named(where: Places) -> None:
    team(where, f"{API}\n")
    book = Rulebook(where)
    assert book.add(API)[0].objection == ""
    book.switch("api", on=False)
    checked, path = book.add(API)
    assert checked.refused
    assert checked.objection == "'api' is switched off: /rules on api"
    assert not path.exists()


def test_nobody_is_told_any_more_of_a_switch_that_was_for_another_text(where: Places) -> None:
    path = team(where, f"{API}\n", "local.dl")
    book = Rulebook(where)
    book.switch("api", on=False)
    path.write_text("")
    checked, _ = Rulebook(where).add(LINT.replace("lint:", "api:"))
    assert checked.on_again == ()
    assert Rulebook(where).loaded.notices == ()


def test_a_rule_is_no_duplicate_of_one_that_is_switched_off(where: Places) -> None:
    team(where, f"{API}\n")
    book = Rulebook(where)
    again = API.replace("api:", "again:")
    assert [each.code for each in book.check(again, "x", "workspace").diagnostics] == [
        "duplicate-rule"
    ]
    book.switch("api", on=False)
    assert book.add(again)[0].diagnostics == ()
    assert Rulebook(where).loaded.notices == ()


def test_a_rule_is_switched_off_and_on_again_and_that_lasts(where: Places) -> None:
    team(where, LINT + API + "\n")
    book = Rulebook(where)
    book.switch("lint", on=False)
    for each in (book, Rulebook(where)):
        assert "lint" not in names(each)
        assert "api" in names(each)
        assert each.loaded.off == {"lint"}
        assert "lint" in each.names, "it is still listed"
    with pytest.raises(UserError, match="off already"):
        book.switch("lint", on=False)
    book.switch("lint", on=True)
    assert "lint" in names(Rulebook(where))
    with pytest.raises(UserError, match="on already"):
        book.switch("lint", on=True)


def test_shipped_defaults_and_learned_rules_can_be_switched_off_singly(where: Places) -> None:
    learned(where, LINT + API + "\n")
    book = Rulebook(where)
    for name in ("affected_gate", "lint"):
        book.switch(name, on=False)
    assert names(book) & {"affected_gate", "affected_target", "lint", "api"} == {
        "affected_target",
        "api",
    }


def test_the_kernel_cannot_be_switched_off(where: Places) -> None:
    with pytest.raises(UserError, match="kernel"):
        Rulebook(where).switch("tdd_gate", on=False)


def test_a_stated_fact_cannot_be_switched_off(where: Places) -> None:
    team(where, "verify_gate('lint').\n")
    with pytest.raises(UserError, match=r"stated fact: take it out of '.*team\.dl'"):
        Rulebook(where).switch("rule@team.dl:1", on=False)


def test_for_a_stated_fact_that_is_shipped_the_rule_that_reads_it_is_named(where: Places) -> None:
    book = Rulebook(where)
    name = next(rule.name for _, rule in book.loaded.rules if rule.head.predicate == "ci_path")
    with pytest.raises(UserError) as raised:
        book.switch(name, on=False)
    assert str(raised.value) == (
        f"{name!r} is a stated fact: switch off what reads it instead: /rules off ask_ci"
    )


def test_an_unknown_name_names_the_nearest(where: Places) -> None:
    with pytest.raises(UserError, match="did you mean 'affected_gate'"):
        Rulebook(where).switch("afected_gate", on=False)
    with pytest.raises(UserError, match="/rules lists"):
        Rulebook(where).switch("zzzzzz", on=False)


def test_a_rule_that_changed_since_it_was_switched_off_is_in_force_again(where: Places) -> None:
    path = team(where, LINT)
    Rulebook(where).switch("lint", on=False)
    path.write_text("lint: file_created(_) -> verify_gate('lint')\n")
    loaded = Rulebook(where).loaded
    assert "lint" in {rule.name for rule in loaded.program.rules}
    assert "has changed since it was switched off" in loaded.notices[0]


def test_switches_hold_for_one_workspace(where: Places, tmp_path: Path) -> None:
    mine(where, LINT)
    Rulebook(where).switch("lint", on=False)
    other = tmp_path / "other"
    other.mkdir()
    assert "lint" in names(Rulebook(places(other, where.home)))
    assert stat.S_IMODE((where.state / "rules.json").stat().st_mode) & 0o077 == 0


def test_what_two_programs_switch_off_is_both_off(where: Places) -> None:
    team(where, LINT + API + "\n")
    first, second = Rulebook(where), Rulebook(where)
    first.switch("lint", on=False)
    second.switch("api", on=False)
    assert Rulebook(where).loaded.off == {"lint", "api"}


def test_checking_a_file_loads_nothing(where: Places) -> None:
    book = Rulebook(where)
    path = where.workspace / "new.dl"
    path.write_text(API + "\n")
    assert book.check_file(path).statements == (API,)
    assert "api" not in names(book)
    path.write_text("a: file_modified(?f) -> g(?x)\nb: file_modified(?f) -> g(?y)\n")
    checked = book.check_file(path)
    assert checked.refused
    assert [each.line for each in checked.diagnostics] == [1, 2]
    path.write_bytes(b"caf\xe9\n")
    assert book.check_file(path).diagnostics[0].code == "encoding"


def test_a_loaded_file_is_checked_in_the_place_of_what_was_loaded(where: Places) -> None:
    path = team(where, LINT)
    book = Rulebook(where)
    path.write_text(LINT + API + "\n")
    assert not book.check_file(path).refused
    path.write_text("tdd_gate: file_modified(_) -> verify_gate('lint')\n")
    assert book.check_file(path).diagnostics[0].code == "duplicate-name"


def test_a_checked_file_has_the_rights_of_its_place(where: Places) -> None:
    path = where.workspace / "x.dl"
    path.write_text("waived('a', 'b').\n")
    assert Rulebook(where).check_file(path).diagnostics[0].code == "tier-violation"


def test_a_file_of_the_users_is_checked_with_the_users_rights(where: Places) -> None:
    mine(where, "strict: file_modified(?f) + not exempt(?f) -> verify_gate('lint')\nexempt('a').\n")
    path = mine(where, "exempt('b.py').\n", "more.dl")
    assert not Rulebook(where).check_file(path).refused
    path.rename(where.workspace / "more.dl")
    assert Rulebook(where).check_file("more.dl").diagnostics[0].code == "tier-violation"


@pytest.mark.parametrize("kind", ["pipe", "folder", "missing", "device", "circle"])
def test_what_is_no_file_is_not_checked(where: Places, kind: str) -> None:
    path = where.workspace / "x.dl"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "device":
        path.symlink_to("/dev/zero")
    elif kind == "circle":
        path.symlink_to("x.dl")
    with pytest.raises(UserError, match=r"x\.dl"):
        Rulebook(where).check_file("x.dl")


@pytest.mark.parametrize("name", ["a\0b", "~a\0b", "a\ud800b"])
def test_what_no_file_can_be_called_is_not_checked(where: Places, name: str) -> None:
    with pytest.raises(UserError, match="cannot read"):
        Rulebook(where).check_file(name)


def test_a_learned_file_that_leads_in_a_circle_does_not_hinder_a_check(where: Places) -> None:
    where.state.mkdir(parents=True)
    (where.state / "learned.dl").symlink_to("learned.dl")
    team(where, LINT)
    assert not Rulebook(where).check_file(where.local / "rules" / "team.dl").refused


def test_a_file_that_is_too_long_already_is_not_read_as_rules(where: Places) -> None:
    path = learned(where, "# nothing\n" * 120_000)

    def check(lines: int) -> None:
        raise AssertionError("this takes minutes for a file of many megabytes")

    with pytest.raises(UserError, match="would be longer than 1048576 bytes"):
        writing.append(path, LINT, check, lock=where.user / "rules.lock")


WORDS = st.sampled_from(["p", "q", "r(?x)", "s(?x)", "->", "+", ":-", ".", ",", "a:", "\n", "#"])


@settings(max_examples=40, deadline=None)
@given(st.lists(WORDS, max_size=12).map(" ".join))
def test_whatever_is_added_leaves_a_file_that_loads(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    base = tmp_path_factory.mktemp("any")
    (base / "ws").mkdir()
    where = places(base / "ws", base)
    book = Rulebook(where)
    try:
        checked, _ = book.add(text)
    except UserError:
        return
    if not checked.refused:
        again = Rulebook(where)
        assert set(checked.statements) <= {str(rule) for _, rule in again.loaded.rules} | set(
            map(str, again.program.queries)
        )


def test_of_two_files_with_one_base_name_one_rule_is_switched_off(where: Places) -> None:
    mine(where, "file_modified(_) -> verify_gate('lint')\n", "local.dl")
    team(where, "file_modified(_) -> verify_gate('types')\n", "local.dl")
    book = Rulebook(where)
    listed = [rule.name for _, rule in book.loaded.rules if rule.name.startswith("rule@")]
    first, second = listed[-2:]
    assert first != second
    book.switch(second, on=False)
    assert first in names(book)
    assert second not in names(book)
    assert second not in names(Rulebook(where))


def test_a_rule_without_a_name_stays_off_when_it_moves(where: Places) -> None:
    path = team(where, f"{UNNAMED}\n")
    book = Rulebook(where)
    book.switch("rule@team.dl:1", on=False)
    path.write_text(f"# a line above\n{UNNAMED}\n")
    again = Rulebook(where)
    assert again.loaded.off == {"rule@team.dl:2"}
    assert again.loaded.notices == ()
    again.switch("rule@team.dl:2", on=True)
    assert Rulebook(where).loaded.off == frozenset()


def test_of_two_rules_that_read_alike_none_is_taken_for_the_one_that_moved(where: Places) -> None:
    path = team(where, f"{UNNAMED}\n")
    Rulebook(where).switch("rule@team.dl:1", on=False)
    path.write_text(f"# a line above\n{UNNAMED}\n{UNNAMED}\n")
    assert Rulebook(where).loaded.off == frozenset()


def test_a_file_that_others_include_is_checked_in_its_own_place(where: Places) -> None:
    base = team(where, LINT, "base.dl")
    below = team(where, f"{API}\n", "sub/api.dl")
    top = team(where, ".include 'base.dl'\n.include 'sub/api.dl'\n", "team.dl")
    book = Rulebook(where)
    for path in (base, below, top):
        assert book.check_file(path).diagnostics == ()
    base.write_text(f"{LINT}{UNNAMED}\n")
    assert book.check_file(base).statements == (LINT.strip(), UNNAMED)


def test_a_rule_can_be_added_to_a_file_that_includes_another(where: Places) -> None:
    team(where, LINT, "base.inc")
    path = team(where, ".include 'base.inc'\n", "local.dl")
    book = Rulebook(where)
    checked, _ = book.add(API)
    assert not checked.refused
    assert path.read_text() == f".include 'base.inc'\n{API}\n"
    assert {"lint", "api"} <= names(Rulebook(where))
    checked, _ = book.add(LINT)
    assert checked.diagnostics[0].code == "duplicate-name"


def test_what_is_objected_to_is_not_written(where: Places) -> None:
    checked, path = Rulebook(where).add(API, objects=lambda program: "it costs too much")
    assert checked.refused
    assert checked.objection == "it costs too much"
    assert not path.exists()


def test_switches_that_cannot_be_read_are_put_aside(where: Places) -> None:
    team(where, f"{LINT}{API}\n")
    file = loading.switches_file(where)
    for number, broken in enumerate(["{", "[]"]):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(broken)
        Rulebook(where).switch(("lint", "api")[number], on=False)
    assert file.with_name("rules.json.damaged").read_text() == "{"
    assert file.with_name("rules.json.damaged-2").read_text() == "[]"
    assert Rulebook(where).loaded.off == {"api"}


def test_the_file_that_cannot_be_written_is_named(where: Places) -> None:
    for folder, everywhere in ((where.user, True), (where.local, False)):
        (folder / "rules.lock").mkdir(parents=True)
        with pytest.raises(UserError, match=r"rules\.lock"):
            Rulebook(where).add(API, everywhere=everywhere)


def test_the_lock_of_a_workspace_leads_nowhere_else(where: Places, tmp_path: Path) -> None:
    where.local.mkdir()
    (where.local / "rules.lock").symlink_to(tmp_path / "made")
    with pytest.raises(UserError, match="outside the workspace"):
        Rulebook(where).add(API)
    assert not (tmp_path / "made").exists()
