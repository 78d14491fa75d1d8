"""A folder that turns into a link and back while the tools work in it."""

import os
import shutil
import threading
import time
from contextlib import suppress
from pathlib import Path

from harness.errors import ToolError
from harness.workspace.root import Root

SECONDS = 1.0


def test_a_link_swapped_in_between_is_never_followed(tmp_path: Path) -> None:
    workspace, outside = tmp_path / "ws", tmp_path / "outside"
    inner = workspace / "d"
    inner.mkdir(parents=True)
    outside.mkdir()
    (inner / "f").write_text("inside")
    (outside / "f").write_text("VICTIM")
    kept = workspace / "kept"
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            os.rename(inner, kept)
            with suppress(FileExistsError):
                os.symlink(outside, inner)
                os.unlink(inner)
            move_back()
            time.sleep(0.0002)  # let the tools in, also on a busy machine

    def move_back() -> None:
        try:
            os.rename(kept, inner)
        except OSError:  # the write has made the folder anew
            shutil.rmtree(inner, ignore_errors=True)
            move_back()

    root = Root(workspace)
    swapper = threading.Thread(target=swap)
    swapper.start()
    done = escaped = 0
    deadline = time.monotonic() + SECONDS
    try:
        while time.monotonic() < deadline:
            try:
                escaped += root.read(root.locate("d/f").path) == b"VICTIM"
                root.write(root.locate_new("d/f").path, b"inside")
                done += 1
            except ToolError:
                continue
    finally:
        stop.set()
        swapper.join()
    assert done > 0
    assert escaped == 0
    assert (outside / "f").read_text() == "VICTIM"
    assert sorted(path.name for path in outside.iterdir()) == ["f"]
