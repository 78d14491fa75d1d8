from pathlib import Path

import pytest

from harness.config import Places, places


@pytest.fixture
def where(workspace: Path, home: Path) -> Places:
    return places(workspace, home)
