"""Small workspaces of text, for the tests of the code index."""

from collections.abc import Mapping
from pathlib import Path

from harness.code.index import CodeIndex
from harness.workspace.changes import digest


class Tree:
    """A workspace held in memory: path to text or bytes. `reads` lists what was read."""

    def __init__(self, files: Mapping[str, str | bytes]) -> None:
        self.files = {
            path: text.encode() if isinstance(text, str) else text for path, text in files.items()
        }
        self.reads: list[str] = []

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        if path not in self.files:
            raise FileNotFoundError(path)
        return self.files[path]

    def hashes(self) -> dict[str, str]:
        return {path: digest(data) for path, data in self.files.items()}

    def index(self, cache: Path | None = None) -> CodeIndex:
        index = CodeIndex(self.read, cache)
        index.refresh(self.hashes())
        return index


def index_of(files: Mapping[str, str | bytes]) -> CodeIndex:
    return Tree(files).index()
