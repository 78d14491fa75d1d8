"""Where settings come from, what wins, and what is refused."""

import dataclasses
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from harness.config import Options, Places, load, places, workspace_id
from harness.errors import ConfigError, UsageError
from harness.process.tree import MARK


@pytest.fixture
def where(tmp_path: Path, home: Path) -> Places:
    (tmp_path / "ws").mkdir()
    return places(tmp_path / "ws")


def write(folder: Path, text: str) -> None:
    folder.mkdir(exist_ok=True)
    (folder / "config.toml").write_text(text, encoding="utf-8")


def loaded(where: Places, flags: Mapping[str, Any] | None = None, **environment: str) -> Options:
    return load(where, flags or {}, environment)


def test_without_sources_there_are_defaults(where: Places) -> None:
    assert loaded(where) == Options()
    assert not where.user.exists()
    assert not where.local.exists()


def test_later_sources_win(where: Places) -> None:
    assert loaded(where).gate_timeout == 120
    write(where.user, "gate_timeout = 1\nshell_timeout = 1\nmodel = 'user'\nmax_steps = 1\n")
    write(where.local, "gate_timeout = 2\nshell_timeout = 2\nmodel = 'workspace'\n")
    options = loaded(where, {"model": "flag"}, MCA_SHELL_TIMEOUT="3", MCA_MODEL="variable")
    assert options.max_steps == 1
    assert options.gate_timeout == 2
    assert options.shell_timeout == 3
    assert options.model == "flag"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("modle = 'x'", "unknown setting 'modle' in .*; known: model"),
        ("[model]\nname = 'x'", "'model' in .* must be a text"),
        ("max_steps = 'many'", "'max_steps' in .* must be a whole number, not 'many'"),
        ("max_steps = 2.5", "must be a whole number, not 2.5"),
        ("max_steps = true", "must be a whole number, not True"),
        ("ooda = 1", "must be true or false, not 1"),
        ("max_steps = -1", "must be from 0 to"),
        ("max_attempts = 0", "must be from 1 to"),
        ("max_new_tokens = 0", "must be from 1 to"),
        ("gate_timeout = 0", "must be above 0"),
        ("gate_timeout = -3", "must be above 0"),
        ("temperature = nan", "must be a finite number"),
        ("temperature = -0.5", "must be from 0 to"),
        ("max_seconds = inf", "must be a finite number"),
        ("top_p = 1.5", "must be from 0 to 1, not 1.5"),
        (f"max_seconds = {10**400}", "must be from 0 to"),
        ("gate_timeout = 1e300", "must be from 0 to"),
        ("approval = 'yes'", "'approval' in .* must be one of ask, auto, never, not 'yes'"),
        ("backend = 'x'", "must be one of auto, openai, ollama, scripted"),
        ("model = ", "is not valid TOML"),
        ("model = 'a'\nmodel = 'b'", "is not valid TOML"),
        ("model = " + "[" * 50_000, "is not valid TOML: it is nested too deeply"),
        ("model" + ".a" * 5_000 + " = 1", "must be a text|is not valid TOML"),
        ("model = [" + "1," * 5_000 + "]", r"must be a text, not \[1, 1, .*\.\.\.$"),
        ("max_steps = 0x" + "f" * 5_000, "must be from 0 to"),
    ],
)
def test_a_setting_that_cannot_be_used_is_one_line(where: Places, text: str, why: str) -> None:
    write(where.user, text)
    with pytest.raises(ConfigError, match=why) as refused:
        loaded(where)
    assert "\n" not in str(refused.value)
    assert str(where.user / "config.toml") in str(refused.value)


def test_whole_numbers_are_good_for_seconds(where: Places) -> None:
    write(where.user, "gate_timeout = 5\nmax_seconds = 0\n")
    options = loaded(where)
    assert (options.gate_timeout, options.max_seconds) == (5.0, 0.0)
    assert isinstance(options.gate_timeout, float)


WORKSPACE_MAY = {"model", "temperature", "top_p", "max_new_tokens", "gate_timeout", "shell_timeout"}
SAMPLES = {"str": "'auto'", "bool": "false", "int": "5", "float": "0.5"}


@pytest.mark.parametrize("field", dataclasses.fields(Options), ids=lambda field: str(field.name))
def test_a_workspace_sets_only_what_cannot_lower_safety(
    where: Places, field: "dataclasses.Field[Any]"
) -> None:
    kind = getattr(field.type, "__name__", str(field.type)).split(" ")[0]
    write(where.local, f"{field.name} = {SAMPLES[kind]}")
    if field.name in WORKSPACE_MAY:
        assert loaded(where) != Options()
        return
    with pytest.raises(ConfigError, match=f"may not set '{field.name}'") as refused:
        loaded(where)
    assert "~/.mini-coding-agent/config.toml" in str(refused.value)


def test_every_setting_can_come_from_the_environment(where: Places) -> None:
    samples = {"str": "auto", "bool": "0", "int": "5", "float": "0.5"}
    for field in dataclasses.fields(Options):
        kind = getattr(field.type, "__name__", str(field.type)).split(" ")[0]
        options = loaded(where, **{f"MCA_{field.name.upper()}": samples[kind]})
        assert str(getattr(options, field.name)).lower() in ("auto", "false", "5", "0.5")


@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("MCA_MAX_STEPS", "many", "MCA_MAX_STEPS='many' in the environment is not a whole number"),
        ("MCA_MAX_STEPS", "2.5", "not a whole number"),
        ("MCA_MAX_STEPS", "9" * 5000, "not a whole number"),
        ("MCA_MAX_SECONDS", "nan", "'max_seconds' in the environment must be a finite number"),
        ("MCA_OODA", "maybe", "MCA_OODA='maybe' in the environment is not true or false"),
        ("MCA_APPROVAL", "yes", "'approval' in the environment must be one of"),
        ("MCA_MODLE", "x", "unknown setting 'MCA_MODLE' in the environment; known: model"),
    ],
)
def test_a_variable_that_cannot_be_used_is_one_line(
    where: Places, name: str, text: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why):
        loaded(where, **{name: text})


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("TRUE", True), ("0", False), (" false ", False)]
)
def test_switches_in_the_environment(where: Places, text: str, value: bool) -> None:
    assert loaded(where, MCA_OODA=text).ooda is value


def test_an_empty_variable_counts_as_unset(where: Places) -> None:
    assert loaded(where, MCA_MAX_STEPS="", MCA_HOST=" ") == Options()


def test_variables_of_ours_that_are_no_settings_pass(where: Places) -> None:
    marks = {MARK: "a,b", "MCA_REPORT": "/x", "MCA_API_KEY": "k", "OTHER": "x"}
    assert loaded(where, **marks) == Options()


def test_flags_are_checked_too(where: Places) -> None:
    with pytest.raises(ConfigError, match="'max_attempts' in the command line must be from 1"):
        loaded(where, {"max_attempts": 0})


@pytest.mark.parametrize("target", ["/dev/zero", "pipe", "folder"])
def test_a_configuration_that_is_no_file_is_not_waited_for(where: Places, target: str) -> None:
    where.local.mkdir()
    os.mkfifo(where.local / "pipe")
    (where.local / "folder").mkdir()
    (where.local / "config.toml").symlink_to(target)
    with pytest.raises(ConfigError, match=r"config\.toml"):
        loaded(where)


def test_a_configuration_that_is_no_text_is_one_line(where: Places) -> None:
    where.user.mkdir()
    (where.user / "config.toml").write_bytes(b"model = '\xe9'")
    with pytest.raises(ConfigError, match="is not valid TOML"):
        loaded(where)


def test_a_missing_workspace_is_a_usage_error_and_not_created(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"--cwd '.*nowhere' does not exist"):
        places(tmp_path / "nowhere")
    assert not (tmp_path / "nowhere").exists()
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a folder"):
        places(tmp_path / "file")
    with pytest.raises(UsageError, match="does not exist"):
        places(tmp_path / "file" / "x")


def test_the_workspace_is_its_real_path(tmp_path: Path, home: Path) -> None:
    (tmp_path / "ws").mkdir()
    (tmp_path / "link").symlink_to("ws")
    assert places(tmp_path / "link").workspace == tmp_path / "ws"
    assert places(tmp_path / "link" / ".." / "ws") == places(tmp_path / "ws")


def test_state_lies_in_the_home_and_nothing_is_created(where: Places, home: Path) -> None:
    assert where.home == home
    assert where.state == home / ".mini-coding-agent" / "state" / workspace_id(where.workspace)
    assert where.sessions == where.state / "sessions"
    assert where.entries("global") == home / ".mini-coding-agent" / "knowledge" / "entries.json"
    local = where.workspace / ".mini-coding-agent" / "knowledge" / "entries.json"
    assert where.entries("workspace") == local
    assert list(home.iterdir()) == []


def test_a_relative_home_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "somewhere")
    with pytest.raises(UsageError, match="set HOME"):
        places(tmp_path)


def test_workspaces_have_readable_names_of_their_own() -> None:
    ids = [
        workspace_id(Path(path)) for path in ("/a/proj", "/b/proj", "/", "/x/é à", "/x/caf\udce9")
    ]
    assert len(set(ids)) == 5
    assert ids[0].startswith("proj-")
    assert ids[2].startswith("root-")
    assert all(name.isascii() and "/" not in name and " " not in name for name in ids)
    assert len(workspace_id(Path("/" + "n" * 255))) < 60
