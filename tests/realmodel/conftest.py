"""Real models behind a real server, where they are there; else the tests say how to get them."""

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.model.gguf import read_model_file
from harness.model.local import LocalServer
from tests.realmodel.fetch import SOURCES, folder

ONE_COMMAND = (
    "pip install '.[dev,local]' && python -m tests.realmodel.fetch && python -m pytest -m realmodel"
)


def model_file(name: str) -> Path:
    """A model that was fetched; skips the test when there is none."""
    path = folder() / SOURCES[name].file
    if importlib.util.find_spec("xllamacpp") is None or not path.is_file():
        pytest.skip(f"realmodel: needs the extra `local` and fetched models: {ONE_COMMAND}")
    return path


# of the whole session, so that they are made before a test gets a home of its own
@pytest.fixture(scope="session")
def smollm2_file() -> Path:
    return model_file("smollm2")


@pytest.fixture(scope="session")
def smollm2(smollm2_file: Path) -> Iterator[LocalServer]:
    with LocalServer(read_model_file(smollm2_file), context_length=2048) as server:
        yield server


@pytest.fixture(scope="session")
def coder() -> Iterator[LocalServer]:
    with LocalServer(read_model_file(model_file("qwen"))) as server:
        yield server
