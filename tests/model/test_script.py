import json
from pathlib import Path
from typing import Any

import pytest

from harness.errors import ConfigError
from harness.model.script import Script


def load(tmp_path: Path, text: str) -> Script:
    path = tmp_path / "script.json"
    path.write_text(text, encoding="utf-8")
    return Script.load(path)


def test_a_script_is_read_with_its_defaults(tmp_path: Path) -> None:
    call = {"name": "patch_file", "arguments": {"path": "a"}}
    script = load(tmp_path, json.dumps({"replies": [{"text": "Hi.", "calls": [call]}]}))
    assert (script.model, script.after_last) == ("scripted-qwen", "repeat")
    assert script.replies[0].calls == (("patch_file", {"path": "a"}),)


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ([], "the script must be an object"),
        ({}, "replies must be a list"),
        ({"replies": []}, "at least one"),
        ({"replies": [3]}, "replies[0] must be an object"),
        ({"replies": [{}, {"txt": "a"}]}, "replies[1] has the unknown key 'txt'"),
        ({"replies": [{"text": None}]}, "replies[0].text"),
        ({"replies": [{"calls": {}}]}, "replies[0].calls"),
        ({"replies": [{"calls": [{"arguments": {}}]}]}, "replies[0].calls[0].name"),
        (
            {"replies": [{"calls": [{"name": "a", "arguments": 3}]}]},
            "replies[0].calls[0].arguments",
        ),
        ({"replies": [{"status": 99}]}, "replies[0].status"),
        ({"replies": [{"status": True}]}, "replies[0].status"),
        ({"replies": [{"delay": -1}]}, "replies[0].delay"),
        ({"replies": [{"chunks": "x"}]}, "replies[0].chunks"),
        ({"replies": [{}], "after_last": "stop"}, "after_last"),
        ({"replies": [{}], "model": 3}, "model"),
    ],
)
def test_a_bad_script_names_the_file_and_the_place(tmp_path: Path, value: Any, place: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(tmp_path, json.dumps(value))
    assert place in str(caught.value)
    assert "script.json" in str(caught.value)


def test_broken_json_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="line 2, column"):
        load(tmp_path, '{"replies":\n [}')


@pytest.mark.parametrize("text", ["[" * 100_000, "\ud800"])
def test_what_is_no_script_at_all_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    with pytest.raises(ConfigError):
        Script.load(path)
    with pytest.raises(ConfigError, match="No such file"):
        Script.load(tmp_path / "missing.json")
