import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.model.repair import parse_object, parse_value
from harness.model.strict import is_object


@pytest.mark.parametrize(
    ("text", "means"),
    [
        (
            '{"path": "a.txt", "content": "x = {1,}\\n",}',
            {"path": "a.txt", "content": "x = {1,}\n"},
        ),
        ('{"paths": ["a", "b",], }', {"paths": ["a", "b"]}),
        (
            "{'command': 'echo \"hi\"', 'background': True, 'timeout': None}",
            {"command": 'echo "hi"', "background": True, "timeout": None},
        ),
        ("{'command': 'it\\'s'}", {"command": "it's"}),
        ('{"content": "a\n\tb"}', {"content": "a\n\tb"}),
        ('{"start": \\n21, "end": 22\\n\\n}', {"start": 21, "end": 22}),
        ('"{\\"path\\": \\"a\\"}"', {"path": "a"}),
        ('```json\n{"path": "a"}\n```', {"path": "a"}),
        ('{"command":"pwd"}<|call|>', {"command": "pwd"}),
        ('[{"path": "a"}]', {"path": "a"}),
        ('{"path": "a"} This reads it.', {"path": "a"}),
        ('{"word": "True, None,}"}', {"word": "True, None,}"}),
        ('{"path": "it\'s ,} here"}', {"path": "it's ,} here"}),
        ('{"path": "a" /* the file */}', {"path": "a"}),
        ('{\n  "path": "a", // the file\n}', {"path": "a"}),
        ("{\n  'path': 'a # b', # the file\n}", {"path": "a # b"}),
        ('{path: "a: b", start : 3}', {"path": "a: b", "start": 3}),
        ('{}{"path": "a"}', {"path": "a"}),
        ('{"path": "a"}\n{"path": "a"}', {"path": "a"}),
        ('{\\n  \\"path\\": \\"a\\"\\n}', {"path": "a"}),
        ('\ufeff{"path": "a"}', {"path": "a"}),
    ],
)
def test_what_loses_nothing_is_mended(text: str, means: dict[str, Any]) -> None:
    assert parse_object(text) == means


@pytest.mark.parametrize(
    "text",
    [
        "ls -R",
        '{"path": "a.py", "content": "key = env.get("KEY", "default")"}',
        '{"path": "a"}{"path": "b"}',
        '{"path": "a"} and {"path": "b"}',
        '{"path": "a", "content": "x',
        '{"path": "a"',
        "{'command': 'it's'}",
        '[{"path": "a"}, {"path": "b"}]',
        "[]",
        "3",
        '{"x": NaN}',
        '{"path": "a" // }',
        '{"path": "a" /* }',
        "{path: a}",
        "{}{}",
        '{"x": 1e999}',
        '{"pattern": "\\d+"}',
        "[" * 100_000,
        '{"a":' * 100_000,
        "9" * 5000,
        "",
    ],
)
def test_what_would_be_a_guess_is_refused(text: str) -> None:
    assert parse_object(text) is None


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(VALUES)
def test_json_means_what_it_says(value: Any) -> None:
    assert parse_value(json.dumps(value)) == value
    assert parse_value(json.dumps(value, ensure_ascii=False, indent=1)) == value


@given(st.dictionaries(st.text(st.characters(codec="ascii", exclude_characters="\\'")), VALUES))
def test_an_object_survives_double_encoding(value: dict[str, Any]) -> None:
    assert parse_object(json.dumps(json.dumps(value))) == value


@given(st.text())
def test_any_text_gives_an_object_or_none(text: str) -> None:
    assert parse_object(text) is None or isinstance(parse_object(text), dict)
    assert isinstance(is_object(text), bool)
