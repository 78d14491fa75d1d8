"""What is looked at in a model file before llama.cpp gets it."""

import os
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.model.gguf import ModelFile, read_model_file
from tests.model.gguf_files import QWEN, header


def made(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_the_header_tells_what_the_model_is(tmp_path: Path) -> None:
    path = made(tmp_path / "coder.q4_k_m.gguf", header(QWEN) + b"tokens and weights")
    assert read_model_file(path) == ModelFile(path, "coder.q4_k_m", "qwen2", 32768)


def test_version_2_is_read_too(tmp_path: Path) -> None:
    assert read_model_file(made(tmp_path / "old", header(QWEN, version=2))).name == "old"


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", "it does not begin as one"),
        (b"#!/bin/sh\n", "it does not begin as one"),
        (header(QWEN, version=1), "its version is 1, known are 2 and 3"),
        (b"GGUF\x03\x00", "its header ends early"),
        (header(QWEN)[:70], "its header ends early"),
        (header({"general.architecture": "x" * 9})[:-3], "its header ends early"),
        (header(QWEN | {"qwen2.block_count": 0}), "it tells of 0 layers"),
        (header(QWEN | {"qwen2.block_count": 2000}), "it tells of 2000 layers"),
        (header(QWEN | {"qwen2.context_length": 0}), "a context of 0 tokens"),
        (header({"a": 1}).replace(b"a\x04", b"a\x63"), "a value of the unknown type 99"),
    ],
)
def test_a_damaged_file_is_one_line(tmp_path: Path, data: bytes, line: str) -> None:
    path = made(tmp_path / "bad.gguf", data)
    with pytest.raises(UsageError) as error:
        read_model_file(path)
    assert f"{str(path)!r} is no usable GGUF file: " in str(error.value)
    assert line in str(error.value)
    assert str(error.value).endswith("; get it again")


@pytest.mark.parametrize(
    ("values", "what"),
    [
        ({"general.architecture": "clip", "clip.has_vision_encoder": 1}, "clip"),
        (QWEN | {"general.type": "adapter"}, "adapter"),
        ({"general.name": "nothing"}, "None"),
    ],
)
def test_what_is_no_language_model_is_said_so(
    tmp_path: Path, values: dict[str, object], what: str
) -> None:
    with pytest.raises(UsageError, match=rf"holds no language model \({what}\)"):
        read_model_file(made(tmp_path / "other.gguf", header(values)))


def test_what_is_no_file_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"there is no model file '.*/none\.gguf': name a GGUF"):
        read_model_file(tmp_path / "none.gguf")
    with pytest.raises(UsageError, match="is a folder"):
        read_model_file(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError, match="is a pipe or a device"):
        read_model_file(tmp_path / "pipe")


@given(st.data())
def test_no_bytes_are_more_than_a_usage_error(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    content = bytearray(header(QWEN))
    for place in data.draw(st.lists(st.integers(4, len(content) - 1), max_size=4)):
        content[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    path = made(tmp_path_factory.getbasetemp() / "mutated.gguf", bytes(content[:cut]))
    with suppress(UsageError):
        assert read_model_file(path).context_length > 0
