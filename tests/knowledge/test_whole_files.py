"""Files that are replaced as a whole."""

import errno
from pathlib import Path

import pytest

from knowledge import files


def test_what_cannot_be_replaced_is_named_and_not_a_file_beside_it(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 250)  # with anything before or behind, a name would be too long
    path.write_bytes(b"old")
    with pytest.raises(OSError, match="too long") as raised:
        files.replace(path, b"new")
    assert (raised.value.errno, raised.value.filename) == (errno.ENAMETOOLONG, str(path))
    folder = tmp_path / "folder"
    folder.mkdir()
    with pytest.raises(IsADirectoryError) as raised:
        files.replace(folder, b"new")
    assert raised.value.filename == str(folder)
    assert {each.name for each in tmp_path.iterdir()} == {path.name, "folder"}
    assert path.read_bytes() == b"old"
