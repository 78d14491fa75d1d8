"""Enough of a GGUF file's header to know that a chat model is in it.

The format is https://github.com/ggml-org/ggml/blob/master/docs/gguf.md. llama.cpp refuses most
damaged files with an error, but an impossible number of layers ends the process that loads them;
so that is looked at here.
"""

import os
import stat
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from harness.errors import UsageError

MOST_LAYERS = 512
"""As many as llama.cpp is built for."""

_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q"}
_NUMBERS[12] = "d"
_STRING, _ARRAY = 8, 9
_VERSIONS = (2, 3)

Value = int | float | str | None
"""A value of the header; None for an array, whose content is passed over."""


@dataclass(frozen=True)
class ModelFile:
    """A GGUF file. `name` is its name without the suffix; `context_length` what the model was
    trained for, in tokens."""

    path: Path
    name: str
    architecture: str
    context_length: int


class _Damaged(Exception):
    pass


def read_model_file(path: Path) -> ModelFile:
    """Raises UsageError with one clear line for what is no file of a language model."""
    shown = repr(str(path))
    try:
        with _opened(path, shown) as file:
            values = _header(file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise UsageError(f"cannot read the model file {shown}: {error.strerror}") from None
    except _Damaged as damage:
        raise UsageError(f"{shown} is no usable GGUF file: {damage}; get it again") from None
    return _model(path, shown, values)


def _opened(path: Path, shown: str) -> BinaryIO:
    try:
        # a pipe must not be waited for
        status = path.stat()
    except FileNotFoundError:
        raise UsageError(f"there is no model file {shown}: name a GGUF file") from None
    if not stat.S_ISREG(status.st_mode):
        what = "a folder" if stat.S_ISDIR(status.st_mode) else "a pipe or a device"
        raise UsageError(f"the model file {shown} is {what}: name a GGUF file")
    return path.open("rb")


def _model(path: Path, shown: str, values: dict[str, Value]) -> ModelFile:
    architecture = values.get("general.architecture")
    layers = values.get(f"{architecture}.block_count")
    context = values.get(f"{architecture}.context_length")
    kind = values.get("general.type", "model")
    if kind != "model" or not isinstance(layers, int) or not isinstance(context, int):
        what = kind if kind != "model" else architecture
        raise UsageError(f"{shown} holds no language model ({what}): name one that can chat")
    if not 0 < layers <= MOST_LAYERS or context <= 0:
        told = f"it tells of {layers} layers and a context of {context} tokens"
        raise UsageError(f"{shown} is no usable GGUF file: {told}; get it again")
    return ModelFile(path, path.name.removesuffix(".gguf"), str(architecture), context)


def _header(file: BinaryIO, size: int) -> dict[str, Value]:
    """The header's values up to those of the tokenizer, which come last and are long."""
    if file.read(4) != b"GGUF":
        raise _Damaged("it does not begin as one")
    (version,) = _unpack(file, "I")
    if version not in _VERSIONS:
        raise _Damaged(f"its version is {version}, known are 2 and 3")
    _, count = _unpack(file, "QQ")
    values: dict[str, Value] = {}
    for _ in range(count):
        key = _text(file, size)
        if key.startswith("tokenizer."):
            break
        (kind,) = _unpack(file, "I")
        values[key] = _value(file, kind, size)
    return values


def _value(file: BinaryIO, kind: int, size: int) -> Value:
    if kind in _NUMBERS:
        (number,) = _unpack(file, _NUMBERS[kind])
        return number
    if kind == _STRING:
        return _text(file, size)
    if kind != _ARRAY:
        raise _Damaged(f"its header has a value of the unknown type {kind}")
    inner, length = _unpack(file, "IQ")
    if inner == _ARRAY:
        raise _Damaged("its header has an array of arrays")
    if inner in _NUMBERS:
        _skip(file, length * struct.calcsize("<" + _NUMBERS[inner]), size)
        return None
    for _ in range(length):
        _value(file, inner, size)
    return None


def _text(file: BinaryIO, size: int) -> str:
    (length,) = _unpack(file, "Q")
    if length > size - file.tell():
        raise _Damaged("its header ends early")
    return file.read(length).decode("utf-8", "replace")


def _skip(file: BinaryIO, length: int, size: int) -> None:
    if length > size - file.tell():
        raise _Damaged("its header ends early")
    file.seek(length, os.SEEK_CUR)


def _unpack(file: BinaryIO, shape: str) -> tuple[int, ...]:
    data = file.read(struct.calcsize("<" + shape))
    try:
        return struct.unpack("<" + shape, data)
    except struct.error:
        raise _Damaged("its header ends early") from None
