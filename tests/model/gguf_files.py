"""GGUF headers, written by hand."""

import struct
from collections.abc import Mapping

STRINGS, UINT32, FLOAT64 = 8, 4, 12


def text(value: str) -> bytes:
    data = value.encode()
    return struct.pack("<Q", len(data)) + data


def value(content: object) -> bytes:
    """The type and the content; a list is an array of strings or of small numbers."""
    if isinstance(content, str):
        return struct.pack("<I", STRINGS) + text(content)
    if isinstance(content, int):
        return struct.pack("<II", UINT32, content)
    if isinstance(content, float):
        return struct.pack("<Id", FLOAT64, content)
    assert isinstance(content, list)
    if content and isinstance(content[0], str):
        words = b"".join(map(text, content))
        return struct.pack("<IIQ", 9, STRINGS, len(content)) + words
    return struct.pack(f"<IIQ{len(content)}I", 9, UINT32, len(content), *content)


def header(values: Mapping[str, object], version: int = 3) -> bytes:
    pairs = b"".join(text(key) + value(content) for key, content in values.items())
    return b"GGUF" + struct.pack("<IQQ", version, 0, len(values)) + pairs


QWEN: Mapping[str, object] = {
    "general.architecture": "qwen2",
    "general.type": "model",
    "general.tags": ["code", "chat"],
    "general.scale": 1.5,
    "qwen2.block_count": 28,
    "qwen2.context_length": 32768,
    "qwen2.dimensions": [1, 2, 3],
    "tokenizer.ggml.model": "gpt2",
}
