"""Each error class of the wire cases has one name here, and each name here is one of them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import errors
from harness.model.decode import DETAILS
from harness.model.failures import CAUSES
from tests.cases.wire_classes import ALONE, CLASSES, FINER, outside

THEIRS = """
context_overflow silent_truncation empty malformed_tool_call truncated_tool_call truncated_text
unknown_tool invalid_arguments stream_interrupted repetition loop_detected timeout
backend_unavailable model_loading model_not_found tools_unsupported tool_schema_rejected
template_rejected auth bad_request server_error path_outside_workspace file_not_found
""".split()
ROOT = Path(__file__).resolve().parents[2]
RAISED = re.compile(r"ModelFailure\(\s*\"(\w+)\"")


def ours() -> Iterator[str]:
    """Every error class that the program can give."""
    yield from (cause.error_class for cause in CAUSES.values())
    yield from DETAILS
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, errors.ToolError) and value.error_class:
            yield value.error_class
    yield from RAISED.findall(program())


def program() -> str:
    files = sorted((ROOT / "harness").rglob("*.py"))
    return "\n".join(path.read_text(encoding="utf-8") for path in files)


def test_the_table_is_one_to_one_and_has_all_of_theirs() -> None:
    assert sorted(CLASSES.values()) == sorted(THEIRS)
    assert len(set(CLASSES.values())) == len(CLASSES)


def test_the_table_has_all_of_ours() -> None:
    assert set(ours()) <= {*CLASSES, *FINER, *ALONE}


def test_every_name_of_the_table_is_used() -> None:
    text = program()
    assert [name for name in (*CLASSES, *FINER, *ALONE) if f'"{name}"' not in text] == []


def test_a_finer_name_is_no_other_class() -> None:
    assert not {*FINER, *ALONE} & CLASSES.keys()
    assert set(FINER.values()) <= CLASSES.keys()


def test_an_unknown_class_is_an_error_and_not_a_pass() -> None:
    assert outside(None) is None
    assert outside("auth") == "auth"
    assert outside("call_in_reasoning") == "empty"
    with pytest.raises(KeyError):
        outside("something_else")
